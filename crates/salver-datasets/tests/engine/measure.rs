//! Prints what small reads cost. Run it with `--ignored measure --nocapture`; it asserts nothing about time.

#![allow(clippy::print_stderr, reason = "the times are for whoever asked for them")]

use std::sync::Arc;
use std::time::Instant;

use salver_model::ports::{SqlEngine, Table, Tables};
use salver_model::{Comparison, Filter, Item, Query, Sort, SqlQuery, Value};

use super::generated::{self, Catalog};

fn time(what: &str, rounds: u32, mut work: impl FnMut(u32)) {
    work(0);
    let start = Instant::now();
    (0..rounds).for_each(&mut work);
    eprintln!("{what}: {:?}", start.elapsed() / rounds);
}

#[test]
#[ignore = "prints times"]
fn measure() {
    let (engine, _dir) = generated::engine_of(4 << 30);
    let small: Arc<dyn Table> =
        Arc::new(generated::resident(&generated::spec("small", &[]), &generated::rows(37, 1), &engine));
    let large: Arc<dyn Table> =
        Arc::new(generated::resident(&generated::spec("large", &["id"]), &generated::rows(1_000_000, 1), &engine));
    let columns = || vec![Item::column("text"), Item::column("float"), Item::column("small")];
    let page = Query { items: columns(), limit: Some(2), ..Query::default() };
    time("37 rows, 3 columns, limit 2", 200_000, |_| drop(small.read(&page)));
    time("37 rows, filter and limit 2", 200_000, |i| {
        let filter = Some(Filter::compare("small", Comparison::Gt, Value::Int(i64::from(i % 10) - 5)));
        drop(small.read(&Query { items: columns(), filter, limit: Some(2), ..Query::default() }));
    });
    time("37 rows, sort by text, limit 2", 100_000, |_| {
        let sort = vec![Sort { column: "text".into(), descending: false, nulls_first: false }];
        drop(small.read(&Query { items: columns(), sort, limit: Some(2), ..Query::default() }));
    });
    time("key look-up in 1 M rows", 200_000, |i| {
        let id = i64::from(i.wrapping_mul(7_919) % 1_000_000);
        let filter = Some(Filter::compare("id", Comparison::Eq, Value::Int(id)));
        drop(large.read(&Query { items: columns(), filter, limit: Some(1), ..Query::default() }));
    });
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![small, Arc::clone(&large)]));
    time("SQL over 37 rows, new literals", 50_000, |i| {
        let text = format!("SELECT text, float, small FROM small WHERE small > {} LIMIT 2", i % 10);
        drop(engine.run(Arc::clone(&tables), &SqlQuery { text, ..SqlQuery::default() }));
    });
    time("SQL key look-up in 1 M rows", 50_000, |i| {
        let text = format!("select * from large where id = {}", i.wrapping_mul(7_919) % 1_000_000);
        drop(engine.run(Arc::clone(&tables), &SqlQuery { text, ..SqlQuery::default() }));
    });
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let read = |what: &str, query: Query| {
        time(what, 20, |_| drop(runtime.block_on(large.read(&query).into_future()).unwrap()));
    };
    let sort = |column: &str| vec![Sort { column: column.into(), descending: true, nulls_first: false }];
    read("1 M rows, sort by number, limit 10", Query { sort: sort("float"), limit: Some(10), ..Query::default() });
    read("1 M rows, sort by text, limit 10", Query { sort: sort("text"), limit: Some(10), ..Query::default() });
    let filter = Some(Filter::compare("float", Comparison::Eq, Value::Float(3.25)));
    read("1 M rows, filter, all matches", Query { filter: filter.clone(), ..Query::default() });
    read("1 M rows, filter, count", Query { filter, count: true, limit: Some(0), ..Query::default() });
    let grouped = Query { group: vec!["text".into()], ..Query::default() };
    read("1 M rows, groups", grouped);
    let few = Arc::clone(&tables.table("small").unwrap().unwrap());
    let grouped = Query { group: vec!["text".into()], ..Query::default() };
    time("37 rows, groups", 200, |_| drop(runtime.block_on(few.read(&grouped).into_future()).unwrap()));
    time("37 rows, planned SQL", 200, |_| {
        let text = "select text, count(*) from small group by text".to_owned();
        let query = SqlQuery { text, ..SqlQuery::default() };
        drop(runtime.block_on(engine.run(Arc::clone(&tables), &query).into_future()).unwrap());
    });
}
