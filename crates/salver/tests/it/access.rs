//! Access rules: every answer to a caller is that of a server whose data never had what is kept back. Rules, data and
//! questions are generated; each question goes to every API that can ask it.

mod doors;
mod questions;
mod tags;
mod world;

use crate::it::server::{Answer, Server};

use questions::Question;
use world::{CALLERS, World};

/// Worlds of generated rules and data.
const WORLDS: u64 = 6;

/// Members of JSON that no two servers share: the one has other ways to prove who one is, and rows that satisfy a
/// filter are not counted before they are asked for.
const OWN: [&str; 9] =
    ["version", "memory_bytes", "source", "extra", "rows", "securitySchemes", "security", "auth", "caller"];

#[test]
fn what_is_kept_back_was_never_there() {
    for seed in 1..=WORLDS {
        let mut world = World::generated(seed);
        let ruled = world.ruled();
        let reduced: Vec<Server> = (0..CALLERS.len()).map(|caller| world.reduced(caller)).collect();
        for question in world.questions() {
            // One after the other, so that an answer that is kept for one would go to the next.
            for (caller, oracle) in reduced.iter().enumerate() {
                let key = CALLERS[caller].map(|name| ("X-API-Key", format!("key-of-{name}-0123456789")));
                let headers: Vec<(&str, &str)> = key.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let asked = told(&question, &question.ask(&ruled, &headers));
                let expected = told(&question, &question.ask(oracle, &[]));
                assert_eq!(
                    asked,
                    expected,
                    "seed {seed}, caller {:?}, {question:?}\n{}",
                    CALLERS[caller],
                    world.settings()
                );
            }
        }
    }
}

/// What of an answer has to be the same.
fn told(question: &Question, answer: &Answer) -> (u16, String) {
    let text = answer.text();
    let shown = match serde_json::from_str::<serde_json::Value>(text) {
        Ok(mut json) if question.has_own_members => {
            strip(&mut json);
            json.to_string()
        }
        _ => text.to_owned(),
    };
    (answer.status, shown)
}

