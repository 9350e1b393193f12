//! Files, directories, globs, lists, partitions, and what a directory offers.

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use salver_datasets::Content;
use salver_model::Code;
use salver_model::spec::{ColumnSpec, DatasetSpec, Residency, SourceFormat};

use crate::generated::{Made, load, parquet_of, probe, sample, show, wait};

#[test]
fn directories_globs_and_lists() {
    let made = Made::new();
    made.file("in/b.csv", "a\n2\n");
    made.file("in/a.csv", "a\n1\n");
    made.file("in/deep/er/c.csv", "a\n3\n");
    made.file("in/.hidden.csv", "a\n9\n");
    made.file("in/_temporary/d.csv", "a\n9\n");
    made.file("in/other.json", "[{\"a\":9}]");
    made.file("in/README.md", "text");
    let all = "a:Int64\n1\n2\n3";
    assert_eq!(show(&load(&made.spec(&["in"])).unwrap()), all);
    assert_eq!(show(&load(&made.spec(&["in/**/*.csv"])).unwrap()), all);
    assert_eq!(show(&load(&made.spec(&["in/*.csv"])).unwrap()), "a:Int64\n1\n2");
    assert_eq!(show(&load(&made.spec(&["in/[b]*"])).unwrap()), "a:Int64\n2");
    assert_eq!(show(&load(&made.spec(&["in/deep", "in/a.csv"])).unwrap()), "a:Int64\n3\n1");
    let mut spec = made.spec(&["in"]);
    spec.format = Some(SourceFormat::Json);
    assert_eq!(show(&load(&spec).unwrap()), "a:Int64\n9");
    spec.sources = vec![format!("file://{}", made.dir.path().join("in/a.csv").display())];
    spec.format = None;
    assert_eq!(show(&load(&spec).unwrap()), "a:Int64\n1");
}

#[test]
fn names_with_marks_of_patterns_are_names() {
    let made = Made::new();
    made.file("sales [2026]*.csv", "a\n1\n");
    assert_eq!(show(&load(&made.spec(&["sales [2026]*.csv"])).unwrap()), "a:Int64\n1");
}

#[test]
fn what_matches_nothing() {
    let made = Made::new();
    made.file("people.csv", "a\n1\n");
    made.file("notes.txt", "a\n1\n");
    made.file("empty/README.md", "");
    for (source, message, hint) in [
        ("poeple.csv", "there is no file", "did you mean `people.csv`?"),
        ("no/where.csv", "there is no file", "does not exist either"),
        ("*.parquet", "no file matches", "pattern"),
        ("empty", "holds no file that can be read", "supported suffixes"),
        ("notes.txt", "can't tell the format", "format = "),
        ("a[", "is not a glob pattern", "`**`"),
    ] {
        let wrong = load(&made.spec(&[source])).unwrap_err();
        assert_eq!(wrong.code, Code::Source);
        assert!(wrong.message.contains(message), "{wrong:?}");
        assert!(wrong.hint.as_ref().unwrap().contains(hint), "{:?}", wrong.hint);
        assert_eq!(probe(&made.spec(&[source])).unwrap_err().message, wrong.message);
    }
    let mut spec = made.spec(&[]);
    spec.sources = vec!["ftp://host/x.csv".into()];
    assert!(load(&spec).unwrap_err().message.contains("`ftp://`"));
    spec.sources.clear();
    assert!(load(&spec).unwrap_err().message.contains("has no source"));
    let mut spec = made.spec(&["notes.txt"]);
    spec.format = Some(SourceFormat::Csv);
    assert_eq!(show(&load(&spec).unwrap()), "a:Int64\n1");
}

