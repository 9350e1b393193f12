//! Defaults, then file, then environment, then command line; and what the command line can say of datasets.

use std::time::Duration;

use salver_config::{ArgumentTarget, Override, Sources, load, target};
use salver_model::spec::{DatasetSpec, Residency, SourceFormat};
use salver_model::{Limits, Name};

use crate::{Written, meant};

fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn datasets(arguments: &[&str]) -> Vec<DatasetSpec> {
    let datasets = arguments.iter().map(|text| (*text).to_owned()).collect();
    load(&Sources { datasets, ..Sources::default() }).unwrap().0.datasets
}

fn told(arguments: &[&str]) -> String {
    let datasets = arguments.iter().map(|text| (*text).to_owned()).collect();
    let mistakes = load(&Sources { datasets, ..Sources::default() }).unwrap_err();
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn defaults_are_those_of_the_model() {
    let (checked, warnings) = load(&Sources::default()).unwrap();
    assert_eq!(checked.limits, Limits::default());
    assert_eq!(checked.server.listen.to_string(), "127.0.0.1:8080");
    assert!(!checked.compat.roapi);
    assert!(warnings.is_empty());
    let (checked, _) = meant("[[dataset]]\nname = 'a'\nsource = '-'\n");
    assert_eq!(checked.datasets, [DatasetSpec::new(Name::new("a").unwrap(), vec!["-".to_owned()])]);
}

#[test]
fn each_source_over_the_one_before() {
    let written = Written::new("[server]\nlisten = 'file:1'\nlog = 'warn'\ncors = true\n[limits]\nrows_max = 1\n");
    let mut sources = written.sources();
    sources.environment = variables(&[("SALVER_SERVER_LISTEN", "environment:2"), ("SALVER_SERVER_LOG", "error")]);
    sources.overrides =
        vec![Override { key: "server.listen", value: "line:3".to_owned(), typed: "--listen line:3".to_owned() }];
    let (checked, _) = load(&sources).unwrap();
    assert_eq!(checked.server.listen.to_string(), "line:3");
    assert_eq!(checked.server.log, "error");
    assert!(checked.server.cors);
    assert_eq!((checked.limits.rows_max, checked.limits.queries_max), (1, Limits::default().queries_max));
}

#[test]
fn mistakes_outside_the_file_name_their_place() {
    let sources = Sources {
        environment: variables(&[("SALVER_LIMITS_QUERIES_MAX", "many"), ("SALVER_SERVER_LISTEN", "x")]),
        overrides: vec![Override { key: "server.log", value: "loud".to_owned(), typed: "--log loud".to_owned() }],
        ..Sources::default()
    };
    let told: Vec<String> = load(&sources).unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        told.join("\n"),
        r#"environment variable SALVER_LIMITS_QUERIES_MAX: `limits.queries_max` can't be `many`: it is a whole number from 1 on
environment variable SALVER_SERVER_LISTEN: `x` is not an address to listen on: it has no port
  hint: write HOST:PORT, like "127.0.0.1:8080", "0.0.0.0:80" or "[::1]:8080"
command line `--log loud`: `server.log` can't be `loud`: it is one of "off", "error", "warn", "info", "debug", "trace""#
    );
}

#[test]
fn units() {
    let (checked, _) = meant(
        "[limits]\nquery_ms_max = '1.5s'\nqueue_ms_max = '2m'\nbody_bytes_max = '64MiB'\ncache_bytes_max = '1GB'\n\
         memory_bytes_max = 1_000\n",
    );
    let limits = checked.limits;
    assert_eq!((limits.query_ms_max, limits.queue_ms_max), (1_500, 120_000));
    assert_eq!((limits.body_bytes_max, limits.cache_bytes_max), (67_108_864, 1_000_000_000));
    assert_eq!(limits.memory_bytes_max, 1_000);
}

#[test]
fn sources_of_a_file_start_at_its_directory() {
    let written = Written::new("[[dataset]]\nname='a'\nsource=['x.csv','/y.csv','-','http://h/z.csv']\n");
    let (checked, _) = load(&written.sources()).unwrap();
    let expected = [&format!("{}/x.csv", written.path().display()), "/y.csv", "-", "http://h/z.csv"];
    assert_eq!(checked.datasets[0].sources, expected);
}

#[test]
fn datasets_on_the_command_line() {
    let specs = datasets(&[
        "data/uk_cities.csv.gz",
        "t=a.csv,delimiter=,,key=a,b,header=false,refresh=5m,memory=always",
        "s=-,format=ndjson",
        "u=http://h/a.csv?x=1,2",
        "data/year=2026/parts.parquet",
    ]);
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["uk_cities", "t", "s", "u", "parts"]);
    assert_eq!((specs[1].csv.delimiter, specs[1].csv.header), (Some(b','), Some(false)));
    assert_eq!(specs[1].key, ["a", "b"]);
    assert_eq!((specs[1].refresh, specs[1].residency), (Some(Duration::from_secs(300)), Residency::Always));
    assert_eq!((specs[2].format, specs[2].sources[0].as_str()), (Some(SourceFormat::NdJson), "-"));
    assert_eq!(specs[3].sources, ["http://h/a.csv?x=1,2"]);
    assert_eq!(specs[4].sources, ["data/year=2026/parts.parquet"]);
}

