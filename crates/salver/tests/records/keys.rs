//! Keys: by their bytes where everything is compared so, and not changed in silence.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

fn people(kind: Kind) -> Program {
    let text = match kind {
        Kind::Sqlite => "text collate nocase",
        Kind::Mariadb => "varchar(20) collate utf8mb4_general_ci",
        Kind::Postgres => "varchar(20)",
    };
    let sql = format!("create table ci (k {text} primary key, n int); insert into ci values ('ada', 1), ('bob', 2);");
    Program::over(database(kind, &sql), "", "writable = true")
}

#[test]
fn mutations_find_the_row_that_they_show() {
    for kind in Kind::ALL {
        let program = people(kind);
        let ask = |headers: &[(&str, &str)], query: &str| {
            let body = serde_json::json!({ "query": query }).to_string();
            let headers = [headers, &[("content-type", "application/json")]].concat();
            program.ask("POST", "/graphql", &headers, Some(&body))
        };
        for key in ["ADA", "ada ", "Ada"] {
            let told = ask(&[], &format!("mutation {{ update_ci(k: \"{key}\", set: {{n: 50}}) {{ k n }} }}"));
            assert!(told.body.contains("record_not_found"), "{kind:?} {key}: {}", told.body);
            let told = ask(&[], &format!("mutation {{ delete_ci(k: \"{key}\") }}"));
            assert!(!told.body.contains("true"), "{kind:?} {key}: {}", told.body);
        }
        let told = ask(&[], "mutation { update_ci(k: \"ada\", set: {n: 3}) { k n } }");
        assert!(told.body.contains(r#""n":3"#), "{kind:?}: {}", told.body);
        let told = ask(&[("if-match", "\"x\"")], "mutation { update_ci(k: \"ada\", set: {n: 9}) { k n } }");
        assert_eq!(told.status, 400, "{kind:?}: {}", told.body);
        let told = ask(&[], "mutation { update_ci(k: \"ada\", set: {k: \"eva\", n: 9}) { k n } }");
        assert!(told.body.contains("`k` is the key"), "{kind:?}: {}", told.body);
        assert_eq!(program.database().run("select n from ci order by k").trim(), "3\n2", "{kind:?}");
    }
}

#[test]
fn a_strict_change_says_that_it_sets_no_key() {
    for kind in Kind::ALL {
        let program = people(kind);
        let refused = program.send("PUT", "/records/ci/bob?strict=1", r#"{"k":"eva","n":9}"#);
        assert!(refused.status >= 400 && refused.body.contains("`k` is the key"), "{kind:?}: {}", refused.body);
        // The whole record as it was read, and what PHP-CRUD-API passes over.
        assert_eq!(
            program.send("PUT", "/records/ci/bob?strict=1", r#"{"k":"bob","n":9}"#).said(),
            (200, "1"),
            "{kind:?}"
        );
        assert_eq!(program.send("PUT", "/records/ci/bob", r#"{"k":"eva","n":10}"#).said(), (200, "1"), "{kind:?}");
        let refused = program.ask("PUT", "/records/ci/bob", &[("if-none-match", "*")], Some(r#"{"n":11}"#));
        assert_eq!(refused.status, 400, "{kind:?}: {}", refused.body);
        assert_eq!(program.database().run("select k, n from ci order by k").trim(), "ada\t1\nbob\t10", "{kind:?}");
    }
}

#[test]
fn a_key_without_a_type_is_found_as_it_is_shown() {
    let sql = "create table loose (k not null primary key, n int);
               insert into loose values (1, 10), ('01', 20), ('10', 30), (2.5, 40), (7, 50), ('7', 60), ('x', 70);
               create table coded (k string not null primary key, n int);
               insert into coded values (1, 10), ('b', 20);";
    let program = Program::over(database(Kind::Sqlite, sql), "", "writable = true");
    for (key, n) in [("1", 10), ("01", 20), ("10", 30), ("2.5", 40), ("x", 70)] {
        let read = program.ok(&format!("/records/loose/{key}"));
        assert!(read.ends_with(&format!("\"n\":{n}}}")), "{key}: {read}");
    }
    for key in ["+1", "1.0", "1e0", "2.50", "010"] {
        assert_eq!(program.get(&format!("/records/loose/{key}")).status, 404, "{key}");
        let changed = program.send("PUT", &format!("/records/loose/{key}"), r#"{"n":0}"#);
        assert_eq!(changed.said(), (200, "0"), "{key}");
    }
    let several = program.ok("/records/loose/10,01,1?include=n");
    assert_eq!(several, r#"[{"n":30},{"n":20},{"n":10}]"#);
    for (method, body) in [("PUT", r#"{"n":0}"#), ("PATCH", r#"{"n":1}"#), ("DELETE", "")] {
        let refused = program.send(method, "/records/loose/7", body);
        assert_eq!(refused.status, 409, "{method}: {}", refused.body);
    }
    assert_eq!(program.send("PUT", "/records/loose/10", r#"{"n":31}"#).said(), (200, "1"));
    assert_eq!(program.send("DELETE", "/records/loose/01", "").said(), (200, "1"));
    let left = program.database().run("select n from loose order by n");
    assert_eq!(left.trim(), "10\n31\n40\n50\n60\n70");
    // A column that makes numbers of texts has no `01`.
    assert_eq!(program.get("/records/coded/01").status, 404);
    assert_eq!(program.send("DELETE", "/records/coded/01", "").said(), (200, "0"));
    assert_eq!(program.ok("/records/coded/1?include=n"), r#"{"n":10}"#);
}
