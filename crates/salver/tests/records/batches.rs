//! Several records in one request: all of them or none.

use std::fmt::Write as _;

use salver_testkit::servers::Kind;

use super::program::Program;

/// Method, target and body, with the answer.
const STEPS: [(&str, &str, &str, u16, &str); 25] = [
    ("POST", "/records/people", "[]", 200, "[]"),
    ("POST", "/records/people", r#"[{"name":"a"}]"#, 200, "[7]"),
    ("POST", "/records/people", r#"[{"name":"b"},{"name":"c"}]"#, 200, "[8,9]"),
    ("PUT", "/records/people/7,8", r#"[{"score":1},{"score":2}]"#, 200, "[1,1]"),
    ("PUT", "/records/people/7,99", r#"[{"score":1},{"score":2}]"#, 200, "[1,0]"),
    ("PUT", "/records/people/99", r#"{"score":1}"#, 200, "0"),
    ("PUT", "/records/people/7", r#"{"nothing":1}"#, 200, "0"),
    ("PUT", "/records/people/7", r#"[{"score":5}]"#, 200, "[1]"),
    (
        "PUT",
        "/records/people/7,8",
        r#"{"score":1}"#,
        422,
        r#"{"code":1002,"message":"Argument count mismatch in '7,8'"}"#,
    ),
    (
        "PUT",
        "/records/people/7",
        r#"[{"score":1},{"score":2}]"#,
        422,
        r#"{"code":1002,"message":"Argument count mismatch in '7'"}"#,
    ),
    ("PATCH", "/records/people/7,7", r#"[{"score":1},{"score":2}]"#, 200, "[1,1]"),
    ("PATCH", "/records/people/7", r#"{"score":-8.0}"#, 200, "1"),
    ("PATCH", "/records/people/7", r#"{"name":"x"}"#, 200, "0"),
    ("GET", "/records/people/7,99,8?include=id,score", "", 200, r#"[{"id":7,"score":0},null,{"id":8,"score":2}]"#),
    // What fails undoes what went before it; every item is told apart.
    (
        "POST",
        "/records/people",
        r#"[{"name":"d"},{"name":"e","boss_id":99}]"#,
        424,
        r#"[{"code":0,"message":"Success"},{"code":1010,"message":"Data integrity violation"}]"#,
    ),
    (
        "PUT",
        "/records/people/8,9",
        r#"[{"name":"d"},{"name":null}]"#,
        424,
        r#"[{"code":0,"message":"Success"},{"code":1010,"message":"Data integrity violation"}]"#,
    ),
    (
        "DELETE",
        "/records/people/9,1",
        "",
        424,
        r#"[{"code":0,"message":"Success"},{"code":1010,"message":"Data integrity violation"}]"#,
    ),
    ("GET", "/records/people/8,9?include=name", "", 200, r#"[{"name":"b"},{"name":"c"}]"#),
    ("GET", "/records/people?filter=id,gt,6&include=id", "", 200, r#"{"records":[{"id":7},{"id":8},{"id":9}]}"#),
    ("DELETE", "/records/people/7,99,8", "", 200, "[1,0,1]"),
    ("DELETE", "/records/people/9", "", 200, "1"),
    ("DELETE", "/records/people/9", "", 200, "0"),
    ("POST", "/records/people", r#"[{"name":"x"},1]"#, 422, r#"{"code":1008,"message":"Cannot read HTTP message"}"#),
    ("POST", "/records/people", "", 422, r#"{"code":1008,"message":"Cannot read HTTP message"}"#),
    ("GET", "/records/people?filter=id,gt,6", "", 200, r#"{"records":[]}"#),
];

#[test]
fn rules_of_batches() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        for (method, target, body, status, expected) in STEPS {
            let answer = program.ask(method, target, &[], (method != "GET" && method != "DELETE").then_some(body));
            assert_eq!(answer.said(), (status, expected), "{kind:?} {method} {target} {body}");
        }
    }
}

/// A failure in front or in the middle: it is told of the right item, and nothing stays.
#[test]
fn where_it_fails() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        for bad in 0..3 {
            let items: Vec<String> = (0..3)
                .map(|at| {
                    format!(r#"{{"batch":"x","item":{}}}"#, if at == bad { "null".to_owned() } else { at.to_string() })
                })
                .collect();
            let answer = program.send("POST", "/records/ledger", &format!("[{}]", items.join(",")));
            assert_eq!(answer.status, 424, "{kind:?}: {}", answer.body);
            let documents = answer.json();
            assert_eq!(documents.as_array().map(Vec::len), Some(3), "{kind:?}: {documents}");
            assert_eq!(documents[bad]["code"], 1010, "{kind:?}: {documents}");
            assert!((0..bad).all(|at| documents[at]["code"] == 0), "{kind:?}: {documents}");
            assert_eq!(program.database().run("select count(*) from ledger").trim(), "0", "{kind:?}");
        }
    }
}

#[test]
fn a_thousand_at_once() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "writable = true");
        let (mut records, mut keys) = (String::from("["), String::new());
        for item in 1..=1000 {
            write!(records, r#"{}{{"batch":"large","item":{item}}}"#, if item == 1 { "" } else { "," }).expect("text");
            write!(keys, "{}{item}", if item == 1 { "" } else { "," }).expect("text");
        }
        records.push(']');
        assert_eq!(
            program.send("POST", "/records/ledger", &records).said(),
            (200, format!("[{keys}]").as_str()),
            "{kind:?}"
        );
        let ones = vec!["1"; 1000].join(",");
        let changed = records.replace("large", "larger");
        let answer = program.send("PUT", &format!("/records/ledger/{keys}"), &changed);
        assert_eq!(answer.said(), (200, format!("[{ones}]").as_str()), "{kind:?}");
        let rows = program.database().run("select count(*) from ledger where batch = 'larger'");
        assert_eq!(rows.trim(), "1000", "{kind:?}");
    }
}