#[test]
fn mistakes_on_the_command_line() {
    assert_eq!(
        told(&["t=a.csv,delimitr=;"]),
        "command line `t=a.csv,delimitr=;`: unknown key `delimitr` in [[dataset]]\n  hint: did you mean `delimiter`?"
    );
    assert_eq!(
        told(&["a.csv", "a.json"]),
        "command line `a.json`: there are two datasets called `a`\n  \
         hint: rename one; or list both sources in one `source = [...]`"
    );
    assert_eq!(
        told(&["a=-", "b=-"]),
        "command line `b=-`: `a` already reads standard input\n  hint: give one of them a file"
    );
    assert_eq!(told(&["-"]), "command line `-`: no name can be made of this\n  hint: give it one: my_table=-");
    let wrong = told(&["t=a.csv,schema=x"]);
    assert!(wrong.contains("`dataset.schema` can't be `x`") && wrong.contains("hint: write schema=[{"), "{wrong}");
}

#[test]
fn the_command_line_replaces_and_directories_give_way() {
    let written =
        Written::new("[[dataset]]\nname='a'\nsource='a.csv'\n[[dataset]]\nname='all'\nsource='parts/*.csv'\n");
    std::fs::create_dir(written.path().join("parts")).unwrap();
    for file in ["a.csv", "b.csv", "parts/1.csv"] {
        std::fs::write(written.path().join(file), "x\n1\n").unwrap();
    }
    let found = |name: &str, file: &str| {
        DatasetSpec::new(Name::new(name).unwrap(), vec![written.path().join(file).to_str().unwrap().to_owned()])
    };
    let sources = Sources {
        datasets: vec!["a=other.csv".to_owned()],
        discovered: vec![found("a", "a.csv"), found("b", "b.csv"), found("1", "parts/1.csv")],
        ..written.sources()
    };
    let (checked, _) = load(&sources).unwrap();
    let names: Vec<&str> = checked.datasets.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["all", "a", "b"]);
    assert_eq!(checked.datasets[1].sources, ["other.csv"]);
}

/// Sheets of a workbook on the command line are entries beside it, unless something else has the name.
#[test]
fn sheets_stand_beside_their_workbook() {
    let written = Written::new("[[dataset]]\nname='book_Old'\nsource='old.csv'\n");
    std::fs::write(written.path().join("old.csv"), "x\n1\n").unwrap();
    let book = written.path().join("book.xlsx").to_str().unwrap().to_owned();
    std::fs::write(&book, "").unwrap();
    let spec = |name: &str| DatasetSpec::new(Name::new(name).unwrap(), vec![book.clone()]);
    let sources = Sources {
        datasets: vec![book.clone()],
        sheets: vec![spec("book_Costs"), spec("book_Old")],
        discovered: vec![spec("also")],
        ..written.sources()
    };
    let (checked, warnings) = load(&sources).unwrap();
    let names: Vec<&str> = checked.datasets.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["book_Old", "book", "book_Costs"]);
    let told = warnings.iter().any(|warning| warning.to_string().contains("there is a `book_Old` already"));
    assert!(told, "{warnings:?}");
    // So are those that were found in a directory.
    let inside = DatasetSpec::new(Name::new("inside").unwrap(), vec![written.path().to_str().unwrap().to_owned()]);
    let discovered = vec![spec("book"), spec("book_Costs"), inside];
    let (checked, _) = load(&Sources { discovered, ..written.sources() }).unwrap();
    let names: Vec<&str> = checked.datasets.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["book_Old", "book", "book_Costs"]);
}

/// A directory that was discovered whole gives way when one of its files, or files by a pattern, were declared.
#[test]
fn a_directory_gives_way_to_what_is_in_it() {
    for source in ["data/stock.csv", "data/*.csv"] {
        let written = Written::new(&format!("[[dataset]]\nname='stock'\nsource='{source}'\n"));
        std::fs::create_dir(written.path().join("data")).unwrap();
        std::fs::write(written.path().join("data/stock.csv"), "x\n1\n").unwrap();
        let found = written.path().join("data").to_str().unwrap().to_owned();
        let found = DatasetSpec::new(Name::new("data").unwrap(), vec![found]);
        let (checked, _) = load(&Sources { discovered: vec![found], ..written.sources() }).unwrap();
        let names: Vec<&str> = checked.datasets.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, ["stock"], "{source}");
    }
}

#[test]
fn directories_are_told_from_files() {
    let written = Written::new("");
    let text = written.path().to_str().unwrap();
    assert_eq!(target(text), ArgumentTarget::Directory(written.path().to_owned()));
    assert_eq!(target("t=a.csv"), ArgumentTarget::Dataset("t=a.csv".to_owned()));
}
