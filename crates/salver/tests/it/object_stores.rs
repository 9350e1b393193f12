//! Datasets from object stores: real servers of S3, Google Cloud Storage and Azure, behind a proxy that fails as asked.

mod delta;
mod faults;
mod kept;
mod listing;
mod parquet;
mod proxy;
mod stores;

use super::server::Server;
use proxy::Proxy;
use stores::{Store, System};

/// A dataset `t` of `source`, which is asked for changes all the time.
fn dataset(store: &Store, source: &str, more: &str) -> String {
    let settings = store.settings(None);
    format!("[[dataset]]\nname = \"t\"\nsource = \"{source}\"\nrefresh = \"100ms\"\n{settings}{more}\n")
}

/// The same through a proxy.
fn through(proxy: &Proxy, store: &Store, source: &str, more: &str) -> String {
    let settings = store.settings(Some(proxy.address()));
    format!("[[dataset]]\nname = \"t\"\nsource = \"{source}\"\nrefresh = \"100ms\"\n{settings}{more}\n")
}

/// The rows of `t`, as JSON.
fn rows(server: &Server) -> String {
    server.get("/api/tables/t?limit=1000000").text().to_owned()
}

fn state(server: &Server) -> String {
    server.get("/ready").json()["entries"]["t"]["state"].as_str().unwrap_or_default().to_owned()
}

fn message(server: &Server) -> String {
    let entry = server.get("/ready").json()["entries"]["t"].clone();
    format!("{} {}", entry["message"], entry["hint"])
}

/// Every system has the same objects, and they are read alike: by their name, below a prefix, and by a pattern.
#[test]
fn the_three_systems() {
    for system in System::ALL {
        let Some(store) = Store::of(system) else { continue };
        store.put("sales/year=2025/a.csv", b"item,price\ndesk,195.99\n");
        store.put("sales/year=2026/b.csv", b"item,price\nmug,12\n");
        store.put("sales/year=2026/_left/c.csv", b"item,price\nnothing,0\n");
        store.put("sales/year=2026/README", b"text");
        let both = r#"[{"item":"desk","price":195.99,"year":2025},{"item":"mug","price":12.0,"year":2026}]"#;
        for source in ["sales", "sales/", "sales/*/*.csv", "sales/**/*.csv", "s*/year=202[56]/?.csv"] {
            let server = Server::with(&dataset(&store, &store.source(source), ""), &[]);
            assert_eq!(rows(&server), both, "{system:?} {source}: {}", message(&server));
        }
        let server = Server::with(&dataset(&store, &store.source("sales/year=2026/b.csv"), ""), &[]);
        assert_eq!(rows(&server), r#"[{"item":"mug","price":12}]"#);
        store.put("sales/year=2026/b.csv", b"item,price\nmug,13\n");
        server.until(|server| rows(server) == r#"[{"item":"mug","price":13}]"#);
        store.delete("sales/year=2026/b.csv");
        server.until(|server| state(server) == "stale");
        assert_eq!(rows(&server), r#"[{"item":"mug","price":13}]"#, "the last good rows stay");
    }
}

/// The formats that files have, from an object each.
#[test]
fn every_format() {
    let Some(store) = Store::of(System::S3) else { return };
    let files: [(&str, &[u8]); 4] = [
        ("t.csv", b"id,name\n1,one\n2,two\n"),
        ("t.tsv", b"id\tname\n1\tone\n2\ttwo\n"),
        ("t.ndjson", b"{\"id\":1,\"name\":\"one\"}\n{\"id\":2,\"name\":\"two\"}\n"),
        ("t.json", b"[{\"id\":1,\"name\":\"one\"},{\"id\":2,\"name\":\"two\"}]"),
    ];
    let maker = Server::of(&[files[0]]);
    let made = |suffix: &str| maker.get(&format!("/api/tables/t.{suffix}")).body;
    let mut objects: Vec<(String, Vec<u8>)> =
        files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    objects.push(("t.parquet".to_owned(), made("parquet")));
    objects.push(("t.arrow".to_owned(), made("arrow")));
    objects.push(("t.csv.zst".to_owned(), zstd::encode_all(files[0].1, 1).unwrap()));
    objects.push(("t.parquet.zst".to_owned(), zstd::encode_all(&made("parquet")[..], 1).unwrap()));
    for (name, bytes) in objects {
        store.put(&name, &bytes);
        for memory in ["auto", "never"] {
            let toml = dataset(&store, &store.source(&name), &format!("memory = \"{memory}\"\n"));
            let server = Server::with(&toml, &[]);
            let expected = r#"[{"id":1,"name":"one"},{"id":2,"name":"two"}]"#;
            assert_eq!(rows(&server), expected, "{name} {memory}: {}", message(&server));
        }
    }
}

/// What can't be read says the object, what the store answers, and the way out; no secret is shown anywhere.
#[test]
fn what_cannot_be_read() {
    let Some(store) = Store::of(System::S3) else { return };
    store.put("a.csv", b"a\n1\n");
    store.put("notes.txt", b"a\n1\n");
    store.put("empty.csv", b"");
    for (source, said) in [
        ("s3://no-such-bucket/a.csv".to_owned(), "NoSuchBucket"),
        (store.source("b.csv"), "there is no object"),
        (store.source("*.parquet"), "no object matches"),
        (store.source("notes.txt"), "can't tell the format"),
        (store.source("empty.csv"), "empty"),
        (store.source("a["), "is not a pattern"),
    ] {
        let server = Server::with(&dataset(&store, &source, ""), &[]);
        assert_eq!(state(&server), "failed", "{source}");
        let message = message(&server);
        assert!(message.contains(said), "{source}: {message}");
        assert!(!message.contains(stores::SECRET), "{message}");
    }
}
