//! `/_api/cursor`: the answer to a query, in batches.

use serde_json::{Value as Json, json};

use super::super::server::Server;
use super::{PEOPLE, drain, error, golden, numbers, post};

const STATS: &str = r#""writesExecuted":0,"writesIgnored":0,"documentLookups":0,"seeks":0,"#;

fn server() -> Server {
    Server::of(&[("people.csv", PEOPLE), ("many.csv", &numbers(0, 5_000))])
}

fn query(server: &Server, text: &str, more: Json) -> (u16, Json) {
    let mut body = more;
    body["query"] = text.into();
    post(server, "/_api/cursor", &body)
}

/// All documents a query gives, read in batches of `rows`.
fn all(server: &Server, text: &str, binds: Json, rows: usize) -> Json {
    let (status, first) = query(server, text, json!({"bindVars": binds, "batchSize": rows}));
    assert_eq!(status, 201, "{text}: {first}");
    drain(server, "/_api/cursor", first).1.into()
}

#[test]
fn the_shape() {
    let server = server();
    for door in ["/_api/cursor", "/api/cursor", "/_db/_system/_api/cursor"] {
        let text = r#"{"query":"FOR d IN people SORT d.id LIMIT 3 RETURN d.name","count":true,"batchSize":2,"options":{"fullCount":true}}"#;
        let first = server.post(door, text);
        let stats = format!(
            r#"{STATS}"scannedFull":2,"scannedIndex":0,"cursorsCreated":0,"cursorsRearmed":0,"cacheHits":0,"cacheMisses":0,"filtered":0,"httpRequests":0,"executionTime":T,"peakMemoryUsage":23,"intermediateCommits":0,"fullCount":10"#
        );
        assert_eq!(
            (first.status, golden(&first)),
            (
                201,
                format!(
                    r#"{{"result":["Ann","Bob"],"hasMore":true,"id":"ID","nextBatchId":"2","count":3,"cached":false,"extra":{{"warnings":[],"stats":{{{stats}}}}},"error":false,"code":201}}"#
                )
            )
        );
        let id = first.json()["id"].as_str().expect("an id").to_owned();
        let last = server.post(&format!("{door}/{id}"), "");
        let stats = stats.replace("\"scannedFull\":2", "\"scannedFull\":3");
        assert_eq!(
            (last.status, golden(&last)),
            (
                200,
                format!(
                    r#"{{"result":["Cid"],"hasMore":false,"count":3,"cached":false,"extra":{{"warnings":[],"stats":{{{stats}}}}},"error":false,"code":200}}"#
                )
            )
        );
        assert_eq!(error(&server.post(&format!("{door}/{id}"), "")).1, 1600);
    }
}

/// A streamed answer tells its statistics with the last batch, and is never counted.
#[test]
fn streamed() {
    let server = server();
    let options = json!({"count": true, "batchSize": 6, "options": {"stream": true, "fullCount": true}});
    let (_, first) = query(&server, "FOR d IN people RETURN d.id", options);
    assert_eq!((&first["extra"], &first["count"], &first["hasMore"]), (&Json::Null, &Json::Null, &json!(true)));
    let last = server.ask("PUT", &format!("/_api/cursor/{}", first["id"].as_str().expect("an id")), &[], b"").json();
    assert_eq!(last["result"], json!([7, 8, 9, 10]));
    assert_eq!((&last["extra"]["warnings"], &last["extra"]["stats"]["scannedFull"]), (&json!([]), &json!(10)));
    assert_eq!(last["extra"]["stats"]["fullCount"], Json::Null);
}