#[test]
fn partitions_become_columns() {
    let made = Made::new();
    made.file("p/year=2025/day=2025-12-31/who=a%20b/x.csv", "n\n1\n");
    made.file("p/year=2026/day=2026-01-01/who=__HIVE_DEFAULT_PARTITION__/x.csv", "n\n2\n");
    let expected = "n:Int64|year:Int64|day:Date32|who:Utf8\n1|2025|2025-12-31|a b\n2|2026|2026-01-01|~";
    assert_eq!(show(&load(&made.spec(&["p"])).unwrap()), expected);
    assert_eq!(show(&load(&made.spec(&["p/**/*.csv"])).unwrap()), expected);
    let mut spec = made.spec(&["p"]);
    spec.partitions = false;
    assert_eq!(show(&load(&spec).unwrap()), "n:Int64\n1\n2");
    made.file("p/other=1/x.csv", "n\n3\n");
    let wrong = load(&made.spec(&["p"])).unwrap_err();
    assert!(
        wrong.message.contains("partitioned by `other`") && wrong.message.contains("by `year`, `day`, `who`"),
        "{wrong:?}"
    );
}

#[test]
fn partitions_keep_the_zeros_of_codes() {
    let made = Made::new();
    made.file("p/zip=01234/month=01/x.csv", "n\n1\n");
    made.file("p/zip=99999/month=12/x.csv", "n\n2\n");
    let mut spec = made.spec(&["p"]);
    assert_eq!(show(&load(&spec).unwrap()), "n:Int64|zip:Utf8|month:Int64\n1|01234|1\n2|99999|12");
    spec.schema = vec![crate::generated::column("zip", DataType::Int64)];
    assert_eq!(show(&load(&spec).unwrap()), "n:Int64|zip:Int64|month:Int64\n1|1234|1\n2|99999|12");
}

#[test]
fn a_column_of_a_key_is_in_all_files_or_in_none() {
    let made = Made::new();
    made.file("p/k=1/a.csv", "v,k\n1,9\n");
    assert_eq!(show(&load(&made.spec(&["p"])).unwrap()), "v:Int64|k:Int64\n1|9");
    made.file("p/k=2/a.csv", "v\n5\n");
    let refused = load(&made.spec(&["p"])).unwrap_err().message;
    assert!(refused.contains("k=1/a.csv` has a column `k`") && refused.contains("k=2/a.csv` has none"), "{refused}");
}

#[test]
fn partitions_have_the_types_that_are_declared() {
    let made = Made::new();
    made.file("p/k=01/x.parquet", parquet_of(&sample()));
    made.file("p/k=2.50/x.parquet", parquet_of(&sample().slice(0, 1)));
    let mut spec = made.spec(&["p"]);
    let declared = |spec: &mut DatasetSpec, data_type, nullable| {
        spec.schema = vec![ColumnSpec { nullable, ..crate::generated::column("k", data_type) }];
        load(spec)
    };
    let shown = show(&declared(&mut spec, DataType::Decimal128(5, 2), false).unwrap());
    assert!(shown.contains("|k:Decimal128(5, 2)") && shown.contains("|1.00\n") && shown.ends_with("|2.50"), "{shown}");
    let shown = show(&declared(&mut spec, DataType::Float64, true).unwrap());
    assert!(shown.contains("|1.0\n") && shown.ends_with("|2.5"), "{shown}");
    for narrow in [DataType::Int64, DataType::Date32, DataType::Decimal128(5, 0), DataType::Boolean] {
        let refused = declared(&mut spec, narrow.clone(), true).unwrap_err().message;
        assert!(refused.contains("k=") && refused.contains("partition column `k` is `"), "{narrow}: {refused}");
    }
    spec.residency = Residency::Never;
    let loaded = declared(&mut spec, DataType::Decimal128(5, 2), true).unwrap();
    let Content::Parquet { files, kept: None, .. } = &loaded.content else { panic!("copied") };
    let values: Vec<_> = files.iter().map(|file| file.partition_values.clone()).collect();
    assert_eq!(values, [100, 250].map(|value| vec![ScalarValue::Decimal128(Some(value), 5, 2)]));
    made.file("p/k=__HIVE_DEFAULT_PARTITION__/x.parquet", parquet_of(&sample()));
    let refused = declared(&mut spec, DataType::Utf8, false).unwrap_err();
    assert!(refused.message.contains("null, but was declared not nullable"));
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_read_stops_no_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let made = Made::new();
    made.file("a.csv", "a\n1\n");
    let locked = made.dir.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    let is_locked = std::fs::read_dir(&locked).is_err();
    let (specs, left_out) = salver_datasets::discover(made.dir.path()).unwrap();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(specs.len(), 1);
    assert_eq!(specs[0].name.as_str(), "a");
    // Root reads it all the same.
    assert_eq!(left_out.len(), usize::from(is_locked));
    assert!(left_out.iter().all(|why| why.message.contains("locked") && why.hint.is_some()));
}

