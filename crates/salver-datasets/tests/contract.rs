//! Datasets keep the contracts of the `Table` and `Loader` ports, wherever their rows are held, and the engine that of
//! `SqlEngine`.

#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use salver_datasets::{DatasetLoader, Engine, EngineOptions};
use salver_model::Name;
use salver_model::ports::{Loader, Table};
use salver_model::spec::{DatasetSpec, Residency};
use salver_testkit::contract;

/// Makes a file of rows in a directory; its suffix says the format.
type WriteFile = fn(&RecordBatch, &Path);

fn parquet(rows: &RecordBatch, path: &Path) {
    // Several row groups, so that pruning and order across them are tried.
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(64)).build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
}

fn arrow_file(rows: &RecordBatch, path: &Path) {
    let mut writer = arrow::ipc::writer::FileWriter::try_new(File::create(path).unwrap(), &rows.schema()).unwrap();
    for start in (0..rows.num_rows()).step_by(64) {
        writer.write(&rows.slice(start, 64.min(rows.num_rows() - start))).unwrap();
    }
    writer.finish().unwrap();
}

async fn keeps_the_contract(suffix: &str, write: WriteFile, residency: Residency) {
    let dir = tempfile::tempdir().unwrap();
    let options = EngineOptions { data_dir: dir.path().join("data"), ..EngineOptions::default() };
    let engine = Engine::new(&options).unwrap();
    let made = AtomicUsize::new(0);
    contract::table::run(async |rows: RecordBatch, key| -> Arc<dyn Table> {
        let number = made.fetch_add(1, Ordering::Relaxed);
        let path: PathBuf = dir.path().join(format!("rows_{number}.{suffix}"));
        write(&rows, &path);
        let name = Name::new("sample").unwrap();
        let spec = DatasetSpec { key, residency, ..DatasetSpec::new(name, vec![path.display().to_string()]) };
        DatasetLoader::new(spec, Arc::clone(&engine)).load().await.unwrap()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resident_rows_of_a_parquet_file() {
    keeps_the_contract("parquet", parquet, Residency::Always).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resident_rows_of_an_arrow_file() {
    keeps_the_contract("arrow", arrow_file, Residency::Always).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scanned_rows_of_a_parquet_file() {
    keeps_the_contract("parquet", parquet, Residency::Never).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine() {
    let dir = tempfile::tempdir().unwrap();
    let options = EngineOptions { data_dir: dir.path().join("data"), ..EngineOptions::default() };
    contract::sql_engine::run(&*Engine::new(&options).unwrap()).await;
}

/// Loads `source`, whose file `file` is written with so many rows by `write`.
async fn loads(source: &str, file: &str, residency: Residency, write: fn(usize, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    write(1, &path);
    let options = EngineOptions { data_dir: dir.path().join("data"), ..EngineOptions::default() };
    let source = dir.path().join(source).display().to_string();
    let spec = DatasetSpec { residency, ..DatasetSpec::new(Name::new("sample").unwrap(), vec![source]) };
    let loader = DatasetLoader::new(spec, Engine::new(&options).unwrap());
    let mut rows = 1;
    let change = || {
        rows += 1;
        write(rows, &path);
    };
    let damage = || std::fs::write(&path, b"a,b\n1,2,3,4\n\"open").unwrap();
    contract::loader::run(&loader, change, damage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loaders() {
    let write_csv = |rows, path: &Path| std::fs::write(path, format!("a,b\n{}", "1,2\n".repeat(rows))).unwrap();
    let write_json = |rows, path: &Path| std::fs::write(path, "{\"a\":1}\n".repeat(rows)).unwrap();
    let write_parquet = |rows, path: &Path| parquet(&contract::table::sample(rows), path);
    for residency in [Residency::Always, Residency::Never] {
        loads("a.csv", "a.csv", residency, write_csv).await;
        loads("a.ndjson", "a.ndjson", residency, write_json).await;
        loads("a.parquet", "a.parquet", residency, write_parquet).await;
        loads("many/*.csv", "many/a.csv", residency, write_csv).await;
    }
}
