//! Every row of the table of routes, as `docs/routes.md` has it: what is answered to pages of other sites, to methods
//! that are not for a path, to bodies beyond the limit, to nobody where somebody is needed, to HEAD and to OPTIONS. A
//! row that is added is asked, too.

use crate::server::{Answer, Server};

const SETTINGS: &str = r#"
[[database]]
name = "shop"
url = "sqlite:shop.db"
init = "shop.sql"
writable = true
columns = true

[[stream]]
name = "clicks"

[[function]]
file = "code.py"

[[store]]
name = "names"
dataset = "people"
key = "id"
value = "name"
"#;
const SHOP: &[u8] = b"create table goods (id integer primary key, name text not null);\
    insert into goods (name) values ('tea'), ('salt');";
const CODE: &[u8] = b"#* @post /called\n#* @return int\ndef called(n: int = 0) -> int:\n    return n + 1\n\n\
    #* @options /anything\ndef anything():\n    return 'ran'\n";
/// Paths where nobody needs to say who they are: probes, and where one becomes known.
const OPEN: [&str; 4] = ["/health", "/ready", "/api/version", "/_open/auth"];

/// Methods that a path may have, and some that none has.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "BREW"];

/// A row of the page, at one of its paths.
struct Row {
    methods: Vec<String>,
    path: String,
    does: String,
}

/// The rows of the page, with values in their paths.
fn rows() -> Vec<Row> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/routes.md")).expect("the page");
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ") && line.contains('`')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let methods = match cells[0] {
            "any" => vec!["GET", "POST", "PUT", "PATCH", "DELETE"],
            named => named.split(", ").collect(),
        };
        for path in cells[1].split(", ") {
            let path = path.trim_matches('`');
            let valued = path.split('/').map(|part| value(path, part)).collect::<Vec<_>>().join("/");
            let valued = if valued.ends_with('=') { format!("{valued}people") } else { valued };
            let methods = methods.iter().map(|method| (*method).to_owned()).collect();
            rows.push(Row { methods, path: valued, does: cells[2].to_owned() });
        }
    }
    assert!(rows.len() > 100, "{} rows", rows.len());
    rows
}

/// What stands for a parameter of a path: what is there, as far as there is something.
fn value<'a>(path: &str, part: &'a str) -> &'a str {
    match part {
        "{table}" => "goods",
        "{store}" => "names",
        "{function}" => "called",
        "{column}" => "name",
        "{name}" | "{id}" if path.starts_with("/api/tables") || path.starts_with("/api/schema") => "people",
        "{id}" if path == "/api/export/{id}" => "people",
        "{name}" if path.starts_with("/_") || path.starts_with("/consumers") => "people",
        // The tail of a stream that is there does not end.
        "{name}" if path.ends_with("/tail") => "nothing",
        "{name}" | "{topic}" => "clicks",
        "{file}" | "{*file}" => "code",
        part if part.starts_with('{') => "7",
        part => part,
    }
}

fn serve(settings: &str) -> Server {
    let files: &[(&str, &[u8])] = &[("people.csv", b"id,name\n1,Ann\n7,Ben\n"), ("shop.sql", SHOP), ("code.py", CODE)];
    Server::with(&format!("{settings}\n{SETTINGS}"), files)
}

fn ready(server: Server, headers: &[(&str, &str)]) -> Server {
    let is_there = |server: &Server, path: &str| server.get_with(path, headers).status == 200;
    server.until(|server| is_there(server, "/api/tables/goods") && is_there(server, "/api/functions/code"));
    server
}

/// What is allowed, of all rows of a path.
fn allowed(answer: &Answer) -> Vec<String> {
    let allowed = answer.header("allow").unwrap_or_default();
    allowed.split(", ").filter(|method| !method.is_empty()).map(str::to_owned).collect()
}

#[test]
fn methods_are_told() {
    let server = ready(serve(""), &[]);
    for row in rows() {
        let options = server.ask("OPTIONS", &row.path, &[], b"");
        assert_eq!(options.status, 204, "OPTIONS {}: {options:?}", row.path);
        let told = allowed(&options);
        // The function is not pure, so that it is not got.
        let is_there = |method: &&String| row.path != "/api/functions/code/called" || *method != "GET";
        for method in row.methods.iter().filter(is_there) {
            assert!(told.contains(method), "OPTIONS {}: {told:?} has no {method}", row.path);
        }
        assert!(told.contains(&"OPTIONS".to_owned()), "OPTIONS {}", row.path);
        assert_eq!(options.text(), "", "OPTIONS {}", row.path);
        // A method that is for no path, and those that are for others.
        for method in ["BREW", "GET", "POST", "PUT", "PATCH", "DELETE"] {
            if told.iter().any(|own| own == method) {
                continue;
            }
            let answer = server.ask(method, &row.path, &[("content-type", "application/json")], b"");
            let at = format!("{method} {}: {answer:?}", row.path);
            match answer.status {
                405 => assert!(!allowed(&answer).is_empty(), "{at}"),
                // What else ArangoDB has is refused whatever the method is.
                404 | 501 if row.path.starts_with("/_") => {}
                _ => panic!("{at}"),
            }
        }
    }
}

