//! The same rows in memory, in Parquet, and in Parquet whose columns are cached answer generated queries with the same
//! bytes.

use std::sync::Arc;

use salver_model::ports::{Table, Tables};
use salver_model::{Code, Query};

use super::generated::{self, Catalog, Dice, collect};
use super::queries;

const SEED: u64 = 0x005a_17e5;

async fn compare(one: &dyn Table, other: &dyn Table, query: &Query, what: &str) {
    let (left, right) = match (one.read(query).await, other.read(query).await) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(left), Err(right)) => {
            assert_eq!((left.code, &left.message), (right.code, &right.message), "{what}");
            let asked_wrong = matches!(
                left.code,
                Code::InvalidFilter | Code::InvalidColumn | Code::InvalidSort | Code::InvalidRequest
            );
            assert!(asked_wrong, "{what}: {left:?}\n{query:?}");
            return;
        }
        (left, right) => panic!("{what}: only one fails: {left:?} and {right:?}\n{query:?}"),
    };
    assert_eq!(left.total, right.total, "{what}: totals\n{query:?}");
    assert_eq!(left.next.is_some(), right.next.is_some(), "{what}: next\n{query:?}");
    assert_eq!(left.schema, right.schema, "{what}: schemas\n{query:?}");
    let (left, right) = (collect(left).await.unwrap(), collect(right).await.unwrap());
    assert_eq!(left.num_rows(), right.num_rows(), "{what}: rows\n{query:?}");
    for (column, field) in left.schema().fields().iter().enumerate() {
        // Comparing data, so that NaN equals itself.
        let (l, r) = (left.column(column), right.column(column));
        assert!(
            l.to_data() == r.to_data() || format!("{l:?}") == format!("{r:?}"),
            "{what}: column {}\n{query:?}\n{l:?}\n{r:?}",
            field.name()
        );
    }
}

async fn run(rows: usize, queries: u64, files: usize, key: &[&str]) {
    let (engine, _dir) = generated::engine();
    let data = generated::rows(rows, SEED);
    let spec = generated::spec("t", key);
    let resident = generated::resident(&spec, &data, &engine);
    let parquet = generated::parquet(&spec, &data, files, &engine);
    let cached: Arc<dyn Table> = Arc::new(generated::parquet(&generated::cached(&spec), &data, files, &engine));
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::clone(&cached)]));
    if rows > 0 {
        generated::warm(&engine, &tables, "t").await;
    }
    for seed in 1..=queries {
        let mut dice = Dice(SEED ^ (seed << 20));
        let query = if seed % 4 == 0 {
            queries::grouped(&mut dice, rows as u64)
        } else {
            queries::plain(&mut dice, rows as u64)
        };
        compare(&resident, &parquet, &query, &format!("seed {seed}")).await;
        compare(&resident, cached.as_ref(), &query, &format!("seed {seed}, cached")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_chunk() {
    run(700, 3_000, 2, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_chunks() {
    run(150_000, 250, 3, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_key() {
    run(700, 800, 1, &["small"]).await;
    run(70_000, 120, 1, &["text", "small"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_rows() {
    run(0, 300, 1, &["id"]).await;
}
