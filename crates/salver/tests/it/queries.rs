//! Views and named queries: what they answer, to whom, and what is told of those that can't be run.

use super::server::{Answer, Server};

const PEOPLE: &[u8] = b"id,name,city,born,height\n1,Ann,Leeds,1970-05-17,1.5\n2,Bob,York,1980-01-01,1.75\n\
    3,Cy,Leeds,1990-12-31,2.0\n";
const CITIES: &[u8] = b"city,country\nLeeds,England\nYork,England\n";

const SETTINGS: &str = r#"
[[view]]
name = "leeds"
sql = "SELECT id, name, height FROM people WHERE city = 'Leeds'"

[[view]]
name = "per_city"
sql = """
SELECT p.city, c.country, count(*) AS n, max(p.height) AS tallest
FROM people p JOIN cities c ON c.city = p.city GROUP BY p.city, c.country ORDER BY p.city"""

[[view]]
name = "tall"
sql = "SELECT name FROM leeds WHERE height > 1.7"

[[view]]
name = "wrong"
sql = """
SELECT id,
  nme FROM people"""

[[view]]
name = "a"
sql = "SELECT * FROM b"

[[view]]
name = "b"
sql = "SELECT * FROM a"

[[query]]
name = "of_city"
sql = "SELECT id, name FROM people WHERE city = $city ORDER BY id"
description = "People of a city."

[[query]]
name = "born"
sql = "SELECT name FROM people WHERE born >= $1 AND ($2 IS NULL OR height < $2) ORDER BY id LIMIT $3"
parameter = [
    { name = "since", type = "date", default = "1900-01-01", description = "the first day" },
    { name = "below", type = "number", required = false },
    { name = "most", type = "integer", default = "10" },
]

[[query]]
name = "typed"
sql = "SELECT id FROM people WHERE id = $id AND height < $height AND born = $born"

[[query]]
name = "wrong_query"
sql = "SELECT nme FROM people WHERE id = $id"

[[query]]
name = "unused"
sql = "SELECT 1 AS one"
parameter = [{ name = "x" }]

[server]
queries = "queries"
"#;

const FROM_FILE: &[u8] = b"-- description: Those of a view.\n-- param city text = Leeds -- where they live\n\
    SELECT n FROM per_city WHERE city = $city\n";

fn server() -> Server {
    let files = [("people.csv", PEOPLE), ("cities.csv", CITIES), ("queries/many.sql", FROM_FILE)];
    Server::with(SETTINGS, &files)
}

fn is(server: &Server, target: &str, expected: &str) {
    let answer = server.get(target);
    assert_eq!((answer.status, answer.text()), (200, expected), "{target}");
}

