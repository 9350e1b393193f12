//! Stores that fail: for a moment, for long, and in the middle of an object.

use std::sync::Arc;

use super::proxy::{Fault, Proxy};
use super::stores::{Store, System};
use super::{message, rows, state, through};
use crate::it::server::Server;

const DENIED: &str = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
const SLOW_DOWN: &str =
    "<?xml version=\"1.0\"?><Error><Code>SlowDown</Code><Message>Reduce your rate</Message></Error>";

/// Enough rows for several requests.
fn large() -> (Vec<u8>, u64) {
    let mut text = String::from("n,filling\n");
    let mut sum = 0;
    for n in 0..120_000_u64 {
        sum += n;
        text.push_str(&format!("{n},{:060}\n", n * 7_919));
    }
    (text.into_bytes(), sum)
}

fn sum(server: &Server) -> serde_json::Value {
    server.get("/api/sql?q=select%20sum(n)%20as%20s%20from%20t").json()[0]["s"].clone()
}

/// Failures that pass are not seen by anybody.
#[test]
fn passing_failures() {
    let Some(store) = Store::of(System::S3) else { return };
    let (bytes, expected) = large();
    store.put("large.csv", &bytes);
    for fault in [
        || Fault::Answer(503, SLOW_DOWN),
        || Fault::Answer(500, ""),
        || Fault::Answer(429, ""),
        || Fault::Cut(100_000),
        || Fault::Cut(0),
        || Fault::Stall,
    ] {
        let proxy = Proxy::before(store.address());
        proxy.fail("GET /", 2, fault());
        let server = Server::with(&through(&proxy, &store, &store.source("large.csv"), ""), &[]);
        assert_eq!(sum(&server), expected, "{}", message(&server));
        assert!(proxy.is_through());
    }
}

/// An object that is replaced while it is fetched is fetched again: its rows are of one version.
#[test]
fn an_object_that_changes_in_the_middle() {
    for system in System::ALL {
        let Some(store) = Store::of(system) else { continue };
        let store = Arc::new(store);
        let (bytes, sum_of_first) = large();
        let other = String::from_utf8(bytes.clone()).unwrap().replace("\n1,", "\n2,").into_bytes();
        store.put("large.csv", &bytes);
        let proxy = Proxy::before(store.address());
        let changing = Arc::clone(&store);
        // The part at the beginning is of the first version, if it came.
        proxy.fail("bytes=4194304-", 1, Fault::Before(Box::new(move || changing.put("large.csv", &other))));
        let server = Server::with(&through(&proxy, &store, &store.source("large.csv"), ""), &[]);
        server.until(|server| sum(server) == sum_of_first + 1);
        assert!(proxy.is_through(), "{system:?}");
    }
}

/// A store that is down at the start is reported, and served as soon as it is there; when it goes, what was read stays.
#[test]
fn down_at_the_start_and_gone_later() {
    let Some(store) = Store::of(System::S3) else { return };
    store.put("a.csv", b"a\n1\n");
    let proxy = Proxy::before(store.address());
    proxy.go_down();
    let server = Server::with(&through(&proxy, &store, &store.source("a.csv"), ""), &[("other.csv", b"b\n1\n")]);
    server.until(|server| state(server) == "failed");
    assert!(message(&server).contains("can't be reached"), "{}", message(&server));
    assert_eq!(server.get("/api/tables/other").text(), r#"[{"b":1}]"#, "the others are served");
    proxy.mend();
    server.until(|server| rows(server) == r#"[{"a":1}]"#);
    proxy.go_down();
    server.until(|server| state(server) == "stale");
    assert_eq!(rows(&server), r#"[{"a":1}]"#);
    store.put("a.csv", b"a\n2\n");
    proxy.mend();
    server.until(|server| rows(server) == r#"[{"a":2}]"#);
    server.until(|server| state(server) == "ready");
}

/// What a store refuses for good is not asked for again and again, and says how to mend it.
#[test]
fn refused() {
    let Some(store) = Store::of(System::S3) else { return };
    store.put("in/a.csv", b"a\n1\n");
    for (status, body, said) in [
        (403, DENIED, "store_key_id"),
        (401, "", "wants credentials"),
        (301, "<Error><Code>PermanentRedirect</Code><Message>elsewhere</Message></Error>", "store_region"),
    ] {
        let proxy = Proxy::before(store.address());
        proxy.fail("list-type", u32::MAX, Fault::Answer(status, body));
        let server = Server::with(&through(&proxy, &store, &store.source("in/*.csv"), ""), &[]);
        server.until(|server| state(server) == "failed");
        assert!(message(&server).contains(said), "{status}: {}", message(&server));
        proxy.mend();
        server.until(|server| rows(server) == r#"[{"a":1}]"#);
    }
}
