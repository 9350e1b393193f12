//! What each API tells of what is kept back.

use super::{PEOPLE, SETTINGS, ask, kept_back, masked, served, world};
use crate::it::server::{Answer, Server};

/// The server of `served`, with this part of its settings in the place of another.
fn with(old: &str, new: &str) -> Server {
    let settings = SETTINGS.replace(old, new);
    assert_ne!(settings, SETTINGS);
    Server::prepared(&settings, &[("people.csv", PEOPLE.as_bytes())], |directory| {
        world::database(
            directory,
            "create table items(id integer primary key, name text, region text, cost int); \
             insert into items values (1, 'a', 'north', 5), (2, 'b', 'south', 6);",
        );
    })
}

fn tag(answer: &Answer) -> String {
    answer.header("etag").expect("a tag").to_owned()
}

/// The tag of a list changes with what the caller sees of it, and with nothing else of the database.
#[test]
fn tags_of_lists_tell_nothing_of_other_rows() {
    let server = served();
    let change = |id: u32, body: &str| {
        let json = [("Content-Type", "application/json")];
        let done = ask(&server, "all", "PUT", &format!("/api/records/items/{id}"), &json, body);
        assert_eq!((done.status, done.text()), (200, "1"), "{body}");
    };
    let list =
        |name: &str, tag: &str| ask(&server, name, "GET", "/api/records/items?order=id", &[("If-None-Match", tag)], "");
    let (north, all) = (tag(&list("north", "\"x\"")), tag(&list("all", "\"x\"")));
    assert_ne!(north, all);
    assert_eq!((list("north", &north).status, list("all", &all).status), (304, 304));
    // Another's row, and a column that is not there.
    change(2, r#"{"name":"z"}"#);
    change(1, r#"{"cost":7}"#);
    assert_eq!((list("north", &north).status, list("all", &all).status), (304, 200));
    assert_eq!(tag(&list("north", "\"x\"")), north);
    change(1, r#"{"name":"y"}"#);
    let changed = list("north", &north);
    assert_eq!(changed.status, 200);
    assert_ne!(tag(&changed), north);
    assert_eq!(list("north", &tag(&changed)).status, 304);
}

/// GraphQL offers no column that can't be written, and refuses one that is written all the same.
#[test]
fn inputs_have_what_can_be_written() {
    let json = [("Content-Type", "application/json")];
    let fields = |server: &Server, name: &str| {
        let query = r#"{"query":"{ __type(name: \"items_set\") { inputFields { name } } }"}"#;
        let told = ask(server, name, "POST", "/api/graphql", &json, query).json();
        let fields = told["data"]["__type"]["inputFields"].as_array().cloned().unwrap_or_default();
        let mut names: Vec<String> =
            fields.iter().filter_map(|field| Some(field["name"].as_str()?.to_owned())).collect();
        names.sort();
        names
    };
    let server = masked(r#"name = "left(name, 1)""#);
    assert_eq!(fields(&server, "all"), ["cost", "id", "name", "region"]);
    assert_eq!(fields(&server, "north"), ["cost", "id", "region"]);
    let set = |name: &str| {
        let body = r#"{"query":"mutation { update_items(id: 1, set: {name: \"new\"}) { id } }"}"#;
        ask(&server, name, "POST", "/api/graphql", &json, body).json()
    };
    assert!(!set("north")["errors"].is_null());
    // As a column that the table does not have.
    for column in ["name", "nothing"] {
        let body = format!(r#"{{"{column}":"new"}}"#);
        let strict = ask(&server, "north", "PUT", "/api/records/items/1?strict=true", &json, &body);
        assert_eq!(strict.status, 400, "{column}: {}", strict.text());
        let lax = ask(&server, "north", "PUT", "/api/records/items/1", &json, &body);
        assert_eq!(lax.status, 200, "{column}: {}", lax.text());
    }
    let stored = || ask(&server, "all", "GET", "/api/records/items/1?include=name", &[], "").text().to_owned();
    assert_eq!(stored(), r#"{"name":"a"}"#);
    assert!(set("all")["errors"].is_null());
    assert_eq!(stored(), r#"{"name":"new"}"#);

    let server = kept_back(r#"columns_hidden = ["cost"]"#);
    assert_eq!(fields(&server, "north"), ["id", "name", "region"]);
    let rule = "[[database.rule]]\ntables = [\"items\"]\noperations = [\"update\"]\ncolumns_hidden = [\"region\"]\n";
    let server = with("writable = true\n", &format!("writable = true\n{rule}"));
    assert_eq!(fields(&server, "all"), ["cost", "id", "name"]);
}

/// Who sees a stream's table is told that its events are not for it, at every path; to others there is none.
#[test]
fn streams_that_are_only_seen() {
    let read_only = "entries = [\"clicks\"]\npermissions = [\"read\"]";
    let server = with("entries = [\"clicks\"]\npermissions = [\"append\"]", read_only);
    let record = r#"{"records":[{"value":{"a":1}}]}"#;
    let v2 = [("Content-Type", "application/vnd.kafka.json.v2+json")];
    for (method, target, body) in [
        ("GET", "/api/streams/clicks/events", ""),
        ("POST", "/api/streams/clicks", r#"{"a":1}"#),
        ("POST", "/topics/clicks", record),
        ("GET", "/topics/clicks", ""),
    ] {
        let headers =
            if target.starts_with("/topics") && !body.is_empty() { v2 } else { [("Content-Type", "application/json")] };
        let seen = ask(&server, "north", method, target, &headers, body);
        assert_eq!(seen.status, 403, "{method} {target}: {}", seen.text());
        assert_eq!(server.ask(method, target, &headers, body.as_bytes()).status, 404, "{method} {target}");
    }
}

/// What is kept from `document` alone is in the rows, and in no description of them.
#[test]
fn columns_that_are_not_documented() {
    let rule = "[[database.rule]]\ntables = [\"items\"]\noperations = [\"document\"]\ncolumns_hidden = [\"cost\"]\n";
    let server = with("writable = true\n", &format!("writable = true\n{rule}"));
    let told = ask(&server, "all", "GET", "/api/openapi", &[], "");
    assert!(told.text().contains("\"region\"") && !told.text().contains("\"cost\""), "{}", told.text());
    let head = ask(&server, "all", "HEAD", "/api/openapi", &[], "");
    assert_eq!((head.status, head.header("content-length")), (200, told.header("content-length")));
    assert!(ask(&server, "all", "GET", "/api/records/items", &[], "").text().contains("\"cost\""));
}

/// Rows behind a table between that are kept back are absent, and leave nothing in their place.
#[test]
fn rows_behind_a_table_between() {
    let rules = "[[access]]\nroles = [\"branch\"]\nentries = [\"shop.posts\", \"shop.post_tags\"]\n\
        [[access]]\nroles = [\"branch\"]\nentries = [\"shop.tags\"]\nrows = \"region = caller.user\"\n[[dataset]]";
    let settings = SETTINGS.replacen("[[dataset]]", rules, 1);
    let server = Server::prepared(&settings, &[("people.csv", PEOPLE.as_bytes())], |directory| {
        world::database(
            directory,
            "create table posts(id integer primary key); create table tags(id integer primary key, region text); \
             create table post_tags(id integer primary key, post_id integer not null references posts(id), \
             tag_id integer not null references tags(id)); \
             create table secrets(id integer primary key, x int); \
             insert into posts values (1), (2); insert into tags values (1, 'south'), (2, 'north'); \
             insert into post_tags values (1, 1, 1), (2, 1, 2), (3, 2, 1);",
        );
    });
    let list = |name: &str, query: &str| {
        ask(&server, name, "GET", &format!("/api/records/posts?order=id&join=tags{query}"), &[], "").text().to_owned()
    };
    let seen = r#"{"records":[{"id":1,"tags":[{"id":2,"region":"north"}]},{"id":2,"tags":[]}]}"#;
    assert_eq!(list("north", ""), seen);
    assert!(list("north", "&tags.size=2").starts_with(&seen[..seen.len() - 1]), "{}", list("north", "&tags.size=2"));
    let whole = r#"{"records":[{"id":1,"tags":[{"id":1,"region":"south"},{"id":2,"region":"north"}]},"#;
    assert!(list("all", "").starts_with(whole), "{}", list("all", ""));

    // A filter through a table that is kept back, and through one that never was, are answered alike.
    let filtered = |name: &str, table: &str| {
        let told = ask(&server, name, "GET", &format!("/api/records/posts?filter={table}.x,eq,1"), &[], "");
        (told.status, told.text().replace(table, "TABLE"))
    };
    let refused = filtered("north", "secrets");
    assert_eq!((refused.0, &refused), (404, &filtered("north", "nowhere")));
    assert_eq!(filtered("all", "nowhere").0, 200);
}

/// A parameter that is known, and means nothing here, is told as such.
#[test]
fn a_search_is_no_change() {
    let server = with("writable = true\n", "writable = true\nsearch = \"search\"\n");
    let json = [("Content-Type", "application/json")];
    let told = ask(&server, "all", "PUT", "/api/records/items/1?search=a&strict=true", &json, r#"{"name":"c"}"#);
    assert_eq!(told.status, 400, "{}", told.text());
    assert!(told.text().contains("`search` has no meaning here"), "{}", told.text());
}