/// Checks a refusal, and returns its hint.
fn refused(answer: &Answer, status: u16, message: &str) -> String {
    assert_eq!(answer.status, status, "{}", answer.text());
    let json = answer.json();
    assert!(json["message"].as_str().is_some_and(|own| own.contains(message)), "{json}");
    json["hint"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_view_is_an_entry() {
    let server = server();
    is(&server, "/api/tables/leeds", r#"[{"id":1,"name":"Ann","height":1.5},{"id":3,"name":"Cy","height":2.0}]"#);
    is(&server, "/api/tables/leeds?filter[height]gt=1.6&columns=name", r#"[{"name":"Cy"}]"#);
    is(&server, "/api/tables/leeds?sort=-height&limit=1&columns=id", r#"[{"id":3}]"#);
    is(&server, "/api/tables/leeds.csv?offset=1", "id,name,height\n3,Cy,2.0\n");
    is(&server, "/api/tables/tall", r#"[{"name":"Cy"}]"#);
    let both = r#"[{"city":"Leeds","country":"England","n":2,"tallest":2.0},{"city":"York","country":"England","n":1,"tallest":1.75}]"#;
    is(&server, "/api/tables/per_city", both);
    is(&server, "/api/sql?q=select%20sum(n)%20as%20n%20from%20per_city", r#"[{"n":3}]"#);
    let joined = "select l.name, c.n from leeds l join per_city c on c.city = 'Leeds' where l.id > 1";
    assert_eq!(server.post("/api/sql", joined).text(), r#"[{"name":"Cy","n":2}]"#);
    assert_eq!(server.post("/api/graphql", "{ leeds(filter: {id: 1}) { name } }").text(), r#"[{"name":"Ann"}]"#);
    is(&server, "/api/export/leeds.csv", "id,name,height\n1,Ann,1.5\n3,Cy,2.0\n");
    let schema = server.get("/api/schema/per_city").json();
    let names: Vec<_> = schema["fields"].as_array().expect("fields").iter().map(|field| &field["name"]).collect();
    assert_eq!(names, ["city", "country", "n", "tallest"]);
    let state = &server.get("/ready").json()["entries"]["leeds"];
    assert_eq!((&state["state"], &state["kind"]), (&"ready".into(), &"view".into()));
    // Pages follow each other.
    let page = server.get("/api/tables/leeds?limit=1&sort=name");
    assert_eq!(page.text(), r#"[{"id":1,"name":"Ann","height":1.5}]"#);
    let link = page.header("link").expect("a next page").to_owned();
    let next = link.split(['<', '>']).nth(1).expect("an address");
    let next = &next[next.find("/api").expect("a path")..];
    assert_eq!(server.get(next).text(), r#"[{"id":3,"name":"Cy","height":2.0}]"#);
}

#[test]
fn what_is_wrong_with_a_view_is_told_and_stops_nothing_else() {
    let server = server();
    let entries = server.get("/ready").json()["entries"].clone();
    let message = |name: &str| entries[name]["message"].as_str().unwrap_or_default().to_owned();
    assert_eq!(entries["wrong"]["state"], "failed");
    assert!(message("wrong").contains("no column `nme` at line 2, column 3"), "{entries}");
    assert!(message("a").contains("in a circle: `a` -> `b` -> `a`"), "{entries}");
    assert!(message("b").contains("in a circle: `b` -> `a` -> `b`"), "{entries}");
    refused(&server.get("/api/tables/wrong"), 503, "`wrong` could not be loaded: no column `nme`");
}

#[test]
fn a_view_follows_its_tables() {
    let toml = "[[dataset]]\nname = \"t\"\nsource = \"t.csv\"\nrefresh = \"100ms\"\n\
        [[view]]\nname = \"sums\"\nsql = \"SELECT sum(a) AS s FROM t\"\n\
        [[view]]\nname = \"twice\"\nsql = \"SELECT s * 2 AS s FROM sums\"\n";
    let server = Server::with(toml, &[("t.csv", b"a\n1\n")]);
    is(&server, "/api/tables/twice", r#"[{"s":2}]"#);
    let tag = server.get("/api/tables/twice").header("etag").expect("a tag").to_owned();
    assert_eq!(server.get_with("/api/tables/twice", &[("if-none-match", &tag)]).status, 304);
    std::fs::write(server.file("t.csv"), "a\n1\n22\n").expect("written");
    server.until(|server| server.get("/api/tables/twice").text() == r#"[{"s":46}]"#);
    let changed = server.get_with("/api/tables/twice", &[("if-none-match", &tag)]);
    assert_eq!((changed.status, changed.text()), (200, r#"[{"s":46}]"#));
    // With another column in its place, the view says so.
    std::fs::write(server.file("t.csv"), "b\n1\n").expect("written");
    server.until(|server| server.get("/ready").json()["entries"]["sums"]["state"] == "failed");
    refused(&server.get("/api/tables/twice"), 503, "no column `a`");
    std::fs::write(server.file("t.csv"), "a\n5\n").expect("written");
    server.until(|server| server.get("/api/tables/twice").text() == r#"[{"s":10}]"#);
}

#[test]
fn queries_run_with_their_parameters() {
    let server = server();
    is(&server, "/api/queries/of_city?city=Leeds", r#"[{"id":1,"name":"Ann"},{"id":3,"name":"Cy"}]"#);
    is(&server, "/api/queries/of_city.csv?city=York", "id,name\n2,Bob\n");
    is(&server, "/api/queries/of_city?city=York&format=csv", "id,name\n2,Bob\n");
    // A value is a value, whatever stands in it.
    is(&server, "/api/queries/of_city?city=%27%20or%201=1%20--", "[]");
    is(&server, "/api/queries/born", r#"[{"name":"Ann"},{"name":"Bob"},{"name":"Cy"}]"#);
    is(&server, "/api/queries/born?since=1980-01-01&below=1.8", r#"[{"name":"Bob"}]"#);
    is(&server, "/api/queries/born?most=1", r#"[{"name":"Ann"}]"#);
    is(&server, "/api/queries/typed?id=3&height=3&born=1990-12-31", r#"[{"id":3}]"#);
    is(&server, "/api/queries/many", r#"[{"n":2}]"#);
    is(&server, "/api/queries/many?city=York", r#"[{"n":1}]"#);
    let head = server.ask("HEAD", "/api/queries/of_city?city=York", &[], b"");
    assert_eq!((head.status, head.text()), (200, ""));
    let tag = server.get("/api/queries/many").header("etag").expect("a tag").to_owned();
    assert_eq!(server.get_with("/api/queries/many", &[("if-none-match", &tag)]).status, 304);
    assert_eq!(server.post("/api/queries/many", "").status, 405);
}

#[test]
fn what_a_query_does_not_take_is_named() {
    let server = server();
    let get = |target: &str| server.get(target);
    let hint = refused(&get("/api/queries/of_city"), 400, "needs the parameter `city`");
    assert_eq!(hint, "add `?city=` with any text");
    let hint = refused(&get("/api/queries/of_city?citty=Leeds"), 400, "has no parameter `citty`");
    assert_eq!(hint, "did you mean `city`?");
    refused(&get("/api/queries/of_city?city=a&city=b"), 400, "the parameter `city` is given twice");
    refused(&get("/api/queries/born?since=yesterday"), 400, "`since` can't be `yesterday`: it is of type date");
    refused(
        &get("/api/queries/typed?id=1.5&height=1&born=1990-12-31"),
        400,
        "`id` can't be `1.5`: it is of type integer",
    );
    let hint = refused(&get("/api/queries/of_citi?city=Leeds"), 404, "no query `of_citi`");
    assert_eq!(hint, "did you mean `of_city`?");
    refused(&get("/api/queries/wrong_query?id=1"), 503, "no column `nme` at line 1, column 8");
    refused(&get("/api/queries/unused"), 503, "the statement has no `$x`, which is declared");
}

#[test]
fn the_list_describes_them() {
    let server = server();
    let all = server.get("/api/queries").json();
    let named = |name: &str| {
        let all = all.as_array().expect("an array");
        all.iter().find(|query| query["name"] == name).unwrap_or_else(|| panic!("no {name}")).clone()
    };
    assert_eq!(
        named("of_city"),
        serde_json::json!({
            "name": "of_city",
            "description": "People of a city.",
            "sql": "SELECT id, name FROM people WHERE city = $city ORDER BY id",
            "parameters": [
                { "name": "city", "type": "text", "default": null, "required": true, "description": "" },
            ],
            "columns": [{ "name": "id", "type": "Int64" }, { "name": "name", "type": "Utf8" }],
        })
    );
    assert_eq!(
        named("born")["parameters"],
        serde_json::json!([
            { "name": "since", "type": "date", "default": "1900-01-01", "required": false, "description": "the first day" },
            { "name": "below", "type": "number", "default": null, "required": false, "description": "" },
            { "name": "most", "type": "integer", "default": 10, "required": false, "description": "" },
        ])
    );
    let types: Vec<_> =
        named("typed")["parameters"].as_array().expect("some").iter().map(|p| p["type"].clone()).collect();
    assert_eq!(types, ["integer", "number", "date"]);
    assert_eq!(named("many")["description"], "Those of a view.");
    assert!(named("wrong_query")["error"].as_str().is_some_and(|error| error.contains("no column `nme`")));
    let ready = server.get("/ready").json();
    assert_eq!(ready["queries"]["of_city"]["state"], "ready");
    assert_eq!(ready["queries"]["wrong_query"]["state"], "failed");
}

const RULES: &str = r#"
[auth]
mode = "optional"
api_keys = ["north:0123456789abcdef-north", "boss:0123456789abcdef-boss"]
[[role]]
name = "boss"
callers = ["api_key:boss"]
[[access]]
roles = ["boss"]
entries = ["*"]
[[access]]
entries = ["staff"]
columns_hidden = ["salary"]
rows = "region = caller.user"
[[access]]
entries = ["names", "named", "pay", "paid", "star"]
[[access]]
entries = ["totals", "total"]
[[access]]
entries = ["open_pay"]
columns_hidden = ["salary"]
[[view]]
name = "names"
sql = "SELECT name FROM staff"
[[view]]
name = "star"
sql = "SELECT * FROM staff"
[[view]]
name = "pay"
sql = "SELECT name, salary FROM staff"
[[view]]
name = "totals"
sql = "SELECT region, sum(salary) AS total FROM staff GROUP BY region ORDER BY region"
runs_as = "owner"
[[view]]
name = "open_pay"
sql = "SELECT name, salary FROM staff ORDER BY name"
runs_as = "owner"
[[view]]
name = "hidden"
sql = "SELECT name FROM staff"
[[query]]
name = "named"
sql = "SELECT name FROM staff WHERE name >= $from"
[[query]]
name = "paid"
sql = "SELECT name FROM staff WHERE salary > $salary"
[[query]]
name = "total"
sql = "SELECT sum(salary) AS total FROM staff"
runs_as = "owner"
[[query]]
name = "hidden_query"
sql = "SELECT 1 AS one"
"#;
const STAFF: &[u8] = b"name,region,salary\nann,north,10\nbob,south,20\ncat,north,30\n";

fn ruled() -> Server {
    Server::with(RULES, &[("staff.csv", STAFF)])
}

#[test]
fn a_caller_has_its_own_rights_within_views_and_queries() {
    let server = ruled();
    let boss = |target: &str| server.get_with(target, &[("x-api-key", "0123456789abcdef-boss")]);
    let north = |target: &str| server.get_with(target, &[("x-api-key", "0123456789abcdef-north")]);
    // Each twice and in turn, so that what is kept for one would go to the other.
    for _ in 0..3 {
        assert_eq!(boss("/api/tables/names").text(), r#"[{"name":"ann"},{"name":"bob"},{"name":"cat"}]"#);
        assert_eq!(north("/api/tables/names").text(), r#"[{"name":"ann"},{"name":"cat"}]"#);
        let sql = "/api/sql?q=select%20count(*)%20as%20n%20from%20names";
        assert_eq!((boss(sql).text(), north(sql).text()), (r#"[{"n":3}]"#, r#"[{"n":2}]"#));
        assert_eq!(boss("/api/queries/named?from=b").text(), r#"[{"name":"bob"},{"name":"cat"}]"#);
        assert_eq!(north("/api/queries/named?from=b").text(), r#"[{"name":"cat"}]"#);
        assert_eq!(north("/api/export/names.csv").text(), "name\nann\ncat\n");
    }
    let tag = boss("/api/tables/names").header("etag").expect("a tag").to_owned();
    let key = ("x-api-key", "0123456789abcdef-north");
    assert_eq!(server.get_with("/api/tables/names", &[key, ("if-none-match", &tag)]).status, 200);
    // A hidden column is not there in a view either, and a view that needs it is not there.
    assert_eq!(north("/api/tables/star?limit=1").text(), r#"[{"name":"ann","region":"north"}]"#);
    assert_eq!(boss("/api/tables/pay?limit=1").text(), r#"[{"name":"ann","salary":10}]"#);
    refused(&north("/api/tables/pay"), 404, "no table `pay`");
    refused(&north("/api/queries/paid?salary=1"), 403, "you may not read everything that the query `paid` reads");
    assert_eq!(boss("/api/queries/paid?salary=15").text(), r#"[{"name":"bob"},{"name":"cat"}]"#);
    // Nobody knows of what no rule is about.
    refused(&north("/api/tables/hidden"), 404, "no table `hidden`");
    refused(&north("/api/queries/hidden_query"), 404, "no query `hidden_query`");
    let listed = |answer: Answer| {
        let all = answer.json();
        let names =
            all.as_array().expect("an array").iter().map(|own| own["name"].as_str().expect("a name").to_owned());
        names.collect::<Vec<String>>()
    };
    assert_eq!(listed(north("/api/queries")), ["named", "total"]);
    assert_eq!(listed(boss("/api/queries")), ["named", "paid", "total", "hidden_query"]);
}

#[test]
fn an_owners_view_shows_what_it_shows_whatever_its_caller_may_see() {
    let server = ruled();
    let north = |target: &str| server.get_with(target, &[("x-api-key", "0123456789abcdef-north")]);
    let totals = r#"[{"region":"north","total":40},{"region":"south","total":20}]"#;
    assert_eq!(north("/api/tables/totals").text(), totals);
    assert_eq!(north("/api/sql?q=select%20*%20from%20totals%20order%20by%20region").text(), totals);
    assert_eq!(north("/api/queries/total").text(), r#"[{"total":60}]"#);
    // The rules about the view itself hold.
    assert_eq!(north("/api/tables/open_pay?limit=1").text(), r#"[{"name":"ann"}]"#);
    refused(&north("/api/tables/open_pay?columns=salary"), 400, "salary");
    // Nothing of the tables behind it is in a plan.
    let plan = north("/api/sql?q=explain%20select%20*%20from%20totals");
    assert_eq!(plan.status, 200);
    assert!(!plan.text().contains("staff") && !plan.text().contains("salary"), "{}", plan.text());
}

fn document(server: &Server, headers: &[(&str, &str)], document: &str) -> Answer {
    let body = serde_json::json!({ "query": document }).to_string();
    let json = ("content-type", "application/json");
    server.ask("POST", "/api/graphql", &[&[json], headers].concat(), body.as_bytes())
}

#[test]
fn queries_are_fields_of_graphql() {
    let server = server();
    let answer = document(
        &server,
        &[],
        r#"{ of_city(city: "Leeds") { name } few: born(most: 1, since: "1980-01-01") { who: name } many { n } }"#,
    );
    let expected = r#"{"data":{"of_city":[{"name":"Ann"},{"name":"Cy"}],"few":[{"who":"Bob"}],"many":[{"n":2}]}}"#;
    assert_eq!((answer.status, answer.text()), (200, expected));
    let types = document(&server, &[], r#"{ __type(name: "of_city") { fields { name type { name } } } }"#);
    let expected = r#"{"data":{"__type":{"fields":[{"name":"id","type":{"name":"Int64"}},{"name":"name","type":{"name":"String"}}]}}}"#;
    assert_eq!(types.text(), expected);
    let answer = document(&server, &[], "{ wrong_query(id: 1) { id } }").json();
    let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("no column `nme` at line 1, column 8"), "{answer}");
    // A tag lasts as long as the statement and its tables do.
    let target = "/api/graphql?query=%7Bmany%7Bn%7D%7D";
    let tag = server.get(target).header("etag").expect("a tag").to_owned();
    assert_eq!(server.get_with(target, &[("if-none-match", &tag)]).status, 304);
}

#[test]
fn graphql_shows_callers_their_queries() {
    let server = ruled();
    let boss = |text: &str| document(&server, &[("x-api-key", "0123456789abcdef-boss")], text).json();
    let north = |text: &str| document(&server, &[("x-api-key", "0123456789abcdef-north")], text).json();
    let error = |answer: &serde_json::Value| answer["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
    for _ in 0..3 {
        let named = "{ named(from: \"b\") { name } total { total } }";
        let of = |names: &[&str]| -> serde_json::Value {
            names.iter().map(|name| serde_json::json!({ "name": name })).collect()
        };
        assert_eq!(
            boss(named)["data"],
            serde_json::json!({ "named": of(&["bob", "cat"]), "total": [{ "total": 60 }] })
        );
        assert_eq!(north(named)["data"], serde_json::json!({ "named": of(&["cat"]), "total": [{ "total": 60 }] }));
        assert_eq!(boss("{ paid(salary: 15) { name } }")["data"]["paid"], of(&["bob", "cat"]));
        let refused = error(&north("{ paid(salary: 15) { name } }"));
        assert_eq!(refused, "you may not read everything that the query `paid` reads");
        assert_eq!(boss("{ hidden_query { one } }")["data"]["hidden_query"][0]["one"], 1);
        let unknown = error(&north("{ hidden_query { one } }"));
        assert_eq!(unknown, "type `Query` does not have a field `hidden_query`");
    }
    let fields = north("{ __type(name: \"Query\") { fields { name } } }")["data"]["__type"]["fields"].to_string();
    assert!(fields.contains("\"named\"") && fields.contains("\"total\""), "{fields}");
    assert!(!fields.contains("paid") && !fields.contains("hidden_query"), "{fields}");
}

#[test]
fn views_of_changing_tables() {
    let toml = "[[stream]]\nname = \"clicks\"\n[[view]]\nname = \"pages\"\n\
        sql = \"SELECT page, count(*) AS n FROM clicks GROUP BY page ORDER BY page\"\n";
    let server = Server::with(toml, &[]);
    assert!(server.post_json("/api/streams/clicks", r#"[{"page":"a"},{"page":"b"},{"page":"a"}]"#).status < 300);
    let shows = |expected: &'static str| move |server: &Server| server.get("/api/tables/pages").text() == expected;
    server.until(shows(r#"[{"page":"a","n":2},{"page":"b","n":1}]"#));
    assert!(server.post_json("/api/streams/clicks", r#"{"page":"b"}"#).status < 300);
    server.until(shows(r#"[{"page":"a","n":2},{"page":"b","n":2}]"#));
    let answer = server.get("/api/tables/pages");
    assert_eq!(answer.header("etag"), None);
    assert_eq!(server.get("/api/export/pages.csv").text(), "page,n\na,2\nb,2\n");
}
