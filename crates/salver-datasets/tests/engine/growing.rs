//! Rows that grow, as tables: the contract of the port, pages that go on while rows come, and what SQL hands down.

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use salver_datasets::{Engine, growing};
use salver_model::ports::{Scan, SqlEngine, Table};
use salver_model::{Code, Comparison, Filter, Item, Query, Sort, SqlQuery, Value};
use salver_testkit::MemoryScan;
use salver_testkit::contract::{scan, table};

use super::generated::{self, Catalog, collect};

/// Rows in parts of several sizes, one of them empty.
fn parts(rows: &RecordBatch) -> Vec<RecordBatch> {
    let cuts = [0, 1, 40, 40, 41, 130, rows.num_rows()].map(|cut| cut.min(rows.num_rows()));
    cuts.windows(2).map(|pair| rows.slice(pair[0], pair[1] - pair[0])).collect()
}

fn of_parts(rows: &RecordBatch, tells_rows: bool) -> MemoryScan {
    MemoryScan::new("t", rows.schema(), parts(rows), tells_rows)
}

#[tokio::test]
async fn the_scan_of_the_testkit_keeps_the_contract() {
    let rows = table::sample(200);
    for tells_rows in [true, false] {
        let scan = of_parts(&rows, tells_rows).ascending_in(0);
        // Beyond those that are there, as its ids go on growing.
        let more = table::sample(300);
        let mut at = 200;
        let mut grow = async || {
            scan.push(more.slice(at, 20));
            at += 20;
        };
        scan::run(&scan, &mut grow).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn held_rows_keep_the_contract_of_tables() {
    let (engine, _dir) = generated::engine();
    for (tells_rows, ascending) in [(true, true), (false, false)] {
        table::run(async |rows: RecordBatch, _| {
            let scan = of_parts(&rows, tells_rows);
            let scan = if ascending { scan.ascending_in(0) } else { scan };
            let table = growing(Arc::new(scan), &engine);
            table.current().expect("rows that grow have a now")
        })
        .await;
    }
}

fn sorted(column: &str, descending: bool) -> Vec<Sort> {
    vec![Sort { column: column.into(), descending, nulls_first: false }]
}

async fn ids(table: &dyn Table, query: &Query) -> Vec<i64> {
    let rows = table.read(query).await.unwrap();
    collect(rows).await.map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec()).unwrap()
}

/// A scan of 200 rows with ids 0, 3, 6, ...; the rest of the 300 can be pushed.
fn scan_of(engine: &Arc<Engine>) -> (Arc<MemoryScan>, Arc<dyn Table>, RecordBatch) {
    let rows = table::sample(300);
    let scan = Arc::new(of_parts(&rows.slice(0, 200), true).ascending_in(0));
    let shared: Arc<dyn Scan> = Arc::<MemoryScan>::clone(&scan);
    (scan, growing(shared, engine), rows.slice(200, 100))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_holds_its_rows_and_pages_go_on_with_them() {
    let (engine, _dir) = generated::engine();
    let filter = Some(Filter::compare("n", Comparison::GtEq, Value::Int(-3)));
    for (filter, sort) in [
        (None, vec![]),
        (filter, vec![]),
        (None, sorted("name", false)),
        (None, sorted("id", true)),
        (None, sorted("id", false)),
    ] {
        let (scan, table, more) = scan_of(&engine);
        let whole = Query { items: vec![Item::column("id")], filter, sort, ..Query::default() };
        let held = table.current().unwrap();
        let all = ids(&*held, &whole).await;
        let first = held.read(&Query { limit: Some(10), ..whole.clone() }).await.unwrap();
        assert!(!first.repeatable);
        scan.push(more);
        assert_eq!(ids(&*held, &whole).await, all, "{whole:?}");
        // The next page is asked of the table as it is then.
        let now = table.current().unwrap();
        let rest = Query { after: first.next.clone(), ..whole.clone() };
        assert_eq!(ids(&*now, &rest).await, all[10..], "{whole:?}");
        assert!(ids(&*now, &whole).await.len() > all.len());
        assert_eq!(ids(&*table, &whole).await, ids(&*now, &whole).await);
        let other = Query { after: first.next, sort: sorted("color", false), ..whole };
        assert_eq!(now.read(&other).await.unwrap_err().code, Code::InvalidCursor);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_the_rows_and_its_opposite_are_what_a_sort_would_give() {
    let (engine, _dir) = generated::engine();
    let rows = table::sample(200);
    let known = growing(Arc::new(of_parts(&rows, true).ascending_in(0)), &engine).current().unwrap();
    let sorts = growing(Arc::new(of_parts(&rows, false)), &engine).current().unwrap();
    for descending in [false, true] {
        for (offset, limit) in [(0, 1), (0, 10), (5, 60), (150, 100), (199, 1), (200, 5), (0, 200), (0, 300), (7, 0)] {
            let query = Query { sort: sorted("id", descending), offset, limit: Some(limit), ..Query::default() };
            assert_eq!(ids(&*known, &query).await, ids(&*sorts, &query).await, "{query:?}");
            let (one, other) = (known.read(&query).await.unwrap(), sorts.read(&query).await.unwrap());
            assert_eq!(one.next.map(|next| next.position), other.next.map(|next| next.position), "{query:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_hands_down_columns_filters_and_limits_and_counts_without_reading() {
    let (engine, _dir) = generated::engine();
    let (_, table, _) = scan_of(&engine);
    let tables = Arc::new(Catalog(vec![table.current().unwrap()]));
    let run = async |text: &str| {
        let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
        engine.run(Arc::<Catalog>::clone(&tables), &query).await.unwrap()
    };
    let explain = async |text: &str| {
        let batch = collect(run(&format!("explain {text}")).await).await.unwrap();
        let plans = batch.column(1).as_string::<i32>();
        plans.iter().flatten().collect::<Vec<_>>().join("\n")
    };
    let shown = explain("select name from t where n > 1 and id in (3, 6) group by name").await;
    assert!(shown.contains("HeldScan: t (memory), parts=6, columns=[id, name, n], filter="), "{shown}");
    assert!(shown.contains("n > 1") && shown.contains("id"), "{shown}");
    let shown = explain("select id from (select id from t limit 3) as x group by id").await;
    assert!(shown.contains("columns=[id], limit=3"), "{shown}");
    // Nothing is read where only the number of rows is asked for.
    let shown = explain("select count(*), count(1) from t").await;
    assert!(!shown.contains("HeldScan: "), "{shown}");
    let counted = run("select count(*) as n, 1 + count(*) as m from t").await;
    assert!(!counted.repeatable);
    let counted = collect(counted).await.unwrap();
    assert_eq!(counted.column(0).as_primitive::<Int64Type>().values(), &[200]);
    for (text, rows) in [
        ("select count(*) as n from t where id >= 300", 100),
        ("select count(*) as n from (select distinct color from t) as c", 2),
        ("select count(*) as n from t as a join t as b on a.id = b.id", 200),
        ("select count(*) as n from t where day >= date '1990-01-01'", 180),
    ] {
        let batch = collect(run(text).await).await.unwrap();
        assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &[rows], "{text}");
    }
}
