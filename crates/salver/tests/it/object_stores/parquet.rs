//! Parquet in an object store: a query fetches what it needs of it, once.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::proxy::{Fault, Proxy};
use super::stores::{Store, System};
use super::{message, rows, state, through};
use crate::it::server::Server;

/// Writes a file of ten groups of 20,000 rows with four columns, and says how long each column of each group is.
const WRITER: &str = "
import sys, json, random
import pyarrow as pa, pyarrow.parquet as pq
random.seed(7)
n = 200000
t = pa.table({
    'id': pa.array(range(n), pa.int64()),
    'a': pa.array([random.random() for _ in range(n)]),
    'b': pa.array([random.getrandbits(20) for _ in range(n)], pa.int64()),
    'c': pa.array(['%032x' % random.getrandbits(128) for _ in range(n)]),
})
pq.write_table(t, sys.argv[1], row_group_size=20000, use_dictionary=False, compression='none')
m = pq.ParquetFile(sys.argv[1]).metadata
sums = [sum(t['b'][g * 20000:(g + 1) * 20000].to_pylist()) for g in range(10)]
sizes = [[m.row_group(g).column(c).total_compressed_size for c in range(4)] for g in range(m.num_row_groups)]
print(json.dumps({'sizes': sizes, 'sums': sums}))
";

struct Written {
    bytes: Vec<u8>,
    /// The length of each column of each row group.
    sizes: Vec<Vec<u64>>,
    /// The sum of `b` in each row group.
    sums: Vec<u64>,
}

#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn written() -> Option<Written> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    let python = cache.join("salver/python/bin/python3");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.parquet");
    let is_there = Command::new(&python).args(["-c", "import pyarrow"]).output().is_ok_and(|o| o.status.success());
    if !Path::new(&python).exists() || !is_there {
        eprintln!("left out: pyarrow is not there; `xtask/setup.sh test` installs it");
        return None;
    }
    let output = Command::new(python).args(["-c", WRITER]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let numbers = |value: &serde_json::Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
    };
    let sizes = told["sizes"].as_array().unwrap().iter().map(numbers).collect();
    Some(Written { bytes: std::fs::read(path).unwrap(), sizes, sums: numbers(&told["sums"]) })
}

