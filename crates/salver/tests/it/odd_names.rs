//! Names that GraphQL has no letters for: an entry with them is shown under others, and takes nothing from the rest.

use std::process::Command;

use super::served::{Served, until};
use super::server::Server;
use crate::client::Client;

#[test]
fn names_without_letters_leave_graphql_a_schema() {
    let server = Server::with(
        "[[stream]]\nname = \"events\"\n",
        &[
            ("a.csv", b"id,name\n1,x\n"),
            ("odd.csv", "是,否,_,__,?_,_?,2,_2,-_\n1,2,3,4,5,6,7,8,9\n".as_bytes()),
            ("nested.ndjson", b"{\"links\":{\"?\":1,\"!\":2},\"_\":{\"_\":{\"?\":3}}}\n"),
        ],
    );
    let schema = |server: &Server| {
        let answer =
            server.post_json("/api/graphql", r#"{"query": "{ __schema { types { name fields { name } } } }"}"#);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["data"]["__schema"]["types"].clone()
    };
    schema(&server);
    let event = server.post("/api/streams/events", r#"{"?":1,"!":2,"_":{"__":3,"?":4}}"#);
    assert_eq!(event.status, 200, "{}", event.text());
    server.until(|server| server.get("/api/tables/events?limit=1").text().contains('?'));
    let types = schema(&server);
    let names = |of: &serde_json::Value| {
        let all = of.as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for of in types.as_array().unwrap() {
        let own = of["name"].as_str().unwrap();
        let fields = if of["fields"].is_array() { names(&of["fields"]) } else { Vec::new() };
        assert!(own.starts_with("__") || fields.iter().all(|name| !name.starts_with("__")), "{own}: {fields:?}");
    }
    let odd = types.as_array().unwrap().iter().find(|of| of["name"] == "odd").unwrap();
    assert_eq!(names(&odd["fields"]).len(), 9, "{odd}");
    let rows = server.post_json("/api/graphql", r#"{"query": "{ a { id name } odd { unnamed _2 } }"}"#);
    assert_eq!(rows.status, 200, "{}", rows.text());
    assert_eq!(rows.json()["data"]["a"][0]["name"], "x");
}

/// What would turn the text beside it is isolated on both kinds of pages, and no control character comes out.
#[test]
fn values_on_pages() {
    let rows = "{\"id\":1,\"v\":\"a\\u0000b\"}\n{\"id\":2,\"v\":\"x\\u202ey\"}\n";
    let server = Server::of(&[("odd.ndjson", rows.as_bytes())]);
    for target in ["/plain", "/api/tables/odd"] {
        let page = server.get_with(target, &[("Accept", "text/html")]);
        let text = page.text();
        assert!(page.status == 200 && text.contains("<table>"), "{target}: {text}");
        assert!(text.contains("<bdi>x\u{202e}y</bdi>") && text.contains("a\u{fffd}b"), "{target}: {text}");
        assert!(!text.contains('\0'), "{target}");
    }
}

/// Tables whose names can't be those of entries are told of, and are there as records.
#[test]
fn tables_that_cannot_be_entries() {
    let directory = tempfile::tempdir().expect("a directory");
    let statements = "create table \"a/b\" (id integer primary key); insert into \"a/b\" values (1); \
                      create table plain (id integer primary key)";
    let made = Command::new("sqlite3").arg(directory.path().join("app.db")).arg(statements).status();
    assert!(made.expect("sqlite3").success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory.path());
    let served = Served::start(command);
    served.until_logged("of `app`, these are served at `/api/records` alone, for their names: `a/b`");
    let get = |target: &str| {
        let address = served.place.trim_start_matches("http://");
        Client::new(address).send("GET", target, &[], None).expect("an answer")
    };
    until("the database is read", || get("/api/tables/plain").status == 200);
    let rows = get("/api/records/a%2Fb");
    assert!(rows.status == 200 && rows.body.contains("\"id\":1"), "{rows:?}");
    assert_eq!(get("/api/tables/a%2Fb").status, 404);
    let checked = Command::new(env!("CARGO_BIN_EXE_salver")).arg("check").arg(directory.path()).output();
    let checked = checked.expect("the program is there");
    let told = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && told.contains("note: `a/b` of app is served at /api/records alone"), "{told}");
}
