//! Cursors: every row comes exactly once, whatever the order and wherever the rows are held.

use salver_model::ports::Table;
use salver_model::{Code, Comparison, Filter, Query, Sort, Value, Version};

use super::generated::{self, Dice, collect};
use super::queries;

async fn pages(table: &dyn Table, query: &Query) -> Vec<String> {
    let mut query = query.clone();
    let mut rows = Vec::new();
    loop {
        let page = table.read(&query).await.unwrap();
        let next = page.next.clone();
        let batch = collect(page).await.unwrap();
        for row in 0..batch.num_rows() {
            rows.push(format!("{:?}", batch.slice(row, 1)));
        }
        match next {
            Some(next) => {
                // As it comes back from a client.
                query.after = Some(salver_model::Cursor::decode(&next.encode()).unwrap());
                assert_eq!(batch.num_rows() as u64, query.limit.unwrap(), "a page before the last is full");
            }
            None => return rows,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_once() {
    let (engine, _dir) = generated::engine();
    let data = generated::rows(400, 3);
    let spec = generated::spec("t", &[]);
    let resident = generated::resident(&spec, &data, &engine);
    let parquet = generated::parquet(&spec, &data, 2, &engine);
    for seed in 1..=60 {
        let mut dice = Dice(seed * 7919);
        let mut query = queries::plain(&mut dice, 400);
        (query.limit, query.offset, query.count) = (None, 0, false);
        let all = collect(resident.read(&query).await.unwrap()).await.unwrap();
        let all: Vec<String> = (0..all.num_rows()).map(|row| format!("{:?}", all.slice(row, 1))).collect();
        query.limit = Some(37);
        assert_eq!(pages(&resident, &query).await, all, "seed {seed}, in memory");
        assert_eq!(pages(&parquet, &query).await, all, "seed {seed}, in Parquet");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_cursors_are_refused() {
    let (engine, _dir) = generated::engine();
    let data = generated::rows(100, 3);
    let spec = generated::spec("t", &[]);
    for table in [generated::resident(&spec, &data, &engine), generated::parquet(&spec, &data, 1, &engine)] {
        let query = Query { limit: Some(10), ..Query::default() };
        let next = table.read(&query).await.unwrap().next.unwrap();
        let code = |query: Query| {
            let table = &table;
            async move { table.read(&query).await.unwrap_err().code }
        };
        let mut old = next.clone();
        old.version = Version(8);
        assert_eq!(code(Query { after: Some(old), ..query.clone() }).await, Code::ExpiredCursor);
        let sort = vec![Sort { column: "text".into(), descending: false, nulls_first: false }];
        assert_eq!(code(Query { after: Some(next.clone()), sort, ..query.clone() }).await, Code::InvalidCursor);
        let filter = Some(Filter::compare("id", Comparison::Gt, Value::Int(5)));
        assert_eq!(code(Query { after: Some(next.clone()), filter, ..query.clone() }).await, Code::InvalidCursor);
        let mut far = next.clone();
        far.position = 101;
        assert_eq!(code(Query { after: Some(far), ..query.clone() }).await, Code::InvalidCursor);
        let grouped = Query { distinct: true, after: Some(next), ..query };
        assert_eq!(code(grouped).await, Code::InvalidCursor);
    }
}