#[test]
fn pages_of_other_sites_are_kept_out() {
    let server = ready(serve(""), &[]);
    for row in rows() {
        for method in &row.methods {
            let foreign = [("origin", "https://evil.example"), ("content-type", "text/plain")];
            let answer = server.ask(method, &row.path, &foreign, b"");
            let at = format!("{method} {}: {answer:?}", row.path);
            let is_refused = answer.status == 403 && answer.text().contains("evil.example");
            assert_eq!(is_refused, row.does != "reads" || method != "GET", "{at}");
            assert_eq!(answer.header("access-control-allow-origin"), None, "{at}");
        }
    }
    let rows = server.post("/api/sql", "select count(*) as n from goods");
    assert_eq!(rows.text(), "[{\"n\":2}]");
}

#[test]
fn what_is_got_has_a_head() {
    let server = ready(serve(""), &[]);
    // What tells of the moment is another the next time.
    let moves = ["/ready", "/metrics", "/_admin/time", "/api/status/ping"];
    for row in rows().iter().filter(|row| row.methods.iter().any(|method| method == "GET")) {
        let (whole, head) = (server.get(&row.path), server.ask("HEAD", &row.path, &[], b""));
        let at = format!("{}: {whole:?} {head:?}", row.path);
        assert_eq!(whole.status, head.status, "{at}");
        assert_eq!(head.text(), "", "{at}");
        assert_ne!(whole.status, 0, "{at}");
        assert!(whole.status < 500 || row.path.starts_with("/_api"), "{at}");
        for name in ["content-type", "etag", "allow", "vary", "x-content-type-options"] {
            assert_eq!(whole.header(name), head.header(name), "{name}: {at}");
        }
        // What is said of a method names it.
        let is_fixed = !moves.iter().any(|path| row.path.ends_with(path)) && whole.status != 405;
        if is_fixed && let (Some(whole), Some(head)) = (whole.header("content-length"), head.header("content-length")) {
            assert_eq!(whole, head, "{at}");
        }
    }
}

#[test]
fn bodies_have_a_limit() {
    let server = ready(serve("[limits]\nbody_bytes_max = \"64KiB\""), &[]);
    let large = vec![b'x'; 128 * 1024];
    for row in rows() {
        for method in row.methods.iter().filter(|method| *method != "GET") {
            for media_type in ["application/json", "application/vnd.kafka.json.v2+json", "text/csv"] {
                let answer = server.ask(method, &row.path, &[("content-type", media_type)], &large);
                let at = format!("{method} {} {media_type}: {answer:?}", row.path);
                // DELETE looks at no body, and v3 tells of each record within its answer.
                let is_told = answer.status == 200 && answer.text().starts_with("{\"error_code\":400");
                let is_refused = (400..500).contains(&answer.status) || is_told;
                assert!(is_refused || answer.status == 501 || method == "DELETE" && answer.status < 500, "{at}");
            }
        }
        assert_eq!(server.get("/health").status, 200, "{}", row.path);
    }
}

#[test]
fn nobody_is_let_in_where_somebody_is_needed() {
    let key = [("x-api-key", "a-key-of-a-program-1")];
    let server = ready(serve("[auth]\napi_keys = [\"program:a-key-of-a-program-1\"]"), &key);
    for row in rows() {
        for method in METHODS {
            let answer = server.ask(method, &row.path, &[("content-type", "application/json")], b"{}");
            let at = format!("{method} {}: {answer:?}", row.path);
            // The console's files hold no data.
            let is_file = row.path.starts_with("/console") && matches!(method, "GET" | "HEAD");
            let is_open = is_file || OPEN.iter().any(|open| row.path.ends_with(open));
            assert_eq!(answer.status == 401, !is_open, "{at}");
        }
        let options = server.ask("OPTIONS", &row.path, &[], b"");
        assert_eq!(options.status, 204, "OPTIONS {}", row.path);
    }
    // User code that answers OPTIONS itself is user code.
    assert_eq!(server.ask("OPTIONS", "/anything", &[], b"").status, 401);
    assert_eq!(server.ask("OPTIONS", "/anything", &key, b"").status, 200);
}

