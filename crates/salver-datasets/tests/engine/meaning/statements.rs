//! The statements that are compared.

/// Those that answer the same.
pub(super) const SAME: &[&str] = &[
    // Numbers with a point are exact.
    "select 0.1 + 0.2 = 0.3",
    "select i from n where d = 1234567.89",
    "select i from n where d = 0.1 order by i",
    "select i from n where d >= 99.99 order by i",
    "select i from n where d between -7.25 and 5.0 order by i",
    "select i from n where d in (0.10, 99.99) order by i",
    "select i from n where i = 2.0",
    "select i from n where i < 2.5 order by i",
    "select i from n where f = 1.5",
    "select i from n where f > 1.4999999999999999999999 order by i",
    "select coalesce(f, 0.5) from n where i is null",
    "select case when i = 1 then f else 0.25 end from n where i < 5 order by i",
    "select f from n where i = 1 union all select 2.5 order by 1",
    "select 1e300::float8 + 0.1",
    "select 1 / 3.0",
    "select 10.0 / 4",
    "select -7.5 / 2",
    "select 7 / 2",
    "select avg(d) from n",
    "select s, avg(d) from n where i < 7 group by s order by s",
    "select sum(d), min(d), max(d) from n",
    "select sum(distinct d) from n",
    "select avg(d) over (order by i rows 1 preceding) from n where i is not null order by i",
    // Both sides of a join have the column.
    "select a.i, b.i from n a right join n b on b.i = a.i + 1 where (b.d = 0.1 or a.i < 3) and b.i > 0 order by 1, 2",
    "select a.i, b.i from n a right join n b on b.i = a.i + 1 where b.f > a.f or a.i is null order by 1, 2",
    "select a.i, b.i from n a full join n b on b.i = a.i + 1 where b.i > 2 or (b.i = 2 and a.i >= 1) order by 1, 2",
    "select a.i, b.i, c.i from n a join n b on a.i = b.i - 1 right join n c on c.i = b.i where a.i < 3 or c.i > 4 \
     order by 1, 2, 3",
    // Subqueries that are computed for columns, groups, orders and what goes into functions.
    "select i, i in (select b.i from n b where b.i > 2), i not in (select b.i from n b where b.i > 2) from n order by i",
    "select i, s in (select b.s from n b where b.i = n.i), s not in (select b.s from n b where b.s = n.s) from n order \
     by i",
    "select i, i in (select nullif(b.i, 2) from n b), nullif(i, 1) in (select b.i from n b where b.s = n.s) from n \
     order by i",
    "select i, (s, i) in (select b.s, b.i from n b where b.i < 3), i <> all (select b.i from n b where b.i > 2) from n \
     order by i",
    "select sum(i) filter (where exists (select 1 from n b where b.i = n.i + 1)) from n",
    "select sum(i) filter (where i in (select b.i from n b where b.i > 2)) from n",
    "select max(i + (select max(b.i) from n b where b.s = n.s)), count(case when not exists (select 1 from n b where \
     b.i = n.i + 1) then i end) from n",
    "select case when exists (select 1 from n b where b.i = n.i + 1) then 1 else 0 end, count(*) from n group by case \
     when exists (select 1 from n b where b.i = n.i + 1) then 1 else 0 end order by 1",
    "select i in (select b.i from n b where b.i > 2), count(*) from n group by 1 order by 1",
    "select (select max(b.i) from n b where b.s = n.s), count(*) from n group by (select max(b.i) from n b where b.s = \
     n.s) order by 1",
    "select i from n order by exists (select 1 from n b where b.i = n.i + 1), i",
    "select i, sum(i) over (partition by exists (select 1 from n b where b.i = n.i + 1)) from n order by i",
    "select i, count(*) over (order by (select max(b.i) from n b where b.s = n.s)) from n order by i",
    "select s from n group by s having sum(case when exists (select 1 from n b where b.i = n.i + 1) then i end) > 1 \
     order by s",
    // The condition names one value of what is null as well.
    "select a.i, b.i from n a right join n b on b.i = a.i and a.d > 0.1 where b.i = 1 order by a.i, b.i",
    "select b.i from n a right join n b on b.s = a.s and b.i = a.i + 1 where b.s = 'a' order by a.s, b.i limit 2",
    "select b.i, row_number() over (order by a.s desc, b.i) from n a right join n b on b.s = a.s and b.i = a.i + 1 \
     where b.s = 'a' order by b.i",
    // A null in one of several lists.
    "select i from n where i not in (1, 0) or i not in (2, 3, null) order by i",
    "select i from n where not (i in (1, 2) and i in (1, null)) order by i",
    "select i from n where (i in (1, 2) and i in (3, null)) is null order by i",
    "select i, i in (1, null), i not in (1, null), i in (null) from n order by i",
    // Times beside texts reach as far as times alone.
    "select i from n where t = '9999-12-31 23:59:59.999999'",
    "select i from n where '1600-01-01' > t",
    "select i from n where t < '9999-12-31 23:59:59.999999' order by i",
    "select i from n where t between '1400-01-01' and '1969-12-31 23:59:59' order by i",
    "select i from n where t in ('1500-01-01', '9999-12-31 23:59:59.999999') order by i",
    "select i from n where t not in ('1500-01-01', '0001-01-01') order by i",
    "select i from n where t is distinct from '9999-12-31' order by i",
    "select t = '2024-03-05 14:07:09.5', t > '2024-03-05 14:07:09.499999' from n where i = 1",
    // What divides or cuts a value says nothing of the order of what it was made of.
    "select i from n where i / 2 = 0 order by i desc",
    "select i from n where i / 2 = 1 order by i",
    "select i from n where i / 2 between 0 and 1 order by i desc limit 2",
    "select i from n where i / 3 in (0, 1) order by i desc",
    "select i, t from n where t::date = date '2024-03-05' order by t",
    "select i, row_number() over (order by i desc) from n where i / 4 = 0 order by i",
    "select t from n where t::date in (date '2024-03-05', date '2024-02-29') order by t desc",
    "select last_value(i) over (order by t, i) from n where t::date between '2024-01-01' and '2024-12-31' order by i",
    "select x from (values (timestamp '2024-01-31'), (timestamp '2024-01-29'), (timestamp '2024-01-30')) v(x) \
     where x + interval '1 month' = timestamp '2024-02-29' order by x",
    "select x from (values (timestamp '2024-03-31'), (timestamp '2024-03-29'), (timestamp '2024-03-30')) v(x) \
     where x - interval '1 month' = timestamp '2024-02-29' order by x desc",
    "select i from n where t > timestamp '2024-03-06' - interval '1 week' order by t",
    // Signs bind more tightly than powers, other operators before a value more loosely than sums.
    "select -2 ^ 2, ~ 1 + 1, @ -5 + 1, |/ 16 + 9, ||/ 20 + 7, -7::int + 1, - 2 * 3, + 1 - - 1",
    "select -i ^ 2, ~ i * 2, @ i - 5 from n where i = 3",
    "select -9223372036854775808, -(-3), - -3",
    // `is distinct from` binds as tightly as `is`.
    "select i from n where s is distinct from 'a' and i < 4 order by i",
    "select i from n where s is not distinct from 'b' or i = 1 order by i",
    "select true is distinct from false and false, (i = 1) is not distinct from true or false from n where i < 3 order by i",
    "select i from n where d is distinct from 0.1 + 0.0 and f is not null order by i",
    // Membership is unknown beside a null.
    "select i from n where not (i in (select v from m) and i > 0) order by i",
    "select i from n where i not in (select v from m) or i is null order by i",
    "select i from n where (i in (select v from m)) is null order by i",
    "select i from n where coalesce(i in (select v from m), true) order by i",
    "select i from n where (i in (select k from m) or s = 'g') and i is not null order by i",
    "select i from n where not (i in (select v from m where false) or false) order by i",
    "select i from n where (i not in (select v from m where v > 5) or i = 2) is not false order by i",
    "select i from n where case when i in (select v from m where v = n.i * 10) then false else true end order by i",
    // Casts round.
    "select 1.5::int, 2.5::int, -1.5::int, -2.5::int",
    "select 1.5::float8::int, 2.5::float8::int, -2.5::float8::bigint",
    "select cast(99.99 as decimal(5,1))",
    "select 'hello'::varchar(3)",
    "select cast('hello' as varchar(10)), cast('hello' as character varying(2))",
    "select 'ab'::char(4) || '|', 'abc'::char(2)",
    // Floats have one order.
    "select i from n where f = 'NaN'::float8",
    "select i from n where f = 0 order by i",
    "select i from n where f >= 0 order by i",
    "select i from n where f < 0 order by i",
    "select i from n where f > 100 order by i",
    "select i from n where not (f < 0) order by i",
    "select i from n where f <> 0 order by i",
    "select i from n where f not in (0.0, 1.5) order by i",
    "select i from n where f between 0 and 10 order by i",
    "select i from n where f is not null order by f desc, i",
    "select i from n where f is not null order by f, i",
    "select i from n where f is not null order by f desc limit 2",
    "select min(f), max(f) from n",
    "select s is null, min(f), max(f) from n group by 1 order by 1",
    "select count(distinct f) from n",
    "select count(*) from (select distinct f from n) as x",
    "select count(*) from n a join n b on a.f = b.f",
    "select max(f) over (order by i rows 1 preceding) from n where i < 5 order by i",
    "select nullif(f, 0.0::float8) is null from n where i = 3",
    // Whole numbers.
    "select 2 ^ 3, 2 * 3 ^ 2, 5 # 3",
    "select sum(i), sum(i + 1), sum(i * 2) from n",
    "select sum(distinct v) from m",
    "select k, sum(v) from m group by k order by k",
    "select sum(v) over (order by v rows 1 preceding) from m where v is not null order by v",
    "select mod(7, 3), mod(-7, 3), div(7, 2), div(-7, 2), gcd(12, 18), sign(-3), sign(2.5), factorial(5)",
    "select ceiling(1.2), floor(-1.2), abs(-5), width_bucket(5.35, 0.024, 10.06, 5), width_bucket(3, 10, 0, 5)",
    // Every of some, and some of all.
    "select i from n where i >= all (select i from n where i is not null)",
    "select i from n where i > any (select i from n) order by i",
    "select i from n where i = any (select k from m) order by i",
    "select i from n where i <> all (select k from m) order by i",
    "select i from n where i <= all (select v from m where v > 100) order by i",
    "select i from n where i < all (select v from m) order by i",
    "select (select k from m where k = 1 limit 1) as x",
    // Sets with repetition.
    "select k from m intersect all select k from m where k < 3 order by 1",
    "select k from m except all select 1 order by 1",
    "select k from m intersect select 1",
    "select k from m except select 1 order by 1",
    "(values (1), (1), (1), (2)) intersect all (values (1), (1), (3))",
    "(values (1), (1), (1), (2)) except all (values (1), (3)) order by 1",
    // Times.
    "select to_char(t, 'YYYY-MM-DD') from n where i = 1",
    "select to_char(t, 'FMDay, DD FMMonth YYYY, HH24:MI:SS.MS') from n where i in (1, 2, 3) order by i",
    "select to_char(date '2024-03-05', 'Dy DD Mon YY, Q, WW, IW, DDD')",
    "select to_char(1234567.891, 'FM999,999,990.00'), to_char(-0.5, '0.99'), to_char(12, '0000')",
    "select to_date('05 Mar 2024', 'DD Mon YYYY'), to_date('20240305', 'YYYYMMDD')",
    "select to_timestamp('2024-03-05 14:07', 'YYYY-MM-DD HH24:MI')",
    "select timestamp '2024-07-01 12:00:00' at time zone 'Europe/Berlin'",
    "select timestamptz '2024-07-01 12:00:00+00' at time zone 'America/New_York'",
    "select i from n where t > '2500-01-01'",
    "select t from n where t is not null order by t",
    "select max(t), min(t) from n",
    // JSON.
    "select '{\"k\": 3}'::json ->> 'k' = '3'",
    "select '{\"k\": {\"a\": [1, 2]}}'::json -> 'k' -> 'a' ->> 1",
    "select '{\"o\": {\"p\": \"x\"}}'::json #>> '{o,p}'",
    "select ('{\"o\": [10, 20]}'::json #>> '{o,1}')::int",
    // Rows and subqueries.
    "select i from n where (i, s) in (select k, 'a' from m) order by i",
    "select i from n where (i, s) in ((1, 'a'), (2, 'c'), (6, 'b')) order by i",
    "select i from n where (i, s) = (2, 'b')",
    "select i from n where (i, s) > (4, 'a') order by i",
    "select i from n where i between symmetric 4 and 2 order by i",
    "select i from n where i not between symmetric 4 and 2 order by i",
    "select i, (select v from m where m.k = n.i order by v desc nulls last limit 1) from n where i < 4 order by i",
    "select exists(select 1 from m where k = 9)",
    "select i, exists(select 1 from m where m.k = n.i) from n where i < 4 order by i",
    "select i from n order by i fetch first 2 rows only",
    "select k from m order by k offset 1 rows fetch next 2 rows only",
    "table m order by k, v limit 2",
    "with x as materialized (select k from m) select count(*) from x",
    "with recursive t(a, b) as (select 1, 1 union all select a + 1, b * 2 from t where a < 5) table t",
    "select k, k from m where k = 9",
    "select count(*) from n tablesample bernoulli (100)",
    "select count(*) from n as x tablesample system (0)",
    "select every(k > 0), variance(k) from m",
    "select percentile_disc(0.5) within group (order by k), mode() within group (order by k) from m",
    "select string_agg(k::text, ',') over (order by k) from m order by k",
    "select md5('salver'), encode(sha256('salver'), 'hex'), encode('ab', 'base64')",
    "select regexp_substr('foobarbaz', 'b..')",
    "select s from n where s like 'a!%' escape '!' or s like '_' escape '!' order by s",
    "select count(*) from n where t = t and interval '1 day' = interval '24 hours'",
    "select array_to_string(array(select k from m order by k desc), ',')",
    "select age(timestamp '2024-03-05', timestamp '2023-12-31') = interval '2 months 5 days'",
    "select 1e3, 1.5e-3, 2e0::int, timestamp '9999-12-31 23:59:59' > timestamp '1500-01-01'",
    "select interval '1 month' = interval '30 days', interval '1 day' < interval '25 hours'",
    // Text of what is in a table.
    "select t::text, t || '', concat(t, i > 1), d::text, f::text from n order by i",
    "select string_agg(f::text, ',' order by i), string_agg(t::text, '|' order by i) from n",
    "select array_agg(t order by i)::text, array_to_string(array_agg(f order by i), ',') from n",
    "select row(i, s, f)::text from n order by i",
    "select format('%s is %L in %I', i, s, 'Total Sum') from n where i is not null order by i",
    "select extract(second from t), extract(year from t) / 2, date_part('dow', t) from n where t is not null order by i",
    "select date_trunc('century', t), date_trunc('week', t) from n where t is not null order by i",
    "select count(*) from n where s similar to '(a|b)%' or s similar to '[d-e]'",
    "select i from n where s similar to s order by i",
    "select round(f) from n where i in (1, 3, 4) order by i",
    "select (interval '1 hour' * i)::text, (interval '1 month' / 4)::text from n where i < 4 order by i",
    "select avg(d)::text is not null, sum(d)::text from n",
    "select x::text, (x / 2)::text, (x * 3)::text from (values (1.5::float8), (2.25), (1e20), (0.1)) as v(x)",
    "select x::text from (values (1.5::real), (2.25), (1e10)) as v(x)",
    "select s like s, s like '%' || s || '%', s not like '_' || s, s ilike upper(s), upper(s) ilike s || '%' \
     from n order by i",
    "select s like left(s, 1) || '!%' escape '!', s not ilike s || '%' escape '!' from n order by i",
    "select x like p, x ilike p, x not like p, x ~~ p, x !~~* p from (values ('a%c', 'a\\%c'), ('abc', 'a\\%c'), \
     ('abc', 'A_C'), ('aXbXc', '%X%x'), ('', ''), ('', '%'), ('aaa', 'a%a%a%a'), ('é', '_'), (null, '%'), \
     ('ÀÉ', 'àé'), ('b', 'a\\'), ('line\nline', 'l%e')) as v(x, p)",
    "select x like 'a%b%c', x ilike 'A%É', x not like '%a_b%', x like 'a\\%%b', x like '%\\__%', x like '%', \
     x like '', x ilike '%é%', x like 'a%', x ilike 'A%', x like '%_%_', x not ilike '%B%c', x like null, \
     x like '%\\\\' from (values ('a1b2c'), ('aé'), ('AÉ'), ('xaxbx'), ('a%zb'), ('q_z'), (''), \
     ('abc'), ('ab'), (null), ('a\\'), ('aab'), ('ẞé')) \
     as v(x)",
    "select i from n where s like 'a%' or s like '_%_' or s like 'b%' and s not like 'b_%z' order by i",
    "select strpos(x, p), position(p in x) from (values ('abc', 'c'), ('éab', 'b'), ('', ''), ('a', ''), ('', 'a'), \
     ('aaab', 'aab'), (null, 'a')) as v(x, p)",
    "select x ~ p, regexp_replace(x, p, '<>', 'g'), (regexp_match(x, p))[1], regexp_count(x, p, 1, 'n') from (values \
     ('a1b', '\\d'), ('one two', '\\mt'), ('one two', 'e\\M'), ('a.b', '[[:punct:]]'), ('aé_1', '[[:alnum:]]+'), \
     ('x', '\\y\\w'), ('a&&b', '[a&&b]+'), ('one', '[[:<:]]o'), ('٣', '\\d'), (null, 'a')) as v(x, p)",
    "select array_to_string(regexp_split_to_array(x, p), ','), (regexp_match('x', '\\mx', 'n'))[1], \
     array_to_string(regexp_split_to_array('a1b22c', '\\d+'), ',') from (values ('a1b', '\\d'), ('one two', '\\M ')) as v(x, p)",
    "select i from n where exists (select 1 from m where n.s like n.s || m.k or 'x' ~ ('^' || n.i)) order by i",
    // Names that the engine would make alike.
    "select round(2.5::float8), round(2.5::numeric), ceil(1.5), ceiling(1.5)",
    "select sum(i::float8), sum(i::numeric), sum(i) from n",
    "select i::text, i::float8 from n where i < 3 group by i::text, i::float8 order by 1",
    "select date '2024-01-01', timestamp '2024-01-01', text '2024-01-01'",
    "select *, k from m where k = 9",
    "select sum(v) over (order by k), sum(v::float8) over (order by k) from m where k > 1 and v > 0 order by k",
    // Functions that give rows.
    "select generate_series(1, 3)",
    "select generate_series(1, 3) * 2, i from n where i < 3 order by i, 1",
    "select generate_series(1, 2), generate_series(1, 3)",
    "select g from generate_series(1, 3) as g",
    "select * from generate_series(timestamp '2024-01-01', timestamp '2024-01-03', interval '1 day')",
    "select i, g from n, generate_series(1, n.i) as g where i < 4 order by 1, 2",
    "select g from generate_series(timestamp '1600-01-31', timestamp '1600-06-01', interval '1 month') as g",
    "select g from generate_series(timestamp '2024-01-05', '2024-01-01', '-1 day') as g",
    "select count(*) from generate_series(timestamp '2024-01-05', '1024-01-01', '1 second')",
    "select count(*) from generate_series(timestamp '2024-01-05', '2024-01-05 00:00:00.00001', '1 microsecond')",
    "select count(*), min(g), max(g) from generate_series('2024-01-05'::timestamp, '9999-01-01', '1 year 3 days') g",
    "select g from generate_series(timestamp '2024-02-01', timestamp '2024-03-01', interval '1 month -20 days') as g",
    "select count(*) from generate_series(null::timestamp, '2024-01-05', '1 day')",
    "select count(*) from generate_series(null, 3)",
    "select count(*) from generate_series(3, 1)",
    "select i, count(g) from n left join lateral generate_series(timestamp '2024-01-01', timestamp '2024-01-01' + \
     i * interval '1 day', interval '12 hours') as g on true where i < 4 group by i order by i",
    "select * from string_to_table('a,b', ',')",
    "select * from regexp_split_to_table('a1b22c', '[0-9]+') with ordinality",
    "select string_to_table('a,b', ',')",
    "select i, u.x from n, unnest(array[n.i, n.i * 2]) as u(x) where i < 4 order by 1, 2",
    "select i, x from n cross join unnest(string_to_array(s, 'b')) as x order by 1, 2",
    "select i, x, o from n left join lateral unnest(string_to_array(s, 'b')) with ordinality as u(x, o) on true order by 1",
    // A query for each row.
    "select i, x.v from n left join lateral (select v from m where m.k >= n.i order by v limit 1) x on true order by i",
    "select i, x.v from n, lateral (select v from m where m.k > n.i order by v desc nulls last limit 2) x order by 1, 2",
    "select i, x.c from n left join lateral (select 7 as c from m where m.k = n.i limit 1) x on true order by i",
    "select i, x.s from n cross join lateral (select m.v + n.i as s from m order by m.v, m.k limit 1) x order by i",
    "select i, x.n from n left join lateral (select count(*) as n from m where m.k > n.i) x on true order by i",
    "select i, x.n from n, lateral (select max(v) + n.i as n, count(v) as c from m where m.k > n.i) x order by i",
    "select i, (select max(v) from m where m.k > n.i) from n order by i",
    "select i, (select string_agg(x, '-' order by x) from unnest(string_to_array(n.s || 'cba', 'b')) as x) from n order by i",
    "select i, (select sum(x) from unnest(array[n.i, n.i + 1]) as x) from n order by i",
    "select i from n where i < (select min(m.k) from m where m.k > n.i) order by i",
    "select i, (select m.v from m where m.k > n.i order by m.v, m.k limit 1) from n order by i",
    "select i from n where exists (select 1 from m where m.k = n.i order by v limit 1) order by i",
    "select i from n where exists (select 1 from m where m.k = n.i limit 0) order by i",
    // Others.
    "select make_interval(days => 10, secs => 1.5)::text, make_timestamp(2024, 2, 29, 13, 5, 7.25)",
    "select num_nulls(i, s, f), num_nonnulls(i, s, f) from n order by i",
    "select substring('foobar' from 'o(.)b'), substring('foobar', '^f.'), regexp_replace('abc', 'b', '$0[\\&]')",
    "select array[1, 2] && array[2, 3], |/ 16, ||/ 27, @ -5, ~5, 'abc' ^@ 'ab'",
    "select E'a\nb' ~ 'a.b', regexp_count(E'a\nb', '.'), E'a\nb' similar to 'a_b'",
    "select date '2024-01-31' + interval '1 month', interval '1 month' + date '2024-01-31'",
    "select timestamp '2024-03-10 12:34:56.75'::timestamp(0), date '0044-03-15' + time '12:00'",
    // Spelled as in the standard.
    "select '{1,2,null}'::int[]::text, '{}'::int[]::text, array_to_string('{\"a b\",NULL,\"NULL\",c\\\"d}'::text[], '|', '-')",
    "select 2 = any('{1,2}'::int[]), '{{1,2},{3,4}}'::int[][] = array[array[1, 2], array[3, 4]]",
    "select (date '2024-01-01', date '2024-02-01') overlaps (date '2024-01-15', date '2024-03-01')",
    "select (date '2024-01-01', date '2024-02-01') overlaps (date '2024-02-01', date '2024-03-01')",
    "select (date '2024-02-01', date '2024-01-01') overlaps (date '2024-01-31', interval '1 day')",
    "select (t, interval '1 year') overlaps (timestamp '2024-03-01', timestamp '2024-03-10') from n order by i",
    "select (date '2024-01-01', null) overlaps (date '2024-01-01', date '2024-03-01')",
    "select (date '2024-01-01', date '2024-02-01') overlaps (null, date '2024-01-20')",
    "select trim(both from '  x '), trim(leading from ' x'), trim(trailing from 'x  '), trim(from ' y '), trim('  z')",
    "select trim(both 'x' from 'xaxx'), trim(leading 'x' from 'xax'), trim(s) from n where i = 1",
    "select count(*), sum(i) from n group by ()",
    "select count(*) from n where i > 100 group by ()",
    "select s, count(*) from n group by s, () order by s",
    "select i, (select m.v from m where m.k <= n.i order by m.v, m.k limit 1 offset 1) from n order by i",
    "select i from n where i = (select m.k from m where m.k <= n.i order by m.v, m.k limit 1 offset 2) order by i",
    "select sum(i) over (order by i rows between 1 preceding and current row exclude no others) from n order by i",
    // A decimal beside a float that it has nothing to do with.
    "select concat(1.50, '|', 2.5::float8), format('%s %s', 1.50, 2.5::float8), row(1.50, 2.5::float8)::text",
    "select concat(d, '|', f), row(d, f)::text from n where i < 4 order by i",
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
    "select jsonb_agg(v order by v) from m",
    "select json_build_object('all', (select json_agg(k order by k) from m))",
    "select json_agg(json_build_object('k', k, 'v', v) order by k, v) ->> 0 from m",
    "select json_build_object('a', i) ->> 'a' from n where i = 1",
    // Parts of times, which become ranges of them.
    "select i from n where extract(year from t) = 2024 order by i",
    "select i from n where not (extract(year from t) = 2024) order by i",
    "select i from n where extract(year from t) <> 2024 order by i",
    "select i from n where extract(year from t) = 2024.5 order by i",
    "select i from n where extract(year from t) > 2023.5 order by i",
    "select i from n where extract(year from t) >= 2024 order by i",
    "select i from n where extract(year from t) < 1970 or date_part('year', t) > 2024 order by i",
    "select i from n where date_part('year', t) in (1970, 9999) order by i",
    "select i from n where date_part('year', t) between 1500 and 1970 order by i",
    "select i from n where extract(year from t) is distinct from 2024 order by i",
    "select i from n where extract(year from t) = 0 or extract(year from t) = -1",
    "select i from n where extract(year from t::date) = 2024 order by i",
    "select i from n where extract(year from t at time zone 'America/New_York') = 1969 order by i",
    "select i from n where date_trunc('month', t) = '2024-02-01' order by i",
    "select i from n where date_trunc('month', t) = '2024-02-10' order by i",
    "select i from n where date_trunc('month', t) < '2024-02-10' order by i",
    "select i from n where date_trunc('month', t) >= '2024-02-10' order by i",
    "select i from n where date_trunc('year', t) <= timestamp '2024-01-01' order by i",
    "select i from n where date_trunc('day', t) = date '2024-02-29' order by i",
    "select i from n where date_trunc('millennium', t) = '2001-01-01' order by i",
    // The columns of `using` where one side is missing.
    "select k from (values (1)) as a(k) full join (values (2)) as b(k) using (k) order by k",
    "select * from (values (1, 'l')) as a(k, x) right join (values (2, 'r')) as b(k, y) using (k)",
    "select * from (values (1, 'l')) as a(k, x) full join (values (1, 'm'), (2, 'r')) as b(k, y) using (k) order by k",
    "select k + 1 as more, x, b.k as other, a.k as one from (values (1, 'l')) as a(k, x) full join (values (2, 'r')) as b(k, y) using \
     (k) where k > 0 order by k desc",
    "select k, count(*) from (select i as k from n) as a full join m using (k) group by k having k > 0 order by k",
    "select max(k), count(distinct k) from (select i as k from n) as a right join m using (k)",
    "select distinct on (k) k, v from (select i as k from n) as a right join m using (k) order by k, v",
    "select k, row_number() over (order by k desc) from (values (1)) as a(k) full join (values (2)) as b(k) using (k) \
     order by 1",
    "select a.x, b.y from (values (1, 'l')) as a(k, x) full join (values (2, 'r')) as b(k, y) using (k) where a.k is \
     null",
    "select K from (values (1)) as a(k) full join (values (2)) as b(k) using (k) order by 1",
    "select c.z, a.k from (values (1)) as a(k) join (values (1)) as b(k) using (k) left join (values (1, 2)) as c(k, z) \
     using (k)",
    // Decimals beside floats.
    "select 1.5 as x union all select 1e-20::float8 order by 1",
    "select d from n where i < 3 union select f from n where i in (1, 6) order by 1",
    // Rows with nulls.
    "select (1, null::int) in (select 1, 2), (1, null::int) in (select 2, 2), (1, 2) not in (select 1, null::int)",
    "select i from n where not ((i, s) in (select 1, null::text)) order by i",
    "select i from n where (i, s) not in (select 1, null::text) order by i",
    "select i from n where ((i, s) in (select b.i, nullif(b.s, 'a') from n b)) is null order by i",
    "select i, (i, s) in (select b.i, nullif(b.s, 'a') from n b) from n order by i",
    "select i from n where not ((i, s) in (select b.i, b.s from n b where b.i < 3)) order by i",
    "select i from n where case when (i, s) in (select b.i, b.s from n b where b.i < 3) then false else true end \
     order by i",
    // Names of columns that have none of their own.
    "select x::text from (values (10), (9), (100)) as v(x) order by x",
    "select x::text, x as y from (values (10), (9), (100)) as v(x) order by x desc, y",
    "select x::text, x from (values (10), (9), (100)) as v(x) order by v.x",
    "select k, count(*) from m group by k order by count desc, k",
    "select upper(s) from n where i < 4 group by s order by upper",
    "select max(v)::text from m group by k order by max",
    "select (v::text) collate \"C\" from m union all select '5' order by v",
    // Intervals go by their length.
    "select x::text from (values (interval '1 month'), (interval '31 days'), (interval '29 days')) as v(x) order by x",
    "select max(x)::text, min(x)::text from (values (interval '1 month'), (interval '31 days'), (null)) as v(x)",
    "select (max(x) filter (where x < interval '31 days'))::text from (values (interval '1 month'), (interval '31 days')) as \
     v(x)",
    "select interval '30 days' in (interval '1 month'), interval '30 days' in (interval '1 day', null)",
    "select interval '2 months' between interval '1 day' and interval '61 days'",
    "select case interval '24 hours' when interval '1 day' then 1 else 2 end",
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
    // Aggregates of rows that belong to another.
    "select i, (select sum(v) from m where k = i having count(*) > 1) from n order by i",
    "select i, (select sum(v) from m where k = i having count(*) = 0) from n order by i",
    "select i, (select count(*) from m where k = i having count(*) = 0) from n order by i",
    "select i, x.c from n, lateral (select count(*) as c from m where k = i having count(*) > 1) as x order by i",
    "select i, x.c from n left join lateral (select count(*) as c from m where k = i having count(*) > 1) as x on true \
     order by i",
    "select i from n where 0 = any (select count(*) from m where k = i) order by i",
    "select i from n where i in (select count(*) from m where k = i) order by i",
    "select i from n where i not in (select count(*) from m where k = i) order by i",
    "select i from n where exists (select sum(v) from m where k = i having count(*) > 1) order by i",
    "select i from n where not exists (select sum(v) from m where k = i having count(*) = 0) order by i",
    "select i from n where exists (select sum(v) from m where k = i) order by i",
    // Words that bind loosely, zeros, zones, and what lies between.
    "select not exists (select 1) is null, not exists (select 1) and false",
    "select i from n where not exists (select 1 from m where k = i) = true order by i",
    "select i # i, i # 3 # i from n order by i",
    "select 0.0::float8 in (-0.0::float8, 5::float8), case '-0'::float8 when 0 then 'z' else 'n' end",
    "select i from n where f in (1, 2, 3, 4, '-0'::float8) order by i",
    "select i from n where f in ('NaN'::float8, 7) order by i",
    "select i from n where f not in (1.5, null)",
    "select case f when '-0'::float8 then 'zero' when 'NaN'::float8 then 'nan' else 'none' end from n order by i",
    "select timestamptz '2024-01-01 12:00+00' at time zone '+02', timestamp '2024-01-01 12:00' at time zone '-05:30'",
    "select percentile_cont(0.99) within group (order by x), percentile_cont(0.5) within group (order by x desc) from \
     generate_series(1, 1000) as x",
    "select percentile_cont(0.123456789) within group (order by x) from (values (0.0::float8), (1e9)) as v(x)",
    "select percentile_cont(0.25) within group (order by x desc), percentile_cont(1) within group (order by x) from \
     (values (1), (2), (10), (null)) as v(x)",
    "select s, percentile_cont(0.5) within group (order by d) from n where i is not null group by s order by s",
    "select percentile_cont(0.5) within group (order by d) filter (where i > 100) from n",
    // Memberships of queries that belong to each row.
    "select x from (values (1, 1), (2, 2)) as a(x, y) where x not in (select z from (values (1, 1), (null, 2)) as b(z, w) \
     where b.w > a.y)",
    "select x from (values (1, 1), (2, 2), (null, 9)) as a(x, y) where x not in (select z from (values (1, 1), (7, 2)) as \
     b(z, w) where b.w > a.y) order by x",
    "select x from (values (1, 1), (2, 2), (null, 9), (null, 1)) as a(x, y) where not (x in (select z from (values (1, 1), \
     (null, 2)) as b(z, w) where b.w >= a.y)) order by x",
    "select x, y from (values (1, 1), (2, 2), (3, 1)) as a(x, y) where x <> all (select z from (values (1, 1), (null, 2)) as \
     b(z, w) where b.w = a.y) order by x",
    "select i from n where i not in (select v from m where k <> i) order by i",
    // Windows over floats, at the end of the integers, and on other windows.
    "select k, sum(x) over (order by k rows 1 preceding), avg(x) over (order by k rows 1 preceding) from (values (1, \
     'NaN'::float8), (2, 1.0), (3, 2.0), (4, 'infinity'), (5, 3.0), (6, 4.5), (7, null), (8, null)) as v(k, x) order by k",
    "select k, sum(x) over (order by k rows 1 preceding), stddev(x) over (order by k rows 1 preceding), var_pop(x) over \
     (order by k rows 1 preceding) from (values (1, 1e17::float8), (2, 1.0), (3, 2.0), (4, 4.0)) as v(k, x) order by k",
    "select x, count(*) over (order by x range between 2 preceding and 2 following) from (values (1::int), \
     (2147483647::int), (null)) as v(x) order by x",
    "select x, count(*) over (order by x desc range between 2 preceding and 2 following) from (values (3::bigint), (1), \
     (9223372036854775807), (-9223372036854775808), (null)) as v(x) order by x",
    "select k, count(*) over (w rows between 1 preceding and current row) from (values (1, true), (2, false), (3, true)) as \
     v(k, o) window w as (partition by o order by k) order by k",
    "select k, rank() over (w) from (values (1), (2), (3)) as v(k) window w as (order by k desc) order by k",
    "select k, sum(k) over w2 from (values (1, true), (2, false), (3, true)) as v(k, o) window w as (partition by o), w2 as \
     (w order by k desc) order by k",
    "select k from (values (1), (2), (3)) as v(k) window w as (order by k desc) order by rank() over (w)",
    // Rows that are null.
    "select (null, null) is null, (1, null) is null, (1, null) is not null, (1, 2) is not null",
    "select i from n where (i, s) is not null order by i",
    // Intervals of one length.
    "select count(*), count(distinct v) from (values (interval '30 days'), (interval '1 mon'), (interval '2 days'), (null)) \
     as t(v)",
    "select v::text, count(*) from (values (interval '2 days'), (interval '2 days'), (interval '1 year')) as t(v) group by v \
     order by v",
    "select count(*) from (select distinct v from (values (interval '30 days'), (interval '1 mon')) as t(v)) as u",
    "select count(*) from (select v from (values (interval '30 days')) as t(v) union select interval '1 mon') as u",
    "select count(*) from (values (interval '30 days')) as a(v) join (values (interval '1 mon')) as b(v) using (v)",
    "select greatest(interval '40 days', interval '1 mon')::text, least(interval '40 days', null, interval '1 mon')::text",
    "select count(*) over (partition by v) from (values (interval '30 days'), (interval '1 mon')) as t(v)",
    // Texts that are written out beside numbers.
    "select '10' as x union all select 9 order by x",
    "select case when i > 2 then '10' else i end from n order by i",
    "select case i when 1 then 2.5 else '10' end > 9 from n where i < 3 order by i",
    "select i, count(*) over (order by i rows between 1 preceding and 9223372036854775807 following), count(*) over (order \
     by i rows between 9223372036854775807 preceding and current row) from n order by i limit 2",
    // Lists with nulls.
    "select 10 < any(array[1, null]), 10 <> any(array[10, null]), 0 < any(array[1, null]), 1 >= any(array[2, 3])",
    "select array[1, null] @> array[1, null], array[1, null] @> array[1], array[1, 2] <@ array[2, 1, null], array[1, null] \
     && array[null::int], array[1, null] && array[null, 1]",
    "select null::int = any(array[]::int[]), null::int[] @> array[1], array[1] <@ null::int[]",
    // Null equals null where a join says so, and nowhere else.
    "select x.k, y.k from (values (1, 5), (2, null)) as x(k, t) join (values (1, 5), (2, null)) as y(k, t) on x.k is not \
     distinct from y.k where x.t = y.t",
    "select x.k, y.t from (values (1, 5), (null, null)) as x(k, t) left join (values (1, 5), (null, null)) as y(k, t) on \
     x.k is not distinct from y.k and x.t = y.t order by 1",
    // A number with an exponent is no whole number.
    "select x / 1e3, 7 / 2e0, 1e3 / 7, pg_typeof(1e3), 1e3 from (values (1500)) as v(x)",
    "select i from n where i / 1e1 > 0.25 order by i",
    // Expressions in an order are over what is read.
    "select -x as x from (values (1), (2)) as v(x) order by x",
    "select date_trunc('year', t) as t, count(*) from n group by date_trunc('year', t) order by date_trunc('year', t)",
    // Patterns.
    "select (regexp_match('a', '(b)?(a)'))[2], (regexp_match('a', '(b)?(a)'))[1], (regexp_match('ab', 'b'))[1], \
     regexp_match('a', 'b') is null, regexp_match(null, 'b') is null",
    "select (regexp_match(s, '^(.)(x)?'))[1] from n order by i",
    "select regexp_replace('abc', '(b)', '\\11'), regexp_replace('abc', '(b)', '<\\1\\1\\&>')",
    "select '&' ~ '^[a&&b]$', '~' ~ '^[~~]$', 'b' ~ '^[a-c]$', ']' ~ '^[]]$', 'x' ~ '^[[:alpha:]&&]$'",
    "select '\u{663}' ~ '\\d', '3' ~ '^[\\d]$', 'a' ~ '\\D', 'ab' ~ 'a\\Bb', 'a\\b' ~ 'a\\Bb', 'a b' ~ '\\bb', 'a b' ~ '\\mb\\M', \
     'ab' ~ '\\yb', 'ab' ~ '\\Yb', 'a' ~ '[[:<:]]a[[:>:]]', 'ab' ~ '[[:<:]]b', 'ab' ~ 'b\\Z'",
    "select s ~ ('^' || left(s, 1)), s !~ ('^' || left(s, 1)), s ~* ('^' || lower(left(s, 1))), s !~* s from n order by i",
    // Numbers by patterns.
    "select to_char(x, '999'), to_char(x, 'FM999'), to_char(x, '9.99'), to_char(x, 'FM9.99'), to_char(x, 'FM9.00'), \
     to_char(x, '9,999'), to_char(x, '$999'), to_char(x, 'S999'), to_char(x, '0999'), to_char(x, '.99') from (values \
     (0), (0.4), (-0.4), (0.5), (-0.5), (5), (-12.345), (999.5), (-1234.5)) as v(x) order by x",
    "select '[' || to_char(x, p) || ']' from (values (0::float8), (0.4), (-0.4), (2.5), (0.125), (1.005), (-1234.5), \
     ('NaN'), ('Infinity'), ('-Infinity'), (1e15), (1234567890123456.78)) as v(x), (values (1, '999'), (2, 'FM999'), \
     (3, '9.99'), (4, '9999.99'), (5, 'FM9.99'), (6, 'S999'), (7, '999PR'), (8, 'MI999'), (9, 'PL99.9'), (10, \
     '9,999.99'), (11, '9999999999999999.99')) as q(n, p) order by x, n",
    "select '[' || to_char(x, p) || ']' from (values (0.4::float4), (0.125), (1234.567), ('NaN'), ('Infinity')) as \
     v(x), (values (1, '999'), (2, '9.99'), (3, '9999.99'), (4, 'FM9999.9999')) as q(n, p) order by x, n",
    "select '[' || to_char(x, p) || ']' from (values (0), (5), (-5), (-123)) as v(x), (values (1, '999S'), (2, \
     '9S99'), (3, 'SG999'), (4, 'FMSG999'), (5, '99PL'), (6, 'FMPL99'), (7, '999PR\"x\"'), (8, 'FM999MI'), (9, \
     '9\"a\"99'), (10, '999.'), (11, 'S.9'), (12, '9\"\\\"\"99'), (13, 'b999'), (14, '')) as q(n, p) order by x, n",
    "select '[' || to_char(f, '9,999.99') || ']', '[' || to_char(d, 'FM9,999,999.0') || ']', '[' || to_char(i, 'S9') \
     || ']' from n order by i",
    // Abbreviations are offsets.
    "select timestamp '2024-07-01 12:00' at time zone 'CET', timestamptz '2024-07-01 12:00+00' at time zone 'cet', \
     timestamptz '2024-07-01 12:00+00' at time zone 'CEST'",
    "select z, timestamptz '2024-07-01 12:00+00' at time zone z, timestamp '2024-01-15 12:00' at time zone z from \
     (values ('EST'), ('EDT'), ('MST'), ('HST'), ('EET'), ('MET'), ('WET'), ('PST'), ('PDT'), ('BST'), ('JST'), \
     ('IST'), ('NST'), ('NPT'), ('AEDT'), ('CHAST'), ('UTC'), ('GMT'), ('Z'), ('EST5EDT'), ('Europe/Paris')) as v(z)",
    "select timestamptz '2024-07-01 12:00 CET', '2024-07-01 12:00:00.5 EST'::timestamptz, timestamptz '2024-07-01 \
     12:00Z', timestamptz '2024-07-01 12:00:00 cest', timestamptz '2024-07-01 12:00 Europe/Paris'",
    // Bits of whole numbers.
    "select to_hex((-3)::int), to_hex(i), to_hex(-i), to_hex((-i)::int), to_hex((-i)::smallint::int) from n order by i",
    "select (2147483647::int) << 2, pg_typeof((2147483647::int) << 2), (-8::int) >> 1::int, 1::int << 33, pg_typeof(i \
     << 2), i << 62 from n where i < 4 order by i",
    "select 20000::smallint << 1, pg_typeof(1::smallint << 1), (-20000)::smallint >> 3, 1::smallint << 20, \
     -1::smallint << 15",
    "select ~(5::int), pg_typeof(~(5::int)), to_hex(~(5::int)), ~i, pg_typeof(~i), pg_typeof(~(5::smallint)), \
     ~(null::int) from n order by i",
    // Texts as bytes.
    "select encode(x::bytea, 'hex'), encode(convert_to(x, 'UTF8'), 'hex') from (values ('\\x4142'), ('abc'), \
     ('a\\\\b'), ('\\001\\377'), ('\\x 4A 4b'), ('\\x'), (''), (null), ('\u{e4}')) as v(x)",
    "select encode('\\x4142'::bytea, 'hex'), encode(bytea '\\x4142', 'hex'), encode('a\\\\b\\001'::bytea, 'hex'), \
     encode('abc'::bytea::bytea, 'hex'), encode(cast(null as bytea), 'hex'), '\\x41'::bytea = 'A'::bytea",
    "select encode(s::bytea, 'hex'), length(s::bytea) from n order by i",
    // What is empty has no dimensions; the sign of what is no number.
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
    // Counts are whole numbers with a sign.
    "select i, row_number() over (order by i) / 2, (row_number() over (order by i) - 1) / 3, rank() over (order by s) / 2, \
     dense_rank() over (order by s) - 10, ntile(3) over (order by i) / 2, -row_number() over (order by i) from n order by i",
    "select array_length(array[1, 2, 3], 1) / 2, cardinality(array[1, 2, 3]) / 2, cardinality(array[i]) / -3, \
     -cardinality(array[1]), array_position(array[3, 4], 4) / 3, array_upper(array[5, 6, 7], 1) / 2, \
     json_array_length('[1, 2, 3]') / 2, array_ndims(array[array[1]]) / 4, (array_positions(array[1, 1], 1))[2] / 3 \
     from n order by i",
    "select k, v from (select k, v, row_number() over (partition by k order by v desc nulls last) / 1 as r from m) as q \
     where r <= 1 order by k",
    // An array that is written out beside numbers of another kind.
    "select 1 = any(array[1.5, 2]), 1.5 = any(array[1, 2]), d = any(array[5, 99.99]), f = any(array[1.5, 0]), \
     2 = any(array[1.0, 2, null]), 3.0 = any(array[1, null]), 1 <> all(array[2.5, 3]), i <> all(array[1, null]), \
     s = any(array['a', 'b']) from n order by i",
    // `any` and `all` of queries that belong to each row.
    "select i from n where i < any (select v from m where m.k = n.i) order by i",
    "select i, i >= all (select v from m where m.k = n.i), d > any (select v from m where m.k = n.i), i <> any (select \
     k from m where m.v > n.d), i = all (select k as x from m where m.k = n.i) from n order by i",
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
    // What lies between two times, beside intervals, numbers and dates.
    "select i, (t - timestamp '2000-01-01 01:00' + interval '1 hour')::text, (interval '1 month' - (t - timestamp \
     '2000-01-01'))::text, ((t - timestamp '2000-01-01') / 2)::text, ((t - timestamp '2000-01-01') * 1.5)::text, \
     coalesce(t - timestamp '2000-01-01', interval '0')::text, greatest(t - timestamp '2000-01-01', interval '1 \
     day')::text, date_trunc('day', t - timestamp '2000-01-01')::text, date '2024-01-01' + (t - timestamp \
     '2024-01-01') from n where t > timestamp '1900-01-01' and t < timestamp '2100-01-01' order by i",
    "select justify_days(timestamp '2024-03-01 12:00' - timestamp '2024-01-01')::text, extract(day from timestamp \
     '2024-03-01 12:00' - timestamp '2024-01-01' + interval '1 hour'), avg(t - timestamp '2024-01-01') is null from n",
    // Lengths below zero, and digits that are not written out.
    "select '[' || rpad(s, -1, s) || ']', lpad('10', -1, s), lpad(s, (i - 3)::int, s), rpad('ab', (i - 3)::int, s), \
     rpad(s, -1), lpad('abc', 2, s) from n order by i",
    "select sum(round(2.567, 2)) filter (where i > 1) = 12.85 from n",
    "select round(2.567, i::int) = 2.57, round(d, (i - 1)::int) = 5, \
     round(d, 1) from n order by i",
    // A time without a zone passes an offset over.
    "select timestamp '2024-07-01 12:00+02', timestamp '2024-07-01T12:00:00.5Z', '2024-07-01 12:00:00-05:30'::timestamp, \
     timestamp '2024-07-01 12:00 CET', timestamptz '2024-07-01 12:00+02'",
];

