//! `/openapi.json` of a real server: every row of the table of routes is in it, everything in it is well-formed, and
//! callers see what they may.

mod clients;
mod conformance;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::server::Server;

const SETTINGS: &str = r#"
[[database]]
name = "shop"
url = "sqlite:shop.db"
init = "shop.sql"
writable = true
columns = true

[[stream]]
name = "clicks"
schema = "clicks.json"
route = "/hooks/clicks"

[[function]]
file = "code.py"

[[store]]
name = "names"
dataset = "people"
key = "id"
value = "name"
"#;
const SHOP: &[u8] = b"create table goods (id integer primary key, name text not null, cost int);\
    insert into goods (name, cost) values ('tea', 3);";
const CODE: &[u8] = b"#* @get /doubled/<n:int>\ndef doubled(n: int) -> int:\n    return 2 * n\n";
const CLICKS: &[u8] =
    br##"{"type": "object", "properties": {"user": {"$ref": "#/$defs/name"}}, "$defs": {"name": {"type": "string"}}}"##;
const RULES: &str = r#"
[auth]
mode = "optional"
api_keys = ["program:a-key-of-a-program-1"]

[[role]]
name = "owner"
callers = ["api_key:program"]

[[access]]
roles = ["owner"]
entries = ["*"]
permissions = ["read", "sql", "export", "create", "update", "delete", "append", "consume", "call", "administer"]

[[access]]
entries = ["people"]
permissions = ["read"]
columns_hidden = ["salary"]
"#;
const OWNER: [(&str, &str); 1] = [("x-api-key", "a-key-of-a-program-1")];

fn serve(rules: &str) -> Server {
    let files: &[(&str, &[u8])] = &[
        ("people.csv", b"id,name,salary\n1,Ann,10\n"),
        ("odd name.csv", b"a b,\"c,d\",a b2\n1,2,3\n"),
        ("shop.sql", SHOP),
        ("code.py", CODE),
        ("clicks.json", CLICKS),
    ];
    let server = Server::with(&format!("{rules}\n{SETTINGS}"), files);
    server.until(|server| {
        let is_there = |path: &str| server.get_with(path, &OWNER).status == 200;
        is_there("/api/tables/goods") && is_there("/doubled/2")
    });
    server
}

/// The rows of `docs/routes.md`: methods and the first path.
fn rows() -> Vec<(Vec<String>, String)> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/routes.md")).expect("the page");
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let methods = match cells[0] {
            "any" => vec!["get", "post", "put", "patch", "delete"],
            named => named.split(", ").collect(),
        };
        for path in cells[1].split(", ").map(|path| path.trim_matches('`')) {
            let path = path.split('?').next().expect("a path").replace("{*", "{");
            let methods = methods.iter().map(|method| method.to_lowercase()).collect();
            // These lead to the same as without the database.
            if !path.starts_with("/_db/") {
                rows.push((methods, path));
            }
        }
    }
    assert!(rows.len() > 90, "{} rows", rows.len());
    rows
}

/// Every operation, with its path and method.
fn operations(document: &Json) -> Vec<(String, String, &Json)> {
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("an item") {
            all.push((path.clone(), method.clone(), operation));
        }
    }
    all
}

/// Calls `look` with every object in a document.
fn walk(json: &Json, look: &mut impl FnMut(&serde_json::Map<String, Json>)) {
    match json {
        Json::Object(members) => {
            look(members);
            members.values().for_each(|member| walk(member, look));
        }
        Json::Array(items) => items.iter().for_each(|item| walk(item, look)),
        _ => {}
    }
}

fn assert_well_formed(document: &Json) {
    assert_eq!(document["openapi"], "3.1.0");
    walk(document, &mut |members| {
        if let Some(Json::String(target)) = members.get("$ref") {
            let pointer = target.strip_prefix('#').expect("a reference within the document");
            assert!(document.pointer(pointer).is_some(), "{target} leads nowhere");
        }
    });
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(document) {
        let at = format!("{method} {path}");
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{at} has no id"));
        assert!(ids.insert(id.to_owned()), "{at}: {id} is another's");
        assert!(operation["responses"].as_object().is_some_and(|responses| !responses.is_empty()), "{at}");
        let parameters = operation.get("parameters").and_then(Json::as_array).cloned().unwrap_or_default();
        let inside: BTreeSet<&str> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().expect("a name"))
            .collect();
        let named: BTreeSet<&str> = path.split(['{', '}']).skip(1).step_by(2).collect();
        // Those of records are shared.
        let is_shared = |parameter: &Json| parameter["$ref"] == "#/components/parameters/records.pk";
        if !parameters.iter().any(is_shared) {
            assert_eq!(inside, named, "{at}");
        }
        let tags = document["tags"].as_array().expect("tags");
        for tag in operation["tags"].as_array().unwrap_or_else(|| panic!("{at} has no tag")) {
            assert!(tags.iter().any(|own| own["name"] == *tag && own["description"].is_string()), "{at}: {tag}");
        }
    }
}

