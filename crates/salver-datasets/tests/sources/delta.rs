//! Tables of Delta Lake: those that Spark wrote (`delta/make.py`), and logs that are written here line by line.

#[path = "delta/hostile.rs"]
mod hostile;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, Int64Array, RecordBatch, StringArray};
use futures::TryStreamExt;
use salver_datasets::{Content, DatasetLoader, Engine, EngineOptions, discover, look};
use salver_model::ports::{Loader, Table};
use salver_model::spec::{DatasetSpec, Residency, SourceFormat};
use salver_model::{Batches, Code, ColumnPath, Comparison, Filter, Item, Name, Query, Value};

use crate::generated::{Made, column, load, parquet_of, probe, show};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources/delta").join(name)
}

fn spec_of(source: &str) -> DatasetSpec {
    DatasetSpec::new(Name::new("t").unwrap(), vec![source.to_owned()])
}

fn spark(name: &str) -> DatasetSpec {
    spec_of(fixture(name).to_str().unwrap())
}

/// The rows of a table, sorted, below its columns.
fn sorted(spec: &DatasetSpec) -> String {
    let shown = show(&load(spec).unwrap_or_else(|error| panic!("{error:?}")));
    let mut lines: Vec<&str> = shown.lines().collect();
    lines[1..].sort_unstable();
    lines.join("\n")
}