/// A query over two of ten row groups and two of four columns fetches little more than these, and a second one nothing.
#[test]
fn only_what_a_query_needs() {
    for system in System::ALL {
        let (Some(store), Some(file)) = (Store::of(system), written()) else { continue };
        store.put("t.parquet", &file.bytes);
        let proxy = Proxy::before(store.address());
        let toml = through(&proxy, &store, &store.source("t.parquet"), "memory = \"never\"\n");
        let server = Server::with(&toml, &[]);
        assert_eq!(state(&server), "ready", "{}", message(&server));
        let count = server.get("/api/sql?q=select%20count(*)%20as%20n%20from%20t").text().to_owned();
        assert_eq!(count, r#"[{"n":200000}]"#);
        let loaded = proxy.bytes();
        assert!(loaded < file.bytes.len() as u64 / 5, "{system:?}: {loaded} of {}", file.bytes.len());
        let ask = |more: u64| {
            let target = format!(
                "/api/sql?q=select%20sum(b)%2B{more}%20as%20s%20from%20t%20where%20id%20%3E=%2060000%20and%20id%20%3C%20100000"
            );
            server.get(&target).json()[0]["s"].clone()
        };
        assert_eq!(ask(0), file.sums[3] + file.sums[4]);
        let needed: u64 = file.sizes[3..5].iter().map(|columns| columns[0] + columns[2]).sum();
        let fetched = proxy.bytes() - loaded;
        assert!(fetched >= needed * 9 / 10 && fetched <= needed * 12 / 10, "{system:?}: {fetched} of {needed}");
        let before = proxy.bytes();
        assert_eq!(ask(1), file.sums[3] + file.sums[4] + 1);
        assert_eq!(proxy.bytes(), before, "{system:?}: {:?}", proxy.reads());
        // Everything, page after page, and each part of it once.
        let export = server.get("/api/export/t.csv?columns=id,c");
        assert_eq!(export.text().lines().count(), 200_001);
        assert!(proxy.bytes() <= file.bytes.len() as u64 * 11 / 10, "{} of {}", proxy.bytes(), file.bytes.len());
    }
}

/// Files in directories that a filter leaves out are not read beyond their footers.
#[test]
fn partitions_that_are_left_out() {
    let (Some(store), Some(file)) = (Store::of(System::S3), written()) else { return };
    for year in 2021..2025 {
        store.put(&format!("p/year={year}/part.parquet"), &file.bytes);
    }
    let proxy = Proxy::before(store.address());
    let toml = through(&proxy, &store, &store.source("p"), "memory = \"never\"\n");
    let server = Server::with(&toml, &[]);
    assert_eq!(state(&server), "ready", "{}", message(&server));
    let loaded = proxy.reads().len();
    let sum =
        server.get("/api/sql?q=select%20sum(b)%20as%20s%20from%20t%20where%20year%20=%202023").json()[0]["s"].clone();
    assert_eq!(sum, file.sums.iter().sum::<u64>());
    let reads = proxy.reads().split_off(loaded);
    assert!(
        !reads.is_empty() && reads.iter().all(|line| line.contains("year%3D2023") || line.contains("year=2023")),
        "{reads:?}"
    );
}

/// A store that goes away under a query is an error of the moment; when it is back, so are the rows.
#[test]
fn gone_under_a_query() {
    let (Some(store), Some(file)) = (Store::of(System::S3), written()) else { return };
    store.put("t.parquet", &file.bytes);
    let proxy = Proxy::before(store.address());
    let toml = through(&proxy, &store, &store.source("t.parquet"), "memory = \"never\"\n");
    let server = Server::with(&toml, &[]);
    assert_eq!(state(&server), "ready", "{}", message(&server));
    proxy.fail("t.parquet", u32::MAX, Fault::Answer(403, "<Error><Code>AccessDenied</Code></Error>"));
    let target = "/api/sql?q=select%20sum(b)%20as%20s%20from%20t%20where%20id%20%3E=%20180000";
    let answer = server.get(target);
    assert_eq!((answer.status, answer.json()["error"].as_str()), (503, Some("entry_unavailable")), "{}", answer.text());
    assert!(!answer.text().contains("bucket"), "{}", answer.text());
    proxy.mend();
    assert_eq!(server.get(target).json()[0]["s"], file.sums[9]);
}

/// A file that is replaced while it is scanned gives rows of one version or none.
#[test]
fn replaced_under_its_readers() {
    let (Some(store), Some(file)) = (Store::of(System::S3), written()) else { return };
    let maker = Server::of(&[("small.csv", b"id,b\n1,5\n")]);
    store.put("t.parquet", &file.bytes);
    let proxy = Proxy::before(store.address());
    let toml = through(&proxy, &store, &store.source("t.parquet"), "memory = \"never\"\n");
    let server = Server::with(&toml, &[]);
    store.put("t.parquet", &maker.get("/api/tables/small.parquet").body);
    let mut tries = 0;
    loop {
        tries += 1;
        let target = format!("/api/sql?q=select%20sum(b)%2B{tries}%20as%20s%20from%20t%20where%20id%20%3E=%200");
        let answer = server.get(&target);
        assert!(answer.status == 200 || answer.json()["error"] == "entry_unavailable", "{}", answer.text());
        let sum = (answer.status == 200).then(|| answer.json()[0]["s"].as_u64().unwrap() - tries);
        assert!(sum.is_none_or(|sum| sum == 5 || sum == file.sums.iter().sum::<u64>()), "{sum:?}");
        if sum == Some(5) {
            break;
        }
    }
    server.until(|server| rows(server) == r#"[{"id":1,"b":5}]"#);
}
