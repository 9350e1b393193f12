//! Logs of Delta Lake that were not written in good faith, or that lost a part.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, StructArray};
use arrow::datatypes::{DataType, Field};

use super::{Log, PROTOCOL, fails, two_commits};
use crate::generated::{load, parquet_of, probe, show};

fn protocol(text: &str) -> String {
    format!(r#"{{"protocol":{text}}}"#)
}

fn added(path: &str, values: &str) -> String {
    format!(r#"{{"add":{{"path":"{path}","partitionValues":{{{values}}},"size":1,"modificationTime":1}}}}"#)
}

/// A commit with a schema: the columns are JSON.
fn schema(columns: &str, partitions: &str, mode: &str) -> String {
    let schema = format!(r#"{{"type":"struct","fields":[{columns}]}}"#).replace('"', "\\\"");
    format!(
        r#"{{"metaData":{{"schemaString":"{schema}","partitionColumns":[{partitions}],"configuration":{{"delta.columnMapping.mode":"{mode}"}}}}}}"#
    )
}

#[cfg(unix)]
#[test]
fn pipes_are_no_files_of_a_log() {
    for name in ["00000000000000000003.json", "00000000000000000002.checkpoint.parquet"] {
        let log = two_commits();
        let path = log.0.dir.path().join("t/_delta_log").join(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        fails(&log.spec(), &format!("{name}` is damaged: it is not a regular file"), "restore");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        fails(&log.spec(), &format!("{name}` is damaged: it is not a regular file"), "restore");
    }
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_a_table() {
    use std::os::unix::fs::symlink;
    let outside = "is not in the table's directory";
    for below in ["c.parquet", "part=7", "_delta_log", "_delta_log/00000000000000000002.json"] {
        let log = two_commits();
        let (own, out) = (log.0.dir.path().join("t").join(below), log.0.dir.path().join("out"));
        std::fs::rename(&own, &out).unwrap();
        symlink(&out, &own).unwrap();
        fails(&log.spec(), outside, "shallow clone");
    }
    // Within the table, and to the table, links may lead.
    let log = two_commits();
    let table = log.0.dir.path().join("t");
    std::fs::rename(table.join("c.parquet"), table.join("kept.parquet")).unwrap();
    symlink("kept.parquet", table.join("c.parquet")).unwrap();
    symlink(&table, log.0.dir.path().join("link")).unwrap();
    assert_eq!(load(&log.0.spec(&["link"])).unwrap().rows, 3);
}

#[test]
fn paths_are_bounded_and_messages_short() {
    let log = two_commits();
    log.commit(3, &[&added(&"x".repeat(9_000), "")]);
    fails(&log.spec(), "a path in it has more than 8192 bytes", "restore");
    log.commit(3, &[&added(&"x".repeat(8_000), "")]);
    let error = load(&log.spec()).unwrap_err();
    assert!(error.message.contains("x…` of version 3 is gone") && error.message.len() < 1_000, "{error:?}");
    let column = format!(r#"{{"name":"a","type":"{}"}}"#, "y".repeat(100_000));
    log.commit(3, &[&schema(&column, "", "none")]);
    assert!(load(&log.spec()).unwrap_err().message.len() < 2_000);
    log.commit(3, &[&protocol(&format!(r#"{{"minReaderVersion":3,"readerFeatures":["{}"]}}"#, "z".repeat(100_000)))]);
    let error = load(&log.spec()).unwrap_err();
    assert!(error.message.len() < 2_000 && error.hint.unwrap().len() < 2_000);
}

#[test]
fn paths_and_values() {
    let log = Log::new();
    let add = log.add("a.parquet", "\"7\"", &[1]).replace("a.parquet", "./a.parquet");
    log.commit(1, &[&add]);
    assert_eq!(show(&load(&log.spec()).unwrap()), "part:Int64|id:Int64|text:Utf8\n7|1|~");
    log.commit(2, &[&log.add("b.parquet", "\"seven\"", &[2])]);
    fails(&log.spec(), "is `seven`, which is not Int64", "its values come from the table's log");
}

#[test]
fn a_commit_without_a_byte_is_not_there_yet() {
    let log = two_commits();
    let before = probe(&log.spec()).unwrap();
    log.0.file("t/_delta_log/00000000000000000003.json", "");
    assert_eq!(probe(&log.spec()).unwrap(), before);
    assert_eq!(load(&log.spec()).unwrap().version, before);
    fails(&log.at("?version=3"), "has no version 3", "the versions 0 to 2");
    log.0.file("t/_delta_log/00000000000000000003.json", "{\"add\":{");
    fails(&log.spec(), "is damaged: line 1", "restore");
}

#[test]
fn schemas_without_sense() {
    let log = Log::new();
    let column = |name: &str, metadata: &str| format!(r#"{{"name":"{name}","type":"long","metadata":{{{metadata}}}}}"#);
    let physical = |name: &str| format!(r#""delta.columnMapping.physicalName":"{name}""#);
    let pair = |a: String, b: String| format!("{a},{b}");
    let twice = pair(column("a", ""), column("a", ""));
    let same = pair(column("a", &physical("p")), column("b", &physical("p")));
    let nested = format!(r#"{{"name":"s","type":{{"type":"struct","fields":[{twice}]}}}}"#);
    for (columns, partitions, mode, why) in [
        (&twice, "", "none", "has the column `a` twice"),
        (&nested, "", "none", "has the column `a` twice"),
        (&same, "", "name", "are called `p` in files"),
        (&column("a", ""), "\"a\",\"a\"", "none", "`a` is named twice"),
        (&column("a", ""), "\"b\"", "none", "`b` is not in its schema"),
        (&column("a", ""), "", "name", "`a` has no name in files"),
    ] {
        log.commit(1, &[&schema(columns, partitions, mode)]);
        fails(&log.spec(), why, "restore");
    }
    let many: Vec<String> = (0..10_001).map(|number| column(&format!("c{number}"), "")).collect();
    log.commit(1, &[&schema(&many.join(","), "", "none")]);
    fails(&log.spec(), "with more than 10000 columns", "fewer columns");
    log.commit(1, &[&schema(&many[1..].join(","), "", "none")]);
    assert_eq!(load(&log.spec()).unwrap().rows, 0);
}

#[test]
fn protocols_without_sense() {
    let log = Log::new();
    log.commit(1, &[&protocol(r#"{"minReaderVersion":0}"#)]);
    fails(&log.spec(), "its protocol is of version 0", "restore");
    log.commit(1, &[&protocol(r#"{"minReaderVersion":3}"#)]);
    fails(&log.spec(), "has no `readerFeatures`", "restore");
}

#[test]
fn times_of_commits_have_no_gaps() {
    let log = Log::new();
    let told = |time: &str| format!(r#"{{"commitInfo":{{"inCommitTimestamp":{time}}}}}"#);
    log.commit(0, &[&told("1000"), PROTOCOL, &log.metadata("long")]);
    log.commit(1, &[&told("2000"), &log.add("a.parquet", "null", &[1])]);
    log.commit(2, &[&told("3000"), &log.add("b.parquet", "null", &[2])]);
    let late = log.at("?at=1970-01-01T00:00:03Z");
    assert_eq!(load(&late).unwrap().rows, 2);
    log.commit(1, &[&log.add("a.parquet", "null", &[1])]);
    fails(&late, "00000000000000000001.json` is damaged: it tells no time", "restore");
    log.commit(1, &[&told("2000"), &log.add("a.parquet", "null", &[1])]);
    log.commit(2, &[&log.add("b.parquet", "null", &[2])]);
    fails(&late, "00000000000000000002.json` is damaged: it tells no time", "restore");
    log.commit(2, &[&told("\"3000\""), &log.add("b.parquet", "null", &[2])]);
    fails(&late, "00000000000000000002.json` is damaged: line 1", "restore");
}

/// A checkpoint that has lost what it is made of is no empty table.
#[test]
fn checkpoints_without_their_columns() {
    let numbers = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let member = |name: &str| -> ArrayRef {
        let field = Arc::new(Field::new(name, DataType::Int64, true));
        Arc::new(StructArray::from(vec![(field, numbers())]))
    };
    for (name, column, why) in [
        ("add", numbers(), "its column `add` is no struct"),
        ("add", member("size"), "its column `add` has no text `path`"),
        ("add", member("path"), "its column `add` has no text `path`"),
        ("added", member("path"), "it has no column `add`"),
    ] {
        let log = two_commits();
        let batch = RecordBatch::try_from_iter([(name, column)]).unwrap();
        log.0.file("t/_delta_log/00000000000000000002.checkpoint.parquet", parquet_of(&batch));
        fails(&log.spec(), why, "restore");
    }
    let log = two_commits();
    let path: ArrayRef = Arc::new(StringArray::from(vec!["c.parquet"]));
    let field = Arc::new(Field::new("path", DataType::Utf8, true));
    let adds: ArrayRef = Arc::new(StructArray::from(vec![(field, path)]));
    let batch = RecordBatch::try_from_iter([("add", adds)]).unwrap();
    log.0.file("t/_delta_log/00000000000000000002.checkpoint.parquet", parquet_of(&batch));
    fails(&log.spec(), "is damaged: it has no `protocol` or no `metaData`", "restore");
}