/// Other ways to write a path lead nobody past the question who asks.
#[test]
fn no_spelling_of_a_path_lets_anybody_in() {
    let key = [("x-api-key", "a-key-of-a-program-1")];
    let server = ready(serve("[auth]\napi_keys = [\"program:a-key-of-a-program-1\"]"), &key);
    assert!(server.get_with("/api/tables/people", &key).text().contains("Ann"));
    for path in [
        "/health/../api/tables/people",
        "/health/..;/api/tables/people",
        "/health%2f..%2fapi/tables/people",
        "/health/%2e%2e/api/tables/people",
        "/api/version/../tables/people",
        "/_open/auth/../../api/tables/people",
        "//api/tables/people",
        "/API/tables/people",
        "/%61pi/tables/people",
        "/api//tables/people",
        "/./api/tables/people",
        "/api/tables/./people",
        "/api/tables/people/",
        "/api/tables/people?x=/health",
        "/api/tables/people;/health",
        "/api/tables/people%00/health",
        "/api/tables/people%2ejson",
        "http://localhost/api/tables/people",
        "http://localhost/health/../api/tables/people",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 401, "{path}: {answer:?}");
    }
    for path in ["/health?/api/tables/people", "/health#/api/tables/people"] {
        let answer = server.get(path);
        assert!(!answer.text().contains("Ann"), "{path}: {answer:?}");
    }
}

const READER: &str = r#"
[auth]
api_keys = ["program:a-key-of-a-program-1", "reader:a-key-of-a-reader-22"]
[[role]]
name = "owner"
callers = ["api_key:program"]
[[access]]
roles = ["owner"]
entries = ["*"]
permissions = ["read", "sql", "export", "create", "update", "delete", "append", "consume", "call", "administer"]
[[access]]
entries = ["*"]
permissions = ["read"]
"#;

/// Who may read may do nothing else, at any path, by any method.
#[test]
fn readers_change_nothing() {
    let (owner, reader) = (("x-api-key", "a-key-of-a-program-1"), ("x-api-key", "a-key-of-a-reader-22"));
    let server = ready(serve(READER), &[owner]);
    let state = || {
        ["/api/records/goods", "/api/columns", "/api/streams/clicks/events", "/api/streams/clicks/groups"]
            .map(|path| server.get_with(path, &[owner]).json())
    };
    let before = state();
    let bodies = [
        r#"{"name":"x"}"#,
        r#"[{"name":"x"}]"#,
        r#"{"records":[{"value":{"a":1}}]}"#,
        r#"{"offset":0}"#,
        r#"[{"operation":"create","table":"goods","record":{"name":"x"}}]"#,
    ];
    for row in rows() {
        for method in METHODS {
            for body in bodies {
                let headers = [reader, ("content-type", "application/json")];
                let answer = server.ask(method, &row.path, &headers, body.as_bytes());
                let at = format!("{method} {} {body}: {answer:?}", row.path);
                assert!(answer.status < 500 || answer.status == 501, "{at}");
                // What a function answers is for who may call.
                let is_call = method == "POST" && row.path.ends_with("/called");
                assert!(!is_call || answer.status == 403, "{at}");
            }
        }
        assert_eq!(state(), before, "{}", row.path);
    }
    // The same is done for who may.
    let json = ("content-type", "application/json");
    assert_eq!(server.ask("POST", "/api/records/goods", &[owner, json], br#"{"name":"x"}"#).status, 200);
    assert_eq!(server.ask("POST", "/api/streams/clicks", &[owner, json], br#"{"a":1}"#).status, 200);
    assert_ne!(state(), before);
}

#[test]
fn what_the_server_has_comes_before_user_code() {
    let code = b"#* @get /api/tables/people\n#* @post /health\n#* @get /ready\n#* @get /own\n\
        def taken():\n    return 'taken'\n";
    let server = Server::with("[[function]]\nfile = \"code.py\"", &[("people.csv", b"id\n1\n"), ("code.py", code)]);
    server.until(|server| server.get("/own").status == 200);
    for path in ["/health", "/ready", "/api/tables/people"] {
        assert_ne!(server.get(path).text().trim().trim_matches('"'), "taken", "{path}");
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    let posted = server.ask("POST", "/health", &[], b"");
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
}

#[test]
fn nobody_is_sent_on_to_another_host() {
    let settings = "[server]\nreverse_proxy = true\nssl_redirect = true\nhosts = [\"data.example\"]";
    let server = Server::with(settings, &[("people.csv", b"id\n1\n")]);
    for (host, status) in [("evil.example", "403"), ("data.example", "301")] {
        let text = format!("GET /api/tables/people HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let answer = String::from_utf8_lossy(&server.raw(text.as_bytes())).into_owned();
        assert_eq!(answer.split(' ').nth(1), Some(status), "{host}: {answer}");
        assert!(!answer.contains("location: https://evil"), "{answer}");
    }
}