#[test]
fn partitions_of_parquet_stay_with_the_file() {
    let made = Made::new();
    made.file("p/year=2025/x.parquet", parquet_of(&sample()));
    made.file("p/year=2026/x.parquet", parquet_of(&sample().slice(0, 1)));
    let mut spec = made.spec(&["p"]);
    let loaded = load(&spec).unwrap();
    assert!(show(&loaded).ends_with("|2025\n1|ann|0.5|2026"));
    spec.residency = Residency::Never;
    let loaded = load(&spec).unwrap();
    let Content::Parquet { schema, files, partition_columns, kept } = &loaded.content else { panic!() };
    assert_eq!(schema.fields().len(), 4);
    assert_eq!(partition_columns.len(), 1);
    assert!(kept.is_none());
    let values: Vec<_> = files.iter().map(|file| (file.rows, file.partition_values.clone())).collect();
    assert_eq!(values, [(3, vec![ScalarValue::from(2025_i64)]), (1, vec![ScalarValue::from(2026_i64)])]);
    assert_eq!((loaded.rows, loaded.memory_bytes), (4, 0));
}

#[test]
fn versions_follow_content_and_settings() {
    let made = Made::new();
    let path = made.file("a.csv", "a\n1\n");
    let spec = made.spec(&["*.csv"]);
    let first = probe(&spec).unwrap();
    assert_eq!(load(&spec).unwrap().version, first);
    assert_eq!(probe(&spec).unwrap(), first);
    let mut other = spec.clone();
    other.csv.header = Some(false);
    assert_ne!(probe(&other).unwrap(), first);
    other = spec.clone();
    other.refresh = Some(std::time::Duration::from_secs(1));
    assert_eq!(probe(&other).unwrap(), first);
    std::fs::write(path, "a\n12\n").unwrap();
    let second = probe(&spec).unwrap();
    assert_ne!(second, first);
    made.file("b.csv", "a\n1\n");
    assert_ne!(probe(&spec).unwrap(), second);
}

#[test]
fn a_directory_offers_its_files() {
    let made = Made::new();
    for name in
        ["a.csv", "a.json", "cities.csv.gz", "x.parquet", "README.md", "salver.toml", ".hidden.csv", "notes.txt"]
    {
        made.file(name, "a\n1\n");
    }
    made.file("logs/2025.csv", "a\n1\n");
    made.file("logs/2026.csv", "a\n1\n");
    made.file("parts/year=2025/x.parquet", "");
    made.file("parts/year=2025/y.parquet", "");
    made.file("mixed/x.parquet", "");
    made.file("mixed/y.csv", "");
    made.file("docs/text.md", "");
    let (specs, left_out) = salver_datasets::discover(made.dir.path()).unwrap();
    assert!(left_out.is_empty());
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["a", "a_json", "cities", "logs", "parts", "x"]);
    assert_eq!(show(&load(&specs[0]).unwrap()), "a:Int64\n1");
    assert_eq!(show(&load(&specs[3]).unwrap()), "a:Int64\n1\n1");
    assert!(salver_datasets::discover(&made.dir.path().join("nowhere")).is_err());
}

#[test]
fn the_loader_gives_a_table() {
    use salver_datasets::{DatasetLoader, Engine, EngineOptions};
    use salver_model::ports::Loader;
    let made = Made::new();
    made.file("a.csv", "a\n1\n2\n");
    let data_dir = made.dir.path().join("data");
    let options = EngineOptions { memory_bytes_max: 1 << 28, data_dir, threads: 1, ..EngineOptions::default() };
    let loader = DatasetLoader::new(made.spec(&["a.csv"]), Engine::new(&options).unwrap());
    let table = wait(loader.load()).unwrap();
    assert_eq!(table.describe().rows, Some(2));
    assert_eq!(table.describe().version, wait(loader.probe()).unwrap());
}
