//! Every error a client can meet, with its status and its bytes.

use salver_testkit::servers::Kind;

use super::fixture::MAPPING;
use super::program::Program;

/// Method, target and body, with the answer.
const CASES: [(&str, &str, &str, u16, &str); 30] = [
    ("GET", "/records", "", 405, r#"{"code":1000,"message":"Route '\/records' not found"}"#),
    ("GET", "/records/people/1/2", "", 404, r#"{"code":1000,"message":"Route '\/records\/people\/1\/2' not found"}"#),
    ("DELETE", "/records/people", "", 404, r#"{"code":1000,"message":"Route '\/records\/people' not found"}"#),
    ("GET", "/records/nothing", "", 404, r#"{"code":1001,"message":"Table 'nothing' not found"}"#),
    ("GET", "/records/nothing/1", "", 404, r#"{"code":1001,"message":"Table 'nothing' not found"}"#),
    ("POST", "/records/nothing", "{}", 404, r#"{"code":1001,"message":"Table 'nothing' not found"}"#),
    ("PUT", "/records/nothing/1", "{}", 404, r#"{"code":1001,"message":"Table 'nothing' not found"}"#),
    ("PATCH", "/records/nothing/1", "{}", 404, r#"{"code":1001,"message":"Table 'nothing' not found"}"#),
    ("DELETE", "/records/nothing/1", "", 404, r#"{"code":1001,"message":"Table 'nothing' not found"}"#),
    (
        "PUT",
        "/records/people/1,2",
        r#"[{"score":1}]"#,
        422,
        r#"{"code":1002,"message":"Argument count mismatch in '1,2'"}"#,
    ),
    ("GET", "/records/people/99", "", 404, r#"{"code":1003,"message":"Record '99' not found"}"#),
    ("GET", "/records/people/x", "", 404, r#"{"code":1003,"message":"Record 'x' not found"}"#),
    ("GET", "/columns/people/nothing", "", 404, r#"{"code":1005,"message":"Column 'nothing' not found"}"#),
    ("GET", "/columns/nothing", "", 404, r#"{"code":1001,"message":"Table 'nothing' not found"}"#),
    (
        "POST",
        "/columns",
        r#"{"name":"people","columns":[]}"#,
        409,
        r#"{"code":1006,"message":"Table 'people' already exists"}"#,
    ),
    (
        "POST",
        "/columns/people",
        r#"{"name":"score","type":"integer"}"#,
        409,
        r#"{"code":1007,"message":"Column 'score' already exists"}"#,
    ),
    ("POST", "/records/people", "", 422, r#"{"code":1008,"message":"Cannot read HTTP message"}"#),
    ("POST", "/records/people", "{", 422, r#"{"code":1008,"message":"Cannot read HTTP message"}"#),
    ("PUT", "/records/people/1", "[", 422, r#"{"code":1008,"message":"Cannot read HTTP message"}"#),
    (
        "POST",
        "/records/articles",
        r#"{"code":"pen","net":"1.00"}"#,
        409,
        r#"{"code":1009,"message":"Duplicate key exception"}"#,
    ),
    ("PUT", "/records/articles/2", r#"{"code":"pen"}"#, 409, r#"{"code":1009,"message":"Duplicate key exception"}"#),
    ("POST", "/records/people", r#"{"score":1}"#, 409, r#"{"code":1010,"message":"Data integrity violation"}"#),
    (
        "POST",
        "/records/messages",
        r#"{"from_id":1,"to_id":99,"body":"x"}"#,
        409,
        r#"{"code":1010,"message":"Data integrity violation"}"#,
    ),
    ("DELETE", "/records/people/1", "", 409, r#"{"code":1010,"message":"Data integrity violation"}"#),
    (
        "POST",
        "/records/tag_usage",
        r#"{"name":"x"}"#,
        405,
        r#"{"code":1015,"message":"Operation 'create' not supported"}"#,
    ),
    (
        "PUT",
        "/records/tag_usage/1",
        r#"{"name":"x"}"#,
        405,
        r#"{"code":1015,"message":"Operation 'update' not supported"}"#,
    ),
    (
        "PATCH",
        "/records/tag_usage/1",
        r#"{"count":1}"#,
        405,
        r#"{"code":1015,"message":"Operation 'increment' not supported"}"#,
    ),
    ("GET", "/records/nopk/1", "", 404, r#"{"code":1023,"message":"Primary key for table 'nopk' not found"}"#),
    ("DELETE", "/records/nopk/1", "", 404, r#"{"code":1023,"message":"Primary key for table 'nopk' not found"}"#),
    ("GET", "/records/people?page=9", "", 403, r#"{"code":1019,"message":"Pagination forbidden"}"#),
];

/// Bodies that are refused under `validate`, with what is told of the column.
const INVALID: [(&str, &str, &str); 12] = [
    (r#"{"name":null}"#, "name", "cannot be null"),
    (r#"{"name":"12345678901234567890123456789012345678901"}"#, "name", "string too long"),
    (r#"{"score":"x"}"#, "score", "invalid integer"),
    (r#"{"score":" 1"}"#, "score", "illegal whitespace"),
    (r#"{"score":2147483648}"#, "score", "invalid integer"),
    (r#"{"score":1.5}"#, "score", "invalid integer"),
    (r#"{"joined":"2024-02-30"}"#, "joined", "invalid date"),
    (r#"{"joined":"yesterday"}"#, "joined", "invalid date"),
    ("score=x&name=y", "score", "invalid integer"),
    ("score=&name=y", "score", "invalid integer"),
    ("name__is_null", "name", "cannot be null"),
    (r#"{"boss_id":"--1"}"#, "boss_id", "invalid integer"),
];

#[test]
fn each_with_its_bytes() {
    for kind in Kind::ALL {
        let settings = format!("writable = true\ncolumns = true\npages_max = 8\n{MAPPING}");
        let program = Program::new(kind, &settings);
        for (method, target, body, status, expected) in CASES {
            let answer = program.ask(method, target, &[], (method != "GET" && method != "DELETE").then_some(body));
            assert_eq!(answer.said(), (status, expected), "{kind:?} {method} {target} {body}");
            assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"), "{kind:?} {target}");
        }
    }
}

#[test]
fn validation_names_the_column() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true\nvalidate = [\"people\"]");
        for (body, column, problem) in INVALID {
            let expected = format!(
                r#"{{"code":1013,"message":"Input validation failed for 'people'","details":{{"{column}":"{problem}"}}}}"#
            );
            assert_eq!(
                program.send("PUT", "/records/people/1", body).said(),
                (422, expected.as_str()),
                "{kind:?} {body}"
            );
        }
        // Every column that is wrong, in the order of the body.
        let answer = program.send("PUT", "/records/people/1", r#"{"score":"x","name":null,"boss_id":2}"#);
        assert_eq!(
            answer.json()["details"].to_string(),
            r#"{"score":"invalid integer","name":"cannot be null"}"#,
            "{kind:?}"
        );
        assert_eq!(program.send("PUT", "/records/people/1", r#"{"name":"Ada"}"#).said(), (200, "1"), "{kind:?}");
    }
}

#[test]
fn read_only_unless_writable() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "");
        for (method, target, body) in [
            ("POST", "/records/people", r#"{"name":"x"}"#),
            ("PUT", "/records/people/1", r#"{"name":"x"}"#),
            ("PATCH", "/records/people/1", r#"{"score":1}"#),
            ("DELETE", "/records/messages/1", ""),
            ("POST", "/columns", r#"{"name":"x","columns":[{"name":"id","type":"integer","pk":true}]}"#),
            ("DELETE", "/columns/messages", ""),
            ("DELETE", "/columns/messages/body", ""),
        ] {
            let answer = program.ask(method, target, &[], (method != "DELETE").then_some(body));
            assert!(matches!(answer.status, 403..=405), "{kind:?} {method} {target}: {:?}", answer.said());
        }
        let rows = program.database().run("select name from people where id = 1");
        assert_eq!(rows.trim(), "Ada", "{kind:?}");
        assert_eq!(program.database().run("select count(*) from messages").trim(), "4", "{kind:?}");
    }
}