#[test]
fn any_batch_size_gives_the_same() {
    let server = server();
    for (text, sql) in [
        ("FOR d IN people RETURN d", "SELECT * FROM people"),
        ("FOR p IN people FILTER p.age > 30 RETURN {n: p.name}", "SELECT name AS n FROM people WHERE age > 30"),
        ("FOR p IN people SORT p.age DESC, p.id RETURN p", "SELECT * FROM people ORDER BY age DESC NULLS LAST, id"),
        (
            "FOR p IN people SORT p.age, p.id LIMIT 1, 4 RETURN KEEP(p, 'id', 'age')",
            "SELECT id, age FROM people ORDER BY age NULLS FIRST, id LIMIT 4 OFFSET 1",
        ),
        ("FOR p IN people LIMIT 2, 5 RETURN UNSET(p, 'id', 'active')", "SELECT name, age FROM people LIMIT 5 OFFSET 2"),
        ("FOR p IN people FILTER NOT (p.age >= 30) RETURN p", "SELECT * FROM people WHERE age < 30 OR age IS NULL"),
        (
            "FOR p IN people FILTER p.active && p.name NOT IN ['Ann'] RETURN p",
            "SELECT * FROM people WHERE active AND name <> 'Ann'",
        ),
        ("FOR p IN people FILTER p.age == null RETURN p", "SELECT * FROM people WHERE age IS NULL"),
        ("FOR p IN people FILTER p.name LIKE '_a%' RETURN p", "SELECT * FROM people WHERE name LIKE '_a%'"),
        ("FOR p IN people FILTER p.id IN [3, 4, 99] RETURN p", "SELECT * FROM people WHERE id IN (3, 4, 99)"),
        ("FOR d IN many FILTER d.n >= 100 RETURN d", "SELECT * FROM many WHERE n >= 100"),
    ] {
        let expected = server.post("/api/sql", sql).json();
        assert!(expected.as_array().is_some_and(|rows| !rows.is_empty()), "{sql}");
        for rows in [1_000, 3_000, 7] {
            if rows == 7 && expected.as_array().is_some_and(|rows| rows.len() > 100) {
                continue;
            }
            assert_eq!(all(&server, text, Json::Null, rows), expected, "{text}");
            assert_eq!(all(&server, sql, Json::Null, rows), expected, "{sql}");
        }
    }
    let distinct = all(&server, "FOR p IN people SORT p.active RETURN DISTINCT p.active", Json::Null, 1);
    assert_eq!(distinct, json!([false, true]));
}

#[test]
fn bind_variables() {
    let server = server();
    let text = "FOR d IN @@coll FILTER d.age IN @ages OR d.name == @name LIMIT @from, @count RETURN d.id";
    let binds = json!({"@coll": "people", "ages": [31, 17], "name": "Jon", "from": 1, "count": 5});
    assert_eq!(all(&server, text, binds, 1), json!([3, 10]));
    assert_eq!(
        all(&server, "FOR d IN people RETURN KEEP(d, @names)", json!({"names": ["id"]}), 9)[0],
        json!({"id": 1})
    );
    let sql = "SELECT id FROM people WHERE age > $1 AND name < $2 ORDER BY id";
    assert_eq!(all(&server, sql, json!({"1": 30, "2": "H"}), 2), json!([{"id": 1}, {"id": 4}, {"id": 7}]));
    let sql = "SELECT id FROM people WHERE name = $name";
    assert_eq!(all(&server, sql, json!({"name": "Eve' OR true"}), 2), json!([]));
    assert_eq!(all(&server, sql, json!({"name": "Eve"}), 2), json!([{"id": 5}]));
}

