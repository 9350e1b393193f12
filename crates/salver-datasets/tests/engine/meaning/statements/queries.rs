//! Joins, subqueries, sets, windows, and functions that give rows.

pub(super) const SAME: &[&str] = &[
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
    // Values that have no name of their own.
    "select count(*) from n where i in (select max(i) from n) or i < 0",
    "select count(*) from n where i not in (select min(b.i) from n b group by b.s) or i < 2",
    "select i, case when i in (select sum(v) from m) then 1 else 0 end from n order by i",
    "select i, i in (select max(b.i) over () from n b), i <> all (select max(b.i) from n b group by b.s) from n order by i",
    "select count(*) from n where i <> all (select max(b.i) from n b group by b.s)",
    "select i from n where i in (select max(b.i) from n b where b.s = n.s) or i < 2 order by i",
    "select i from n where i in (select b.i + 1 from n b) or i in (select max(b.i) from n b) or i is null order by i",
    // Positions of what is computed of groups.
    "select upper(s), count(*) from n group by s order by 1",
    "select s, count(*) + 1, sum(i) * 2 from n group by s order by 3 desc, 2, 1",
    "select s, i + 1, 5, 'x' from n group by s, i order by 2, 3, 4",
    "select s, row_number() over (order by s desc) from n group by s order by 2",
    "select case when i > 2 then 'x' else 'y' end, s from n group by s, i order by 1 desc, 2 limit 3",
    "select date_trunc('month', t), count(*) from n where t > '1990-01-01' group by t order by 1 desc",
    "select upper(max(s)), count(*) - 1 from n order by 1, 2",
    "select s::varchar, max(i)::text from n group by s having max(i) > 1 order by 2, 1",
    "select (select max(b.i) from n b where b.s = n.s), s from n group by s order by 1, 2",
    "select 7, upper(s) from n group by s having max(i) > 6 order by 1",
    "select upper(s), count(*) from n group by s order by 1 desc, 2, 1, 1 nulls first, 2 desc",
    // What is looked for has the name of what it is looked for among.
    "select i, i in (select i from n where i < 3), i not in (select i from n where i > 2) from n order by i",
    "select i, i in (select i from (values (1), (2)) n(i)) from (values (1), (3)) n(i) order by i",
    "select i, i in (select i from n where d > 5) from n where i < 4 order by i",
    "select sum(case when i in (select i from n where d > 5) then d else 0 end) from n where i > 0",
    "select count(*) filter (where i in (select i from n where s = 'b')) from n",
    "select i from n order by i in (select i from n where d > 5), i",
    "select i, i = any (select i from n where i > 3), i + 1 <> all (select i from n where i < 3) from n order by i",
    "select n.i, m.v from n, m where n.i not in (select n.i from n where n.i > m.k) order by 1, 2",
    "select count(*) from (select i in (select i from n where s = 'b') f from n) t where f",
    "select 7 in (select i from n where i < 3), null::int in (select i from n where i > 100) from n where i = 1",
    "select i from n where 7 not in (select i from n) order by i",
    "select i from n where 5 not in (select i from n where i < 3) order by i",
    "select i from n where null::bigint not in (select k from m) order by i",
    "select i from n where null::bigint not in (select k from m where k > 100) order by i",
    "select i from n where 7 <> all (select i from n where i is null) order by i",
    "select 1 as one where 7 not in (select null::int)",
    "select 1 as one where (select 7) not in (select null::int)",
    "select count(*) from m having 7 not in (select null::int)",
    "select n.i, m.v from n join m on n.i = m.k and 7 not in (select null::int)",
    "select count(*) from n join m on 7 not in (select null::int)",
    "select n.i, m.v from n join m on n.i = m.k and (m.v in (select null::int)) is null order by 1, 2",
    "select n.i, m.v from n join m on n.i = m.k and (m.v in (select i from n) or n.i = 1) order by 1, 2",
    "select n.i, m.v from n left join m on n.i = m.k and 7 not in (select null::int) order by 1",
    "select n.i, m.v from n left join m on n.i = m.k and (m.v in (select null::int)) is null order by 1, 2",
    "select n.i, m.v from n left join m on n.i = m.k and m.v not in (select i from n where i < 6) order by 1, 2",
    "select n.i, m.v from m right join n on n.i = m.k and 7 not in (select i from n) order by 1, 2",
    "select i from n where i not in (select q.k from (select k from m order by k limit 1) q where q.k = n.i) order by i",
    "select i from n where exists (select 1 from m where m.k = n.i offset 1) order by i",
    "select i from n where not exists (select 1 from m where m.k = n.i order by v limit 3 offset 1) order by i",
    "select i from n where exists (select 1 from m offset 5) order by i",
    "select i from n where exists (select k from m group by k offset 2) order by i",
    "select i from n where exists (select 1 from m limit 0 offset 1)",
    "select sum(i) from (select i from n order by i desc offset 2) q",
    "select * from (select i from n order by i desc offset 2) q order by i",
    "select * from (select i from n order by i desc offset 2) q order by i desc",
    "select sum(length(s)) from (select s, i from n order by i desc offset 2) q",
    "select count(s) from (select s from n order by i desc offset 2) q",
    "select i from n where i in (select i from n order by i desc offset 2) order by i",
    "(select i from n order by i desc offset 2) union all select 100 order by 1",
    "select max(i) from (select i from (select i from n order by i offset 1) q order by i desc offset 1) q",
    "select o.k, l.c from (values (1), (2)) o(k), lateral (select sum(x) over () as c from (values (1, 10), (1, 20), \
     (2, 30)) i(k, x) where i.k = o.k) l order by 1, 2",
    "select o.i, l.j, l.r, l.c from n o left join lateral (select b.i as j, row_number() over (order by b.i desc) as r, \
     count(*) over () as c from n b where b.i > o.i) l on true order by 1, 2",
    "select o.i, l.r from n o, lateral (select max(r) as r from (select row_number() over (order by b.i) as r from n b \
     where b.i <= o.i) q) l order by 1",
    "select o.i, l.c, l.r from n o cross join lateral (select sum(b.i) over (partition by b.s order by b.i) as c, \
     rank() over (order by b.s) as r from n b where b.i <> o.i order by b.i limit 2) l order by 1, 2, 3",
    "select array_to_string(array_agg(distinct k order by k), ','), array_to_string(array_agg(distinct k order by k desc), \
     ','), sum(k) from m",
    "select string_agg(distinct s, ',' order by s) as a, string_agg(distinct s, ',' order by s desc) as b from n",
    "select array_to_string(array_agg(v order by v), ',', 'N'), array_to_string(array_agg(distinct v order by v desc), \
     ',', 'N') from m group by k order by k",
    "select sum(i) filter (where exists (select 1 from n b where b.i = n.i + 1)) from n",
    "select k from (values (1)) a(k) join (values (1)) b(k) using (k) right join (values (9)) c(k) using (k) where k = 9",
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
    // The columns of `using` beside a condition.
    "select i from n join m on m.k = n.i where i = 1",
    "select k from m join (select i as k, s from n) as o using (k) where k = 1",
    "select k, count(*), max(s) from m join (select i as k, s from n) as o using (k) where k > 0 and s <> 'b' group by k",
    "select * from m left join (select i as k, s from n) as o using (k) where k > 1 order by v",
    "select s from m join (select i as k, s from n) as o using (k) join (select i as k, d from n) as p using (k) where k + \
     1 = 2 order by v",
    "select count(*) from m left join (select i as k, s from n) as o using (k) where k in (select i from n where i < 5)",
    "select k, sum(v) over (order by k, v) from m join (select i as k, s from n) as o using (k) where k is not null",
    // What a query compares with the row around it has the name of what it selects.
    "select i from n where exists (select b.i from n b join m on m.k <> b.i where m.k = n.i and b.s = 'a') order by i",
    "select i from n c where exists (select * from n a join m on m.k = a.i where m.v > 5 and m.k = c.i) order by i",
    "select i from n c where not exists (select a.i, m.k from n a join m on m.k = a.i where a.i = c.i or m.v = c.i) \
     order by i",
    "select i from n c where exists (select b.s as i from n b where b.i = c.i and b.d > 1) order by i",
    "select c.i as k, (select min(b.d) as i from n b where b.i = c.i) from n c order by k",
    "select i, sum(coalesce((i + 0 in (select i from n where i > 2))::int, 2)) from \
     n group by grouping sets ((i), (i, s), ()) order by 1, 2",
    "select i from n c where s in (select b.s as i from n b where b.i = c.i) order by i",
    "select i, s in (select b.s from n b where b.i = n.i or b.d < n.d) from n order by i",
    "select i, i in (select b.i from n b where b.i = n.i or b.d < n.d) as g from n order by i",
    "select c.i, q.i from n c, lateral (select m.k as i from m join n b on b.i = m.v - 9 where m.k = c.i) q order by 1",
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
    // Null equals null where a join says so, and nowhere else.
    "select x.k, y.k from (values (1, 5), (2, null)) as x(k, t) join (values (1, 5), (2, null)) as y(k, t) on x.k is not \
     distinct from y.k where x.t = y.t",
    "select x.k, y.t from (values (1, 5), (null, null)) as x(k, t) left join (values (1, 5), (null, null)) as y(k, t) on \
     x.k is not distinct from y.k and x.t = y.t order by 1",
    // Expressions in an order are over what is read.
    "select -x as x from (values (1), (2)) as v(x) order by x",
    "select date_trunc('year', t) as t, count(*) from n group by date_trunc('year', t) order by date_trunc('year', t)",
    // `any` and `all` of queries that belong to each row.
    "select i from n where i < any (select v from m where m.k = n.i) order by i",
    "select i, i >= all (select v from m where m.k = n.i), d > any (select v from m where m.k = n.i), i <> any (select \
     k from m where m.v > n.d), i = all (select k as x from m where m.k = n.i) from n order by i",
    "select i, count(*) from n left join (select i, s as z from n) as b using (i) left join (select i, d as w from n) as c \
     using (i) where i > 1 group by i order by i",
    "select i, a.s, z, w from n as a join (select i, s as z from n where i < 6) as b using (i) left join (select i, d as w \
     from n where i > 2) as c using (i) where i <> 3 order by i desc",
    "select k from (values (1), (2)) as a(k) left join ((values (2)) as b(k) join (values (2), (3)) as c(k) using (k)) \
     using (k) where k > 0 order by k",
    "select sum(u), count(*) from unnest(array[1, 2, null]) as u",
    "select u + 1 as v from unnest(array[3, 4]) as u where u > 3",
    "select s, i, count(*), grouping(s), grouping(i) from n group by rollup((s, i)) order by s, i",
    "select s, i, f, count(*) from n group by rollup(s, (i, f)) order by s, i, f, count(*)",
    "select s, i, f, count(*) from n group by cube((s, i), f) order by s, i, f, count(*)",
    "select s, i, count(*) from n group by grouping sets (rollup(s, i), (i)) order by s, i, count(*)",
    "select s, i, count(*) from n group by grouping sets (cube((s, i)), i, ()) order by s, i, count(*)",
    "select k, v, count(*) from m group by k, rollup((k, v)) order by k, v, count(*)",
    // What is written twice, and casts of what rows are grouped by.
    "select s, count(*) from n group by rollup(s, s) order by s, count(*)",
    "select s, i, count(*), grouping(s) from n group by cube(s, i, s) order by s, i, count(*), 4",
    "select s, count(*) from n group by grouping sets (rollup(s, s), (s, s)) order by s, count(*)",
    "select s, count(*) from n group by s, s::text order by s",
    "select s::varchar, i::text, count(*) from n group by i, (s), i::bigint::text, cast(s as text) order by 1, 2",
    "select count(*) from n group by i::int, i::text, i having i::text > '1' order by i::text",
    "select i::text, count(*) from n group by rollup(i, i::text) order by 1, 2",
    "select array_to_string(percentile_disc(array[0, 0.5, 1]) within group (order by i), ',') as p from n",
    "select array_to_string(percentile_cont(array[0.25, null, 0.5]) within group (order by i), ',', 'x') as p from n",
    "select array_to_string(percentile_cont, ',') as p from \
     (select percentile_cont(array[0.25, 0.5]) within group (order by i) from n) as x",
    "select k, (percentile_cont(array[0.5]) within group (order by v) filter (where v > 4))[1] as p from m group by k order \
     by k",
    "select o.i, l.k, l.v from n as o, lateral (select a.k, b.v from m as a join m as b on a.k = b.k and b.v = o.i * 10) as \
     l order by 1, 2, 3",
    "select o.i, l.k from n as o left join lateral (select a.k from m as a join m as b on a.v = o.i * 10) as l on true \
     order by 1, 2",
    "select i from n as o where exists (select 1 from m as a join m as b on a.k = b.k and b.v = o.i * 10) order by i",
    "select i from n as o where i in (select a.k from m as a join m as b on a.k = b.k and b.v > o.i * 4) order by i",
    "select sum(x) from (select case when a > b then a else b end as x from (select k as a, count(v) as b from m group by \
     k) as z) as y",
    "select k from m as o where exists (select 1 from (select k, count(*) as c from m group by k) as t where o.k < case \
     when t.k > t.c then t.k else t.c end) order by k",
    // A quoted literal beside a column of the other side, and columns of two types.
    "select d::text::float8 from (select d from n intersect select '99.99' union all select '5.00') q order by 1",
    "select count(*) from (select d from n except select '0.1') q",
    "select i from (select '7' as i intersect select i from n) q",
    "select i from n except all select '1' order by 1",
    "select count(*) from (select 0.1::real as x intersect select 0.1) q",
    "select count(*) from (select 0.1 as x except select d::real from n) q",
    "select i from (select i from n intersect select 2.0) q",
    "select t::date from (select t from n intersect select date '2024-02-29') q",
    "select x::text from (select interval '1 day' as x intersect select '24:00') q",
    "select i from n where d in (select d::real from n) order by i",
    "select i from n where d not in (select f from n where f is not null) order by i",
    "select i from n where 0.1 in (select d::real from n) order by i",
    "select i from n where interval '24 hours' in (select interval '1 day') order by i",
    "select i from n where '24:00' in (select interval '1 day') order by i",
    "select i from n where t in (select date '2024-02-29' union select date '1970-01-01') order by i",
    "select i from n where time '12:00' in (select time '12:00') order by i",
    "select count(*) from (select 0.1::real as k) a join (select 0.1 as k) b using (k)",
    "select count(*) from (select 0.5::real as k) a join (select 0.5 as k) b using (k)",
    "select count(*) from (select interval '1 day' as k) a join (select interval '24 hours' as k) b using (k)",
    "select count(*) from (select date '2024-02-29' as k) a join (select t as k from n) b using (k)",
    // What stands in for rows that there are not has one type with the others.
    "select i, lag(i, 1, 1.5) over (order by i) > 1.2 from n where i < 9 order by i",
    "select i, lag(d, 1, '7') over (order by i) from n where i = 1",
    "select i, lead(t, 1, '2020-02-02 10:00') over (order by i) from n where i > 1 order by i",
    "select i, lead(t::date, 1, timestamp '2020-02-02 10:00') over (order by i)::text from n where i in (1, 6) order by i",
    "select encode(lag(s::bytea, 1, '\\xff') over (order by i), 'hex') from n where i = 1",
    "select i, lag(i, 1, '7') over (order by i) from n order by i",
    // Two literals are texts beside each other.
    "select i from n where '9' between i and '10' order by i",
    "select i from n where '10' not between i and '9' order by i",
    "select i from n where '1' in ('01', i) order by i",
    "select i from n where '1' not in ('01', i) order by i",
    "select i from n where '2024-01-01' between t and '2025' order by i",
    // The values of a column of a list have one type.
    "values (date '2024-01-01'), (timestamptz '2024-01-01 10:00Z')",
    "values (date '2024-01-01'), ('2024-05-05')",
    "values (1.5), ('2.25')",
    "values (1, null), ('2', null), (null, null)",
    "values (true), ('f'), (null)",
    "values (now() > '2024-1-1'), ('f')",
    "values (date '2024-03-01'), ('2024-01-01'), ('2024-02-01') order by 1 limit 2",
    "values (1), (2) union all values (3.5), ('4')",
    "select x::text from (values (interval '1 day'), ('2 days')) as v(x)",
    "select a, b + 1, pg_typeof(b) from (values (1, date '2024-01-01'), (2, '2024-02-02')) as t(a, b)",
    "select a::text, b + 1 from (values (array[1, 2], 1), ('{3}', '4')) as t(a, b)",
    "with t(a, b) as (values (1, true), (2, 'f')) select a from t where b",
    "select x from (values ('2024-01-01'), (date '2024-05-05'), (null)) as v(x) order by x desc nulls last",
    "select 2 in (values (1), ('2')), 3 in (values (1), ('2')), i in (values (1), ('6')) from n order by i",
    // A quoted result of a `case` has the type of the others.
    "select case when true then '1' else i end + 1, case when i > 2 then '2' when i > 1 then null else d end * 2 from n order by i",
    "select sum(case when i > 1 then '1' else i end) from n",
    "select case i when 1 then '1.255' else d end + 1 from n order by i",
    "select extract(year from case when i > 2 then '2024-02-03' else t end) from n order by i",
    "select case when count(*) > 100 then '0' else count(*) end + 1, case when i > 2 then 'x' else s end || 'y' from n group by i, s order by i, s",
    "select case when s = 'a' then '1' else i end as x, count(*) from n group by case when s = 'a' then '1' else i end order by x",
    // Each row has its own list.
    "select i from n where 2 in (case when i = 1 then 9 else i end, 3) order by i",
    "select i, 9 in (case when i = 1 then 9 else i end, 3), 2 in (nullif(i, 1), 3) from n order by i",
    "select i from n where i + 0 in (case when i = 1 then 9 else i end, 3) order by i",
    "select i from n where 2 <> all(array[case when i = 1 then 9 else i end, 3]) order by i",
    "select i from n where 2 = any(array[case when i = 1 then 9 else i end, 3]) order by i",
    "select i, i in (nullif(i, 3), 9), i in (1, case when s = 'b' then 1 else i end) from n order by i",
    // A column that is the same in each input of a union is no constant.
    "select i, 'b' as x from n union all select 1, 'a' order by i, x limit 1",
    "select i, 5 as x from n union all select 1, 3 order by 1, 2 limit 1",
    "select x from (select i, 'b' as x from n union all select 1, 'a') q order by i, x limit 1",
    "select x || s from (select i, 'b' as x, 's' as s from n union all select 1, 'a', 't') q order by i, x, s limit 1",
    "select i, x, s from (select i, 'b' as x, s from n union all select i, 'a', s from n) q order by i, x, s limit 3",
    "select i, 'b' as x from n union all select i, 'a' from n order by i, x limit 1 offset 1",
    // Sets whose sides have columns of one name, and chains of them.
    "select d as x from n except select '99.989' as x order by 1",
    "select '10' as x except select i as x from n union all select 9 order by 1",
    "select x::text from (select '2024-2-29' as x intersect select t as x from n) q",
    "select x::text from (select null as x except select interval '1 day' union all select '24:00') q order by 1",
    "select x::text, y from (select 1 as y, '2024-2-29' as x except select 2.5, t from n) q",
    "select x from (select 2 as x union all select case when i = 1 then i else 1.5 end from n) q order by 1",
    "select x from (select 2.25 as x union all select case when i = 1 then i else 1.555 end from n) q order by 1",
    // Lists of values in expressions.
    "select i from n where i in (values (1), (2)) order by i",
    "select i from n where s not in (values ('a'), ('b')) order by i",
    "select exists (values (1)), 3 in (values (1), ('3'))",
    // Distances of null.
    "select i, lag(i, null) over (order by i) from n order by i",
    "select lag('5', 1, 7) over (), lag('t', 1, false) over ()",
    "select 5 = any (values (5), (6)), 2 <> all (values (1), (3)) from n where i = 1",
    "select i from n where i = any (values (1), (2)) order by i",
    "select array(values (1), (2))::text, (select 5) + (values (6))",
    // Rows with their word.
    "select row(interval '1 day', 1) = row(interval '24:00', 1), row(interval '1 mon', 1) < row(interval '31 days', 1)",
    "select row(null, null) is null, row(1, null) is null, row(1, 2) is not null, row(1, 2) in (row(1, 2), row(3, 4))",
    "select i from n where row(i, s) in (select i, s from n where i < 3) order by i",
    // Quoted conditions.
    "select not 't', not 'f', (i = 1) is distinct from 't', (i = 1) is not distinct from 'f' from n order by i",
    "select i from n where 't' order by i",
    "select count(*) from n where 'f'",
    "select i from n join m on 't' where (i = 1) is distinct from 't' group by i having 'on' order by i",
    "select count(*) filter (where 't'), count(*) filter (where 'f') from n",
    "select i is distinct from '1', t is distinct from '2024-02-29', s is not distinct from 'a' from n order by i",
    // Defaults that are columns.
    "select i, lag(i, 1, i) over (order by i), lead(s, 2, s || '!') over (order by i) from n order by i",
    "select i, lag(t, 1, t) over w, lag(nullif(i, 2), 1, i) over w from n window w as (partition by s order by i) order by i",
    // Merged columns in what the planner must know the type of.
    "select i || '', s || s from n join n as b using (i, s) order by 1, 2",
    "select max(i || 'x') from n left join m on true natural join (values (1), (2)) v(i)",
    "select s || 'x', count(*) from n join (values ('a'), ('b')) v(s) using (s) group by s order by s",
    // Keys of an order that come again.
    "select distinct on (s) i > 2 from n order by s, s, i desc, i",
    "select distinct on (s, s) i from n order by s, i, s desc, i desc",
    "select s, array_agg(i order by d desc, d, i)::text from n group by s order by s, s desc",
    "select n.i as k, (select b.i from n b where b.s = n.s order by b.d, b.d desc, b.i limit 1) from n order by k, k desc",
    "select i, rank() over (order by s, s desc, i) from n order by i",
    // Values that are distinct are in their order.
    "select array_agg(distinct s)::text, string_agg(distinct s, ','), array_agg(distinct d)::text, array_agg(distinct f + 1)::text from n",
    // The columns of a join that has a name.
    "select j.* from ((select 1 as id, 2 as x) a join (select 1 as id, 3 as y) b using (id)) as j",
    "select j.id, x + y from ((select 1 as id, 2 as x) a natural left join (select 1 as id, 3 as y) b) as j",
    // Conditions that keep others from failing.
    "select case when i = 1 then false else 5 / (i - 1) > 0 end, case when i <> 1 then 5 / (i - 1) > 0 end from n order by i",
    "select i from n where case when i = 1 then false else 5 / (i - 1) > 1 end order by i",
    "select i from n where i <> 1 and 5 / (i - 1) > 1 order by i",
    "select i from n where i = 1 or 5 % (i - 1) > 0 order by i",
    "select i <> 1 and 5 / (i - 1) > 1, i = 1 or 5 / (i - 1) > 1, i = 1 or (d / (i - 1)) is null from n order by i",
    "select case when s ~ '^[0-9]+$' then s::int > 1 else false end from n order by i",
    "select s from (values ('1'), ('x'), (null)) v(s) where s ~ '^[0-9]+$' and s::int > 0",
    "select count(*) filter (where i <> 1 and 5 / (i - 1) > 1) from n",
];
