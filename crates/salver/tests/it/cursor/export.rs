//! `/_api/export`: all documents of an entry, as they were when the first batch was asked for.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Value as Json, json};

use super::super::server::Server;
use super::{PEOPLE, drain, error, golden, numbers, post};

const UNKNOWN_PATH: &str = "unknown path; here are /_api/cursor, /_api/export, /_api/collection, /_api/database, \
                            and /_api/version";
const NOT_FOUND: &str = "cursor not found: disposed or unknown cursor";

#[test]
fn the_shape() {
    let server = Server::of(&[("people.csv", PEOPLE)]);
    for door in ["/_api/export", "/api/export", "/_db/any/_api/export"] {
        let body = r#"{"batchSize":4,"count":true,"flush":true,"flushWait":5,"ttl":60}"#;
        let first = server.post(&format!("{door}?collection=people"), body);
        assert_eq!((first.status, first.header("content-type")), (201, Some("application/json; charset=utf-8")));
        assert_eq!(
            golden(&first),
            r#"{"result":[{"id":1,"name":"Ann","age":31,"active":true},{"id":2,"name":"Bob","age":null,"active":false},{"id":3,"name":"Cid","age":17,"active":true},{"id":4,"name":"Dee","age":54,"active":false}],"hasMore":true,"id":"ID","count":10,"error":false,"code":201}"#
        );
        let id = first.json()["id"].as_str().expect("an id").to_owned();
        let next = |method: &str| server.ask(method, &format!("{door}/{id}"), &[], b"");
        assert_eq!(
            golden(&next("PUT")),
            r#"{"result":[{"id":5,"name":"Eve","age":null,"active":true},{"id":6,"name":"Fay","age":22,"active":true},{"id":7,"name":"Gus","age":41,"active":false},{"id":8,"name":"Hal","age":29,"active":true}],"hasMore":true,"id":"ID","count":10,"error":false,"code":200}"#
        );
        let last = next("PUT");
        assert_eq!(
            (last.status, golden(&last)),
            (200, r#"{"result":[{"id":9,"name":"Ida","age":65,"active":false},{"id":10,"name":"Jon","age":38,"active":true}],"hasMore":false,"count":10,"error":false,"code":200}"#.to_owned())
        );
        assert_eq!(error(&next("PUT")), (404, 1600, NOT_FOUND.into()));
        assert_eq!(error(&next("DELETE")), (404, 1600, NOT_FOUND.into()));
    }
}

#[test]
fn removed() {
    let server = Server::of(&[("people.csv", PEOPLE)]);
    let (_, first) = post(&server, "/_api/export?collection=people", &json!({"batchSize": 1}));
    let path = format!("/_api/export/{}", first["id"].as_str().expect("an id"));
    // The other door does not know it, and takes nothing of it.
    let other = path.replace("export", "cursor");
    for method in ["PUT", "POST", "DELETE"] {
        assert_eq!(error(&server.ask(method, &other, &[], b"")), (404, 1600, NOT_FOUND.into()), "{method}");
    }
    assert_eq!(server.ask("PUT", &path, &[], b"").json()["result"][0]["id"], 2);
    let removed = server.ask("DELETE", &path, &[], b"");
    assert_eq!((removed.status, golden(&removed)), (202, r#"{"id":"ID","error":false,"code":202}"#.to_owned()));
    for method in ["PUT", "DELETE"] {
        assert_eq!(error(&server.ask(method, &path, &[], b"")), (404, 1600, NOT_FOUND.into()), "{method}");
    }
}

#[test]
fn what_can_be_asked() {
    let server = Server::of(&[("people.csv", PEOPLE), ("none.csv", b"a,b\n"), ("many.csv", &numbers(0, 2_500))]);
    let ask = |name: &str, body: Json| post(&server, &format!("/_api/export?collection={name}"), &body);
    // No body is all defaults: batches of a thousand.
    let (status, all) = {
        let answer = server.post("/_api/export?collection=many", "");
        (answer.status, answer.json())
    };
    assert_eq!(status, 201);
    let (sizes, documents) = drain(&server, "/_api/export", all);
    assert_eq!((sizes, documents.len()), (vec![1_000, 1_000, 500], 2_500));
    assert_eq!(Json::from(documents), server.get("/api/tables/many").json());
    let (sizes, _) = drain(&server, "/_api/export", ask("many", json!({"batchSize": 1_250})).1);
    assert_eq!(sizes, [1_250, 1_250], "the end is known when it is reached");
    let (sizes, _) = drain(&server, "/_api/export", ask("many", json!({"batchSize": 100, "limit": 250})).1);
    assert_eq!(sizes, [100, 100, 50]);

    for (body, count, rows) in [
        (json!({"count": true}), json!(10), 10),
        (json!({"count": true, "limit": 3}), json!(3), 3),
        (json!({"count": true, "limit": 30}), json!(10), 10),
        (json!({"limit": 0}), Json::Null, 10),
        (json!({"limit": 10, "batchSize": 10}), Json::Null, 10),
    ] {
        let (_, got) = ask("people", body.clone());
        assert_eq!((&got["count"], got["result"].as_array().map(Vec::len)), (&count, Some(rows)), "{body}");
        assert_eq!((&got["hasMore"], &got["id"]), (&json!(false), &Json::Null), "{body}");
    }
    let (_, none) = ask("none", json!({"count": true}));
    assert_eq!(none, json!({"result": [], "hasMore": false, "count": 0, "error": false, "code": 201}));

    let first = |restrict: Json| ask("people", json!({"batchSize": 1, "restrict": restrict})).1["result"][0].clone();
    let include = |fields: Json| first(json!({"type": "include", "fields": fields}));
    assert_eq!(include(json!(["name", "id"])), json!({"id": 1, "name": "Ann"}));
    assert_eq!(include(json!(["name", "_key", 7, "nope", null])), json!({"name": "Ann"}));
    assert_eq!(include(json!([])), json!({}));
    assert_eq!(first(json!({"type": "exclude", "fields": ["name", "active", "_id"]})), json!({"id": 1, "age": 31}));
    assert_eq!(first(json!({"type": "exclude", "fields": []}))["name"], "Ann");
    let (_, bare) = ask("people", json!({"restrict": {"type": "include", "fields": ["nope"]}}));
    assert_eq!(bare["result"], json!(vec![json!({}); 10]));
}

#[test]
fn errors() {
    let server = Server::of(&[("people.csv", PEOPLE)]);
    let here = "/_api/export?collection=people";
    let missing = "'collection' is missing, expecting /_api/export?collection=<identifier>";
    for (path, body, status, number, message) in [
        ("/_api/export", "", 400, 1204, missing),
        ("/_api/export?collection=", "", 400, 1204, missing),
        ("/_api/export?collection=none", "", 404, 1203, "collection or view not found: none; there is `people`"),
        (here, "[]", 400, 600, "invalid JSON object: the body must be an object"),
        (here, "{", 400, 600, "invalid JSON object: EOF while parsing an object at line 1 column 1"),
        (here, r#"{"batchSize":0}"#, 400, 17, "expecting non-zero value for 'batchSize'"),
        (here, r#"{"batchSize":-1}"#, 400, 17, "expecting non-negative value for 'batchSize'"),
        (here, r#"{"batchSize":"x"}"#, 400, 17, "expecting number for 'batchSize'"),
        (here, r#"{"count":1}"#, 400, 17, "expecting boolean for 'count'"),
        (here, r#"{"restrict":[]}"#, 400, 17, "expecting object for 'restrict'"),
        (here, r#"{"restrict":{}}"#, 400, 10, "expecting string for 'restrict.type'"),
        (here, r#"{"restrict":{"type":"x"}}"#, 400, 10, "expecting either 'include' or 'exclude' for 'restrict.type'"),
        (here, r#"{"restrict":{"type":"include"}}"#, 400, 10, "expecting array for 'restrict.fields'"),
        ("/_api/export/1?collection=people", "{}", 405, 400, "expecting POST /_api/export"),
    ] {
        assert_eq!(error(&server.post(path, body)), (status, number, message.to_owned()), "{path} {body}");
    }
    for (method, path, status, number, message) in [
        ("PUT", "/_api/export", 405, 400, "expecting PUT /_api/export/<cursor-id>"),
        ("DELETE", "/_api/export", 405, 400, "expecting DELETE /_api/export/<cursor-id>"),
        ("PUT", "/_api/export/12345", 404, 1600, NOT_FOUND),
        ("PUT", "/_api/export/x%20y", 404, 1600, NOT_FOUND),
        ("PUT", "/_api/export/99999999999999999999999999", 404, 1600, NOT_FOUND),
        ("DELETE", "/api/export/1", 404, 1600, NOT_FOUND),
        ("GET", "/_api/export", 405, 405, "method not supported"),
        ("PATCH", "/_api/export/1", 405, 405, "method not supported"),
        ("GET", "/_api/nothing", 404, 404, UNKNOWN_PATH),
    ] {
        let answer = server.ask(method, path, &[], b"");
        assert_eq!(error(&answer), (status, number, message.to_owned()), "{method} {path}");
        assert_eq!(answer.header("allow").is_some(), status == 405, "{method} {path}");
    }
    let options = server.ask("OPTIONS", "/_api/export/1", &[], b"");
    assert_eq!((options.status, options.header("allow")), (204, Some("PUT, DELETE, OPTIONS")));
    assert_eq!(server.get("/_api/version").json()["version"], "3.12.0");
}

/// 2,000 documents in batches of 700 are 700, 700 and 600, whatever becomes of the file and the entry meanwhile.
#[test]
fn a_snapshot() {
    let toml = "[[dataset]]\nname = \"many\"\nsource = \"many.csv\"\nrefresh = \"100ms\"\n\
                [[dataset]]\nname = \"scanned\"\nsource = \"scanned.parquet\"\nmemory = \"never\"\nrefresh = \"100ms\"\n";
    let maker = Server::of(&[("old.csv", &numbers(0, 2_000)), ("new.csv", &numbers(7, 3))]);
    let parquet = |name: &str| maker.get(&format!("/api/tables/{name}.parquet")).body;
    let files: [(&str, &[u8]); 2] = [("many.csv", &numbers(0, 2_000)), ("scanned.parquet", &parquet("old"))];
    let server = Server::with(toml, &files);
    let open = |name: &str| {
        post(&server, &format!("/_api/export?collection={name}"), &json!({"batchSize": 700, "count": true})).1
    };
    let before = [open("many"), open("scanned")];
    std::fs::write(server.file("new.tmp"), numbers(7, 3)).expect("written");
    std::fs::rename(server.file("new.tmp"), server.file("many.csv")).expect("renamed");
    std::fs::write(server.file("new.tmp"), parquet("new")).expect("written");
    std::fs::rename(server.file("new.tmp"), server.file("scanned.parquet")).expect("renamed");
    let three = r#"[{"n":7,"label":"label 7"},{"n":8,"label":"label 8"},{"n":9,"label":"label 9"}]"#;
    for name in ["many", "scanned"] {
        server.until(|server| server.get(&format!("/api/tables/{name}")).text() == three);
    }
    let expected: Vec<Json> = (0..2_000).map(|n| json!({"n": n, "label": format!("label {n}")})).collect();
    for first in before {
        assert_eq!(first["count"], 2_000);
        let (sizes, documents) = drain(&server, "/_api/export", first);
        assert_eq!(sizes, [700, 700, 600]);
        assert_eq!(documents, expected);
    }
    let (sizes, _) = drain(&server, "/_api/export", open("many"));
    assert_eq!(sizes, [3]);
}

/// Many at one cursor: each document goes to one of them, and who comes while it is busy hears so.
#[test]
fn many_at_one_cursor() {
    let server = Server::of(&[("many.csv", &numbers(0, 20_000))]);
    let (_, first) = post(&server, "/_api/export?collection=many", &json!({"batchSize": 50}));
    let path = format!("/_api/export/{}", first["id"].as_str().expect("an id"));
    let seen = |batch: &Json| -> Vec<u64> {
        let documents = batch["result"].as_array().expect("documents");
        documents.iter().map(|document| document["n"].as_u64().expect("a number")).collect()
    };
    let all = Mutex::new(seen(&first));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let answer = server.ask("PUT", &path, &[], b"");
                    match answer.status {
                        200 => all.lock().expect("the list").extend(seen(&answer.json())),
                        409 => assert_eq!(error(&answer), (409, 1601, "cursor is busy".into())),
                        _ => {
                            assert_eq!(error(&answer), (404, 1600, NOT_FOUND.into()));
                            return;
                        }
                    }
                }
            });
        }
    });
    let all = all.into_inner().expect("the list");
    assert_eq!(all.len(), 20_000, "no document twice");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len(), 20_000);
}

#[test]
fn compressed_when_asked() {
    let server = Server::of(&[("many.csv", &numbers(0, 2_000))]);
    let plain = server.post("/_api/export?collection=many", r#"{"batchSize":2000}"#);
    let headers = [("accept-encoding", "gzip")];
    let packed = server.ask("POST", "/_api/export?collection=many", &headers, br#"{"batchSize":2000}"#);
    assert_eq!((packed.status, packed.header("content-encoding")), (201, Some("gzip")));
    assert!(packed.body.len() < plain.body.len() / 4);
}