/// With `allowRetry` the latest batch is there until another is asked for, the last one until the cursor is removed.
#[test]
fn asked_again() {
    let server = server();
    let retry = json!({"batchSize": 4, "options": {"allowRetry": true}, "count": true});
    for text in ["FOR d IN people RETURN d.id", "FOR d IN people FILTER d.id > 0 RETURN d.id"] {
        let (_, first) = query(&server, text, retry.clone());
        let id = first["id"].as_str().expect("an id").to_owned();
        let batch = |number: &str| server.post(&format!("/_api/cursor/{id}/{number}"), "");
        let rows = |number: &str| batch(number).json()["result"].clone();
        assert_eq!(first["nextBatchId"], "2", "{text}");
        for _ in 0..3 {
            assert_eq!(rows("1"), json!([1, 2, 3, 4]), "{text}");
        }
        for _ in 0..3 {
            assert_eq!(rows("2"), json!([5, 6, 7, 8]), "{text}");
        }
        assert_eq!(error(&batch("1")), (404, 404, "batch id not found".into()));
        assert_eq!(error(&batch("4")), (404, 404, "batch id not found".into()));
        assert_eq!(error(&batch("x")), (404, 404, "batch id not found".into()));
        for _ in 0..3 {
            let last = batch("3").json();
            assert_eq!(
                (&last["result"], &last["hasMore"], &last["count"]),
                (&json!([9, 10]), &json!(false), &json!(10))
            );
            assert_eq!((&last["id"], &last["nextBatchId"]), (&json!(id), &Json::Null));
            assert_eq!(last["extra"]["stats"]["scannedFull"], 10);
        }
        assert_eq!(error(&server.post(&format!("/_api/cursor/{id}"), "")).1, 1600);
        assert_eq!(rows("3"), json!([9, 10]));
        assert_eq!(server.ask("DELETE", &format!("/_api/cursor/{id}"), &[], b"").status, 202);
        assert_eq!(error(&batch("3")).1, 1600);
    }
    let (_, plain) = query(&server, "FOR d IN people RETURN d.id", json!({"batchSize": 4}));
    let path = format!("/_api/cursor/{}/1", plain["id"].as_str().expect("an id"));
    assert_eq!(error(&server.post(&path, "")), (400, 400, "expecting retriable option to be true".into()));
    // The next batch is given by its number all the same, and is not kept.
    let path = path.trim_end_matches("/1");
    let next = server.post(&format!("{path}/2"), "").json();
    assert_eq!((&next["result"], &next["nextBatchId"]), (&json!([5, 6, 7, 8]), &json!("3")), "{next}");
    let expected = (400, 400, "expecting retriable option to be true".into());
    assert_eq!(error(&server.post(&format!("{path}/2"), "")), expected);
    assert_eq!(error(&server.post(&format!("{path}/4"), "")), (404, 404, "batch id not found".into()));
    let last = server.post(&format!("{path}/3"), "").json();
    assert_eq!((&last["result"], &last["hasMore"]), (&json!([9, 10]), &json!(false)), "{last}");
    // One batch is kept too, when it may be asked for again.
    let (_, only) = query(&server, "FOR d IN people LIMIT 1 RETURN d.id", retry);
    let path = format!("/_api/cursor/{}", only["id"].as_str().expect("an id"));
    assert_eq!(server.post(&format!("{path}/1"), "").json()["result"], json!([1]));
    assert_eq!(server.ask("DELETE", &path, &[], b"").status, 202);
}

#[test]
fn counted() {
    let server = server();
    for (text, count, full) in [
        ("FOR d IN people RETURN d", 10, 10),
        ("FOR d IN people LIMIT 8, 5 RETURN d", 2, 10),
        ("FOR d IN people FILTER d.age > 30 RETURN d", 5, 5),
        ("FOR d IN people FILTER d.age > 30 LIMIT 1, 3 RETURN d", 3, 5),
    ] {
        let asked = json!({"count": true, "batchSize": 1, "options": {"fullCount": true}});
        let (_, first) = query(&server, text, asked);
        assert_eq!((&first["count"], &first["extra"]["stats"]["fullCount"]), (&json!(count), &json!(full)), "{text}");
        let (sizes, _) = drain(&server, "/_api/cursor", first);
        assert_eq!(sizes.len(), count);
    }
    let (_, first) = query(&server, "SELECT * FROM many WHERE n < 70", json!({"count": true, "batchSize": 30}));
    assert_eq!(first["count"], 70);
    assert_eq!(drain(&server, "/_api/cursor", first).0, [30, 30, 10]);
}