/// Those that are refused, and what is said.
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("select * from (values (1)) as a(k) natural full join (values (2)) as b(k)", "a natural join"),
    (
        "select * from (values (1)) as a(k) full join (values (2)) as b(k) using (k) join (values (1)) as c(k) using (k)",
        "a join with a right or full join by `using (k)`",
    ),
    ("select -i as i from n order by i + 0", "one that is given has its name"),
    ("select rank() over (w) from n", "there is no window `w`"),
    ("select rank() over (w partition by i) from n window w as (order by i)", "can't be said again"),
    ("select rank() over (w) from n window w as (order by i rows 1 preceding)", "which has a frame"),
    ("select percentile_cont(1.5) within group (order by i) from n", "is not between 0 and 1"),
    ("select '1,2'::int[]", "is no array"),
    ("select '{1,2'::int[]", "is no array"),
    ("select s::int[] from n", "is no array"),
    ("select avg(x) from (select interval '1 day' as x) as y", "`avg` does not take"),
    ("select sum(i * 9223372036854775807) from n", "out of the range of bigint"),
    ("select 9223372036854775807 + 1", "out of the range of bigint"),
    ("select sum(x) from (select 9223372036854775807 as x from n) as y", "out of the range of bigint"),
    ("select 9223372036854775807 + i - i + 1 from n", "out of the range of bigint"),
    ("select (i - i - 9223372036854775807 - 1) / -1 from n where i = 1", "out of the range of bigint"),
    ("select 7 - i / (i - i) from n where i = 1", "division by zero"),
    ("select i from n order by i fetch first 2 rows with ties", "with ties"),
    ("select count(*) from n tablesample bernoulli (10) repeatable (1)", "can't be repeated"),
    ("select (i, s) = (1, 2, 3) from n", "a row of 2 columns is compared with one of 3"),
    ("select row_to_json(n) from n", "`n` is a table"),
    ("select json_agg(n) from n", "`n` is a table"),
    ("select json_agg(*) from n", "takes values"),
    ("select json_build_object('a', 1, 'b')", "the last key has none"),
    ("select json_build_object(s, 1) from n", "a key of an object is null"),
    ("select json_object('{a, 1}')", "Invalid function 'json_object'"),
    ("select frmat('x')", "Invalid function 'frmat'"),
    ("select sum(i) over (order by i rows 1 preceding exclude current row) from n", "exclude"),
    ("select i from n where i in (select unnest(array[n.i]))", "names columns of the query around it"),
    ("select make_time(13, 5, 7.25)", "`make_time` does not take (Int64, Int64, Decimal128(3, 2))"),
    ("select s::bytea from (values ('\\x4')) as v(s)", "odd number of hexadecimal digits"),
    ("select 'a\\b'::bytea", "a backslash stands before another or three octal digits"),
    ("select 'a' like 'b' collate \"de_DE\"", "there is no collation"),
    ("select extract(hour from date '2024-01-01')", "a date has no field `hour`"),
    ("select regexp_replace('a', 'b', 'c', 'q')", "a pattern has no flag `q`"),
];
