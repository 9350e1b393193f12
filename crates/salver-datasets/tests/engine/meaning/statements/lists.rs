//! Lists, rows and JSON.

pub(super) const SAME: &[&str] = &[
    "select unnest(array[i, -i]) from n order by s desc nulls last, i",
    "select i, generate_series(1, i) as g from n where i < 4 order by d desc nulls first, i, g desc limit 4",
    "select *, unnest(array[1, 2]) as u from m order by v + 1 nulls first, k, u",
    "select s, unnest(array[min(i), max(i)]) from n group by s order by count(*), s nulls first, 2",
    "with r as (select i, s from n) select unnest(array[s, 'x']) as u from r where i < 4 order by i, u limit 3 offset 1",
    "select i, i, unnest(array[2, 1]) from n order by s, 1, 3",
    "select distinct unnest(array[i, 1]) as u from n order by u",
    // A null in one of several lists.
    "select i from n where i not in (1, 0) or i not in (2, 3, null) order by i",
    "select i from n where not (i in (1, 2) and i in (1, null)) order by i",
    "select i from n where (i in (1, 2) and i in (3, null)) is null order by i",
    "select i, i in (1, null), i not in (1, null), i in (null) from n order by i",
    // Membership is unknown beside a null.
    "select i from n where not (i in (select v from m) and i > 0) order by i",
    "select i from n where i not in (select v from m) or i is null order by i",
    "select i from n where (i in (select v from m)) is null order by i",
    "select i from n where coalesce(i in (select v from m), true) order by i",
    "select i from n where (i in (select k from m) or s = 'g') and i is not null order by i",
    "select i from n where not (i in (select v from m where false) or false) order by i",
    "select i from n where (i not in (select v from m where v > 5) or i = 2) is not false order by i",
    "select i from n where case when i in (select v from m where v = n.i * 10) then false else true end order by i",
    // JSON.
    "select '{\"k\": 3}'::json ->> 'k' = '3'",
    "select '{\"k\": {\"a\": [1, 2]}}'::json -> 'k' -> 'a' ->> 1",
    "select '{\"o\": {\"p\": \"x\"}}'::json #>> '{o,p}'",
    "select ('{\"o\": [10, 20]}'::json #>> '{o,1}')::int",
    // JSON that is made.
    "select json_build_object('a', 1, 'b', 'x', 'c', null, 'd', true, 'e', 1.50, 'f', 2.5::float8)",
    "select json_build_object('i', i, 's', s, 'd', d, 'f', f, 't', t) from n order by i",
    "select jsonb_build_object('a', 1), jsonb_build_object('a', 'x'), json_build_object(), json_build_array()",
    "select json_build_array(1, 'x', null, false, 2.50, date '2024-01-31', interval '1 day 2 hours'), jsonb_build_array(1, '2')",
    "select to_json('a \"quoted\" \\ text'::text), to_json(E'line\nand\ttab'::text), to_json(12), to_json(null::int)",
    "select to_json(timestamptz '2024-07-01 12:00:00.5+00'), to_json(time '13:05:00'), to_jsonb(false)",
    "select to_json(array[1, 2, null]), array_to_json(array['a', 'b']), to_json(array[1.5, 2.5])",
    "select to_json('NaN'::float8), to_json('Infinity'::float8), to_json(1e20::float8), to_json(-0.1::float8)",
    "select row_to_json(row(1, 'x', null)), to_json(row(i, s)) from n where i < 3 order by i",
    "select json_build_object('a', json_build_array(1, json_build_object('b', 'c')), 'd', array[1, 2])",
    "select json_build_object('raw', '{\"k\": [1,  2]}'::json, 'got', '{\"k\": 3}'::json -> 'k', 'text', '{}'::text)",
    "select json_build_object(i, s) from n where i < 3 order by i",
    "select json_agg(i order by i), json_agg(s order by i desc) filter (where i > 1) from n",
    "select json_agg(i) from n where i > 100",
    "select k, json_agg(v order by v) from m group by k order by k",
    "select json_object_agg(k, v order by v nulls last) from m where k = 1",
    "select json_object_agg(s, i order by i) from n where s <> 'b'",
    "select json_object_agg(coalesce(s, '\"{}'), json_build_object('a', d) order by i) from n where i in (1, 3)",
    "select jsonb_object_agg(s, d) from n where i = 1",
    "select jsonb_agg(v order by v) from m",
    "select json_build_object('all', (select json_agg(k order by k) from m))",
    "select json_agg(json_build_object('k', k, 'v', v) order by k, v) ->> 0 from m",
    "select json_build_object('a', i) ->> 'a' from n where i = 1",
    // Rows with nulls.
    "select (1, null::int) in (select 1, 2), (1, null::int) in (select 2, 2), (1, 2) not in (select 1, null::int)",
    "select i from n where not ((i, s) in (select 1, null::text)) order by i",
    "select i from n where (i, s) not in (select 1, null::text) order by i",
    "select i from n where ((i, s) in (select b.i, nullif(b.s, 'a') from n b)) is null order by i",
    "select i, (i, s) in (select b.i, nullif(b.s, 'a') from n b) from n order by i",
    "select i from n where not ((i, s) in (select b.i, b.s from n b where b.i < 3)) order by i",
    "select i from n where case when (i, s) in (select b.i, b.s from n b where b.i < 3) then false else true end \
     order by i",
    "select i, '9' < any(array['10', i]), '9' > any(array['10', i]), '9' < all(array['10', i]) from n order by i",
    // Quoted arrays, and intervals in arrays.
    "select array[1, 2] @> '{1}', array[1, 2]@>'{}', array[1, 2] <@ '{1,2,3}', array[1, 2] && '{2}', '{1}' <@ array[1]",
    "select array[1, 2] = '{1,2}', array['x'] in ('{y}', '{x}'), array[1.5] = '{1.50}'",
    "select (array[1, 2] || '{3}')::text, ('{0}' || array[1])::text, (null || array[1])::text, (array[2] || null)::text",
    "select 'x' = any('{}'), 1 <> all('{}'), 1 = all(null)",
    "select array[interval '1 day', interval '24 hours'] = array[interval '24 hours', interval '1 day']",
    "select array_position(array[interval '1 day'], interval '24 hours'), array[interval '1 day'] @> '{24:00:00}'",
    "select '{24:00:00,1 day}'::interval[]::text, interval '1 day' = any('{24:00:00}'), interval '1 day' <> any('{24:00:00}')",
    "select array_fill(7, array[3])::text, array_fill(7, array[2, 2])::text, trim_array(array[1, 2], 1)::text",
    "select trim_array(null::int[], 1), trim_array(array[1], 1)::text, trim_array(array[1, 2, 3], 0)::text",
    "select array_position(array[1, 2, 1], 1, 2), array_position(array[1], 1, 5), array_position(array[1], 1, 0)",
    "select s like any(array['a%', 'G']), s ilike any('{A%,G}'), s not like all('{a,b}'), s like all('{%,a%}') from n order by i",
    "select array[array[1, 2], array[3, 4]] @> array[array[2], array[3]], array[array[1, 2]] && array[2]",
    "select (array[date '2024-01-01'] || array[timestamptz '2024-01-01 02:30+00'])::text",
    "select array_length(x, 1), array_length(x, 2), array_upper(x, 2), array_lower(x, 2), array_length(x, 3) \
     from (values (array[array[1, 2], array[3, 4]]), (null)) as v(x)",
    "select array_length('{}'::int[], 1), array_length(array[1, 2], 2), array_length(array[1], 0), array_upper(array[1, 2], 1)",
    // Lists.
    "select 1 = any(array[2, null]), 2 = any(array[2, null]), 1 = any(array[2, 3]), null = any(array[1])",
    "select i from n where not (i = any(array[1, null]))",
    "select i from n where i = any(array[1, null, i + 1]) order by i",
    "select i from n where not (i = any(array[1, 2])) order by i",
    "select i from n where f = any(array['-0'::float8, 'NaN'::float8]) order by i",
    "select i, i = any(array[k, v]) from n join m on i = k order by i, v",
    "select (coalesce(array(select i from n where i > 100), array[7]))[1], array_length(array(select 1), 1)",
    "select i, array_to_string(array(select v from m where k = i order by v), ',') from n order by i",
    "select array_to_string(array_remove(array[1, null, 2], null), ',', '-')",
    "select (array[1, 2, 3])[-1], (array[1, 2, 3])[0], (array[1, 2, 3])[2], (array[1, 2, 3])[i - 2] from n order by i",
    "select array_to_string((array[1, 2, 3])[2:], ','), array_to_string((array[1, 2, 3])[:2], ','), \
     array_to_string((array[1, 2, 3])[-1:2], ','), array_to_string((array[1, 2, 3])[2:-1], ',')",
    // Rows that are null.
    "select (null, null) is null, (1, null) is null, (1, null) is not null, (1, 2) is not null",
    "select i from n where (i, s) is not null order by i",
    // Lists with nulls.
    "select 10 < any(array[1, null]), 10 <> any(array[10, null]), 0 < any(array[1, null]), 1 >= any(array[2, 3])",
    "select array[1, null] @> array[1, null], array[1, null] @> array[1], array[1, 2] <@ array[2, 1, null], array[1, null] \
     && array[null::int], array[1, null] && array[null, 1]",
    "select null::int = any(array[]::int[]), null::int[] @> array[1], array[1] <@ null::int[]",
    // What is empty has no dimensions; the sign of what is not a number.
    "select array_upper(array[]::int[], 1), array_lower(array[]::int[], 1), array_ndims(array[]::int[]), \
     array_dims(array[]::int[]), array_length(array[]::int[], 1), cardinality(array[]::int[]), \
     array_upper(null::int[], 1), array_ndims(null::int[])",
    "select array_upper(array[4, 5], 1), array_lower(array[4, 5], 1), array_ndims(array[array[1], array[2]]), \
     array_dims(array[array[1], array[2]]), array_upper(array[4, 5], 2), array_ndims(array[1])",
    "select array_to_json(array_remove(array[]::int[], null)), array_to_json(array_remove(array[1, null], null)), \
     array_to_json(array_remove(array[null]::int[], null)), array_remove(null::int[], null) is null, \
     array_to_json(array_remove(array[]::text[], 'a'))",
    "select cardinality(array_remove(array_remove(array[i], 1), null)), array_upper(array_remove(array[i], i), 1) from \
     n order by i",
    "select sign('NaN'::float8), sign(f), sign(d), sign(i), pg_typeof(sign(d)), pg_typeof(sign(f)), \
     pg_typeof(sign(i)), sign(-0.0), sign('-Infinity'::float8), sign(2.5::float4) from n order by i",
    // An array that is written out beside numbers of another kind.
    "select 1 = any(array[1.5, 2]), 1.5 = any(array[1, 2]), d = any(array[5, 99.99]), f = any(array[1.5, 0]), \
     2 = any(array[1.0, 2, null]), 3.0 = any(array[1, null]), 1 <> all(array[2.5, 3]), i <> all(array[1, null]), \
     s = any(array['a', 'b']) from n order by i",
    // Arrays of queries have their order, whatever is computed of the rows.
    "select array_to_string(array(select upper(s) from n order by i desc nulls last), ','), array_to_string(array(select \
     distinct k from m order by k desc), ','), array_to_string(array(select k from m group by k order by count(*) \
     desc, k), ','), array_to_string(array(select v from m order by v desc nulls last limit 2), ','), \
     array_to_string(array(select k from m union select i from n where i > 4 order by 1 desc), ',')",
    "select i, array_to_string(array(select abs(v) from m where m.k = n.i order by v desc nulls last), ',', 'null'), \
     5 = any(array(select v from m where m.k = n.i)), 5 > all(array(select v from m order by v)) from n order by i",
    // A null that is taken out of an array.
    "select i, cardinality(array_remove(array[i, 5], i)), array_to_string(array_remove(array[1, null, 2], i), ',', '-') \
     from n order by i",
    // The order of lists: a null is above every value, a float like any other.
    "select array[null, 1] < array[3, 1], array[1, 2] < array[1, null], array[1] < array[1, null]",
    "select array[3, 1, 2] > array[null, 5], array[1, null] >= array[1, null], array[array[1, null]] > array[array[1, 2]]",
    "select array[1, 2] between array[1, 1] and array[1, null], array[1] not between array[0] and array[null::int]",
    "select (greatest(array[3], array[null::int]))[1], (least(array[3], array[null::int]))[1]",
    "select greatest(array[i], array[i + 1, null], null) = array[i + 1, null] from n order by i nulls first",
    "select i from n order by array[i], i",
    "select i, rank() over (order by array[nullif(i, 3)] desc nulls last) from n order by 2, 1",
    "select i, rank() over (order by nullif(array[nullif(i, 3)], array[2::bigint]) desc nulls last) from n order by 2, 1",
    "select i, rank() over (order by nullif(array[nullif(i, 3)], array[2::bigint]) nulls first) from n order by 2, 1",
    "select array_to_string(array_agg(i order by nullif(array[nullif(i, 3)], array[2::bigint]) nulls first, i), ',', 'N') from n",
    "select i from n order by nullif(array[nullif(i, 3)], array[2::bigint]) desc nulls last, i limit 4",
    "select array['NaN'::float8] > array[1e300::float8], array['-0'::float8] = array[0::float8]",
    "select array['-0'::float8] < array[0::float8], array['-0'::float8] is distinct from array[0::float8]",
    "select array[1, 2] is distinct from '{1,2}', '{1,3}' is distinct from array[1, 2], array[1] is not distinct from null, \
     array['a', null] is not distinct from '{a,NULL}', array[1.5, 2] is not distinct from array[1.50::numeric, 2], \
     null is not distinct from null::int[]",
    "select i from n where array[i] is not distinct from '{2}' or '{3,4}' is not distinct from array[i, 4] order by i",
    "select count(*) from (select array[0::float8] union select array['-0'::float8]) as x",
    "select count(distinct array[f * 0]) from n",
    "select i from n where array[f] in (array['NaN'::float8], array[0::float8]) order by i",
    "select count(*) from n as a join n as b on array[a.f] = array[b.f]",
    "select x && '{}'::bigint[], x && '{1}'::bigint[], x @> '{}'::bigint[], '{}'::bigint[] @> x, '{}'::bigint[] && x, \
     '{}'::bigint[] <@ x from (values (null::bigint[]), (array[1::bigint]), ('{}'::bigint[])) t(x)",
    // Arrays of numbers keep all of their digits, and are compared in a type that has the digits of both.
    "select ('{1.123456789012345,2}'::numeric[])[1], (array[1.50, 2]::numeric[])[2] = 2, '{}'::numeric[] = \
     array[]::numeric[], d = any('{0.1,5}'::numeric[]), d <> all('{0.1,null}'::numeric[]) from n order by i",
    "select d = any('{0.10,5}'), i = any('{1,7}'), s = any('{a,\"b\"}'), f = any('{1.5,NaN}'), \
     t = any('{2024-02-29,1970-01-01}'), i <> all('{1,2}') from n order by i",
    "select array_position(array[1.5, 2.25], 2.250), array_position(array[1, 2]::numeric[], 2.0), \
     array_to_string(array_remove(array[1.5, 2.0], 2), ',') like '1.5%', \
     array_position(array[1.5, 123456789012345678901234567890.0], 1.5000000000000000000000000001)",
    "select array[1.5, 2.25] @> array[1.50], d = any(array[d, 1.123456789]) from n order by i",
    // An array that is a text has the type of what it is compared with, element by element.
    "select 10 > all('{9,100}'), i > all('{1,3}'), d < any('{1,100,null}'), i <= any('{}'), i <> any('{1,2}'), \
     i = all('{1,1}'), t >= any('{1500-01-01,9999-12-31}') from n order by i",
    // A NaN that a processor made is like any other.
    "select i, 0::float8 < any(array[-1::float8, f]), 0::float8 > all(array[-1::float8, f]), \
     array_position(array[f], 'NaN'::float8) from n order by i",
    // Dates beside timestamps of any year, and texts beside other elements.
    "select t in (date '9999-12-31', date '1500-01-01', null), t = any(array[date '1500-01-01', null]), \
     t <= any(array[date '9999-12-31']), t > all(array[date '1500-01-01']), date '9999-12-31' > t, \
     t::date = any(array[timestamp '1500-01-01 00:00:00']), least(t, '1970-01-01') from n order by i",
    "select '1' = any(array[i]), array_position(array[1, 2], '2'), array_to_string(array_append(array[1], '2'), ','), \
     '10:00' = any('{10:00,11:00}'::time[]) from n order by i",
    "select array_dims('{{1,2},{3,4}}'::int[]), ('{{1,2},{3,4}}'::int[][])[2] is null or true, \
     '12345678901234567890123456789012345678901.5'::numeric, '12345678901234567890123456789012345678901'::numeric + 1",
    "select '-12345678901234567890123456789012345678901'::numeric, null::numeric[] is null, null::bytea[] is null, \
     coalesce(null::timestamp[], array[t]) = array[t] from n where i in (2, 3) order by i",
    "select array_to_string(array[array[1, 2], array[3, 4]], ',')",
    "select ('{}'::int[] || array[array[1, 2]])::text",
    "select (array[array[1, 2]] || '{}'::int[])::text",
    "select i from n where 0.1 = any(array[0.1::real, 2.5]) order by i",
    "select (2.5 = any(array[0.1::real, 2.5]))::text, (array[0.5::real] || 0.25)::text",
    "select array_cat(array[1, 2], '{3,null}')::text, array_cat('{0}', array[1])::text, array_cat(array['a'], '{b}')::text",
    "select array_cat(null, array[1])::text, array_cat(array['a'], null)::text",
];
