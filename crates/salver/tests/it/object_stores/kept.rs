//! What is kept on disk: for the next process, within its bounds, and for its owner alone.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::proxy::Proxy;
use super::stores::{Store, System};
use super::{message, rows, through};
use crate::it::server::Server;
use crate::process::Process;

/// After a restart nothing is fetched again of what did not change; without a word from the server before it, as after
/// a crash.
#[test]
fn a_restart_fetches_only_what_changed() {
    let Some(store) = Store::of(System::S3) else { return };
    let proxy = Proxy::before(store.address());
    for n in 0..3 {
        store.put(&format!("in/{n}.csv"), format!("n\n{n}\n").as_bytes());
    }
    let toml = through(&proxy, &store, &store.source("in/*.csv"), "");
    let mut process = Process::start(&format!("[server]\ndata_dir = \"data\"\n{toml}"));
    assert_eq!(process.get("/api/tables/t"), r#"[{"n":0},{"n":1},{"n":2}]"#);
    assert_eq!(proxy.reads().len(), 3);
    process.kill();
    store.put("in/1.csv", b"n\n11\n");
    process.restart();
    assert_eq!(process.get("/api/tables/t"), r#"[{"n":0},{"n":11},{"n":2}]"#);
    let reads = proxy.reads().split_off(3);
    assert!(reads.len() == 1 && reads[0].contains("/1.csv"), "{reads:?}");
}

/// The bytes that files below a directory take, and whether only their owner can read them.
fn used(directory: &Path) -> (u64, bool) {
    let (mut bytes, mut is_private) = (0, true);
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(about) = entry.metadata() else { continue };
        is_private &= about.permissions().mode() & 0o077 == 0;
        if entry.path().extension().is_some_and(|suffix| suffix == "parts") {
            bytes += std::os::unix::fs::MetadataExt::blocks(&about) * 512;
        }
    }
    (bytes, is_private)
}

/// There is never more on disk than there may be, and datasets larger than that are read all the same, one object after
/// the other.
#[test]
fn the_bound_of_the_disk() {
    const BOUND: u64 = 2 * 1024 * 1024;
    let Some(store) = Store::of(System::S3) else { return };
    let filling = "x".repeat(200);
    for n in 0..8 {
        let lines: String = (0..2_000).map(|line| format!("{},{filling}\n", n * 2_000 + line)).collect();
        store.put(&format!("in/{n}.csv"), format!("n,filling\n{lines}").as_bytes());
    }
    let proxy = Proxy::before(store.address());
    let toml = through(&proxy, &store, &store.source("in/*.csv"), "");
    let bound = format!("[server]\ndata_dir = \"data\"\n[limits]\nobject_cache_bytes_max = {BOUND}\n");
    let server = Server::run_by(Command::new(env!("CARGO_BIN_EXE_salver")), &format!("{bound}{toml}"), &[], |_| {});
    let sum = server.get("/api/sql?q=select%20sum(n)%20as%20s%20from%20t");
    assert_eq!(sum.text(), format!(r#"[{{"s":{}}}]"#, 16_000_u64 * 15_999 / 2), "{}", message(&server));
    let (bytes, is_private) = used(&server.file("data/objects"));
    assert!(bytes > 0 && bytes <= BOUND + 64 * 1024, "{bytes}");
    assert!(is_private);
}

/// An object that does not fit says so, and what to raise.
#[test]
fn an_object_that_does_not_fit() {
    let Some(store) = Store::of(System::S3) else { return };
    store.put("large.csv", format!("a\n{}\n", "x".repeat(200_000)).as_bytes());
    let proxy = Proxy::before(store.address());
    let toml = through(&proxy, &store, &store.source("large.csv"), "");
    let server = Server::with(&format!("[limits]\nobject_cache_bytes_max = 100000\n{toml}"), &[]);
    assert!(message(&server).contains("limits.object_cache_bytes_max"), "{}", message(&server));
    store.put("large.csv", b"a\n1\n");
    server.until(|server| rows(server) == r#"[{"a":1}]"#);
}
