//! Answers to the queries of the benchmark (TPC-H and page views), beside DuckDB's.

use std::process::Command;

use super::installed::installed;
use super::server::Server;

const TABLES: [&str; 9] =
    ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier", "hits"];

/// Runs a command of `answers.py`; `None` if what it needs is not installed.
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn run(arguments: &[&str]) -> Option<String> {
    let python = installed("python/bin/python3")?;
    let is_there = Command::new(&python).args(["-c", "import duckdb, numpy, pyarrow"]).output();
    if !is_there.is_ok_and(|output| output.status.success()) || installed("python/bin/tpchgen-cli").is_none() {
        eprintln!("left out: DuckDB or `tpchgen-cli` is not there; `xtask/setup.sh test` installs them");
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/benchmarks/answers.py");
    let output = Command::new(&python).arg(script).args(arguments).output().expect("Python runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Held in memory and scanned in place, each in an order of joins of its own.
#[test]
fn answers_are_duckdbs() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().to_str().expect("text");
    let Some(_) = run(&["make", path]) else { return };
    for memory in ["always", "never"] {
        let entry = |table: &str| {
            format!("[[dataset]]\nname = \"{table}\"\nsource = \"{path}/{table}.parquet\"\nmemory = \"{memory}\"\n")
        };
        let server = Server::with(&TABLES.map(entry).concat(), &[]);
        let told = run(&["compare", path, server.address()]).expect("it ran before");
        assert_eq!(told, "65", "memory = \"{memory}\"");
    }
}
