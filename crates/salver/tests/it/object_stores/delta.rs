//! Tables of Delta Lake in object stores.

use std::path::Path;

use super::proxy::Proxy;
use super::stores::{Store, System};
use super::{dataset, message, rows, state, through};
use crate::it::delta::Writer;
use crate::it::server::Server;

/// Puts the files below a directory into a bucket.
fn upload(store: &Store, directory: &Path, prefix: &str) {
    for entry in std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry")) {
        let key = format!("{prefix}/{}", entry.file_name().to_str().expect("text"));
        if entry.path().is_dir() {
            upload(store, &entry.path(), &key);
        } else {
            store.put(&key, &std::fs::read(entry.path()).expect("a file"));
        }
    }
}

fn ids(server: &Server) -> Vec<u64> {
    let all: serde_json::Value = serde_json::from_str(&rows(server)).unwrap_or_default();
    let mut ids: Vec<u64> = all.as_array().into_iter().flatten().filter_map(|row| row["id"].as_u64()).collect();
    ids.sort_unstable();
    ids
}

/// A table is found by its log, and read at any version; a new commit is there at the next check, for which the log is
/// looked at and no file of the table.
#[test]
fn tables_in_buckets() {
    let Some(writer) = Writer::found() else { return };
    let lake = tempfile::tempdir().expect("a directory");
    writer.run(&["make", lake.path().to_str().expect("text")]);
    let table = lake.path().join("changed");
    for system in System::ALL {
        let Some(store) = Store::of(system) else { continue };
        upload(&store, &lake.path().join("parts"), "lake/parts");
        for more in ["", "memory = \"never\"\n"] {
            let server = Server::with(&dataset(&store, &store.source("lake/parts"), more), &[]);
            assert_eq!(ids(&server), (0..32).collect::<Vec<_>>(), "{system:?}: {}", message(&server));
        }
        upload(&store, &table, "lake/changed");
        for (source, expected) in [("lake/changed/", &[9][..]), ("lake/changed?version=2", &[1, 3, 4])] {
            let server = Server::with(&dataset(&store, &store.source(source), ""), &[]);
            assert_eq!(ids(&server), expected, "{system:?} {source}: {}", message(&server));
        }
        // The files of tables below a prefix are no rows of it.
        let server = Server::with(&dataset(&store, &store.source("lake"), ""), &[]);
        assert!(message(&server).contains("holds no object that can be read"), "{system:?}: {}", message(&server));
    }
    let Some(store) = Store::of(System::S3) else { return };
    upload(&store, &table, "t");
    let proxy = Proxy::before(store.address());
    let server = Server::with(&through(&proxy, &store, &store.source("t"), "format = \"delta\"\n"), &[]);
    assert_eq!((ids(&server), state(&server).as_str()), (vec![9], "ready"), "{}", message(&server));
    writer.run(&["append", table.to_str().expect("text")]);
    upload(&store, &table, "t");
    server.until(|server| ids(server) == [9, 10]);
}
