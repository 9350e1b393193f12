//! Numbers: literals, casts, operators, and the order of floats.

pub(super) const SAME: &[&str] = &[
    "select nullif('-0.0'::float8, 1.0::float8)::text, nullif('-0.0'::float8, 0.0::float8), nullif('nan'::float8, \
     'nan'::float8), nullif(x, x + 1)::text from (values ('-0.0'::float8)) v(x)",
    "select trunc(trunc(-0.005, 0), -1), trunc(0.5, 0), trunc(0.05, 1), trunc(-0.99, 0)",
    // A real beside decimals: among several it stays one, and an operator takes double precision.
    "select r in (0.1, 5), r in (0.1), r = any(array[0.1, 5]), r not in (0.1, 2.5), r in (0.1, null), r in (0.1, '0.1') from (values (0.1::real), (5::real)) as v(r)",
    "select nullif(r, 0.1), coalesce(r, 0.1), greatest(r, 0.15), case r when 0.1 then 'a' when 5 then 'b' end from (values (0.1::real), (5::real)) as v(r)",
    "select pg_typeof(coalesce(1::real, 0.1)), pg_typeof(nullif(1::real, 0.1)), pg_typeof(nullif(1::int2, 2::int8))",
    "select nullif(1, 1.5), nullif(1, 1.0), pg_typeof(nullif(1, 1.5)), nullif(0.1::real, 0.1::float8)",
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
    // Whole numbers that 32 bits would round.
    "select v from (values (16777216::real), (16777218::real)) as t(v) where v = 16777217",
    "select v from (values (16777216::real), (16777218::real)) as t(v) where v < 16777217",
    "select v from (values (16777216::real), (16777218::real)) as t(v) where v not between 5 and 16777217",
    "select v = k, v < k, v <> k from (values (16777216::real, 16777217), (16777216::real, 16777216)) as t(v, k)",
    "select v = 5, v > 3 from (values (5::real)) as t(v)",
    // Whole numbers beside more digits than any decimal of both has.
    "select i from n where i > 1e-20 order by i",
    "select i from n where i < -0.00000000000000000000001 order by i",
    "select i from n where i = 1e-30",
    "select i from n where i between 1e-25 and 2.5 order by i",
    "select i from n where i in (1e-20, 2) order by i",
    "select i::bigint > 1e-20, 1e-20 >= i::bigint from n order by i",
    "select i::smallint <> 1e-38 from n where i < 5 order by i",
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
    // A decimal as a float is the nearest one.
    "select 22.462009622886406::float8 = '22.462009622886406'::float8, -0.09936942232324407::float8",
    "select x.v::text::float8 = x.v::float8, x.v::float8 from (values (22.462009622886406), (0.1), (1e-9), \
     (12345678901234567890.123456789), (-7.000000000000001), (9007199254740993)) as x(v) order by x.v",
    "select x.v::text::real = x.v::real from (values (22.462009622886406), (0.1), (16777217)) as x(v)",
    "select count(*) from n where d::float8 = d::text::float8",
    // Whole numbers.
    "select 2 ^ 3, 2 * 3 ^ 2, 5 # 3",
    "select sum(i), sum(i + 1), sum(i * 2) from n",
    "select sum(distinct v) from m",
    "select sum(i::smallint), sum(i::smallint + 1), sum(2 + i::int), sum(i::int - 3), count(i), count(*) from n",
    "select s, sum(i::int + 1), sum(i::int), sum(i::int + 7) filter (where i > 2), sum(distinct i::int + 1) from n \
     group by s order by s",
    "select sum(i::int + 1), sum(i::int + 2), sum(k::int - 1), sum(k::int) from n full join m on i = k where i > 100",
    "select sum(i::int + 1) as a, sum(i::int + 2) as b, count(i::int) as c, count(i) as d from n",
    "select k, count(v::int) as n from m group by k having sum(v::int + 1) > 0 and sum(v::int + 2) > 0 order by k",
    "select avg(d), sum(d), count(d), avg(d + 1), sum(d + 1), sum(distinct d), avg(distinct d), min(d) from n",
    "select s, avg(d), sum(d) from n group by rollup (s) order by s, 2",
    "select max(x) from (select sum(k::int + 1) + sum(k::int + 2) as x from m group by v) as y",
    "select sum(d * d * d), sum(distinct d * d * d), avg(d * d * d) from n",
    "select s, sum(d * d * d), sum(distinct d * d * d), sum(-d * d * d) filter (where i > 1) from n group by s order by s",
    "select i, sum(d * d * d) over (order by i rows 1 preceding) from n where i is not null order by i",
    "select k % 2 as g, sum(x), sum(-x), sum(x + 0) from (select k, 99999999999999999999999999999999999999::numeric(38, 0) \
     as x from generate_series(1, 50) as t(k)) as q group by 1 order by 1",
    "select sum(x) from (select 99999999999999999999999999999999999999::numeric(38, 0) as x from generate_series(1, 50)) q",
    "select k, sum(v) from m group by k order by k",
    "select sum(v) over (order by v rows 1 preceding) from m where v is not null order by v",
    "select mod(7, 3), mod(-7, 3), div(7, 2), div(-7, 2), gcd(12, 18), sign(-3), sign(2.5), factorial(5)",
    "select ceiling(1.2), floor(-1.2), abs(-5), width_bucket(5.35, 0.024, 10.06, 5), width_bucket(3, 10, 0, 5)",
    // A decimal beside a float that it has nothing to do with.
    "select concat(1.50, '|', 2.5::float8), format('%s %s', 1.50, 2.5::float8), row(1.50, 2.5::float8)::text",
    "select concat(d, '|', f), row(d, f)::text from n where i < 4 order by i",
    // Decimals beside floats.
    "select 1.5 as x union all select 1e-20::float8 order by 1",
    "select d from n where i < 3 union select f from n where i in (1, 6) order by 1",
    // Texts that are written out beside numbers.
    "select '10' as x union all select 9 order by x",
    "select case when i > 2 then '10' else i end from n order by i",
    "select case i when 1 then 2.5 else '10' end > 9 from n where i < 3 order by i",
    "select i, count(*) over (order by i rows between 1 preceding and 9223372036854775807 following), count(*) over (order \
     by i rows between 9223372036854775807 preceding and current row) from n order by i limit 2",
    // A number with an exponent is no whole number.
    "select x / 1e3, 7 / 2e0, 1e3 / 7, pg_typeof(1e3), 1e3 from (values (1500)) as v(x)",
    "select i from n where i / 1e1 > 0.25 order by i",
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
    // Bits of whole numbers.
    "select to_hex((-3)::int), to_hex(i), to_hex(-i), to_hex((-i)::int), to_hex((-i)::smallint::int) from n order by i",
    "select (2147483647::int) << 2, pg_typeof((2147483647::int) << 2), (-8::int) >> 1::int, 1::int << 33, pg_typeof(i \
     << 2), i << 62 from n where i < 4 order by i",
    "select 20000::smallint << 1, pg_typeof(1::smallint << 1), (-20000)::smallint >> 3, 1::smallint << 20, \
     -1::smallint << 15",
    "select ~(5::int), pg_typeof(~(5::int)), to_hex(~(5::int)), ~i, pg_typeof(~i), pg_typeof(~(5::smallint)), \
     ~(null::int) from n order by i",
    // Counts are whole numbers with a sign.
    "select i, row_number() over (order by i) / 2, (row_number() over (order by i) - 1) / 3, rank() over (order by s) / 2, \
     dense_rank() over (order by s) - 10, ntile(3) over (order by i) / 2, -row_number() over (order by i) from n order by i",
    "select array_length(array[1, 2, 3], 1) / 2, cardinality(array[1, 2, 3]) / 2, cardinality(array[i]) / -3, \
     -cardinality(array[1]), array_position(array[3, 4], 4) / 3, array_upper(array[5, 6, 7], 1) / 2, \
     json_array_length('[1, 2, 3]') / 2, array_ndims(array[array[1]]) / 4, (array_positions(array[1, 1], 1))[2] / 3 \
     from n order by i",
    "select k, v from (select k, v, row_number() over (partition by k order by v desc nulls last) / 1 as r from m) as q \
     where r <= 1 order by k",
    // Lengths below zero, and digits that are not written out.
    "select '[' || rpad(s, -1, s) || ']', lpad('10', -1, s), lpad(s, (i - 3)::int, s), rpad('ab', (i - 3)::int, s), \
     rpad(s, -1), lpad('abc', 2, s) from n order by i",
    "select sum(round(2.567, 2)) filter (where i > 1) = 12.85 from n",
    "select round(2.567, i::int) = 2.57, round(d, (i - 1)::int) = 5, \
     round(d, 1) from n order by i",
    "select i, round((covar_pop(y, x) over w)::numeric, 6), round((covar_samp(y, x) over w)::numeric, 6), \
     round((corr(y, x) over w)::numeric, 6), round((regr_slope(y, x) over w)::numeric, 6), \
     round((regr_intercept(y, x) over w)::numeric, 6), round((regr_r2(y, x) over w)::numeric, 6) from \
     (values (1, 1e15::float8, 1::float8), (2, 1, 1), (3, 2, 5), (4, 3, null), (5, 9, 9), (6, 100000, 1), (7, 1, 2), \
     (8, 1, 2), (9, 4, 2)) as t(i, y, x) window w as (order by i rows between 1 preceding and current row) order by i",
    "select i, regr_avgx(y, x) over w, regr_avgy(y, x) over w, regr_sxx(y, x) over w, regr_syy(y, x) over w, \
     regr_sxy(y, x) over w, regr_count(y, x) over w from (values (1, 1e17::float8, 1::float8), (2, 1, 1), \
     (3, null, 5), (4, 3, 7), (5, 5, 9)) as t(i, y, x) \
     window w as (order by i rows between 1 preceding and current row) order by i",
    // A number in quotes has all of its digits beside a decimal of fewer.
    "select i, d = '0.104', d <> '0.104', d in ('0.1', '99.994'), d between '0.096' and '5.004', d < '0.1049', \
     d + '0.001', d * '1.5', coalesce(nullif(d, '0.1'), '0.001') = 0.001, case d when '0.104' then 1 else 0 end, \
     least(d, '0.001') = 0.001 from n order by i",
    "select sum(d * '0.15'), 1.5 + '0.001', '0.01' * 2.5, 7 / '2', 1.5 = '1.54' from n",
    "select d from n where i = 1 union all select '0.001' order by 1",
    "select array_to_string(array[1.5, 2.5, -1.5]::int[], ','), array_to_string('{0.5,1.5}'::float8[]::bigint[], ','), \
     3 = any(array[2.5]::int[]), array_to_string(array_remove('{NaN,1,-0}'::float8[], 0), ','), \
     array_position('{-0}'::float8[], 0), array_to_string(array_replace('{-0}'::float8[], 0, 5), ',')",
    "select concat('\\x61'::bytea, 'b'), array_to_string(array['\\xff'::bytea], ',', '*'), (array['\\x61'::bytea]::text[])[1]",
    // All digits of a quoted number among others.
    "select sum(x) from (values (1), ('2.255'), (1.5)) v(x)",
    "select coalesce(null, 1, '2.25', 1.5), greatest(1, '2.25', 1.5), least('1.25', 7, 1.5)",
    "select '2.25' in (1, 1.5, 2.3), '2.25' = any(array[1, 1.5, 2.3]), (array[1, '2.25', 1.5])[2]",
    "select '0.1' in (0.1::real, -0.1), '0.1' in (null::numeric, 0.1::real), '0.5' in (0.5::float8, 1.5)",
    "select i from n where '99.99' in (d, 0.5::real) order by i",
    "select 0.1::real::numeric(10, 8), (f + 12345678901234.567891)::numeric(20, 4) from n where i = 1",
    "select '1e3'::numeric, x::numeric::float8 from (values ('1e3'), ('-2.5E-2'), ('7')) v(x) order by 2",
    "select tanh(0.1::real)::text, sinh(0.1::real)::text, tan(0.1::real)::text",
];
