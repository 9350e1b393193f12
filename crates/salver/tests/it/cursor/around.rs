//! What clients of ArangoDB ask around a cursor: collections, databases, the server.

use serde_json::json;

use super::super::server::Server;
use super::{PEOPLE, error};

#[test]
fn collections_databases_and_the_server() {
    let server = Server::of(&[("people.csv", PEOPLE)]);
    let get = |path: &str| {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    };
    for base in ["", "/_db/shop"] {
        let all = get(&format!("{base}/_api/collection"));
        assert_eq!((all["result"].as_array().map(Vec::len), &all["result"][0]["name"]), (Some(1), &json!("people")));
        let of = |question: &str| get(&format!("{base}/_api/collection/people{question}"));
        assert_eq!(of("")["type"], 2);
        assert_eq!(of("/properties")["keyOptions"]["allowUserKeys"], false);
        assert_eq!(of("/count")["count"], 10);
        assert!(of("/revision")["revision"].as_str().is_some_and(|text| !text.is_empty()));
        let name = if base.is_empty() { "_system" } else { "shop" };
        assert_eq!(get(&format!("{base}/_api/database"))["result"], json!([name]));
        assert_eq!(get(&format!("{base}/_api/database/current"))["result"]["name"], name);
        assert_eq!(get(&format!("{base}/_api/version?details=true"))["details"]["mode"], "server");
        assert_eq!(get(&format!("{base}/_admin/server/role"))["role"], "SINGLE");
        assert_eq!(get(&format!("{base}/_admin/server/availability"))["mode"], "readonly");
    }
    for (method, path, status, number) in [
        ("GET", "/_api/collection/none", 404, 1203),
        ("GET", "/_api/collection/people/figures", 501, 9),
        ("POST", "/_api/collection", 405, 1004),
        ("DELETE", "/_api/collection/people", 405, 1004),
        ("POST", "/_api/database", 405, 1004),
        ("GET", "/_api/document/people/1", 501, 9),
        ("GET", "/_api/gharial", 501, 9),
    ] {
        let told = error(&server.ask(method, path, &[], b""));
        assert_eq!((told.0, told.1), (status, number), "{method} {path}: {told:?}");
    }
}
