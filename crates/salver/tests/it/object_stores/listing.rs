//! What is listed: many objects, odd names, directories and patterns.

use super::proxy::Proxy;
use super::stores::{Store, System};
use super::{dataset, message, rows, through};
use crate::it::server::Server;

/// A listing has a thousand objects a page.
#[test]
fn more_objects_than_one_page() {
    let Some(store) = Store::of(System::S3) else { return };
    for n in 0..1_050 {
        store.put(&format!("many/{n:04}.csv"), format!("n\n{n}\n").as_bytes());
    }
    let server = Server::with(&dataset(&store, &store.source("many/*.csv"), ""), &[]);
    let answer = server.get("/api/sql?q=select%20count(*)%20as%20n,%20sum(n)%20as%20s%20from%20t");
    assert_eq!(answer.text(), format!(r#"[{{"n":1050,"s":{}}}]"#, 1_050 * 1_049 / 2), "{}", message(&server));
}

/// Names as stores allow them, which mean nothing else here.
#[test]
fn odd_names() {
    for system in System::ALL {
        let Some(store) = Store::of(system) else { continue };
        let names = ["a b.csv", "100%.csv", "%41.csv", "größe.csv", "a+b&c=d.csv", "x#y.csv", "it's (1).csv"];
        for (number, name) in names.iter().enumerate() {
            store.put(&format!("odd/{name}"), format!("n\n{number}\n").as_bytes());
        }
        let server = Server::with(&dataset(&store, &store.source("odd/*"), ""), &[]);
        let sum = server.get("/api/sql?q=select%20sum(n)%20as%20s,%20count(*)%20as%20c%20from%20t");
        assert_eq!(sum.text(), r#"[{"s":21,"c":7}]"#, "{system:?}: {}", message(&server));
        for (number, name) in names.iter().enumerate() {
            let server = Server::with(&dataset(&store, &store.source(&format!("odd/{name}")), ""), &[]);
            assert_eq!(rows(&server), format!(r#"[{{"n":{number}}}]"#), "{system:?} {name}: {}", message(&server));
        }
    }
}

/// A key with the marks of a pattern is a key first.
#[test]
fn names_with_marks_of_patterns() {
    let Some(store) = Store::of(System::S3) else { return };
    store.put("sales [2026]*.csv", b"a\n1\n");
    store.put("sales 2.csv", b"a\n2\n");
    let server = Server::with(&dataset(&store, &store.source("sales [2026]*.csv"), ""), &[]);
    assert_eq!(rows(&server), r#"[{"a":1}]"#, "{}", message(&server));
}

/// An empty object that a console made for a directory is none of the data.
#[test]
fn directories_made_by_hand() {
    let Some(store) = Store::of(System::S3) else { return };
    store.put("in/", b"");
    store.put("in/deep/", b"");
    store.put("in/deep/a.csv", b"a\n1\n");
    let server = Server::with(&dataset(&store, &store.source("in"), ""), &[]);
    assert_eq!(rows(&server), r#"[{"a":1}]"#, "{}", message(&server));
}

/// New and deleted objects are changes, and only what is new is fetched.
#[test]
fn only_what_changed_is_fetched() {
    let Some(store) = Store::of(System::S3) else { return };
    let proxy = Proxy::before(store.address());
    for n in 0..5 {
        store.put(&format!("in/{n}.csv"), format!("n\n{n}\n").as_bytes());
    }
    let server = Server::with(&through(&proxy, &store, &store.source("in/*.csv"), ""), &[]);
    assert_eq!(rows(&server), r#"[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4}]"#, "{}", message(&server));
    let listed = proxy.listings();
    server.until(|_| proxy.listings() > listed + 3);
    assert_eq!(proxy.reads().len(), 5, "nothing is fetched again: {:?}", proxy.reads());
    store.put("in/3.csv", b"n\n33\n");
    store.put("in/5.csv", b"n\n5\n");
    store.delete("in/0.csv");
    server.until(|server| rows(server) == r#"[{"n":1},{"n":2},{"n":33},{"n":4},{"n":5}]"#);
    let reads = proxy.reads().split_off(5);
    // The listing may have been taken between the changes.
    assert!(reads.iter().all(|line| line.contains("/3.csv") || line.contains("/5.csv")), "{reads:?}");
    assert_eq!(reads.len(), 2, "{reads:?}");
}
