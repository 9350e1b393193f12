//! Columns of Parquet files in memory: which there are, what is skipped of them, and that they give way.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use salver_datasets::{CHUNK_ROWS, DatasetLoader, Engine};
use salver_model::ports::{Loader, SqlEngine, Tables};
use salver_model::spec::DatasetSpec;
use salver_model::{Code, Name, SqlQuery};

use super::generated::{self, Catalog, shown, warm};
use super::held::{Shape, write};

const CHUNKS: usize = 6;
const ROWS: usize = CHUNK_ROWS * (CHUNKS - 1) + 1_000;
/// Memory of an engine that leaves such a file on disk and has room for its columns.
const MEMORY_BYTES: u64 = 56 * 1024 * 1024;

const SHAPE: Shape = Shape { group_rows: 100_000, page_rows: 10_000, indexed: true };

/// Rows in ascending order of `id`, `name` and, behind many nulls, `late`.
fn file() -> RecordBatch {
    let ids = 0..ROWS as i64;
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
        ("name", Arc::new(StringArray::from_iter_values(ids.clone().map(|id| format!("{id:09}"))))),
        ("late", Arc::new(ids.clone().map(|id| (id as usize >= ROWS - 500).then_some(id)).collect::<Int64Array>())),
        ("v", Arc::new(Int64Array::from_iter_values(ids.map(|id| id * 7_919 % 1_000)))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

async fn load(path: &Path, engine: &Arc<Engine>) -> Arc<dyn Tables> {
    let spec = DatasetSpec::new(Name::new("t").unwrap(), vec![path.display().to_string()]);
    Arc::new(Catalog(vec![DatasetLoader::new(spec, Arc::clone(engine)).load().await.unwrap()]))
}

fn is_cached(plan: &str) -> bool {
    plan.contains("cached columns=")
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_that_have_no_row_are_skipped() {
    let (engine, dir) = generated::engine_of(MEMORY_BYTES);
    let path = dir.path().join("t.parquet");
    write(&file(), &path, SHAPE);
    let tables = load(&path, &engine).await;
    warm(&engine, &tables, "t").await;
    let last = CHUNK_ROWS * (CHUNKS - 1);
    for (condition, rows, skipped) in [
        ("id = 5".to_owned(), 1, CHUNKS - 1),
        (format!("id >= {last}"), 1_000, CHUNKS - 1),
        (format!("id between {CHUNK_ROWS} and {}", CHUNK_ROWS + 1), 2, CHUNKS - 1),
        (format!("id between {} and {CHUNK_ROWS}", CHUNK_ROWS - 1), 2, CHUNKS - 2),
        ("id < 0".to_owned(), 0, CHUNKS),
        ("name = '000000005'".to_owned(), 1, CHUNKS - 1),
        ("name like '0000000%'".to_owned(), 100, CHUNKS - 1),
        ("late is not null".to_owned(), 500, CHUNKS - 1),
        (format!("late > {}", ROWS - 11), 10, CHUNKS - 1),
        ("late is null".to_owned(), ROWS - 500, 0),
        ("id in (1, 2, 70000)".to_owned(), 3, CHUNKS - 2),
        ("v = 3 or id = 5".to_owned(), (0..ROWS).filter(|id| id * 7_919 % 1_000 == 3 || *id == 5).count(), 0),
        // Joins and orders tell which ids they want while the plan runs.
        ("id in (select x from (values (5), (7)) as few(x))".to_owned(), 2, CHUNKS - 1),
    ] {
        let count = shown(&engine, &tables, &format!("select count(*) from t where {condition}")).await;
        let told = format!("explain analyze select v from t where {condition}");
        let told = shown(&engine, &tables, &told).await;
        let number = |line: &str| line.split("chunks_skipped=").nth(1)?.split([',', ']']).next()?.parse().ok();
        let most = told.lines().filter_map(number).max();
        assert!(is_cached(&told), "{condition}: {told}");
        assert!(count.contains(&format!("| {rows} ")), "{condition}: {count}");
        assert_eq!(most, Some(skipped), "{condition}: {told}");
    }
    let told = shown(&engine, &tables, "explain analyze select id, v from t order by id limit 3").await;
    assert!(is_cached(&told) && !told.contains("chunks_skipped=0"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_columns_that_two_statements_read_are_cached() {
    let (engine, dir) = generated::engine_of(MEMORY_BYTES);
    let path = dir.path().join("t.parquet");
    write(&file(), &path, SHAPE);
    let tables = load(&path, &engine).await;
    let plan = async |what: &str| shown(&engine, &tables, &format!("explain select {what}")).await;
    // A statement that scans a column twice has asked for it once.
    assert!(!is_cached(&plan("* from (select id from t) a join (select id from t) b using (id)").await));
    while !is_cached(&plan("sum(id) from t").await) {
        tokio::task::yield_now().await;
    }
    assert!(!is_cached(&plan("sum(id + v) from t").await), "`v` was asked for only now");
    assert!(!is_cached(&plan("count(*) from t").await), "no column is needed");
    // Another version of the files begins anew.
    let again = load(&path, &engine).await;
    assert!(!is_cached(&shown(&engine, &again, "explain select sum(id) from t").await));
    assert!(is_cached(&plan("sum(id) from t").await));
}

#[tokio::test(flavor = "multi_thread")]
async fn datasets_come_first() {
    let (engine, dir) = generated::engine_of(MEMORY_BYTES);
    let path = dir.path().join("t.parquet");
    write(&file(), &path, SHAPE);
    let tables = load(&path, &engine).await;
    warm(&engine, &tables, "t").await;
    let budget = engine.budget();
    assert_eq!(budget.used(), 0, "cached columns take nothing from datasets");
    let rows = budget.reserve(budget.bytes_max() - 1024).unwrap();
    let plan = async || shown(&engine, &tables, "explain select sum(id) from t").await;
    assert!(!is_cached(&plan().await));
    // There is no room for them, however often they are asked for.
    for _ in 0..5 {
        assert!(!is_cached(&plan().await));
    }
    drop(rows);
    // Another version of the files is tried at once.
    let again = load(&path, &engine).await;
    warm(&engine, &again, "t").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_were_replaced_are_refused() {
    let (engine, dir) = generated::engine_of(MEMORY_BYTES);
    let path = dir.path().join("t.parquet");
    write(&file(), &path, SHAPE);
    let tables = load(&path, &engine).await;
    warm(&engine, &tables, "t").await;
    write(&file().slice(0, 9), &path, SHAPE);
    let query = SqlQuery { text: "select sum(id) from t".to_owned(), ..SqlQuery::default() };
    let answer = engine.run(Arc::clone(&tables), &query).await;
    assert_eq!(answer.unwrap_err().code, Code::EntryUnavailable);
}
