//! The tables of TPC-H with rows made of numbers, as Parquet, written by the program itself.

use std::path::Path;
use std::process::Command;

/// Rows of the largest table.
pub(crate) const LINES: usize = 40_000;

/// Rows of the table of suppliers.
const SUPPLIERS: usize = 100;

/// Each table of places and people with the statement that makes it.
fn of_parties() -> [(&'static str, String); 4] {
    let (customers, suppliers) = (LINES / 40, SUPPLIERS);
    [
        (
            "region",
            "select i::int as r_regionkey, (array['AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST'])[i + 1] as \
             r_name, 'r' || i as r_comment from generate_series(0, 4) t(i)"
                .to_owned(),
        ),
        (
            "nation",
            "select i::int as n_nationkey, (array['FRANCE', 'GERMANY', 'BRAZIL', 'CANADA', 'SAUDI ARABIA'])[i % 5 + \
             1] || case when i < 5 then '' else i::text end as n_name, (i % 5)::int as n_regionkey, 'n' || i as \
             n_comment from generate_series(0, 24) t(i)"
                .to_owned(),
        ),
        (
            "supplier",
            format!(
                "select i as s_suppkey, 'Supplier#' || lpad(i::text, 9, '0') as s_name, 'a' || i as s_address, (i % \
                 25)::int as s_nationkey, (10 + i % 25) || '-100' as s_phone, (((i * 7919) % 1100000 - 99999) * \
                 0.01)::numeric(15, 2) as s_acctbal, case when i % 9 = 0 then 'Customer x Complaints' else 'c' \
                 || i end as \
                 s_comment from generate_series(1, {suppliers}) t(i)"
            ),
        ),
        (
            "customer",
            format!(
                "select i as c_custkey, 'Customer#' || lpad(i::text, 9, '0') as c_name, 'a' || i as c_address, (i % \
                 25)::int as c_nationkey, (10 + i % 25) || '-200' as c_phone, (((i * 6007) % 1100000 - 99999) * \
                 0.01)::numeric(15, 2) as c_acctbal, (array['BUILDING', 'AUTOMOBILE', 'MACHINERY', 'HOUSEHOLD', \
                 'FURNITURE'])[i % \
                 5 + 1] as c_mktsegment, 'c' || i as c_comment from generate_series(1, {customers}) t(i)"
            ),
        ),
    ]
}

/// The rows of orders, and of what is ordered.
fn of_orders() -> [(&'static str, String); 4] {
    let lines = LINES;
    let (orders, customers, parts, suppliers) = (lines / 4, lines / 40, lines / 20, SUPPLIERS);
    [
        (
            "part",
            format!(
                "select i as p_partkey, (array['green', 'forest', 'blue', 'ivory'])[i % 4 + 1] || ' part ' || i as \
                 p_name, 'Manufacturer#' || (i % 5 + 1) as p_mfgr, 'Brand#' || (i % 5 + 1) || (i % 4 + 1) as \
                 p_brand, \
                 (array['ECONOMY ANODIZED STEEL', 'PROMO BRUSHED BRASS', 'MEDIUM POLISHED TIN', 'SMALL PLATED \
                 COPPER'])[i % 4 + 1] as p_type, (i % 50 + 1)::int as p_size, (array['SM CASE', 'MED BOX', 'LG \
                 PACK', \
                 'MED BAG'])[i % 4 + 1] as p_container, (900 + i % 1000)::numeric(15, 2) as p_retailprice, 'p' \
                 || i as \
                 p_comment from generate_series(1, {parts}) t(i)"
            ),
        ),
        (
            "partsupp",
            format!(
                "select (i % {parts} + 1) as ps_partkey, ((i % {parts} + i / {parts} * 31) % {suppliers} + 1) as \
                 ps_suppkey, ((i * 37) % 9999 + 1)::int as ps_availqty, (((i * 53) % 100000) * \
                 0.01)::numeric(15, 2) as \
                 ps_supplycost, 'ps' || i as ps_comment from generate_series(0, {parts} * 4 - 1) t(i)"
            ),
        ),
        (
            "orders",
            format!(
                "select i as o_orderkey, (i * 17) % ({customers} * 2 / 3) + 1 as o_custkey, (array['F', 'O', \
                'P'])[i % \
                 3 + 1] as o_orderstatus, (((i * 9973) % 50000000) * 0.01)::numeric(15, 2) as o_totalprice, date \
                 '1992-01-01' + (i * 7 % 2400)::int as o_orderdate, (array['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT \
                 SPECIFIED', '5-LOW'])[i % 5 + 1] as o_orderpriority, 'Clerk#' || i % 100 as o_clerk, 0::int as \
                 o_shippriority, case when i % 11 = 0 then 'special y requests' else 'o' || i end as o_comment from \
                 generate_series(1, {orders}) t(i)"
            ),
        ),
        (
            "lineitem",
            format!(
                "select i / 4 + 1 as l_orderkey, (i * 13) % {parts} + 1 as l_partkey, (i * 31 + i / 7) % \
                {suppliers} + \
                 1 as l_suppkey, (i % 4 + 1)::int as l_linenumber, (i * 3 % 50 + 1)::numeric(15, 2) as l_quantity, \
                 (((i * 7907) % 10000000) * 0.01)::numeric(15, 2) as l_extendedprice, ((i % 11) * \
                 0.01)::numeric(15, 2) as \
                 l_discount, ((i % 9) * 0.01)::numeric(15, 2) as l_tax, (array['A', 'N', 'R'])[i % 3 + 1] as \
                 l_returnflag, (array['F', 'O'])[i % 2 + 1] as l_linestatus, date '1992-01-01' + (i * 7 % 2500)::int \
                 as l_shipdate, date '1992-02-01' + (i * 11 % 2500)::int as l_commitdate, date '1992-01-15' + \
                 (i * 7 % \
                 2500 + i % 40)::int as l_receiptdate, (array['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK \
                 RETURN'])[i % 4 + 1] as l_shipinstruct, (array['MAIL', 'SHIP', 'AIR', 'AIR REG', 'TRUCK'])[i % 5 + \
                 1] as l_shipmode, 'line ' || i as l_comment from generate_series(0, {lines} - 1) t(i)"
            ),
        ),
    ]
}

/// Writes the files of all tables into a directory, and returns their part of a configuration.
pub(crate) fn write(directory: &Path) -> String {
    let mut toml = String::new();
    for (name, statement) in of_parties().into_iter().chain(of_orders()) {
        let file = directory.join(format!("{name}.parquet"));
        let done = Command::new(env!("CARGO_BIN_EXE_salver"))
            .args(["query", &statement, "--output"])
            .arg(&file)
            .current_dir(directory)
            .output()
            .expect("the program runs");
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        toml.push_str(&dataset(name, &file));
    }
    toml
}

/// Returns the part of a configuration that serves a file in place.
pub(crate) fn dataset(name: &str, file: &Path) -> String {
    format!("[[dataset]]\nname = \"{name}\"\nsource = \"{}\"\nmemory = \"never\"\n", file.display())
}
