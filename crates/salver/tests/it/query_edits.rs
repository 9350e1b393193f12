//! Named queries that clients save and remove, where the server was started with `--edit`.

use std::process::Command;

use super::server::{Answer, Server};

const PEOPLE: &[u8] = b"id,name,city\n1,Ann,Leeds\n2,Bob,York\n3,Cy,Leeds\n";
const SETTINGS: &str = "[server]\nqueries = \"queries\"\n[[query]]\nname = \"own\"\nsql = \"SELECT 1 AS one\"\n";
const OF_CITY: &str = "-- description: People of a city.\n-- param city text = Leeds -- its name\n\
    SELECT name FROM people WHERE city = $city ORDER BY id\n";

fn editable(settings: &str) -> Server {
    let mut program = Command::new("sh");
    program.args(["-c", r#"exec "$0" "$@" --edit"#, env!("CARGO_BIN_EXE_salver")]);
    let files: &[(&str, &[u8])] = &[("people.csv", PEOPLE), ("queries/kept.sql", b"SELECT count(*) AS n FROM people")];
    Server::run_by(program, settings, files, |_| {})
}

fn put(server: &Server, name: &str, text: &str, headers: &[(&str, &str)]) -> Answer {
    let sql = ("content-type", "application/sql");
    server.ask("PUT", &format!("/api/queries/{name}"), &[&[sql], headers].concat(), text.as_bytes())
}

fn delete(server: &Server, name: &str, headers: &[(&str, &str)]) -> Answer {
    server.ask("DELETE", &format!("/api/queries/{name}"), headers, b"")
}

#[track_caller]
fn refused(answer: &Answer, status: u16, message: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    let json = answer.json();
    assert!(json["message"].as_str().is_some_and(|own| own.contains(message)), "{json}");
}

#[test]
fn a_query_is_saved_run_changed_and_removed() {
    let server = editable(SETTINGS);
    let saved = put(&server, "of_city", OF_CITY, &[("if-none-match", "*")]);
    assert_eq!(saved.status, 201, "{}", saved.text());
    let shown = saved.json();
    assert_eq!((&shown["name"], &shown["description"]), (&"of_city".into(), &"People of a city.".into()));
    assert_eq!(shown["parameters"][0]["default"], "Leeds");
    // In force at once, at every door.
    assert_eq!(server.get("/api/queries/of_city").text(), r#"[{"name":"Ann"},{"name":"Cy"}]"#);
    assert_eq!(server.get("/api/queries/of_city.csv?city=York").text(), "name\nBob\n");
    let json = ("content-type", "application/json");
    let graphql = br#"{"query":"{ of_city(city: \"York\") { name } }"}"#;
    let answer = server.ask("POST", "/api/graphql", &[json], graphql);
    assert_eq!(answer.text(), r#"{"data":{"of_city":[{"name":"Bob"}]}}"#);
    assert_eq!(std::fs::read_to_string(server.file("queries/of_city.sql")).expect("a file"), OF_CITY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(server.file("queries/of_city.sql")).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // The list has the tag of what may be changed, which is that of the answer.
    let tag = saved.header("etag").expect("a tag").to_owned();
    let list = server.get("/api/queries").json();
    let tags: Vec<_> =
        list.as_array().expect("all").iter().map(|own| (own["name"].clone(), own["etag"].clone())).collect();
    assert_eq!(tags[0], ("own".into(), serde_json::Value::Null));
    assert_eq!((&tags[1].0, tags[1].1.is_string()), (&"kept".into(), true));
    assert_eq!(tags[2], ("of_city".into(), tag.as_str().into()));
    assert_eq!(server.get("/").json()["edits_queries"], true);
    // What somebody else changed is not lost.
    refused(&put(&server, "of_city", "SELECT 2 AS two", &[("if-none-match", "*")]), 412, "there is a query `of_city`");
    refused(&put(&server, "of_city", "SELECT 2 AS two", &[("if-match", "\"0000000000000000\"")]), 412, "`If-Match`");
    refused(&delete(&server, "of_city", &[("if-match", "\"0000000000000000\"")]), 412, "`If-Match`");
    let before = server.get("/api/queries/of_city").header("etag").expect("a tag").to_owned();
    let changed = put(&server, "of_city", "SELECT 2 AS two", &[("if-match", &tag)]);
    assert_eq!(changed.status, 200, "{}", changed.text());
    let rows = server.get_with("/api/queries/of_city", &[("if-none-match", &before)]);
    assert_eq!((rows.status, rows.text()), (200, r#"[{"two":2}]"#));
    refused(&put(&server, "of_city", OF_CITY, &[("if-match", &tag)]), 412, "`If-Match`");
    assert_eq!(delete(&server, "of_city", &[("if-match", changed.header("etag").expect("a tag"))]).status, 204);
    assert_eq!(server.get("/api/queries/of_city").status, 404);
    assert!(!server.file("queries/of_city.sql").exists());
    refused(&delete(&server, "of_city", &[]), 404, "no query `of_city`");
    assert_eq!(server.get("/api/queries/kept").text(), r#"[{"n":3}]"#);
}

#[test]
fn what_can_not_be_saved_is_told_and_nothing_is_written() {
    let server = editable(SETTINGS);
    let refuses = |name: &str, text: &str, status: u16, message: &str| {
        refused(&put(&server, name, text, &[]), status, message);
    };
    refuses("new", "SELECT id,\n  nme FROM people", 400, "no column `nme` at line 2, column 3");
    refuses("new", "SELECT FROM WHERE", 400, "line 1");
    refuses("new", "-- param x int\nSELECT $x", 400, "`int` is not a type of parameters, which are");
    refuses("new", "-- ok\n-- param x date = soon\nSELECT $x", 400, "at line 2, column 1");
    refuses("new", "-- param x integer\nSELECT 1 AS one", 400, "the statement has no `$x`");
    refuses("new", "DROP TABLE people", 403, "");
    refuses("new", "SELECT 1; SELECT 2", 400, "");
    refuses("new", " \n", 400, "there is no statement");
    refuses("own", "SELECT 2 AS two", 405, "the query `own` stands in the settings");
    refuses("people", "SELECT 2 AS two", 400, "the name of the entry `people`");
    refuses("new.csv", "SELECT 2 AS two", 400, "`.csv` chooses the format");
    refuses("KEPT", "SELECT 2 AS two", 400, "the file of `kept` on some systems");
    refuses("con", "SELECT 2 AS two", 400, "can't be the name of a query");
    refuses(".hidden", "SELECT 2 AS two", 400, "can't be the name of a query");
    refuses("..%2F..%2Fout", "SELECT 2 AS two", 400, "can't be a name");
    refuses("a%5Cb", "SELECT 2 AS two", 400, "can't be the name of a query");
    refuses("new", &format!("SELECT 1 AS one -- {}", "x".repeat(64 * 1024)), 413, "65536 bytes");
    let json = [("content-type", "application/json")];
    refused(&server.ask("PUT", "/api/queries/new", &json, b"{}"), 415, "not as JSON");
    refused(&server.ask("PUT", "/api/queries/new", &[], b"SELECT '\xff'"), 400, "not UTF-8");
    refused(&put(&server, "new", "SELECT 1 AS one", &[("if-none-match", "\"x\"")]), 400, "`If-None-Match` takes `*`");
    refused(&delete(&server, "own", &[]), 405, "the query `own` stands in the settings");
    let foreign = put(&server, "new", "SELECT 1 AS one", &[("origin", "https://evil.example")]);
    assert_eq!(foreign.status, 403, "{}", foreign.text());
    let written = std::fs::read_dir(server.file("queries")).expect("a folder");
    let written: Vec<_> = written.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(written, ["kept.sql"]);
    let names = server.get("/api/queries").json();
    assert_eq!(names.as_array().map(Vec::len), Some(2), "{names}");
}

#[test]
fn without_edit_nothing_is_changed() {
    let server = Server::with(SETTINGS, &[("people.csv", PEOPLE), ("queries/kept.sql", b"SELECT 1 AS one")]);
    for answer in [put(&server, "new", "SELECT 1 AS one", &[]), delete(&server, "kept", &[])] {
        refused(&answer, 405, "named queries are not changed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
        assert!(answer.json()["hint"].as_str().is_some_and(|hint| hint.contains("--edit")), "{}", answer.text());
    }
    assert!(server.file("queries/kept.sql").exists() && !server.file("queries/new.sql").exists());
    let index = server.get("/").json();
    assert!(index.get("edits_queries").is_none() && server.get("/api/queries").json()[0].get("etag").is_none());
}

#[test]
fn only_who_administers_a_query_changes_it() {
    let rules = r#"
[auth]
api_keys = ["boss:0123456789abcdef-boss", "team:0123456789abcdef-team", "reader:0123456789abcdef-reader"]
[[role]]
name = "boss"
callers = ["api_key:boss"]
[[role]]
name = "team"
callers = ["api_key:team"]
[[access]]
roles = ["boss"]
entries = ["*"]
permissions = ["read", "administer"]
[[access]]
roles = ["team"]
entries = ["team_*"]
permissions = ["read", "administer"]
[[access]]
entries = ["people"]
columns_hidden = ["city"]
[[access]]
entries = ["kept", "team_*"]
"#;
    let server = editable(&format!("{SETTINGS}{rules}"));
    let key = |name: &str| format!("0123456789abcdef-{name}");
    let save = |name: &str, query: &str, text: &str| put(&server, query, text, &[("x-api-key", &key(name))]);
    assert_eq!(save("team", "team_all", "SELECT id, name FROM people ORDER BY id LIMIT 1").status, 201);
    refused(&save("team", "kept", "SELECT 2 AS two"), 403, "you may not administer `kept`");
    refused(&save("team", "other", "SELECT 2 AS two"), 404, "no query `other`");
    refused(&save("reader", "team_all", "SELECT 2 AS two"), 403, "you may not administer `team_all`");
    let removed = delete(&server, "team_all", &[("x-api-key", &key("reader"))]);
    refused(&removed, 403, "you may not administer `team_all`");
    // What fails tells nobody of what it may not read, and the query has the rights of whoever runs it.
    refused(&save("team", "team_city", "SELECT city FROM people"), 400, "no column `city`");
    assert_eq!(save("boss", "team_city", "SELECT city FROM people ORDER BY id LIMIT 1").status, 201);
    let run = |name: &str, query: &str| server.get_with(&format!("/api/queries/{query}"), &[("x-api-key", &key(name))]);
    assert_eq!(run("boss", "team_city").text(), r#"[{"city":"Leeds"}]"#);
    refused(&run("reader", "team_city"), 403, "you may not read everything");
    assert_eq!(run("reader", "team_all").text(), r#"[{"id":1,"name":"Ann"}]"#);
    let edits = |name: &str| server.get_with("/", &[("x-api-key", &key(name))]).json()["edits_queries"].clone();
    assert_eq!((edits("boss"), edits("team"), edits("reader")), (true.into(), true.into(), serde_json::Value::Null));
    let anonymous = put(&server, "team_all", "SELECT 1 AS one", &[]);
    assert_eq!(anonymous.status, 401, "{}", anonymous.text());
}

#[cfg(unix)]
#[test]
fn a_reload_has_what_was_saved_and_what_was_written_by_hand() {
    let server = editable(SETTINGS);
    assert_eq!(put(&server, "saved", "SELECT 1 AS one", &[]).status, 201);
    std::fs::write(server.file("queries/by_hand.sql"), "SELECT 2 AS two").expect("a file");
    let hang_up = Command::new("kill").args(["-HUP", &server.pid().to_string()]).status().expect("kill");
    assert!(hang_up.success());
    server.until(|server| server.get("/api/queries/by_hand").text() == r#"[{"two":2}]"#);
    assert_eq!(server.get("/api/queries/saved").text(), r#"[{"one":1}]"#);
    // A change sees what a reload took up.
    assert_eq!(put(&server, "by_hand", "SELECT 3 AS three", &[("if-match", "*")]).status, 200);
    assert_eq!(server.get("/api/queries/by_hand").text(), r#"[{"three":3}]"#);
}

#[test]
fn edit_needs_a_folder() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("people.csv"), PEOPLE).expect("a file");
    let mut program = Command::new(env!("CARGO_BIN_EXE_salver"));
    let done = program.args(["serve", "--listen", "127.0.0.1:0", "--edit"]).arg(directory.path()).output();
    let done = done.expect("an end");
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && told.contains("`--edit` needs a folder for named queries"), "{told}");
}
