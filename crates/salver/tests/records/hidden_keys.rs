//! A table whose key is hidden from the caller is one without a key there: nothing tells a value of it, and no row is
//! read or changed by it.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

const SETTINGS: &str = "writable = true\n\
    [[database.rule]]\ntables = [\"sessions\"]\ncolumns_hidden = [\"token\"]\nexcept = \"caller.user = 'boss'\"\n\
    [[database.rule]]\ntables = [\"parts\"]\ncolumns_hidden = [\"k2\"]\n\
    [[database.rule]]\ntables = [\"inv\"]\ncolumns_hidden = [\"id\"]\n\
    [[database.rule]]\ntables = [\"pets\"]\noperations = [\"create\", \"update\"]\ncolumns_hidden = [\"id\"]\n";
const SERVER: &str = "[auth]\nmode = \"optional\"\napi_keys = [\"boss:boss-0123456789abcdef\"]\n";
const BOSS: [(&str, &str); 1] = [("x-api-key", "boss-0123456789abcdef")];

fn program(kind: Kind) -> Program {
    let numbered = match kind {
        Kind::Sqlite => "integer primary key",
        Kind::Mariadb => "integer primary key auto_increment",
        Kind::Postgres => "serial primary key",
    };
    let database = database(
        kind,
        &format!(
            "create table sessions (token varchar(40) primary key, name varchar(20));
             insert into sessions values ('SEKRETtok1', 'ann'), ('SEKRETtok2', 'bob');
             create table parts (k1 varchar(20), k2 varchar(40), v integer, primary key (k1, k2));
             insert into parts values ('a', 'SEKRETk', 1), ('b', 'SEKRETl', 2);
             create table inv (id {numbered}, mail varchar(40) unique, n integer);
             insert into inv values (7771, 'a@x', 1), (7772, 'b@x', 2);
             create table pets (id {numbered}, name varchar(20));
             insert into pets (name) values ('Rex');
             create table bare (token varchar(40), name varchar(20));
             insert into bare values ('shown1', 'ann'), ('shown2', 'bob');"
        ),
    );
    Program::over(database, SERVER, SETTINGS)
}

/// Nothing of a hidden key, also not as `after` has it.
fn assert_silent(body: &str, what: &str) {
    let hex: String = b"SEKRET".iter().map(|byte| format!("{byte:02x}")).collect();
    for secret in ["SEKRET", hex.as_str(), "777", "\"next\""] {
        assert!(!body.contains(secret), "{what} tells {secret}: {body}");
    }
}