#[test]
fn every_route_is_described() {
    let server = serve("");
    let document = server.get("/openapi.json").json();
    assert_well_formed(&document);
    // Nobody logs in here, in any way, and there is no named query.
    let absent = ["/auth/login", "/auth/callback", "/auth/logout", "/api/login", "/api/logout", "/api/register"];
    let absent = [&absent[..], &["/api/password", "/api/me", "/_open/auth", "/api/queries/{name}"]].concat();
    for (methods, path) in rows() {
        for method in methods {
            let is_there = document["paths"].get(&path).is_some_and(|item| item.get(&method).is_some());
            assert_eq!(is_there, !absent.contains(&path.as_str()), "{method} {path}");
        }
    }
    let paths = &document["paths"];
    assert_eq!(paths["/api/tables/people"]["get"]["operationId"], "rows.people");
    assert!(paths["/api/tables/odd%20name"]["get"].is_object());
    assert_eq!(paths["/api/records/goods"]["post"]["operationId"], "records.create_goods");
    assert!(paths["/api/streams/clicks"]["post"].is_object() && paths["/hooks/clicks"]["post"].is_object());
    let doubled = &paths["/doubled/{n}"]["get"];
    assert_eq!(doubled["parameters"][0]["schema"]["type"], "integer", "{doubled}");
    assert!(paths["/api/functions/code/doubled"]["post"].is_object());
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["row.people"]["properties"]["id"]["format"], "int64");
    let user = &schemas["event.clicks"]["properties"]["user"]["$ref"];
    assert_eq!(user, "#/components/schemas/event.clicks/$defs/name");
    let words = schemas["ErrorWord"]["enum"].as_array().expect("words");
    assert!(words.contains(&"not_found".into()) && words.len() > 60);
    // The words are those that come.
    let refused = server.get("/api/tables/nobody").json();
    assert!(words.contains(&refused["error"]), "{refused}");
}

#[test]
fn callers_see_what_they_may() {
    let server = serve(RULES);
    let whole = server.get_with("/openapi.json", &OWNER);
    let part = server.get("/openapi.json");
    for answer in [&whole, &part] {
        assert_eq!(answer.status, 200);
        assert_well_formed(&answer.json());
    }
    assert_eq!(part.header("cache-control"), Some("private, no-cache"));
    assert_ne!(whole.header("etag"), part.header("etag"));
    let (whole, part) = (whole.json(), part.json());
    for path in ["/api/records/goods/{id}", "/api/streams/clicks", "/hooks/clicks", "/doubled/{n}", "/metrics"] {
        assert!(whole["paths"].get(path).is_some() && part["paths"].get(path).is_none(), "{path}");
    }
    for path in
        ["/api/streams/{name}", "/topics/{topic}", "/api/functions/{file}/{function}", "/api/sql", "/_api/cursor"]
    {
        assert!(whole["paths"].get(path).is_some() && part["paths"].get(path).is_none(), "{path}");
    }
    assert!(part["paths"]["/api/tables/people"]["get"].is_object());
    let row = |document: &Json| document["components"]["schemas"]["row.people"]["properties"].clone();
    assert!(row(&whole)["salary"].is_object() && row(&part)["name"].is_object());
    for hidden in ["salary", "goods", "clicks", "doubled", "odd name"] {
        assert!(!part.to_string().contains(hidden), "{hidden} is told");
    }
    assert_eq!(part["components"]["securitySchemes"]["apiKey"]["name"], "x-api-key");
    assert!(part["paths"]["/api/tables/people"]["get"]["responses"]["401"].is_object());
}
