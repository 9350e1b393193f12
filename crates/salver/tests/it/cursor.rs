//! Cursors in ArangoDB's shape, byte for byte where it has one: bodies, codes, numbers and words of errors.

mod abandoned;
mod around;
mod drivers;
mod export;
mod query;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::server::{Answer, Server};

/// Ten documents, two of them with nulls.
const PEOPLE: &[u8] = b"id,name,age,active\n1,Ann,31,true\n2,Bob,,false\n3,Cid,17,true\n4,Dee,54,false\n5,Eve,,true\n\
                        6,Fay,22,true\n7,Gus,41,false\n8,Hal,29,true\n9,Ida,65,false\n10,Jon,38,true\n";

/// A CSV file with the numbers from `first` on.
fn numbers(first: usize, count: usize) -> Vec<u8> {
    let mut text = String::from("n,label\n");
    for n in first..first + count {
        text.push_str(&format!("{n},label {n}\n"));
    }
    text.into_bytes()
}

/// A body with what is another in each run written over: the id, and how long it took.
fn golden(answer: &Answer) -> String {
    let mut text = answer.text().to_owned();
    if let Some(id) = answer.json()["id"].as_str() {
        assert!(!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()), "{id}");
        text = text.replace(&format!("\"id\":\"{id}\""), "\"id\":\"ID\"");
    }
    if let Some(at) = text.find("\"executionTime\":") {
        let start = at + "\"executionTime\":".len();
        let end = start + text[start..].find(',').expect("a number ends");
        text.replace_range(start..end, "T");
    }
    text
}

/// Sends JSON to a path below the interface and reads JSON.
fn post(server: &Server, path: &str, body: &Json) -> (u16, Json) {
    let answer = server.post(path, &body.to_string());
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"), "{}", answer.text());
    (answer.status, answer.json())
}

/// The error an answer tells: status, number and message, and nothing else.
fn error(answer: &Answer) -> (u16, u64, String) {
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"), "{}", answer.text());
    let body = answer.json();
    let members: BTreeMap<String, Json> = serde_json::from_value(body.clone()).expect("an object");
    assert_eq!(members.keys().collect::<Vec<_>>(), ["code", "error", "errorMessage", "errorNum"], "{body}");
    assert_eq!((&body["error"], &body["code"]), (&Json::Bool(true), &Json::from(answer.status)), "{body}");
    let message = body["errorMessage"].as_str().expect("a text").to_owned();
    (answer.status, body["errorNum"].as_u64().expect("a number"), message)
}

/// Reads a cursor to its end; the sizes of its batches and its documents.
fn drain(server: &Server, door: &str, first: Json) -> (Vec<usize>, Vec<Json>) {
    let (mut sizes, mut all, mut batch) = (Vec::new(), Vec::new(), first);
    loop {
        assert_eq!(batch["error"], false, "{batch}");
        let documents = batch["result"].as_array().expect("documents").clone();
        sizes.push(documents.len());
        all.extend(documents);
        let Some(id) = batch["id"].as_str() else {
            assert_eq!(batch["hasMore"], false);
            return (sizes, all);
        };
        assert_eq!(batch["hasMore"], true, "{batch}");
        let answer = server.ask("PUT", &format!("{door}/{id}"), &[], b"");
        assert_eq!(answer.status, 200, "{}", answer.text());
        let next = answer.json();
        assert!(next["id"].is_null() || next["id"] == batch["id"]);
        batch = next;
    }
}