#[test]
fn is_no_key_to_read_by() {
    for kind in Kind::ALL {
        let program = program(kind);
        assert_eq!(program.ok("/records/sessions"), r#"{"records":[{"name":"ann"},{"name":"bob"}]}"#, "{kind:?}");
        // As of a table that has none.
        for (table, way) in [
            ("sessions", "?after=&size=1"),
            ("sessions", "?after=&size=1&order=name"),
            ("parts", "?after=&size=1"),
            ("inv", "?after=&size=1&order=n,desc"),
            ("sessions", "/SEKRETtok1"),
            ("sessions", "/SEKRETtok1,SEKRETtok2"),
            ("sessions", "/nope"),
            ("parts", "/a~SEKRETk"),
            ("parts", "/a"),
            ("inv", "/7771"),
            ("inv", "/1"),
            ("inv", "/7771?include=n"),
        ] {
            let answer = program.get(&format!("/records/{table}{way}"));
            let bare = program.get(&format!("/records/bare{}", way.replace("=n,", "=name,")));
            let body = bare.body.replace("bare", table);
            assert!((400..500).contains(&answer.status), "{kind:?} {table}{way}: {:?}", answer.said());
            assert_eq!(answer.said(), (bare.status, body.as_str()), "{kind:?} {table}{way}");
            if way.starts_with('/') {
                assert_eq!(answer.status, 404, "{kind:?} {table}{way}");
            }
        }
        for target in
            ["/geojson/sessions", "/geojson/sessions/SEKRETtok1", "/geojson/inv/7771", "/records/inv?page=1,1"]
        {
            assert_silent(&program.get(target).body, &format!("{kind:?} {target}"));
        }
        // Whom the rule excepts has the key.
        let row = program.ask("GET", "/records/sessions/SEKRETtok1", &BOSS, None);
        assert_eq!(row.said(), (200, r#"{"token":"SEKRETtok1","name":"ann"}"#), "{kind:?}");
        let page = program.ask("GET", "/records/sessions?after=&size=1", &BOSS, None);
        assert!(page.status == 200 && page.json()["next"].is_string(), "{kind:?}: {}", page.body);
        // What can only not be written can be read by.
        assert_eq!(program.ok("/records/pets/1"), r#"{"id":1,"name":"Rex"}"#, "{kind:?}");
        assert_eq!(program.send("PUT", "/records/pets/1", r#"{"name":"Tom"}"#).said(), (200, "1"), "{kind:?}");
        assert_eq!(program.send("POST", "/records/pets", r#"{"name":"Kim"}"#).said(), (200, "2"), "{kind:?}");
    }
}

#[test]
fn is_no_key_to_write_by() {
    for kind in Kind::ALL {
        let program = program(kind);
        let state = || {
            let database = program.database();
            database.run("select token, name from sessions order by token")
                + &database.run("select k1, k2, v from parts order by k1")
                + &database.run("select id, mail, n from inv order by id")
        };
        let before = state();
        for (method, target, body) in [
            ("PUT", "/records/sessions/SEKRETtok1", Some(r#"{"name":"x"}"#)),
            ("PUT", "/records/sessions/nope", Some(r#"{"name":"x"}"#)),
            ("PUT", "/records/sessions/SEKRETtok1,nope", Some(r#"[{"name":"x"},{"name":"x"}]"#)),
            ("PUT", "/records/parts/a~SEKRETk", Some(r#"{"v":9}"#)),
            ("PATCH", "/records/inv/7771", Some(r#"{"n":1}"#)),
            ("PATCH", "/records/inv/1", Some(r#"{"n":1}"#)),
            ("DELETE", "/records/sessions/SEKRETtok1", None),
            ("DELETE", "/records/sessions/nope", None),
            ("DELETE", "/records/parts/a~SEKRETk", None),
            ("DELETE", "/records/inv/7771,7772", None),
            ("POST", "/records", Some(r#"{"operations":[{"delete":"inv","id":7771}]}"#)),
            ("POST", "/records", Some(r#"{"operations":[{"update":"inv","id":7771,"record":{"n":9}}]}"#)),
        ] {
            let answer = program.ask(method, target, &[], body);
            assert_eq!(answer.status, 404, "{kind:?} {method} {target} {body:?}: {}", answer.body);
        }
        let lines = [("content-type", "application/x-ndjson")];
        let load = program.ask("POST", "/records/inv?upsert=update", &lines, Some("{\"id\":7771,\"n\":9}\n"));
        assert!((400..500).contains(&load.status), "{kind:?}: {:?}", load.said());
        assert!(!load.body.contains("`id`"), "{kind:?}: {}", load.body);
        assert_eq!(state(), before, "{kind:?}");
    }
}

#[test]
fn is_told_by_no_answer() {
    for kind in Kind::ALL {
        let program = program(kind);
        let existing = r#"{"mail":"a@x","n":5}"#;
        for (target, body, expected) in [
            ("/records/inv", r#"{"mail":"c@x","n":3}"#, "null"),
            ("/records/inv", r#"[{"mail":"d@x"},{"mail":"e@x"}]"#, "[null,null]"),
            ("/records/inv?upsert=update", r#"{"mail":"f@x"}"#, "null"),
            ("/records/inv?upsert=update&on_conflict=mail", existing, "null"),
            ("/records/inv?upsert=ignore&on_conflict=mail", existing, "null"),
            ("/records/inv?upsert=update&on_conflict=mail", r#"[{"mail":"b@x","n":6},{"mail":"g@x"}]"#, "[null,null]"),
            (
                "/records",
                r#"{"operations":[{"upsert":"inv","record":{"mail":"a@x","n":7},"on":["mail"]},{"create":"inv","record":{"mail":"h@x"}}]}"#,
                "[null,null]",
            ),
            ("/records/inv?returning=*", r#"{"mail":"i@x","n":3}"#, r#"{"mail":"i@x","n":3}"#),
        ] {
            let answer = program.send("POST", target, body);
            assert_eq!(answer.said(), (200, expected), "{kind:?} {target} {body}");
        }
        let back = r#"{"operations":[{"create":"inv","record":{"mail":"j@x"}},{"create":"pets","record":{"name":{"$ref":"0.id"}}}]}"#;
        let answer = program.send("POST", "/records", back);
        assert!((400..500).contains(&answer.status), "{kind:?}: {:?}", answer.said());
        assert_silent(&answer.body, "a reference");
        let wrong = program.send("POST", "/records/inv?upsert=update&on_conflict=idd", existing);
        assert!(wrong.status >= 400 && !wrong.body.contains("`id`"), "{kind:?}: {}", wrong.body);
        let kept = program.database().run("select id, n from inv where mail in ('a@x', 'b@x') order by id");
        assert_eq!(kept, "7771\t7\n7772\t6\n", "{kind:?}");
        assert_eq!(program.database().run("select count(*) from inv").trim(), "9", "{kind:?}");
    }
}
