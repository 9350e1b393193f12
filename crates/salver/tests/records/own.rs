//! Databases of which each caller has a separate one: nothing of one is ever told to another, whichever way it is
//! asked for.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use salver_testkit::servers::{Database, Kind, database};

use super::client::Client;
use super::fixture::statements;
use super::program::Program;

/// A program over two databases that differ in a row and a table, and what must stay while it runs.
struct World {
    program: Program,
    others: Vec<Database>,
    directory: tempfile::TempDir,
}

const KEYS: [&str; 4] =
    ["north-0123456789abcdef", "south-0123456789abcdef", "nobody-0123456789abcdef", "bad-0123456789abcdef"];

fn world(kind: Kind) -> World {
    let directory = tempfile::tempdir().expect("a directory");
    let databases = ["north", "south"].map(|name| {
        let mut sql = statements(kind);
        sql.push_str(&format!("\nupdate tags set name = '{name}' where id = 1;\n"));
        sql.push_str(&format!("create table only_{name} (id integer not null primary key);\n"));
        database(kind, &sql)
    });
    let (names, url) = if kind == Kind::Sqlite {
        let names = ["north", "south"].map(str::to_owned);
        for (name, database) in names.iter().zip(&databases) {
            let file = database.url().trim_start_matches("sqlite:");
            std::fs::copy(file, directory.path().join(format!("{name}.db"))).expect("a copy");
        }
        (names, format!("sqlite:{}/{{caller.user}}.db", directory.path().display()))
    } else {
        let names = databases.each_ref().map(|own| own.url().rsplit('_').next().unwrap_or_default().to_owned());
        let (before, _) = databases[0].url().rsplit_once('_').expect("a name");
        (names, format!("{before}_{{caller.user}}"))
    };
    let [north, south] = &names;
    let [first, second, third, fourth] = KEYS;
    let auth = format!(
        "[auth]\nmode = \"optional\"\n\
         api_keys = [\"{north}:{first}\", \"{south}:{second}\", \"99999:{third}\", \"../x:{fourth}\"]\n"
    );
    let fixed =
        database(Kind::Sqlite, "create table fixed_only (id integer primary key); insert into fixed_only values (7);");
    let settings = format!("writable = true\n[[database]]\nname = \"fixed\"\nurl = \"{}\"\n", fixed.url());
    let [mine, other] = databases;
    let program = Program::start_at(&url, mine, &auth, &settings);
    program.until_ready();
    World { program, others: vec![other, fixed], directory }
}