fn strip(json: &mut serde_json::Value) {
    match json {
        serde_json::Value::Object(members) => {
            members.retain(|name, _| !OWN.contains(&name.as_str()));
            members.values_mut().for_each(strip);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

const PEOPLE: &str = "id,name,region,salary\n1,ann,north,10\n2,bob,south,20\n3,cat,north,30\n";

const SETTINGS: &str = r#"
[auth]
mode = "optional"
api_keys = ["north:0123456789abcdef-north", "south:0123456789abcdef-south", "all:0123456789abcdef-all"]
[[role]]
name = "branch"
callers = ["api_key:north", "api_key:south"]
[[role]]
name = "all"
when = "caller.user = 'all'"
[[access]]
roles = ["all"]
entries = ["*"]
permissions = ["read", "sql", "export", "append", "consume", "create", "update", "delete", "administer"]
[[access]]
roles = ["branch"]
entries = ["people", "shop.items"]
permissions = ["read", "sql", "export", "update"]
columns_hidden = ["salary", "cost"]
rows = "region = caller.user"
[[access]]
roles = ["branch"]
entries = ["clicks"]
permissions = ["append"]
[[dataset]]
name = "people"
source = "people.csv"
key = ["id"]
[[stream]]
name = "clicks"
[[database]]
name = "shop"
url = "sqlite:shop.db"
writable = true
"#;

fn served() -> Server {
    Server::prepared(SETTINGS, &[("people.csv", PEOPLE.as_bytes())], |directory| {
        world::database(
            directory,
            "create table items(id integer primary key, name text, region text, cost int); \
             insert into items values (1, 'a', 'north', 5), (2, 'b', 'south', 6);",
        );
    })
}

fn key(name: &str) -> [(&'static str, String); 1] {
    [("X-API-Key", format!("0123456789abcdef-{name}"))]
}

fn ask(server: &Server, name: &str, method: &str, target: &str, more: &[(&str, &str)], body: &str) -> Answer {
    let own = key(name);
    let mut headers: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
    headers.extend(more);
    server.ask(method, target, &headers, body.as_bytes())
}

/// What was made for one is not given to another: kept answers, tags, tokens of exports.
#[test]
fn nothing_of_one_caller_is_anothers() {
    let server = served();
    for target in ["/api/tables/people", "/api/sql?q=select%20name%20from%20people", "/api/export/people.csv"] {
        let north = ask(&server, "north", "GET", target, &[], "");
        for _ in 0..3 {
            assert!(ask(&server, "north", "GET", target, &[], "").text().contains("ann"), "{target}");
            let south = ask(&server, "south", "GET", target, &[], "");
            assert!(south.text().contains("bob") && !south.text().contains("ann"), "{target}: {}", south.text());
        }
        let tag = north.header("etag").expect("a tag").to_owned();
        let again = |name: &str| ask(&server, name, "GET", target, &[("If-None-Match", &tag)], "").status;
        assert_eq!((again("north"), again("south")), (304, 200), "{target}");
        assert_eq!(server.get(target).status, if target.contains("sql") { 400 } else { 404 }, "{target}");
    }
    let json = [("Content-Type", "application/json")];
    let opened = ask(&server, "north", "POST", "/api/export", &json, r#"{"entry":"people"}"#);
    assert_eq!(opened.status, 201, "{}", opened.text());
    let token = opened.json()["export"].as_str().expect("a token").to_owned();
    let stream = format!("/api/export/{token}/0");
    let read = ask(&server, "north", "GET", &stream, &[("Accept", "text/csv")], "");
    assert!(read.text().contains("ann") && !read.text().contains("bob"), "{}", read.text());
    assert_ne!(ask(&server, "south", "GET", &stream, &[], "").status, 200);
}

/// Rows and columns of a rule hold for what is written; what is not permitted is refused or not there.
#[test]
fn writes_and_events() {
    let server = served();
    let json = [("Content-Type", "application/json")];
    let status =
        |name: &str, method: &str, target: &str, body: &str| ask(&server, name, method, target, &json, body).status;
    let item = "/api/records/items";
    assert_eq!(status("north", "PUT", &format!("{item}/1"), r#"{"name":"c"}"#), 200);
    let others = ask(&server, "north", "PUT", &format!("{item}/2"), &json, r#"{"name":"c"}"#);
    assert_eq!(others.text(), "0", "another's row");
    assert_ne!(status("north", "PUT", &format!("{item}/1"), r#"{"region":"south"}"#), 200, "into another's rows");
    // Ignored, as any name is that the table does not have.
    assert_eq!(status("north", "PUT", &format!("{item}/1"), r#"{"cost":1}"#), 200);
    assert_eq!(status("north", "POST", item, r#"{"name":"x"}"#), 404, "not permitted");
    assert_eq!(status("north", "DELETE", &format!("{item}/1"), ""), 404, "not permitted");
    let mutations = r#"{"query":"{ __schema { mutationType { fields { name } } } }"}"#;
    let shown = ask(&server, "north", "POST", "/api/graphql", &json, mutations);
    assert!(shown.text().contains("update_items") && !shown.text().contains("delete_items"), "{}", shown.text());
    let all = ask(&server, "all", "GET", item, &[], "");
    assert!(all.text().contains(r#"{"id":1,"name":"c","region":"north","cost":5}"#), "{}", all.text());

    let event = r#"{"a":1}"#;
    assert_eq!(status("north", "POST", "/api/streams/clicks", event), 200);
    assert_eq!(status("north", "GET", "/api/streams/clicks/events", ""), 403, "append only");
    assert_eq!(status("all", "GET", "/api/streams/clicks/events", ""), 200);
    let of_all = server.ask("POST", "/api/streams/clicks", &json, event.as_bytes());
    assert_eq!(of_all.status, 404, "nobody knows of it");
    assert_eq!(server.get("/api/streams").json()["streams"].as_array().map(Vec::len), Some(0));
    let record = r#"{"records":[{"value":{"a":1}}]}"#;
    let v2 = [("Content-Type", "application/vnd.kafka.json.v2+json")];
    assert_eq!(ask(&server, "north", "POST", "/topics/clicks", &v2, record).status, 200);
    assert_eq!(server.ask("POST", "/topics/clicks", &v2, record.as_bytes()).status, 404);
    assert_eq!(status("north", "GET", "/metrics", ""), 403);
    assert_eq!(status("all", "GET", "/metrics", ""), 200);
}

/// The server with these masks in the rule of branches.
fn masked(masks: &str) -> Server {
    kept_back(&format!("columns_masked = {{ {masks} }}"))
}

/// The server with something else in the place of what the rule of branches keeps back.
fn kept_back(what: &str) -> Server {
    let settings = SETTINGS.replace("columns_hidden = [\"salary\", \"cost\"]\nrows = \"region = caller.user\"", what);
    assert!(settings.contains(what));
    Server::prepared(&settings, &[("people.csv", PEOPLE.as_bytes())], |directory| {
        world::database(
            directory,
            "create table items(id integer primary key, name text, region text, cost int); \
             insert into items values (1, 'a', 'north', 5), (2, 'b', 'south', 6);",
        );
    })
}

/// Pages of an order by masked values are of one order, and neither they nor streams of an export tell what is behind.
#[test]
fn pages_and_exports_of_masked_values() {
    let server = masked(r#"name = "left(name, 0) || 'x'", salary = "floor(salary, 20)""#);
    let mut target = "/api/tables/people?sort=-salary,name&limit=1".to_owned();
    let mut pages = Vec::new();
    loop {
        let page = ask(&server, "north", "GET", &target, &[], "");
        assert_eq!(page.status, 200, "{}", page.text());
        pages.push(page.text().trim().to_owned());
        let Some(link) = page.header("link").filter(|link| link.contains("next")) else { break };
        let next = link.split(['<', '>']).nth(1).expect("a target");
        target = next.find("/api").map_or(next, |start| &next[start..]).to_owned();
        assert!(pages.len() < 9, "{target}");
    }
    let row = |id: u32, region: &str, salary: u32| {
        format!(r#"[{{"id":{id},"name":"x","region":"{region}","salary":{salary}}}]"#)
    };
    // Rows that are alike stand as they do in the file.
    assert_eq!(pages, [row(2, "south", 20), row(3, "north", 20), row(1, "north", 0)]);
    let json = [("Content-Type", "application/json")];
    let opened = ask(&server, "north", "POST", "/api/export", &json, r#"{"entry":"people"}"#);
    let token = opened.json()["export"].as_str().expect("a token").to_owned();
    let read = ask(&server, "north", "GET", &format!("/api/export/{token}/0"), &[("Accept", "text/csv")], "");
    assert_eq!(read.text().replace('\r', ""), "id,name,region,salary\n1,x,north,0\n2,x,south,20\n3,x,north,20\n");
    // A key is looked up by its index, and the row is masked.
    let found = ask(&server, "north", "GET", "/api/tables/people?filter%5Bid%5D=2&columns=salary,name", &[], "");
    assert_eq!(found.text().trim(), r#"[{"salary":20,"name":"x"}]"#);
}

/// A masked key is none, and what does not fit is not served.
#[test]
fn masked_keys_and_misfits() {
    let server = masked(r#"id = "floor(id, 2)""#);
    let rows = ask(&server, "north", "GET", "/api/tables/people?columns=id&filter%5Bid%5D=2", &[], "");
    assert_eq!(rows.text().trim(), r#"[{"id":2},{"id":2}]"#);
    let types = r#"{"query":"{ __schema { queryType { fields { name } } } }"}"#;
    let json = [("Content-Type", "application/json")];
    let of = |name: &str| ask(&server, name, "POST", "/api/graphql", &json, types).text().to_owned();
    assert!(of("all").contains("people_by_key") && !of("north").contains("people_by_key"), "{}", of("north"));
    let server = masked(r#"salary = "left(salary, 1)""#);
    for target in ["/api/tables/people", "/api/sql?q=select%20*%20from%20people", "/api/export/people.csv"] {
        let answer = ask(&server, "north", "GET", target, &[], "");
        assert!(answer.status >= 400 && !answer.text().contains("ann"), "{target}: {}", answer.text());
        assert!(!answer.text().contains("left("), "{target}: {}", answer.text());
        assert_eq!(ask(&server, "all", "GET", target, &[], "").status, 200, "{target}");
    }
}

/// Pages of a table whose key is kept back have no cursors, which would tell it.
#[test]
fn cursors_tell_no_key_that_is_kept_back() {
    let target = "/api/tables/items?columns=name&limit=1";
    for (what, has_next) in [
        ("columns_masked = { id = \"0\" }", false),
        ("columns_hidden = [\"id\"]", false),
        ("columns_masked = { name = \"left(name, 1)\" }", true),
    ] {
        let server = kept_back(what);
        let page = ask(&server, "north", "GET", target, &[], "");
        assert_eq!((page.status, page.text().trim()), (200, r#"[{"name":"a"}]"#), "{what}");
        let next = page.header("link").filter(|link| link.contains("after=")).map(str::to_owned);
        assert_eq!(next.is_some(), has_next, "{what}: {next:?}");
        // Nor can one of another caller be used.
        let others = ask(&server, "all", "GET", target, &[], "");
        let link = others.header("link").expect("a cursor").to_owned();
        let next = link.split(['<', '>']).nth(1).expect("a target");
        let next = next.find("/api").map_or(next, |start| &next[start..]);
        assert_eq!(ask(&server, "all", "GET", next, &[], "").text().trim(), r#"[{"name":"b"}]"#);
        assert!(has_next || ask(&server, "north", "GET", next, &[], "").status == 400, "{what}");
    }
}

/// A value that its column's type does not have is no reason to tell it.
#[test]
fn errors_quote_nothing_behind_a_mask() {
    let statements = "create table bad(id integer primary key, pin int, day date); \
         insert into bad values (1, 'SECRET-PIN', 'SECRET-DAY'), (2, 5, null);";
    for mask in ["null", "0"] {
        let settings = format!(
            "[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\n[[access]]\nentries = [\"shop.bad\"]\n\
             columns_masked = {{ pin = \"{mask}\", day = \"null\" }}\n"
        );
        let server = Server::prepared(&settings, &[], |directory| world::database(directory, statements));
        for target in [
            "/api/tables/bad",
            "/api/tables/bad?filter%5Bpin%5D=5",
            "/api/tables/bad?sort=pin&limit=1",
            "/api/tables/bad?columns=max(pin)",
            "/api/sql?q=select%20max(pin),%20min(day)%20from%20bad",
            "/api/sql?q=select%20*%20from%20bad%20where%20pin%20>%200",
            "/api/graphql?query=%7Bbad%7Bpin%20day%7D%7D",
            "/api/export/bad.csv",
            "/api/records/bad",
            "/api/records/bad?filter=pin,gt,1",
        ] {
            let answer = server.get(target);
            assert!(!answer.text().contains("SECRET"), "{mask} {target}: {}", answer.text());
        }
    }
}

/// A database that reads rows in the order of an index over true values, or of a key that is kept back, is asked for
/// another order.
#[test]
fn the_order_of_rows_tells_nothing() {
    let statements = "create table pay(id integer primary key, pay int, team text); \
         create index by_pay on pay(pay); create index by_team on pay(team, pay); \
         insert into pay values (1, 500, 'a'), (2, 100, 'a'), (3, 900, 'b'), (4, 300, 'a'), (5, 200, 'b'); \
         create table cards(number text primary key, name text) without rowid; \
         insert into cards values ('9', 'b'), ('1', 'd'), ('5', 'a'), ('3', 'c');";
    let rules = |kept: [&str; 2]| {
        format!(
            "[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\n\
             [[access]]\nentries = [\"shop.pay\"]\n{}\n[[access]]\nentries = [\"shop.cards\"]\n{}\n",
            kept[0], kept[1]
        )
    };
    let masked = ["columns_masked = { pay = \"0\" }", "columns_masked = { number = \"'-'\" }"];
    let hidden = ["columns_hidden = [\"pay\"]", "columns_hidden = [\"number\"]"];
    for kept in [masked, hidden] {
        let server = Server::prepared(&rules(kept), &[], |directory| world::database(directory, statements));
        for (target, expected) in [
            ("/api/tables/pay?columns=id", r#"[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]"#),
            ("/api/tables/pay?columns=id&filter%5Bteam%5D=a", r#"[{"id":1},{"id":2},{"id":4}]"#),
            ("/api/tables/pay?columns=id&filter%5Bteam%5D=a&limit=2", r#"[{"id":1},{"id":2}]"#),
            ("/api/sql?q=select%20id%20from%20pay%20where%20team='a'%20limit%203", r#"[{"id":1},{"id":2},{"id":4}]"#),
            ("/api/tables/cards?columns=name", r#"[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}]"#),
            ("/api/tables/cards?columns=name&limit=2&offset=1", r#"[{"name":"b"},{"name":"c"}]"#),
        ] {
            let answer = server.get(target);
            assert_eq!((answer.status, answer.text().trim()), (200, expected), "{kept:?} {target}");
        }
        if kept == masked {
            let sorted = server.get("/api/tables/pay?columns=id&sort=-pay");
            assert_eq!(sorted.text().trim(), r#"[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]"#);
        }
    }
}
