//! Every way in which a row changes or is found, against every rule: there is none around them.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

const PROXY: &str = "[server]\nreverse_proxy = true\ncaller = { user = \"X-User\", role = \"X-Role\" }\n";

/// A table whose texts the column compares loosely where the system has a loose comparison, and of which SQLite takes
/// one for numbers.
fn notes(kind: Kind) -> String {
    let (owner, tag) = match kind {
        Kind::Sqlite => ("varchar(40) collate nocase", "string"),
        Kind::Mariadb => ("varchar(40)", "varchar(40)"),
        Kind::Postgres => ("varchar(40)", "text"),
    };
    format!(
        "create table notes (id integer not null primary key, owner {owner} not null, tag {tag}, \
         num integer not null, secret varchar(40) not null, code varchar(10) not null unique);\n\
         create table secrets (id integer not null primary key, note_id integer not null references notes (id), \
         body varchar(40) not null);\n\
         insert into notes values (1, 'ben', 'x', 1000, 'kept', 'b'), (2, 'ann', '1000', 2, 'hers', 'a');\n\
         insert into secrets values (1, 1, 'hush'), (2, 2, 'hush too');\n"
    )
}

fn program(kind: Kind, settings: &str) -> Program {
    Program::over(database(kind, &notes(kind)), PROXY, &format!("writable = true\n{settings}"))
}

