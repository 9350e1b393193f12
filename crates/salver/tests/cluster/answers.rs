//! A cluster answers as one server does, byte for byte.

use crate::cluster::processes::{Cluster, place, sql, tpch};

/// Statements of what may be lost between processes: types, functions, orders, nulls, errors.
const STATEMENTS: &[&str] = &[
    "select l_returnflag, l_linestatus, sum(l_extendedprice * (1 - l_discount)) r, avg(l_quantity) q, \
     count(distinct l_suppkey) s, min(l_shipdate), max(l_comment) from lineitem group by 1, 2 order by 1, \
     2",
    "select o_orderpriority, date_trunc('month', o_orderdate) m, count(*), sum(o_totalprice), \
     avg(o_totalprice)::numeric(12,3) from orders group by 1, 2 order by 1, 2",
    "select c_custkey, upper(c_name) || '-' || c_nationkey || '!' n, length(c_comment), substring(c_phone \
     from 1 for 2), c_acctbal / 7 d, c_acctbal::float8 * 1.5 f from customer order by c_acctbal desc, \
     c_custkey limit 50",
    "select c_nationkey, c_custkey, c_acctbal, rank() over (partition by c_nationkey order by c_acctbal \
     desc, c_custkey) r, sum(c_acctbal) over (partition by c_nationkey order by c_custkey rows between 3 \
     preceding and current row) s, avg(c_acctbal::float8) over (partition by c_nationkey order by \
     c_custkey rows between 2 preceding and 2 following) a, lag(c_acctbal) over (partition by c_nationkey \
     order by c_custkey) l from customer order by 1, 2 limit 300",
    "select row_number() over (order by c_custkey) n, c_custkey, sum(c_acctbal) over (order by c_custkey) \
     t from customer order by 2 limit 40",
    "select n_name, string_agg(s_name, ',' order by s_name) from supplier join nation on n_nationkey = \
     s_nationkey group by 1 order by 1",
    "select to_char(o_orderdate, 'YYYY-MM') y, extract(dow from o_orderdate) d, count(*) from orders \
     group by 1, 2 order by 1, 2 limit 100",
    "select o_orderkey, o_orderdate + interval '1 month', age(o_orderdate, date '1992-01-01'), \
     o_orderdate - date '1992-01-01' from orders order by 1 limit 30",
    "select p_brand, p_type, count(*) from part where p_name like '%green%' or p_name ilike '%BLUE_%' or \
     p_type ~ '^(SMALL|LARGE)' group by 1, 2 having count(*) > 5 order by 3 desc, 1, 2 limit 50",
    "select n.n_name, r.r_name from nation n full join region r on n.n_regionkey = r.r_regionkey and \
     r.r_name like 'A%' order by 1 nulls last, 2",
    "select count(*) from nation a left join region b on a.n_nationkey < b.r_regionkey",
    "select a.n_name, b.n_name from nation a join nation b on a.n_nationkey < b.n_nationkey and \
     length(a.n_name) > length(b.n_name) order by 1, 2",
    "select n_name from nation where n_nationkey not in (select c_nationkey from customer where c_acctbal \
     > 9990) order by 1",
    "select n_name, (select max(c_acctbal) from customer where c_nationkey = n_nationkey) m, exists \
     (select 1 from supplier where s_nationkey = n_nationkey and s_acctbal < -990) e from nation order by \
     1",
    "select n_name from nation where n_nationkey in (select s_nationkey from supplier group by 1 having \
     count(*) > 40) order by 1",
    "select n_regionkey k, 'n' w from nation union all select r_regionkey, 'r' from region order by 1, 2",
    "select n_regionkey from nation union select r_regionkey from region order by 1",
    "select n_regionkey from nation intersect select r_regionkey from region where r_regionkey > 1 order \
     by 1",
    "select n_nationkey from nation except select c_nationkey from customer where c_nationkey < 20 order \
     by 1",
    "with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select t.n, r_name from \
     t join region on r_regionkey = t.n - 1 order by 1",
    "select g, r_name from generate_series(1, 3) g, region order by 1, 2",
    "select v.a, r_name from (values (1, 'x'), (2, 'y')) v(a, b) join region on r_regionkey = v.a order \
     by 1",
    "select grouping(l_returnflag), l_returnflag, l_linestatus, sum(l_quantity) from lineitem group by \
     rollup (l_returnflag, l_linestatus) order by 1, 2, 3",
    "select array_agg(distinct n_regionkey order by n_regionkey) from nation",
    "select n_regionkey, array_agg(n_name order by n_name) from nation group by 1 order by 1",
    "select case when l_discount > 0.05 then 'high' else 'low' end c, count(*), sum(case when l_tax > 0 \
     then l_quantity end) from lineitem group by 1 order by 1",
    "select l_orderkey, count(*) from lineitem group by 1 having count(*) = 7 order by 1 limit 20",
    "select distinct l_shipmode from lineitem order by 1",
    "select l_shipmode, l_shipinstruct from lineitem group by 1, 2 order by 1, 2 offset 3 limit 5",
    "select sum(x) from (select l_quantity x from lineitem order by l_orderkey, l_linenumber offset \
     600000) t",
    "select 1 / (n_regionkey - 1) from nation",
    "select (n_nationkey + 2147483640)::int from nation",
    "select n_nationkey * 9223372036854775807 from nation",
    "select s_name::int from supplier",
    "select cast('2020-13-01' as date) from nation",
    "select s.s_name, f.x from supplier s join (select c_acctbal::float8 x, c_nationkey from customer) f \
     on f.x = s.s_acctbal::float8 order by 1, 2",
    "select greatest(s_acctbal, 0), least(s_name, 'Supplier#000000500'), coalesce(nullif(s_nationkey, 3), \
     -1), s_acctbal::int, round(s_acctbal, 1), abs(s_acctbal), mod(s_suppkey, 7), md5(s_name), \
     initcap(s_address) from supplier order by s_suppkey limit 60",
    "select json_build_object('a', n_name, 'b', n_nationkey) j from nation order by n_nationkey limit 3",
    "select o_orderstatus, avg(o_totalprice) filter (where o_orderdate >= '1995-01-01') a, \
     sum(o_totalprice)::float8 from orders group by 1 order by 1",
    "select count(*) from lineitem a join lineitem b on a.l_orderkey = b.l_orderkey and a.l_linenumber <> \
     b.l_linenumber where a.l_quantity > 49",
    "select o.o_orderkey, l.t from orders o cross join lateral (select sum(l_quantity) t from lineitem \
     where l_orderkey = o.o_orderkey) l where o.o_orderkey < 40 order by 1",
    "select c_mktsegment, count(*) from customer c where not exists (select 1 from orders where o_custkey \
     = c_custkey) group by 1 order by 1",
    "select l_orderkey, l_linenumber from lineitem order by l_extendedprice desc, l_orderkey limit 10",
    "select * from region order by 1",
    "select width_bucket(s_acctbal::float8, 0, 10000, 5) w, count(*) from supplier group by 1 order by 1",
    "select (select count(*) from nation), (select r_name from region where r_regionkey = 2), count(*) \
     from region",
    "select (select n_name from nation) from region",
    "select percentile_cont(0.5) within group (order by l_quantity) p from lineitem",
    "select percentile_disc(0.9) within group (order by l_extendedprice) d from lineitem",
    "select a.c_custkey, b.o_orderkey from customer a full join orders b on b.o_custkey = a.c_custkey and \
     b.o_totalprice > 300000 where a.c_custkey < 30 or a.c_custkey is null order by 1, 2 limit 200",
    "select count(*), count(a.c_custkey), count(b.o_orderkey) from customer a full join orders b on \
     b.o_custkey = a.c_custkey and b.o_orderkey % 3 = 0",
    "select count(*), count(b.o_orderkey), sum(b.o_totalprice) from customer a left join (select * from \
     orders where o_orderkey % 5 = 0) b on b.o_custkey = a.c_custkey",
    "select n_name, c from nation left join (select c_nationkey k, count(*) c from customer where \
     c_acctbal < -900 group by 1) x on k = n_nationkey and n_regionkey <> 2 order by 1",
    "select s_name from supplier where s_suppkey not in (select ps_suppkey from partsupp where \
     ps_availqty > 9900) order by 1 limit 100",
    "select first_value(n_name order by n_nationkey desc), last_value(n_name order by n_nationkey desc), \
     n_regionkey from nation group by 3 order by 3",
    "select min(s_acctbal::float8), max(s_acctbal::float8), sum(s_acctbal::float8)::numeric(20,2), \
     bool_and(s_acctbal > -1000), bit_or(s_suppkey), approx_distinct(s_name) > 900 from supplier",
    "select mode() within group (order by n_regionkey) from nation",
    "select l_orderkey, ntile(4) over (order by l_orderkey, l_linenumber), dense_rank() over (order by \
     l_shipdate), percent_rank() over (order by l_shipdate), first_value(l_comment) over (partition by \
     l_orderkey order by l_linenumber) from lineitem where l_orderkey < 200 order by 1, 2, 3, 5",
    "select o_custkey % 10 k, s from (select o_custkey, sum(o_totalprice) s from orders group by 1) t \
     where s > (select avg(x) * 2 from (select sum(o_totalprice) x from orders group by o_custkey) u) \
     order by 2 desc limit 10",
    "select * from (select n_regionkey, count(*) from nation group by 1) a natural join (select \
     n_regionkey, min(n_name) from nation group by 1) b order by 1",
];