#[test]
fn errors() {
    let server = server();
    let parse = "AQL: syntax error, unexpected identifier near 'YODA' at position 1:1 (while parsing)";
    for (body, status, number, message) in [
        (json!({"query": "YODA"}), 400, 1501, parse),
        (
            json!({"query": "FOR d IN nope RETURN d"}),
            404,
            1203,
            "AQL: collection or view not found: nope (while parsing); there is `many`, `people`",
        ),
        (
            json!({"query": "FOR d IN peple RETURN d"}),
            404,
            1203,
            "AQL: collection or view not found: peple (while parsing); did you mean `people`?",
        ),
        (
            json!({"query": "FOR d IN people RETURN d.agee"}),
            400,
            10,
            "no column `agee` in `people`; did you mean `age`?",
        ),
        (
            json!({"query": "FOR d IN people FILTER d.agee == 1 RETURN d"}),
            400,
            10,
            "no column `agee` in `people`; did you mean `age`?",
        ),
        (
            json!({"query": "FOR d IN people FILTER d.age == @a RETURN d"}),
            400,
            1551,
            "AQL: no value specified for declared bind parameter 'a' (while parsing)",
        ),
        (
            json!({"query": "FOR d IN people RETURN d", "bindVars": {"a": 1}}),
            400,
            1552,
            "AQL: bind parameter 'a' was not declared in the query (while parsing)",
        ),
        (
            json!({"query": "FOR d IN @@c RETURN d", "bindVars": {"@c": 1}}),
            400,
            1553,
            "AQL: bind parameter '@c' has an invalid value or type (while parsing)",
        ),
        (
            json!({"query": "FOR d IN people REMOVE d IN people"}),
            403,
            1004,
            "AQL: REMOVE would write, and queries only read",
        ),
        (json!({"query": "FOR d IN people RETURN d", "bindVars": []}), 400, 17, "expecting object for 'bindVars'"),
        (
            json!({"query": "FOR d IN people RETURN d", "batchSize": 0}),
            400,
            17,
            "expecting non-zero value for 'batchSize'",
        ),
        (json!({"query": " "}), 400, 1502, "query is empty"),
        (json!({"query": 1}), 400, 1502, "query is empty"),
        (json!({"query": null}), 400, 1502, "query is empty"),
        (json!({}), 400, 1502, "query is empty"),
        (json!([]), 400, 600, "invalid JSON object: the body must be an object"),
    ] {
        let answer = server.post("/_api/cursor", &body.to_string());
        assert_eq!(error(&answer), (status, number, message.to_owned()), "{body}");
    }
}