#[test]
fn nothing_is_mixed() {
    for kind in Kind::ALL {
        let world = world(kind);
        let program = &world.program;
        let keys = [("x-api-key", KEYS[0]), ("x-api-key", KEYS[1])];
        let row = |name: &str| format!("{{\"id\":1,\"name\":\"{name}\",\"is_important\":false}}");
        for (who, name, other) in [(keys[0], "north", "south"), (keys[1], "south", "north")] {
            let ask = |target: &str| program.ask("GET", target, &[who], None);
            assert_eq!(ask("/records/tags/1").said(), (200, row(name).as_str()), "{kind:?}");
            assert_eq!(
                ask("/records/tags?filter=id,eq,1").body,
                format!("{{\"records\":[{}]}}", row(name)),
                "{kind:?}"
            );
            assert_eq!(ask("/records/blog.tags/1").said(), (200, row(name).as_str()), "{kind:?}");
            assert_eq!(ask(&format!("/records/only_{name}")).said(), (200, r#"{"records":[]}"#), "{kind:?}");
            assert_eq!(ask(&format!("/records/only_{other}")).status, 404, "{kind:?}");
            assert_eq!(ask("/records/fixed_only").body, r#"{"records":[{"id":7}]}"#, "{kind:?}");
            for target in ["/columns", "/openapi"] {
                let body = ask(target).body;
                assert!(body.contains(&format!("only_{name}")) && !body.contains(&format!("only_{other}")), "{kind:?}");
                assert!(body.contains("fixed_only"), "{kind:?} {target}");
            }
        }
        // What is cached, tagged or paged for one is nothing for the other.
        let ask = |who: (&str, &str), target: &str, tag: &str| {
            program.ask("GET", target, &[who, ("if-none-match", tag)], None)
        };
        for target in ["/records/tags?filter=id,eq,1", "/records/tags/1"] {
            let first = program.ask("GET", target, &[keys[0]], None);
            if let Some(tag) = first.header("etag") {
                assert_eq!(ask(keys[0], target, tag).status, 304, "{kind:?}");
                let second = ask(keys[1], target, tag);
                assert!(second.status == 200 && second.body.contains("south"), "{kind:?} {:?}", second.said());
            }
        }
        let page = program.ask("GET", "/records/tags?after=&size=1&order=name,desc&include=name", &[keys[0]], None);
        let next = page.json()["next"].as_str().expect("a page").to_owned();
        let target = format!("/records/tags?after={next}&size=9&order=name,desc&include=name");
        let second = program.ask("GET", &target, &[keys[1]], None);
        assert!(!second.body.contains("north"), "{kind:?} {}", second.body);
        // The same key of idempotency, the same request: each does it, in its own.
        for who in [keys[0], keys[1], keys[0]] {
            let headers = [who, ("idempotency-key", "one")];
            let made = program.ask("POST", "/records/ledger", &headers, Some(r#"{"item":5,"batch":"b"}"#));
            assert_eq!(made.said(), (200, "1"), "{kind:?}");
        }
        let several =
            r#"{"operations":[{"create":"ledger","record":{"item":6,"batch":"b"}},{"delete":"ledger","id":1}]}"#;
        assert_eq!(program.ask("POST", "/records", &[keys[1]], Some(several)).said(), (200, "[2,1]"), "{kind:?}");
        let rows = [keys[1], ("content-type", "application/x-ndjson")];
        let loaded = program.ask("POST", "/records/ledger", &rows, Some("{\"item\":7,\"batch\":\"b\"}\n"));
        assert_eq!(loaded.status, 200, "{kind:?} {}", loaded.body);
        let items = |who| program.ask("GET", "/records/ledger?include=item&order=id", &[who], None).body;
        assert_eq!(items(keys[0]), r#"{"records":[{"item":5}]}"#, "{kind:?}");
        assert_eq!(items(keys[1]), r#"{"records":[{"item":6},{"item":7}]}"#, "{kind:?}");
    }
}

#[test]
fn nobody_elses() {
    for kind in Kind::ALL {
        let world = world(kind);
        let program = &world.program;
        let refused = (403, r#"{"code":1014,"message":"Operation forbidden"}"#);
        // No such database, a name that is none, and nobody.
        for who in [vec![("x-api-key", KEYS[2])], vec![("x-api-key", KEYS[3])], vec![]] {
            for (method, target, body) in [
                ("GET", "/records/tags", None),
                ("GET", "/records/tags/1", None),
                ("GET", "/geojson/countries", None),
                ("POST", "/records/tags", Some(r#"{"name":"x","is_important":false}"#)),
                ("DELETE", "/records/tags/1", None),
                ("GET", "/columns/tags", None),
            ] {
                assert_eq!(program.ask(method, target, &who, body).said(), refused, "{kind:?} {who:?} {target}");
            }
            let columns = program.ask("GET", "/columns", &who, None);
            assert!(columns.status == 200 && !columns.body.contains("tags"), "{kind:?} {}", columns.body);
            assert_eq!(program.ask("GET", "/records/fixed_only", &who, None).status, 200, "{kind:?}");
        }
        // The doors that don't know callers have no such tables.
        for target in ["/tables/tags", "/schema/tags", "/sql?q=select+*+from+tags", "/export/tags"] {
            for who in [vec![("x-api-key", KEYS[0])], vec![]] {
                let answer = program.ask("GET", target, &who, None);
                assert!((400..500).contains(&answer.status), "{kind:?} {target} {:?}", answer.said());
            }
        }
        assert!(!program.ok("/schema").contains("tags"), "{kind:?}");
        assert_eq!(
            program.ask("GET", "/cache/clear", &[("x-api-key", KEYS[0])], None).said(),
            (200, "true"),
            "{kind:?}"
        );
        assert_eq!(program.get("/status/ping").status, 200, "{kind:?}");
    }
}

/// Many at once, so that reads of servers gather.
#[test]
fn many_at_once() {
    for kind in Kind::ALL {
        let world = world(kind);
        let program = &world.program;
        let asked = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for number in 0..8 {
                let asked = &asked;
                scope.spawn(move || {
                    let mut client = Client::new(program.address());
                    for turn in 0..100 {
                        let own = (number + turn) % 2;
                        let answer = client.send("GET", "/api/records/tags/1", &[("x-api-key", KEYS[own])], None);
                        let body = answer.expect("an answer").body;
                        assert!(body.contains(["north", "south"][own]), "{kind:?} {own}: {body}");
                        asked.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(asked.into_inner(), 800, "{kind:?}");
    }
}

/// A new caller needs no restart, and a changed schema is seen.
#[test]
fn what_comes_later() {
    let World { program, directory, others } = &world(Kind::Sqlite);
    let third = [("x-api-key", KEYS[2])];
    assert_eq!(program.ask("GET", "/records/tags/1", &third, None).status, 403);
    let file = others[0].url().trim_start_matches("sqlite:");
    std::fs::copy(file, directory.path().join("99999.db")).expect("a copy");
    assert_eq!(program.ask("GET", "/records/tags/1", &third, None).status, 200);
    let World { program, .. } = &world(Kind::Postgres);
    let first = [("x-api-key", KEYS[0])];
    assert!(!program.ask("GET", "/records/tags/1", &first, None).body.contains("late"));
    let _ = program.database().run("alter table tags add column late integer; update tags set late = 3");
    program.until("the column is there", |program| {
        program.ask("GET", "/records/tags/1", &first, None).body.contains("\"late\":3")
    });
}

/// Where the whole name is the caller's value, no value is a database of the server's own.
#[test]
fn the_servers_own_are_nobodys() {
    for (kind, own) in [(Kind::Mariadb, ["information_schema", "mysql"]), (Kind::Postgres, ["postgres", "template1"])] {
        let mine = database(kind, &statements(kind));
        let (before, name) = mine.url().rsplit_once('/').expect("a name");
        let (url, name) = (format!("{before}/{{caller.user}}"), name.to_owned());
        let [first, second, third, _] = KEYS;
        let server = format!(
            "[auth]\nmode = \"optional\"\napi_keys = [\"{name}:{first}\", \"{}:{second}\", \"{}:{third}\"]\n",
            own[0], own[1]
        );
        let program = Program::start_at(&url, mine, &server, "");
        program.until_ready();
        let ask = |key: &str, target: &str| program.ask("GET", target, &[("x-api-key", key)], None);
        assert_eq!(ask(first, "/records/tags/1").status, 200, "{kind:?}");
        assert_eq!(ask(first, "/records/nowhere").status, 404, "{kind:?}");
        for key in [second, third] {
            let answer = ask(key, "/records/nowhere");
            let refused = r#"{"code":1014,"message":"Operation forbidden"}"#;
            assert_eq!(answer.said(), (403, refused), "{kind:?} {own:?}");
        }
    }
}

/// A file that is called as the value says would lie where SQLite looks for the journal of another's.
#[test]
fn a_file_needs_an_ending() {
    let directory = tempfile::tempdir().expect("a directory");
    for (path, is_right) in [
        ("{caller.tenant}", false),
        ("{caller.tenant}-wal", false),
        ("{caller.tenant}.db", true),
        ("{caller.tenant}/app", true),
    ] {
        let toml = format!("[[database]]\nname = \"app\"\nurl = \"sqlite:tenants/{path}\"\n");
        std::fs::write(directory.path().join("salver.toml"), toml).expect("the configuration");
        let mut check = Command::new(env!("CARGO_BIN_EXE_salver"));
        let check = check.current_dir(directory.path()).args(["check", "--no-sources", "--config", "salver.toml"]);
        let output = check.output().expect("the program runs");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.success(), is_right, "{path}: {said}");
        assert!(is_right || said.contains("sqlite:tenants/{caller.tenant}.db"), "{path}: {said}");
    }
}