/// Least number of statements of TPC-H that must find rows.
const WITH_ROWS_MIN: usize = 15;
/// Least number of the others that must run on the cluster, so that the others don't show what they are to show.
const THERE_MIN: usize = 35;

#[test]
fn answers_are_those_of_one_server() {
    let cluster = Cluster::start("");
    let (mut different, mut with_rows) = (Vec::new(), 0);
    for (name, statement) in tpch() {
        let runs = place(&cluster.server, &statement);
        assert!(runs.starts_with("on the cluster: it reads "), "{name}: {runs}");
        let (there, here) = (sql(&cluster.server, &statement), sql(&cluster.alone, &statement));
        assert_eq!(here.status, 200, "{name}: {}", here.text());
        with_rows += usize::from(here.text() != "[]");
        if (there.status, &there.body) != (here.status, &here.body) {
            different.push(format!("{name}\n  {}\n  {}", here.text(), there.text()));
        }
    }
    assert!(with_rows >= WITH_ROWS_MIN, "only {with_rows} statements of TPC-H have rows");
    let mut on_cluster = 0;
    for statement in STATEMENTS {
        let (there, here) = (sql(&cluster.server, statement), sql(&cluster.alone, statement));
        if here.status == 200 {
            on_cluster += usize::from(place(&cluster.server, statement).starts_with("on the cluster"));
        }
        if (there.status, &there.body) != (here.status, &here.body) {
            different.push(format!("{statement}\n  {}\n  {}", here.text(), there.text()));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert!(on_cluster >= THERE_MIN, "only {on_cluster} ran on the cluster");
}
