//! A schema that somebody else changes: the next request knows of it. The entry looks at the schema by itself once an
//! hour here, so that nothing but the request can find out.

use salver_testkit::servers::Kind;

use super::program::Program;

const SETTINGS: &str = "writable = true\nrefresh = \"1h\"\n";

fn altered(kind: Kind, server: &str) -> Program {
    let database = salver_testkit::servers::database(
        kind,
        "create table pets (id integer primary key, name varchar(20), kind varchar(5));
         insert into pets values (1, 'Rex', 'dog'), (2, 'Tom', 'cat'), (3, 'Kim', 'cat'), (4, 'Ann', 'cow');
         create table gone (id integer primary key, name varchar(20));
         insert into gone values (1, 'one');",
    );
    Program::over(database, server, SETTINGS)
}

/// What is written into a column that was made a moment ago is there, whatever writes it.
#[test]
fn a_new_column_takes_what_is_written() {
    let writes: [(&str, &str, &str, &str); 7] = [
        ("PUT", "/records/pets/1", r#"{"x0":"v"}"#, "x0"),
        ("PATCH", "/records/pets/2", r#"{"x1":5}"#, "x1"),
        ("POST", "/records/pets", r#"{"id":7,"name":"new","x2":"v"}"#, "x2"),
        ("POST", "/records/pets", r#"[{"id":8,"x3":"v"},{"id":9,"x3":"v"}]"#, "x3"),
        ("PUT", "/records/pets/3,4", r#"[{"x4":"v"},{"x4":"v"}]"#, "x4"),
        ("POST", "/records/pets?upsert=update", r#"{"id":70,"name":"up","x5":"v"}"#, "x5"),
        ("PUT", "/records/pets?filter=id,eq,4&max_affected=1", r#"{"x6":"v"}"#, "x6"),
    ];
    for kind in Kind::ALL {
        let program = altered(kind, "");
        for (method, target, body, column) in writes {
            let sql_type = if method == "PATCH" { "integer default 0" } else { "varchar(10)" };
            let _ = program.database().run(&format!("alter table pets add column {column} {sql_type}"));
            let answer = program.send(method, target, body);
            assert_eq!(answer.status, 200, "{kind:?} {method} {target}: {}", answer.body);
            let kept = program
                .database()
                .run(&format!("select count({column}) from pets where cast({column} as char(1)) in ('v', '5')"));
            assert_ne!(kept.trim(), "0", "{kind:?} {method} {target}: what `{column}` was given is lost");
        }
        let _ = program.database().run("alter table pets add column x7 varchar(10)");
        let lines = [("content-type", "application/x-ndjson")];
        let answer = program.ask("POST", "/records/pets", &lines, Some("{\"id\":50,\"x7\":\"v\"}\n"));
        assert_eq!(answer.status, 200, "{kind:?}: {}", answer.body);
        assert_eq!(program.database().run("select x7 from pets where id = 50").trim(), "v", "{kind:?}");
        let _ = program.database().run("alter table pets add column x8 varchar(10)");
        let body = r#"[{"method":"POST","table":"pets","body":{"id":60,"x8":"v"}}]"#;
        let answer = program.send("POST", "/transaction", body);
        if answer.status != 404 {
            assert_eq!(answer.status, 200, "{kind:?}: {}", answer.body);
            assert_eq!(program.database().run("select x8 from pets where id = 60").trim(), "v", "{kind:?}");
        }
        // What no schema knows is passed over, as ever.
        assert_eq!(program.send("PUT", "/records/pets/1", r#"{"nowhere":1,"name":"Rex"}"#).status, 200, "{kind:?}");
    }
}

/// A value that fits the column as it is now is taken, also in a batch.
#[test]
fn a_column_of_another_type() {
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let program = altered(kind, "");
        let answer = program.send("PUT", "/records/pets/1", r#"{"kind":"elephant"}"#);
        assert_eq!(answer.status, 422, "{kind:?}: {}", answer.body);
        let wider = if kind == Kind::Mariadb { "modify kind varchar(30)" } else { "alter kind type varchar(30)" };
        let _ = program.database().run(&format!("alter table pets {wider}"));
        let body = r#"[{"kind":"elephant"},{"kind":"dromedary"}]"#;
        assert_eq!(program.send("PUT", "/records/pets/1,2", body).said(), (200, "[1,1]"), "{kind:?}");
    }
}

/// Who reads a table that lost a column gets the others, at every door.
#[test]
fn a_dropped_column_fails_nobody() {
    let doors = [
        ("GET", "/records/pets/1", ""),
        ("GET", "/records/pets?size=2", ""),
        ("GET", "/records/pets?order=name", ""),
        ("GET", "/tables/pets", ""),
        ("GET", "/tables/pets?limit=2&sort=-name", ""),
        ("POST", "/sql", "select * from pets"),
        ("POST", "/sql", "select p.name, g.* from pets p join gone g on g.id = p.id"),
        ("GET", "/export/pets", ""),
        ("POST", "/cursor", r#"{"query":"select * from pets","batchSize":1}"#),
    ];
    for kind in Kind::ALL {
        for (method, target, body) in doors {
            let program = altered(kind, "");
            let _ = program.ask(method, target, &[], (!body.is_empty()).then_some(body));
            let table = if body.contains("gone") { "gone" } else { "pets" };
            let column = if table == "gone" { "name" } else { "kind" };
            let _ = program.database().run(&format!("alter table {table} drop column {column}"));
            let answer = program.ask(method, target, &[], (!body.is_empty()).then_some(body));
            assert!((200..300).contains(&answer.status), "{kind:?} {method} {target}: {:?}", answer.said());
            assert!(!answer.body.contains("dog"), "{kind:?} {method} {target}: {}", answer.body);
        }
        // What names the column is the client's to mend.
        let program = altered(kind, "");
        let _ = program.database().run("alter table pets drop column kind");
        for (method, target, body) in
            [("GET", "/tables/pets?columns=kind", ""), ("POST", "/sql", "select kind from pets")]
        {
            let answer = program.ask(method, target, &[], (!body.is_empty()).then_some(body));
            assert_eq!(answer.status, 400, "{kind:?} {target}: {:?}", answer.said());
        }
        let _ = program.database().run("drop table gone");
        for target in ["/tables/gone", "/records/gone"] {
            assert_eq!(program.get(target).status, 404, "{kind:?} {target}");
        }
    }
}

/// A table that is made anew with other columns is what it is now.
#[test]
fn a_table_made_anew() {
    for kind in Kind::ALL {
        let program = altered(kind, "");
        let _ = program.ok("/tables/gone");
        let grant = |table: &str| match kind {
            Kind::Postgres => format!("; grant all on {table} to public"),
            Kind::Sqlite | Kind::Mariadb => String::new(),
        };
        let anew = "drop table gone; create table gone (id integer primary key, other integer); insert into gone values (1, 5)";
        let _ = program.database().run(&format!("{anew}{}", grant("gone")));
        assert!(program.ok("/records/gone/1").contains("5"), "{kind:?}");
        let _ = program.ok("/tables/gone");
        assert_eq!(program.send("PUT", "/records/gone/1", r#"{"other":6}"#).said(), (200, "1"), "{kind:?}");
        assert!(program.ok("/tables/gone").contains("6"), "{kind:?}");
        let fresh = "create table fresh (id integer primary key, n integer)";
        let _ = program.database().run(&format!("{fresh}{}", grant("fresh")));
        assert_eq!(program.send("POST", "/records/fresh", r#"{"id":3,"n":1}"#).said(), (200, "3"), "{kind:?}");
    }
}

/// A column that was made a moment ago is chosen and sorted by at once; what is nowhere is passed over, as ever.
#[test]
fn a_new_column_is_chosen_at_once() {
    for kind in Kind::ALL {
        let program = altered(kind, "");
        let reads: [(&str, &str); 7] = [
            ("/records/pets?include=id,COLUMN&filter=id,eq,1", r#"{"records":[{"id":1,"COLUMN":9}]}"#),
            ("/records/pets/1?include=COLUMN", r#"{"COLUMN":9}"#),
            ("/records/pets/1,2?include=COLUMN", r#"[{"COLUMN":9},{"COLUMN":9}]"#),
            ("/records/pets?include=id&order=COLUMN&order=id,desc&size=1", r#"{"records":[{"id":4}]}"#),
            ("/records/pets?include=id,COLUMN&page=1,1", r#"{"records":[{"id":1,"COLUMN":9}],"results":4}"#),
            ("/records/pets?include=COLUMN&distinct=1", r#"{"records":[{"COLUMN":9}]}"#),
            ("/records/pets?include=id,COLUMN&exclude=COLUMN&filter=id,eq,2", r#"{"records":[{"id":2}]}"#),
        ];
        for (at, (target, expected)) in reads.into_iter().enumerate() {
            let column = format!("y{at}");
            let _ = program.database().run(&format!("alter table pets add column {column} integer default 9"));
            let found = program.ok(&target.replace("COLUMN", &column));
            assert_eq!(found, expected.replace("COLUMN", &column), "{kind:?} {target}");
        }
        let _ = program.database().run("alter table pets add column z integer default 9");
        let shown = program.ok("/records/pets?exclude=z&filter=id,eq,1");
        assert!(!shown.contains(r#""z""#), "{kind:?}: {shown}");
        let grant = if kind == Kind::Postgres { "; grant all on toys to public" } else { "" };
        let toys = "create table toys (id integer primary key, pet_id integer references pets(id))";
        let _ = program.database().run(&format!("{toys}{grant}"));
        let joined = program.ok("/records/pets?include=id&join=toys&filter=id,eq,1");
        assert_eq!(joined, r#"{"records":[{"id":1,"toys":[]}]}"#, "{kind:?}");
        let lax = program.ok("/records/pets?include=id&join=nowhere&filter=id,eq,1");
        assert_eq!(lax, r#"{"records":[{"id":1}]}"#, "{kind:?}");
        let lax = program.ok("/records/pets?include=id,nowhere&order=nowhere&size=1");
        assert_eq!(lax, r#"{"records":[{"id":1}]}"#, "{kind:?}");
        assert_eq!(program.get("/records/pets?include=id,nowhere&strict=1").status, 400, "{kind:?}");
    }
}