/// The numbers in the first column.
fn ids(spec: &DatasetSpec) -> Vec<i64> {
    let mut ids: Vec<i64> =
        sorted(spec).lines().skip(1).map(|line| line.split('|').next().unwrap().parse().unwrap()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn deletion_vectors() {
    let rows = sorted(&spark("vectors"));
    let expected = (0..63).filter(|id| (id % 4 != 0 || *id >= 60) && ![1, 2, 41].contains(id)).map(|id| {
        let name = if id == 3 { "updated".to_owned() } else { format!("n{id}") };
        let part = if id < 40 {
            "a b=c/%"
        } else if id < 60 {
            "~"
        } else {
            "whole"
        };
        format!("{id}|{name}|{part}")
    });
    let mut expected: Vec<String> = expected.collect();
    expected.sort_unstable();
    assert_eq!(rows, format!("id:Int64|name:Utf8|part:Utf8\n{}", expected.join("\n")));
    // Each version has its own.
    let version = |number: u64| spec_of(&format!("{}?version={number}", fixture("vectors").display()));
    assert_eq!(ids(&version(3)), (0..63).collect::<Vec<_>>());
    let after_first: Vec<i64> = (0..63).filter(|id| id % 4 != 0 || *id >= 60).collect();
    assert_eq!(ids(&version(4)), after_first);
}

/// Runs of deleted rows, over the boundary of what one bitmap of 16 bits has.
#[test]
fn long_deletion_vectors() {
    let (loaded, shown) = (load(&spark("runs")).unwrap(), show(&load(&spark("runs")).unwrap()));
    // 50 of 200 thousands are left, without one row each.
    assert_eq!(loaded.rows, 50 * 999);
    for id in [0, 151, 199] {
        assert_eq!(shown.lines().filter(|line| *line == format!("{id}|false")).count(), 999, "{id}");
    }
    assert!(!shown.contains("true") && !shown.contains("\n1|"));
}

/// What a table has other rows than its files in is never scanned in place, nor sent as it is.
#[test]
fn changed_files_are_not_scanned() {
    let mut spec = spark("vectors");
    spec.residency = Residency::Never;
    let loaded = load(&spec).unwrap();
    let Content::Parquet { kept, .. } = &loaded.content else { panic!() };
    assert!(kept.is_some() && loaded.file.is_none() && loaded.rows == 45, "{}", loaded.source);
    assert!(loaded.source.ends_with("(Delta, version 6), converted to Parquet on disk"), "{}", loaded.source);
}

#[test]
fn columns_by_name() {
    assert_eq!(
        sorted(&spark("names")),
        "id:Int32|label:Utf8|s:Struct(\"renamed\": Int32, \"y\": Utf8, \"z\": Float64)|l:List(Struct(\"kk\": Int32), \
         field: 'element')|m:Map(\"key_value\": non-null Struct(\"key\": non-null Utf8, \"value\": \
         Struct(\"v\": Int32)), unsorted)|part:Int32|gone:Utf8\n\
         1|one|{renamed: 1, y: x, z: }|[{kk: 1}]|{k: {v: 1}}|7|~\n\
         2|two|{renamed: 2, y: y, z: 2.5}|[{kk: 2}, {kk: }]|{k: {v: 2}}|~|back"
    );
}

#[test]
fn columns_by_number() {
    assert_eq!(sorted(&spark("numbers")), "id:Int32|w:Utf8\n1|a\n2|~\n3|c");
}

#[test]
fn widened_types() {
    assert_eq!(
        sorted(&spark("widened")),
        "id:Int32|a:Int32|b:Int64|c:Float64|d:Decimal128(20, 4)|e:Timestamp(µs)|f:Float64|\
         s:Struct(\"x\": Int32)|p:Int32\n\
         1|1|300|1.5|12.3400|2024-02-29T00:00:00|7.0|{x: 1}|1\n\
         2|70000|5000000000|0.1|1234567890.1234|2024-03-01T12:30:00.500|0.25|{x: 70000}|70000"
    );
}

#[test]
fn checkpoints() {
    let expected: Vec<i64> = (0..24).filter(|id| ![3, 13].contains(id)).collect();
    for name in ["parts", "second_parquet", "second_json"] {
        assert_eq!(ids(&spark(name)), expected, "{name}");
        assert!(sorted(&spark(name)).contains("\n20|~\n") && sorted(&spark(name)).contains("\n22|2024-01-03"));
        let before = spec_of(&format!("{}?version=4", fixture(name).display()));
        assert_eq!(ids(&before).len(), 20, "{name}");
        let gone = load(&spec_of(&format!("{}?version=3", fixture(name).display()))).unwrap_err();
        assert!(gone.message.ends_with("has no version 3"), "{gone:?}");
        assert_eq!(gone.hint.as_deref(), Some("there are the versions 4 to 5"));
    }
}

#[test]
fn times_and_their_commits() {
    assert_eq!(
        sorted(&spark("times")),
        "id:Int32|at:Timestamp(µs, \"UTC\")|local:Timestamp(µs)\n\
         1|2024-05-01T12:00:00.123456Z|1500-01-01T00:00:00\n2|9999-12-31T23:59:59Z|~"
    );
    // The log has the times of its commits, whatever its files have.
    let log = std::fs::read_to_string(fixture("times/_delta_log/00000000000000000001.json")).unwrap();
    let (_, time) = log.split_once("\"inCommitTimestamp\":").unwrap();
    let time: i64 = time[..13].parse().unwrap();
    let at = |ms: i64| {
        let text = chrono::DateTime::from_timestamp_millis(ms).unwrap().to_rfc3339();
        spec_of(&format!("{}?at={}", fixture("times").display(), text.replace("+00:00", "Z")))
    };
    assert_eq!(ids(&at(time)), [1]);
    assert_eq!(load(&at(time - 1)).unwrap().rows, 0);
    assert_eq!(ids(&at(time + 1_000_000_000)), [1, 2]);
    let early = load(&at(0)).unwrap_err();
    assert!(early.message.ends_with("had no version at 1970-01-01T00:00:00Z"), "{early:?}");
    assert!(early.hint.unwrap().starts_with("its first one, 0, is of "));
}

#[test]
fn what_is_not_supported() {
    let error = load(&spark("variants")).unwrap_err();
    assert!(
        error.message.ends_with("is a Delta table with the feature `variantType`, which can't be read"),
        "{error:?}"
    );
    assert!(error.hint.unwrap().contains("DROP FEATURE variantType"));
}

/// A log that is written here.
struct Log(Made);

const PROTOCOL: &str = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;

impl Log {
    /// A table `t` of `id` and `part`, by which it is partitioned.
    fn new() -> Self {
        let log = Self(Made::new());
        log.commit(0, &[PROTOCOL, &log.metadata("long")]);
        log
    }

    fn metadata(&self, part: &str) -> String {
        let field =
            |name: &str, kind: &str| format!(r#"{{"name":"{name}","type":"{kind}","nullable":true,"metadata":{{}}}}"#);
        let fields = format!("{},{},{}", field("part", part), field("id", "long"), field("text", "string"));
        let schema = format!(r#"{{"type":"struct","fields":[{fields}]}}"#).replace('"', "\\\"");
        format!(
            r#"{{"metaData":{{"id":"x","format":{{"provider":"parquet","options":{{}}}},"schemaString":"{schema}","partitionColumns":["part"],"configuration":{{}}}}}}"#
        )
    }

    fn commit(&self, version: u64, lines: &[&str]) {
        self.0.file(&format!("t/_delta_log/{version:020}.json"), lines.join("\n") + "\n");
    }

    /// Writes a data file, and returns the action that adds it.
    fn add(&self, path: &str, part: &str, ids: &[i64]) -> String {
        let texts: StringArray = ids.iter().map(|id| (id % 2 == 0).then(|| format!("t{id}"))).collect();
        let batch = RecordBatch::try_from_iter([
            ("text", Arc::new(texts) as Arc<dyn Array>),
            ("id", Arc::new(Int64Array::from(ids.to_vec()))),
        ]);
        self.0.file(&format!("t/{}", path.replace("%20", " ")), parquet_of(&batch.unwrap()));
        format!(
            r#"{{"add":{{"path":"{path}","partitionValues":{{"part":{part}}},"size":1,"modificationTime":{},"dataChange":true}}}}"#,
            ids[0]
        )
    }

    fn spec(&self) -> DatasetSpec {
        self.0.spec(&["t"])
    }

    fn at(&self, suffix: &str) -> DatasetSpec {
        self.0.spec(&[&format!("t{suffix}")])
    }
}

/// What a table has of commits that come after one another.
fn two_commits() -> Log {
    let log = Log::new();
    log.commit(1, &[&log.add("part=7/a%20b.parquet", "\"7\"", &[1, 2]), &log.add("part=x/b.parquet", "null", &[3])]);
    let removed = r#"{"remove":{"path":"part=x/b.parquet","dataChange":true}}"#;
    log.commit(2, &[&log.add("c.parquet", "\"\"", &[4]), removed]);
    log
}

#[test]
fn commits_follow_one_another() {
    let log = two_commits();
    let head = "part:Int64|id:Int64|text:Utf8\n7|1|~\n7|2|t2\n";
    assert_eq!(show(&load(&log.spec()).unwrap()), format!("{head}~|4|t4"));
    assert_eq!(show(&load(&log.at("?version=1")).unwrap()), format!("{head}~|3|~"));
    let empty = load(&log.at("?version=0")).unwrap();
    assert_eq!((show(&empty).as_str(), empty.rows), ("part:Int64|id:Int64|text:Utf8", 0));
    let mut declared = log.spec();
    declared.format = Some(SourceFormat::Delta);
    declared.schema = vec![column("part", arrow::datatypes::DataType::Utf8)];
    assert!(show(&load(&declared).unwrap()).starts_with("part:Utf8|id:Int64|text:Utf8\n7|1|~"));
}

#[test]
fn versions_are_told_by_the_log() {
    let log = two_commits();
    let (latest, fixed) = (probe(&log.spec()).unwrap(), probe(&log.at("?version=2")).unwrap());
    assert_eq!(load(&log.spec()).unwrap().version, latest);
    assert_eq!(load(&log.at("?version=2")).unwrap().version, fixed);
    // A file that is no part of the table changes nothing.
    log.0.file("t/other.parquet", "");
    assert_eq!(probe(&log.spec()).unwrap(), latest);
    log.commit(3, &[&log.add("d.parquet", "\"8\"", &[5])]);
    assert_ne!(probe(&log.spec()).unwrap(), latest);
    assert_eq!(probe(&log.at("?version=2")).unwrap(), fixed);
    assert_eq!(load(&log.spec()).unwrap().rows, 4);
    assert_eq!(load(&log.at("?version=2")).unwrap().rows, 3);
}

/// A table that is scanned in place: columns in the table's order, filters on all of them, and whole exports.
#[test]
fn files_are_scanned_in_place() {
    let log = two_commits();
    in_place(log.spec(), async |table| {
        let about = table.describe();
        assert!(about.source.ends_with("(Delta, version 2), scanned in place"), "{}", about.source);
        let columns = ["part", "id", "text"];
        assert_eq!(about.schema.fields().iter().map(|field| field.name()).collect::<Vec<_>>(), columns);
        let held = table.hold(1).await.unwrap();
        let batches: Vec<RecordBatch> = held.read(0, &[2, 0, 1], None, None).try_collect().await.unwrap();
        assert_eq!(texts(&batches), ["~|7|1", "t2|7|2", "t4|~|4"]);
        assert_eq!(ask(&table, &[], None).await, ["7|1|~", "7|2|t2", "~|4|t4"]);
        assert_eq!(ask(&table, &["id"], compare("part", Comparison::Eq, Value::Int(7))).await, ["1", "2"]);
        assert_eq!(ask(&table, &["text", "part"], compare("id", Comparison::Eq, Value::Int(2))).await, ["t2|7"]);
        let is_null = Some(Filter::IsNull { column: ColumnPath::column("part") });
        assert_eq!(ask(&table, &["id", "part"], is_null).await, ["4|~"]);
    });
}

/// Spark writes timestamps in 96 bits and without a zone, and in the table they have one.
#[test]
fn timestamps_of_spark_are_scanned_in_place() {
    in_place(spark("times"), async |table| {
        assert!(table.describe().source.ends_with("scanned in place"), "{}", table.describe().source);
        let held = table.hold(1).await.unwrap();
        let batches: Vec<RecordBatch> = held.read(0, &[0, 1], None, None).try_collect().await.unwrap();
        let all = ["1|2024-05-01T12:00:00.123456Z", "2|9999-12-31T23:59:59Z"];
        assert_eq!(texts(&batches), all);
        assert_eq!(ask(&table, &["id", "at"], None).await, all);
        let late = compare("at", Comparison::Gt, Value::Text("2024-05-01T12:00:00.123456Z".to_owned()));
        assert_eq!(ask(&table, &["id", "at"], late).await, all[1..]);
    });
}

/// Loads a table that is not to be in memory, and looks at it.
fn in_place(mut spec: DatasetSpec, look: impl AsyncFnOnce(Arc<dyn Table>)) {
    spec.residency = Residency::Never;
    let dir = tempfile::tempdir().unwrap();
    let options = EngineOptions { data_dir: dir.path().to_owned(), threads: 2, ..EngineOptions::default() };
    let engine = Engine::new(&options).unwrap();
    wait_many(async move { look(DatasetLoader::new(spec, engine).load().await.unwrap()).await });
}

fn compare(column: &str, op: Comparison, value: Value) -> Option<Filter> {
    Some(Filter::compare(ColumnPath::column(column), op, value))
}

/// The rows that a query gives; of all columns if none is named.
async fn ask(table: &Arc<dyn Table>, items: &[&str], filter: Option<Filter>) -> Vec<String> {
    let item = |name: &&str| Item::Column { path: ColumnPath::column(*name), name: (*name).to_owned() };
    let query = Query { items: items.iter().map(item).collect(), filter, ..Query::default() };
    let batches = match table.read(&query).await.unwrap().batches {
        Batches::Ready(batches) => batches,
        Batches::Stream(stream) => stream.try_collect().await.unwrap(),
    };
    texts(&batches)
}

fn wait_many(future: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future);
}

fn texts(batches: &[RecordBatch]) -> Vec<String> {
    let cell = |column: &Arc<dyn Array>, row: usize| match column.is_null(row) {
        true => "~".to_owned(),
        false => arrow::util::display::array_value_to_string(column, row).unwrap(),
    };
    let row =
        |batch: &RecordBatch, row| batch.columns().iter().map(|column| cell(column, row)).collect::<Vec<_>>().join("|");
    batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |number| row(batch, number))).collect()
}

#[track_caller]
fn fails(spec: &DatasetSpec, message: &str, hint: &str) {
    let error = load(spec).unwrap_err();
    assert_eq!(error.code, Code::Source);
    assert!(error.message.contains(message), "{}", error.message);
    assert!(error.hint.as_ref().unwrap().contains(hint), "{:?}", error.hint);
}

#[test]
fn faults() {
    let log = two_commits();
    fails(&log.at("?version=9"), "has no version 9", "there are the versions 0 to 2");
    fails(&log.at("?version=two"), "`two` is no version", "?version=3");
    fails(&log.at("?at=1999-01-01"), "had no version at 1999-01-01T00:00:00Z", "its first one, 0");
    let mut other = Made::new().spec(&["."]);
    other.format = Some(SourceFormat::Delta);
    fails(&other, "is no Delta table", "_delta_log");

    std::fs::remove_file(log.0.dir.path().join("t/c.parquet")).unwrap();
    fails(&log.spec(), "`c.parquet` of version 2 is gone", "vacuumed");
    assert_eq!(load(&log.at("?version=1")).unwrap().rows, 3);

    log.commit(3, &["{\"add\":", PROTOCOL]);
    fails(&log.spec(), "00000000000000000003.json` is damaged: line 1, column", "?version=");
    log.commit(3, &[r#"{"protocol":{"minReaderVersion":3,"readerFeatures":["columnMapping","newest"]}}"#]);
    fails(&log.spec(), "with the feature `newest`", "DROP FEATURE newest");
    log.commit(3, &[r#"{"protocol":{"minReaderVersion":4}}"#]);
    fails(&log.spec(), "version 4 of the protocol", "1 to 3");
    for path in ["../other.parquet", "/etc/other.parquet", "s3://b/other.parquet", "x/%2E%2E/%2E%2E/y.parquet"] {
        let add = format!(r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":1,"modificationTime":1}}}}"#);
        log.commit(3, &[&add]);
        fails(&log.spec(), "is not in the table's directory", "shallow clone");
    }
    log.commit(5, &[PROTOCOL]);
    fails(&log.spec(), "the log has no commit 4", "checkpoint");

    let odd = Log::new();
    odd.commit(1, &[&odd.add("a.parquet", "\"seven\"", &[1])]);
    fails(&odd.spec(), "its partition column `part` is `seven`, which is not Int64", "schema");
    odd.commit(1, &[&odd.metadata("interval")]);
    fails(&odd.spec(), "the column `part` of the type `interval`", "without this column");
}

/// A damaged file of the log is an error wherever the damage is, and never a panic or other rows.
#[test]
fn damaged_checkpoints() {
    let made = Made::new();
    copy(&fixture("second_parquet"), &made.dir.path().join("t"));
    let log = made.dir.path().join("t/_delta_log");
    let names: Vec<PathBuf> = [log.clone(), log.join("_sidecars")]
        .iter()
        .flat_map(|dir| std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "parquet"))
        .collect();
    assert_eq!(names.len(), 2);
    let spec = made.spec(&["t"]);
    let whole = sorted(&spec);
    for path in names {
        let bytes = std::fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(1_024) {
            std::fs::write(&path, &bytes[..at]).unwrap();
            assert!(load(&spec).is_err(), "{} cut at {at}", path.display());
        }
        std::fs::write(&path, bytes).unwrap();
    }
    assert_eq!(sorted(&spec), whole);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A table is one entry, alone or among files, and its files are none.
#[test]
fn tables_are_found() {
    let log = two_commits();
    log.0.file("a.csv", "x\n1\n");
    let names = |dir: &Path| {
        let (found, left_out) = discover(dir).unwrap();
        assert!(left_out.is_empty());
        found.iter().map(|spec| spec.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(log.0.dir.path()), ["a", "t"]);
    assert_eq!(names(&log.0.dir.path().join("t")), ["t"]);
    let (found, _) = discover(&log.0.dir.path().join("t")).unwrap();
    assert_eq!(load(&found[0]).unwrap().rows, 3);
    let looked = look(&log.0.dir.path().join("t"), &|_| false).unwrap();
    assert_eq!(looked.len(), 1);
    // Below a directory of files they are passed over.
    log.0.file("files/a.csv", "x\n1\n");
    copy(&log.0.dir.path().join("t"), &log.0.dir.path().join("files/t"));
    assert_eq!(show(&load(&log.0.spec(&["files"])).unwrap()), "x:Int64\n1");
    // As Parquet they are what they are.
    let mut raw = log.spec();
    raw.format = Some(SourceFormat::Parquet);
    raw.partitions = false;
    assert_eq!(load(&raw).unwrap().rows, 4);
    let both = log.0.spec(&["t", "a.csv"]);
    fails(&both, "is a Delta table, and `made` has other sources", "a dataset of its own");
}