#[test]
fn errors_without_words_of_their_own() {
    let server = server();
    for (body, status, number) in [
        (json!({"query": "FOR d IN people LET x = 1 RETURN x"}), 501, 9),
        (json!({"query": "SELECT nope FROM people"}), 400, 1501),
        (json!({"query": "SELECT * FROM nope"}), 400, 1501),
        (json!({"query": "SELECT id FROM people WHERE id = $1", "bindVars": {"1": []}}), 400, 1553),
        (json!({"query": "FOR d IN many RETURN d", "memoryLimit": 1_000}), 400, 32),
        (json!({"query": "SELECT * FROM many", "memoryLimit": 10_000, "count": true}), 400, 32),
        (json!({"query": "SELECT 1", "options": {"fullCount": true}}), 400, 10),
    ] {
        let answer = server.post("/_api/cursor", &body.to_string());
        let (got_status, got_number, message) = error(&answer);
        assert_eq!((got_status, got_number), (status, number), "{body}: {message}");
    }
    assert_eq!(error(&server.post("/_api/cursor", "")), (400, 1502, "query is empty".into()));
    assert_eq!(error(&server.post("/_api/cursor", "{\"query\"")).1, 600);
    assert_eq!(
        error(&server.ask("PUT", "/_api/cursor", &[], b"")),
        (405, 400, "expecting PUT /_api/cursor/<cursor-id>".into())
    );
    assert_eq!(error(&server.ask("DELETE", "/_api/cursor/1/2", &[], b"")).1, 400);
    assert_eq!(error(&server.get("/_api/cursor/1")), (405, 405, "method not supported".into()));
    let large = format!("{{\"query\":\"{}\"}}", "x".repeat(3 * 1024 * 1024));
    assert_eq!(error(&server.post("/_api/cursor", &large)).0, 413);
    let in_transaction = [("x-arango-trx-id", "1")];
    assert_eq!(
        error(&server.ask("POST", "/_api/cursor", &in_transaction, br#"{"query":"FOR d IN people RETURN d"}"#)).1,
        9
    );
    // A limit that is large enough is none.
    let (status, first) =
        query(&server, "FOR d IN many RETURN d", json!({"memoryLimit": 100_000, "options": {"maxRuntime": 100}}));
    assert_eq!((status, drain(&server, "/_api/cursor", first).1.len()), (201, 5_000));
}

/// No body, however odd, gets anything but an answer in the shape.
#[test]
fn malformed() {
    let server = server();
    let deep = "[".repeat(100_000);
    for body in [
        "null",
        "0",
        "\"FOR d IN people RETURN d\"",
        "{\"query\":null}",
        "{\"query\":{}}",
        "\u{0}",
        &deep,
        "{\"query\":\"\\ud800\"}",
        r#"{"query":"FOR d IN people RETURN d","options":7}"#,
        r#"{"query":"FOR d IN people RETURN d","options":{"stream":"yes"}}"#,
        r#"{"query":"FOR d IN people RETURN d","ttl":"long"}"#,
        r#"{"query":"FOR d IN people RETURN d","batchSize":1e999}"#,
        r#"{"query":"FOR d IN people RETURN d","memoryLimit":-5}"#,
        r#"{"query":"FOR d IN people FILTER d.age LIKE 'x' RETURN d"}"#,
        r#"{"query":"FOR d IN people SORT d.nope RETURN d"}"#,
    ] {
        for path in ["/_api/cursor", "/api/cursor"] {
            let answer = server.post(path, body);
            assert!((400..500).contains(&error(&answer).0), "{body}: {}", answer.text());
        }
    }
    for body in [
        r#"{"query":"FOR d IN people RETURN d","ttl":1e300,"batchSize":1e300}"#,
        r#"{"query":"FOR d IN people RETURN d","batchSize":10.7,"ttl":-0.0,"cache":true,"options":{"profile":2,"optimizer":{"rules":["-all"]},"nope":1}}"#,
    ] {
        let answer = server.post("/_api/cursor", body);
        assert_eq!(
            (answer.status, answer.json()["result"].as_array().map(Vec::len)),
            (201, Some(10)),
            "{}",
            answer.text()
        );
    }
    // Values of different kinds are never equal.
    let answer = server.post("/_api/cursor", r#"{"query":"FOR d IN people FILTER d.age == \"x\" RETURN d"}"#);
    assert_eq!((answer.status, &answer.json()["result"]), (201, &json!([])), "{}", answer.text());
    let not_utf8 = server.ask("POST", "/_api/cursor", &[], b"{\"query\":\"\xff\"}");
    assert_eq!(error(&not_utf8).1, 600);
    assert_eq!(server.get("/health").text(), "OK");
}

/// Cursors over running queries are fewer than those over whole entries; who would be one too many hears it.
#[test]
fn bounded() {
    let server = server();
    let open = |text: &str| query(&server, text, json!({"batchSize": 1}));
    // Three quarters of 128: the rest is for other callers.
    let opened: Vec<Json> = (0..96).map(|_| open("FOR d IN many FILTER d.n >= 0 RETURN d").1).collect();
    assert!(opened.iter().all(|first| first["hasMore"] == true));
    let (status, refused) = open("FOR d IN many FILTER d.n >= 0 RETURN d");
    assert_eq!((status, &refused["errorNum"]), (503, &json!(503)));
    // All else goes on.
    assert_eq!(open("FOR d IN many RETURN d").0, 201);
    assert_eq!(open("FOR d IN many FILTER d.n == 7 RETURN d").1["result"][0]["n"], 7);
    assert_eq!(server.post("/api/sql", "SELECT count(*) AS n FROM many").text(), r#"[{"n":5000}]"#);
    let id = opened[17]["id"].as_str().expect("an id");
    assert_eq!(server.ask("DELETE", &format!("/_api/cursor/{id}"), &[], b"").status, 202);
    assert_eq!(open("FOR d IN many FILTER d.n >= 0 RETURN d").0, 201);
}