/// Method, target, media type and body. `#` stands for the number of the try.
const WAYS: [(&str, &str, &str, &str); 18] = [
    ("PUT", "/records/notes/1", "json", r#"{"secret":"x#","num":9#}"#),
    ("PATCH", "/records/notes/1", "json", r#"{"num":9#}"#),
    ("PUT", "/records/notes/1", "form", "secret=x#&num=9#"),
    ("PUT", "/records/notes/1,2", "json", r#"[{"secret":"x#","num":9#},{"num":3}]"#),
    ("PATCH", "/records/notes/1,2", "json", r#"[{"num":9#},{"num":1}]"#),
    ("PUT", "/records/notes?filter=id,eq,1&max_affected=5", "json", r#"{"secret":"x#","num":9#}"#),
    ("PATCH", "/records/notes?filter=id,eq,1&max_affected=5", "json", r#"{"num":9#}"#),
    ("POST", "/records/notes?upsert=update", "json", r#"{"id":1,"owner":"ann","secret":"x#","num":9#,"code":"b"}"#),
    (
        "POST",
        "/records/notes?upsert=update&on_conflict=code",
        "json",
        r#"{"id":1,"owner":"ann","secret":"x#","num":9#,"code":"b"}"#,
    ),
    (
        "POST",
        "/records/notes?upsert=update&returning=*",
        "json",
        r#"[{"id":1,"owner":"ann","secret":"x#","num":9#,"code":"b"}]"#,
    ),
    (
        "POST",
        "/records/notes?upsert=update",
        "x-ndjson",
        "{\"id\":1,\"owner\":\"ann\",\"secret\":\"x#\",\"num\":9#,\"code\":\"b\"}\n",
    ),
    (
        "POST",
        "/records/notes?upsert=update&keep_good=1",
        "x-ndjson",
        "{\"id\":1,\"owner\":\"ann\",\"secret\":\"x#\",\"num\":9#,\"code\":\"b\"}\n",
    ),
    ("POST", "/records/notes?upsert=update", "csv", "id,owner,secret,num,code\n1,ann,x#,9#,b\n"),
    ("POST", "/records", "json", r#"{"operations":[{"update":"notes","id":1,"record":{"secret":"x#","num":9#}}]}"#),
    ("POST", "/records", "json", r#"{"operations":[{"increment":"notes","id":1,"record":{"num":9#}}]}"#),
    (
        "POST",
        "/records",
        "json",
        r#"{"operations":[{"upsert":"notes","record":{"id":1,"owner":"ann","secret":"x#","num":9#,"code":"b"}}]}"#,
    ),
    (
        "POST",
        "/records",
        "json",
        r#"{"operations":[{"update":"notes","id":2,"record":{"num":9#}},{"update":"notes","id":1,"record":{"num":{"$ref":"0.num"}}}]}"#,
    ),
    (
        "POST",
        "/graphql",
        "json",
        r#"{"query":"mutation { update_notes(id: 1, set: {secret: \"x#\", num: 9#}) { id } }"}"#,
    ),
];

/// Ways in which a row goes.
const ENDS: [(&str, &str, &str, &str); 4] = [
    ("POST", "/records", "json", r#"{"operations":[{"delete":"notes","id":1}]}"#),
    ("POST", "/graphql", "json", r#"{"query":"mutation { delete_notes(id: 1) }"}"#),
    ("DELETE", "/records/notes?filter=id,eq,1&max_affected=5", "", ""),
    ("DELETE", "/records/notes/1", "", ""),
];

/// Goes one way as `ann`; the status and the body.
fn go(program: &Program, (method, target, kind, body): (&str, &str, &str, &str), number: usize) -> (u16, String) {
    let body = body.replace('#', &format!("{number:02}"));
    let media = match kind {
        "form" => "application/x-www-form-urlencoded",
        "csv" => "text/csv",
        "x-ndjson" => "application/x-ndjson",
        _ => "application/json",
    };
    let headers = [("x-user", "ann"), ("content-type", media)];
    let answer = program.ask(method, target, &headers, (!body.is_empty()).then_some(body.as_str()));
    (answer.status, answer.body)
}

fn row(program: &Program, columns: &str) -> String {
    program.database().run(&format!("select {columns} from notes where id = 1"))
}

/// That the ways are ways: without rules each changes the row.
#[test]
fn every_way_leads_somewhere() {
    for kind in Kind::ALL {
        let program = program(kind, "");
        for (number, way) in WAYS.into_iter().enumerate() {
            let before = row(&program, "secret, num");
            let said = go(&program, way, number);
            assert_ne!(row(&program, "secret, num"), before, "{kind:?} {way:?}: {said:?}");
        }
        let _ = program.database().run("delete from secrets");
        for (number, way) in ENDS.into_iter().enumerate() {
            let _ = program.database().run("delete from notes");
            let _ = program.database().run("insert into notes values (1, 'ben', 'x', 1000, 'kept', 'b')");
            let said = go(&program, way, number);
            assert_eq!(row(&program, "secret, num"), "", "{kind:?} {way:?}: {said:?}");
        }
    }
}

/// What a rule about `update` keeps, it keeps from every way in which a row changes.
#[test]
fn no_way_is_around_a_rule_about_updates() {
    let delete = "operations = [\"update\", \"delete\"]\n";
    let rules: [(&str, String, &str); 6] = [
        ("rows", format!("[[database.rule]]\ntables = [\"notes\"]\n{delete}rows = \"owner = caller.user\"\n"), "*"),
        ("deny", format!("[[database.rule]]\ntables = [\"notes\"]\n{delete}deny = true\n"), "*"),
        (
            "columns",
            "[[database.rule]]\noperations = [\"update\"]\ncolumns_hidden = [\"secret\", \"owner\"]\n".to_owned(),
            "secret, owner",
        ),
        ("tenant", "tenant = { \"notes.owner\" = \"caller.user\" }\n".to_owned(), "*"),
        (
            "new rows",
            "[[database.rule]]\noperations = [\"update\"]\nrows = \"num < 2000 and secret = 'kept'\"\n".to_owned(),
            "secret",
        ),
        (
            "checks",
            "[[database.check]]\ncolumns = [\"notes.num\"]\nrule = \"num <= 1000\"\nmessage = \"too much\"\n"
                .to_owned(),
            "case when num <= 1000 then 1 else 0 end",
        ),
    ];
    for kind in Kind::ALL {
        for (name, settings, kept) in &rules {
            let program = program(kind, settings);
            // Nothing but the rule is to keep the row.
            let _ = program.database().run("delete from secrets");
            let before = row(&program, kept);
            let ends = ENDS.into_iter().filter(|_| *kept == "*");
            for (number, way) in WAYS.into_iter().chain(ends).enumerate() {
                let (status, said) = go(&program, way, 90 + number % 10);
                assert!(status < 500, "{kind:?} {name} {way:?}: {status} {said}");
                assert_eq!(row(&program, kept), before, "{kind:?} {name} {way:?}: {status} {said}");
            }
        }
    }
}

/// Who is called almost as another is not the other, whatever a column's type or collation says.
#[test]
fn names_are_compared_as_they_are_written() {
    for kind in Kind::ALL {
        for (rule, id, own, others) in [
            ("owner = caller.user", 2, "ann", vec!["ANN", "Ann", "\u{ff41}nn", "an", "a%"]),
            ("owner in ('nobody', caller.user)", 2, "ann", vec!["ANN"]),
            ("num = caller.user", 1, "1000", vec!["1e3", "1000.0", "+1000", "01000", "0x3e8", "1000.", "1,000"]),
            ("tag = caller.user", 2, "1000", vec!["1e3", "1000.0", "+1000", "01000"]),
            ("'1000' = caller.user and id = 1", 1, "1000", vec!["1e3", "1000.0", "+1000"]),
            ("1000 = caller.user and id = 1", 1, "1000", vec!["1e3", "1000.0", "+1000"]),
        ] {
            let program = program(kind, &format!("[[database.rule]]\ntables = [\"notes\"]\nrows = \"{rule}\"\n"));
            let seen = |user: &str| {
                let list = program.ask("GET", "/records/notes?include=id", &[("x-user", user)], None);
                let read = program.ask("GET", &format!("/records/notes/{id}"), &[("x-user", user)], None);
                (list.body, read.status)
            };
            assert_eq!(seen(own), (format!("{{\"records\":[{{\"id\":{id}}}]}}"), 200), "{kind:?} {rule}");
            for other in others {
                assert_eq!(seen(other), ("{\"records\":[]}".to_owned(), 404), "{kind:?} {rule} for `{other}`");
            }
            // A row of a load is judged by the same rule.
            let line = "{\"id\":9,\"owner\":\"ann\",\"tag\":\"1000\",\"num\":1000,\"secret\":\"s\",\"code\":\"c\"}\n";
            let headers = [("x-user", "1e3"), ("content-type", "application/x-ndjson")];
            let said = program.ask("POST", "/records/notes", &headers, Some(line));
            assert!(!said.body.contains("\"loaded\":1"), "{kind:?} {rule}: {:?}", said.said());
        }
        // Nor does a tenant write into the rows of another.
        let program = program(kind, "tenant = { \"notes.num\" = \"caller.user\" }\n");
        for (user, status) in [("1e3", 403), ("01000", 403), ("1000", 200)] {
            let record = format!("{{\"id\":{},\"owner\":\"o\",\"secret\":\"s\",\"code\":\"{user}\"}}", 10 + user.len());
            let answer = program.ask("POST", "/records/notes", &[("x-user", user)], Some(&record));
            assert_eq!(answer.status, status, "{kind:?} {user}: {}", answer.body);
        }
    }
}

/// Every way to ask for a table `@`: method, path below `/api`, body.
const WAYS_TO_A_TABLE: [(&str, &str, &str); 22] = [
    ("GET", "/records/@", ""),
    ("GET", "/records/@/1", ""),
    ("GET", "/records/@/1,2", ""),
    ("GET", "/records/notes?join=@", ""),
    ("GET", "/records/notes?join=@&strict=1", ""),
    ("GET", "/records/notes?filter=@.body,eq,hush&strict=1", ""),
    ("GET", "/records/notes?order=@.body&strict=1", ""),
    ("GET", "/records/notes?include=id,@.body&strict=1", ""),
    ("GET", "/geojson/@", ""),
    ("GET", "/columns/@", ""),
    ("GET", "/columns/@/body", ""),
    ("GET", "/tables/@", ""),
    ("GET", "/schema/@", ""),
    ("GET", "/export/@", ""),
    ("POST", "/records/@", r#"{"id":5,"note_id":1,"body":"b"}"#),
    ("PUT", "/records/@/1", r#"{"body":"b"}"#),
    ("PATCH", "/records/@/1", r#"{"note_id":1}"#),
    ("DELETE", "/records/@/1", ""),
    ("DELETE", "/records/@?filter=id,eq,1&max_affected=9", ""),
    ("POST", "/records", r#"{"operations":[{"update":"@","id":1,"record":{"body":"b"}}]}"#),
    ("PUT", "/columns/@", r#"{"name":"shown"}"#),
    ("DELETE", "/columns/@", ""),
];

/// A table that is hidden from a caller is not there: each answer is that of a table which does not exist.
#[test]
fn a_table_is_not_there_for_a_caller() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "columns = true\n[[database.rule]]\ntables = [\"secrets\"]\ndeny = true\nexcept = \"caller.role = 'staff'\"\n\
             [[database.rule]]\ntables = [\"notes\"]\ncolumns_hidden = [\"secret\"]\nexcept = \"caller.role = 'staff'\"\n",
        );
        let staff = [("x-role", "staff")];
        for (target, part) in [
            ("/records/secrets/1", "hush"),
            ("/records/secrets", "hush"),
            ("/records/notes/1?join=secrets", "hush"),
            ("/records/notes/1", "kept"),
            ("/records/notes", "kept"),
            ("/columns/secrets", "body"),
            ("/openapi", "secrets"),
        ] {
            for who in [&[][..], &[("x-role", "Staff")], &[("x-role", "")], &[("x-user", "staff")]] {
                let answer = program.ask("GET", target, who, None);
                assert!(
                    !answer.body.contains(part) || part == "secrets" && !answer.body.contains("/secrets"),
                    "{kind:?} {target} {who:?}: {}",
                    answer.body
                );
            }
            let answer = program.ask("GET", target, &staff, None);
            assert!(answer.status == 200 && answer.body.contains(part), "{kind:?} {target}: {:?}", answer.said());
        }
        for (method, target, body) in WAYS_TO_A_TABLE {
            let ask = |name: &str| {
                let (target, body) = (target.replace('@', name), body.replace('@', name));
                let answer = program.ask(method, &target, &[], (!body.is_empty()).then_some(body.as_str()));
                (answer.status, answer.body.replace(name, "@"))
            };
            let (hidden, absent) = (ask("secrets"), ask("secretz"));
            assert_eq!(hidden, absent, "{kind:?} {method} {target}");
            assert!(hidden.0 < 500 && !hidden.1.contains("hush"), "{kind:?} {method} {target}: {hidden:?}");
        }
        for (target, body, part) in [
            ("/sql", "select * from secrets", "hush"),
            ("/sql", "select secret from notes", "kept"),
            ("/graphql", "{ secrets { body } }", "hush"),
            ("/graphql", "{ notes { secret } }", "kept"),
            ("/graphql", "{ __schema { types { name } } }", "\"secrets"),
        ] {
            for who in [&[][..], &[("x-role", "Staff")]] {
                let answer = program.ask("POST", target, who, Some(body));
                assert!(!answer.body.contains("hush") && !answer.body.contains("kept"), "{kind:?} {body}");
                assert!(!answer.body.contains("\"secrets"), "{kind:?} {body}: {}", answer.body);
            }
            let answer = program.ask("POST", target, &staff, Some(body));
            assert!(answer.status == 200 && answer.body.contains(part), "{kind:?} {body}: {:?}", answer.said());
        }
        let left = program.database().run("select count(*) from secrets");
        assert_eq!(left.trim(), "2", "{kind:?}");
    }
}

/// Who may change the schema changes no rule by it: what rules name keeps its name.
#[test]
fn another_name_is_no_way_around_a_rule() {
    for kind in Kind::ALL {
        let program = program(
            kind,
            "columns = true\ntenant = { \"secrets.note_id\" = \"caller.user\" }\n[[database.rule]]\n\
             tables = [\"notes\"]\noperations = [\"list\", \"read\"]\ncolumns_hidden = [\"secret\"]\nrows = \"owner = caller.user\"\n",
        );
        for (method, target, body) in [
            ("PUT", "/columns/notes", r#"{"name":"shown"}"#),
            ("PUT", "/columns/notes/secret", r#"{"name":"shown"}"#),
            ("PUT", "/columns/notes/owner", r#"{"name":"shown"}"#),
            ("DELETE", "/columns/notes/owner", ""),
            ("PUT", "/columns/secrets", r#"{"name":"shown"}"#),
            ("PUT", "/columns/secrets/note_id", r#"{"name":"shown"}"#),
        ] {
            let answer = program.ask(method, target, &[], (!body.is_empty()).then_some(body));
            assert_eq!(answer.status, 403, "{kind:?} {method} {target}: {}", answer.body);
        }
        assert_eq!(program.send("PUT", "/columns/notes/num", r#"{"name":"number"}"#).status, 200, "{kind:?}");
    }
}
