//! Pages of other sites and hosts that are not ours, at every door.

mod second;

use std::io::{Read, Write};

use crate::server::{Answer, Server};

const FUNCTIONS: &[u8] = br#"
calls = 0

#* @get /calls
#* @post /calls
#* @return int
def called(n: int = 0) -> int:
    return n + 1

#* @post /changed
#* @return int
def changed(n: int = 0) -> int:
    return n

#* @pure
#* @get /pure
def pure(n: int = 0) -> int:
    return n
"#;
const SHOP: &[u8] = b"create table goods (id integer primary key, name text not null);\
    insert into goods (name) values ('tea'), ('salt');";
const SETTINGS: &str = r#"
[[database]]
name = "shop"
url = "sqlite:shop.db"
init = "shop.sql"
writable = true
columns = true

[[stream]]
name = "clicks"
route = "/beacon"

[[function]]
file = "code.py"

[[store]]
name = "names"
dataset = "people"
key = "id"
value = "name"
"#;

/// How far a request goes, and so what a page of another site may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// It reads: any page may ask, and none can read the answer.
    Reads,
    /// It runs code or holds something: pages of other sites may not, unless `cors` is on; a link may be followed.
    Runs,
    /// It is a request to run something, which no link is.
    Asks,
    /// It changes rows or events: pages of other sites may not, unless they are named.
    Changes,
}
use Reach::{Asks, Changes, Reads, Runs};

/// A row of every door: method, target, body, reach.
const DOORS: &[(&str, &str, &str, Reach)] = &[
    ("GET", "/", "", Reads),
    ("GET", "/health", "", Reads),
    ("GET", "/ready", "", Reads),
    ("GET", "/openapi.json", "", Reads),
    ("GET", "/api/version", "", Reads),
    ("GET", "/api/schema", "", Reads),
    ("GET", "/api/schema/people", "", Reads),
    ("GET", "/api/tables/people?limit=1", "", Reads),
    ("HEAD", "/api/tables/people", "", Reads),
    ("GET", "/api/kv/names/1", "", Reads),
    ("GET", "/api/graphql/start.js", "", Reads),
    ("GET", "/api/functions", "", Reads),
    ("GET", "/api/functions/code", "", Reads),
    ("GET", "/api/functions.openapi.json", "", Reads),
    ("GET", "/api/records/goods", "", Reads),
    ("GET", "/api/records/goods/1", "", Reads),
    ("GET", "/api/columns", "", Reads),
    ("GET", "/api/openapi", "", Reads),
    ("GET", "/api/status/ping", "", Reads),
    ("GET", "/api/streams", "", Reads),
    ("GET", "/api/streams/clicks", "", Reads),
    ("GET", "/api/streams/clicks/events", "", Reads),
    ("OPTIONS", "/api/sql", "", Reads),
    ("GET", "/api/sql?q=select%201", "", Asks),
    ("GET", "/api/graphql?query=%7B__typename%7D", "", Runs),
    ("GET", "/api/export/people.csv", "", Runs),
    ("GET", "/api/cache/clear", "", Asks),
    ("GET", "/api/functions/code/pure?n=1", "", Runs),
    ("GET", "/calls?n=1", "", Runs),
    ("GET", "/pure?n=1", "", Runs),
    ("GET", "/topics", "", Runs),
    ("GET", "/_api/version", "", Runs),
    ("POST", "/api/sql", "select 1", Asks),
    ("POST", "/api/graphql", "{ __typename }", Asks),
    ("POST", "/api/export/people", "{}", Asks),
    ("POST", "/api/export?collection=people", "{}", Asks),
    ("POST", "/api/cursor", "{\"query\":\"FOR p IN people RETURN p\"}", Asks),
    ("POST", "/_api/cursor", "{\"query\":\"FOR p IN people RETURN p\"}", Asks),
    ("PUT", "/_api/cursor/1", "", Asks),
    ("DELETE", "/_api/cursor/1", "", Asks),
    ("POST", "/api/functions/code/called", "{}", Asks),
    ("POST", "/calls", "{}", Asks),
    ("DELETE", "/api/jobs/1", "", Asks),
    ("POST", "/api/table", "{}", Asks),
    ("BREW", "/api/tables/people", "", Asks),
    ("POST", "/api/records/goods", "{\"name\":\"foreign\"}", Changes),
    ("PUT", "/api/records/goods/1", "{\"name\":\"foreign\"}", Changes),
    ("PATCH", "/api/records/goods/1", "{\"name\":\"foreign\"}", Changes),
    ("DELETE", "/api/records/goods/1", "", Changes),
    ("POST", "/api/columns", "{\"name\":\"foreign\",\"columns\":[{\"name\":\"id\",\"type\":\"integer\"}]}", Changes),
    ("POST", "/api/streams/clicks", "{\"from\":\"foreign\"}", Changes),
    ("POST", "/beacon", "{\"from\":\"foreign\"}", Changes),
    ("POST", "/v0/events?name=clicks", "{\"from\":\"foreign\"}", Changes),
    ("POST", "/topics/clicks", "{\"records\":[{\"value\":{\"from\":\"foreign\"}}]}", Changes),
    (
        "POST",
        "/v3/clusters/c/topics/clicks/records",
        "{\"value\":{\"type\":\"JSON\",\"data\":{\"from\":\"foreign\"}}}",
        Changes,
    ),
    ("POST", "/api/streams/clicks/groups/g/commit", "{\"offset\":1}", Changes),
];

fn serve(server: &str) -> Server {
    let toml = format!("[server]\n{server}\n{SETTINGS}");
    let files: &[(&str, &[u8])] =
        &[("people.csv", b"id,name\n1,Ann\n2,Ben\n"), ("shop.sql", SHOP), ("code.py", FUNCTIONS)];
    let server = Server::with(&toml, files);
    server.until(|server| server.get("/api/tables/goods").status == 200 && server.get("/calls").status == 200);
    server
}

/// Sends a row with headers. A body goes as browsers send one without asking first, where that is enough.
fn send(server: &Server, door: &(&str, &str, &str, Reach), headers: &[(&str, &str)]) -> Answer {
    let (method, target, body, _) = *door;
    let media_type = match target {
        "/api/sql" | "/api/graphql" => "text/plain",
        _ if target.starts_with("/topics/") => "application/vnd.kafka.json.v2+json",
        _ => "application/json",
    };
    let mut all = vec![("content-type", media_type)];
    all.extend_from_slice(headers);
    server.ask(method, target, &all, body.as_bytes())
}

/// Whether a page is not let in. What is read-only is so for everybody.
fn is_refused(answer: &Answer) -> bool {
    answer.status == 403 && !answer.text().contains("read_only_mode")
}

/// That nothing of what was refused was done.
fn assert_unchanged(server: &Server, name: &str) {
    let rows = server.post("/api/sql", "select count(*) as n from goods where name <> 'foreign'");
    assert_eq!(rows.text(), "[{\"n\":2}]", "{name}");
    let events = server.post("/api/sql", "select count(*) as n from clicks");
    assert_eq!(events.text(), "[{\"n\":0}]", "{name}");
    assert_eq!(server.get("/api/tables/foreign").status, 404, "{name}");
}

#[test]
fn pages_of_other_sites_run_and_change_nothing() {
    let server = serve("");
    let own = format!("http://{}", server.address());
    let cross = ("sec-fetch-site", "cross-site");
    let pages: &[(&str, &[(&str, &str)])] = &[
        ("an origin elsewhere", &[("origin", "http://evil.example")]),
        ("the same host, another port", &[("origin", "http://127.0.0.1:1")]),
        ("another name of this machine", &[("origin", "http://localhost")]),
        ("no origin to tell", &[("origin", "null")]),
        ("an empty origin", &[("origin", "")]),
        ("a name that begins like ours", &[("origin", &format!("{own}.evil.example"))]),
        ("two origins", &[("origin", &own), ("origin", "http://evil.example")]),
        ("a picture on a page of the same site", &[("sec-fetch-site", "same-site"), ("sec-fetch-dest", "image")]),
        ("a picture on a page elsewhere", &[cross, ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")]),
        ("a frame in a page elsewhere", &[cross, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]),
    ];
    for (page, headers) in pages {
        for door in DOORS {
            let answer = send(&server, door, headers);
            let expected = door.3 != Reads;
            assert_eq!(is_refused(&answer), expected, "{page}: {door:?}: {} {answer:?}", answer.status);
            assert_eq!(answer.header("access-control-allow-origin"), None, "{page}: {door:?}");
        }
        assert_unchanged(&server, page);
    }
    let link = [cross, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    for door in DOORS {
        let answer = send(&server, door, &link);
        assert_eq!(is_refused(&answer), matches!(door.3, Asks | Changes), "a link: {door:?}: {answer:?}");
    }
    assert_unchanged(&server, "a link");
    // The server's own pages, and programs, which are nobody's page.
    let fetched = [("origin", own.as_str()), ("sec-fetch-site", "same-origin")];
    for headers in [&fetched[..], &[("origin", &own.to_uppercase().replace("HTTP", "http"))], &[]] {
        for door in DOORS {
            let answer = send(&server, door, headers);
            assert!(!is_refused(&answer) && answer.status != 0, "{headers:?}: {door:?}: {answer:?}");
        }
    }
}

#[test]
fn a_statement_by_get_changes_nothing() {
    // A browser says nothing of the page where the server is reached over http by a name of the network.
    let server = serve("");
    let sql = |method: &str, call: &str| {
        let target = format!("/api/sql?q=select%20{call}%20as%20n");
        match method {
            "POST" => server.ask(method, "/api/sql", &[], format!("select {call} as n").as_bytes()),
            _ => server.ask(method, &target, &[], b""),
        }
    };
    for (call, by_get) in
        [("changed(1)", 405), ("CHANGED(1)", 405), ("code.changed(1)", 405), ("pure(1)", 200), ("called(1)", 200)]
    {
        for method in ["GET", "HEAD"] {
            assert_eq!(sql(method, call).status, by_get, "{method} {call}");
        }
        assert_eq!(sql("POST", call).status, 200, "{call}");
    }
    let told = sql("GET", "changed(1)").text().to_owned();
    assert!(told.contains("by POST") && told.contains("@pure"), "{told}");
}

#[test]
fn refusals_speak_the_language_of_their_door() {
    let server = serve("");
    let foreign = [("origin", "http://evil.example")];
    for (target, expected) in [
        ("/api/sql", "\"error\":\"origin_forbidden\""),
        ("/api/records/goods", "{\"code\":1004,\"message\":\"Origin 'http:\\/\\/evil.example' is forbidden\"}"),
        ("/api/streams/clicks", "\"error\":\"origin_forbidden\""),
        ("/topics/clicks", "\"error_code\":40301"),
        ("/_api/cursor", "\"error\":true,\"code\":403,\"errorNum\":11"),
        ("/v0/events?name=clicks", "{\"error\":\"Origin 'http://evil.example' is forbidden"),
    ] {
        let answer = server.ask("POST", target, &foreign, b"{}");
        assert_eq!(answer.status, 403, "{target}");
        assert!(answer.text().contains(expected), "{target}: {}", answer.text());
    }
}

#[test]
fn pages_are_let_in_by_the_settings() {
    let any = serve("cors = true");
    let foreign = [("origin", "http://evil.example")];
    for door in DOORS {
        let answer = send(&any, door, &foreign);
        assert_eq!(is_refused(&answer), door.3 == Changes, "cors: {door:?}: {answer:?}");
    }
    assert_unchanged(&any, "cors");
    let mutation = r#"{"query":"mutation { create_goods(records: [{name: \"foreign\"}]) { name } }"}"#;
    let json = ("content-type", "application/json");
    any.ask("POST", "/api/graphql", &[json, foreign[0]], mutation.as_bytes());
    assert_unchanged(&any, "a mutation");

    let named = serve("cors_origins = [\"https://*.example.org\"]");
    let friend = [("origin", "https://app.example.org")];
    for door in DOORS {
        let answer = send(&named, door, &friend);
        assert!(!is_refused(&answer), "named: {door:?}: {answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(friend[0].1), "named: {door:?}");
        assert_eq!(answer.header("access-control-allow-credentials"), Some("true"), "named: {door:?}");
        let exposed = answer.header("access-control-expose-headers").unwrap_or_default().to_ascii_lowercase();
        assert!(exposed.contains("etag") && exposed.contains("x-total-count"), "named: {door:?}: {exposed}");
    }
    // A name says more than that all may read.
    let both = serve("cors = true\ncors_origins = [\"https://*.example.org\"]");
    for door in DOORS {
        let told = |origin| {
            let answer = send(&both, door, &[("origin", origin)]);
            (answer.header("access-control-allow-origin").map(str::to_owned), is_refused(&answer))
        };
        assert_eq!(told(friend[0].1), (Some(friend[0].1.to_owned()), false), "both: {door:?}");
        if door.3 == Reads {
            assert_eq!(told("https://other.example").0.as_deref(), Some("*"), "both: {door:?}");
        }
    }
    for door in DOORS.iter().filter(|door| door.3 != Reads) {
        assert!(is_refused(&send(&named, door, &foreign)), "not named: {door:?}");
        assert!(is_refused(&send(&named, door, &[("origin", "null")])), "null: {door:?}");
        let own = format!("http://{}", named.address());
        assert!(!is_refused(&send(&named, door, &[("origin", &own)])), "own: {door:?}");
    }
    for target in ["/api/sql", "/api/functions/code/called", "/api/export/people", "/api/streams/clicks", "/calls"] {
        let asks = [friend[0], ("access-control-request-method", "POST")];
        let answer = named.ask("OPTIONS", target, &asks, b"");
        assert_eq!(answer.header("access-control-allow-origin"), Some(friend[0].1), "{target}");
        assert!(answer.header("access-control-allow-methods").is_some_and(|said| said.contains("POST")), "{target}");
        let asks = [asks[0], asks[1], ("access-control-request-headers", "authorization,x-api-key,x-requested-with")];
        let answer = named.ask("OPTIONS", target, &asks, b"");
        let allowed = answer.header("access-control-allow-headers").unwrap_or_default().to_ascii_lowercase();
        assert!(
            ["authorization", "x-api-key", "x-requested-with"].iter().all(|name| allowed.contains(name)),
            "{target}"
        );
    }
}

/// A request as it is written, so that its `Host` is ours to say.
fn raw(server: &Server, head: &str, body: &str) -> u16 {
    let text = format!("{head}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let answer = server.raw(text.as_bytes());
    let line = String::from_utf8_lossy(&answer).into_owned();
    line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[test]
fn hosts_that_are_not_ours_are_refused_at_every_door() {
    let server = serve("");
    for (method, target, body, reach) in DOORS {
        // Probes know no name, and learn nothing but that the server lives.
        let expected = if *target == "/health" { 200 } else { 403 };
        for host in ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example"] {
            let head = format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\n");
            assert_eq!(raw(&server, &head, body), expected, "{host}: {method} {target} {reach:?}");
        }
        // What the request line says counts before the header (RFC 9112, section 3.2.2).
        let whole = format!("{method} http://evil.example{target} HTTP/1.1\r\nhost: {}\r\n", server.address());
        assert_eq!(raw(&server, &whole, body), expected, "{method} {target} {reach:?}");
    }
    assert_unchanged(&server, "hosts");
    let address = server.address();
    let port = address.rsplit_once(':').unwrap().1;
    let status = |lines: &str| raw(&server, &format!("GET /api/tables/people HTTP/1.1\r\n{lines}"), "");
    for host in [address, "127.0.0.1", "localhost", &format!("LOCALHOST:{port}"), "a.localhost", "[::1]", "127.7.7.7"] {
        assert_eq!(status(&format!("host: {host}\r\n")), 200, "{host}");
    }
    for lines in ["", "host: localhost\r\nhost: localhost\r\n", "host: localhost\r\nhost: evil.example\r\n"] {
        assert_eq!(status(lines), 400, "{lines}");
    }
    let whole = format!("GET http://{address}/health HTTP/1.1\r\nhost: evil.example\r\n");
    assert_eq!(raw(&server, &whole, ""), 200, "the request line says it");
    assert_eq!(raw(&server, "GET /health HTTP/1.0\r\n", ""), 200, "probes of HTTP/1.0 name no host");
    let said = server.ask("GET", "/api/version", &[("host", "x")], b"");
    assert_eq!(said.status, 400, "{said:?}");
    assert_eq!(raw(&server, "GET /health HTTP/1.1\r\nhost: balancer.example\r\n", ""), 200, "probes know no name");
    let told = server.raw(b"GET /api/tables/people HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n");
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(told.contains("host_forbidden") && told.contains("server.hosts"), "{told}");
}

#[test]
fn hosts_are_named_by_the_settings() {
    let status =
        |server: &Server, lines: &str, target: &str| raw(server, &format!("GET {target} HTTP/1.1\r\n{lines}"), "");
    let named = serve("hosts = [\"data.example.org\", \"*.corp\"]");
    for (host, expected) in
        [("data.example.org:8080", 200), ("DATA.example.org", 200), ("a.corp", 200), ("corp", 403), ("localhost", 200)]
    {
        assert_eq!(status(&named, &format!("host: {host}\r\n"), "/api/tables/people"), expected, "{host}");
    }
    let proxied = serve("reverse_proxy = true");
    assert_eq!(status(&proxied, "host: any.example\r\n", "/api/tables/people"), 200);
    let write = |lines: &str| {
        let head = format!("POST /api/streams/clicks HTTP/1.1\r\ncontent-type: application/json\r\n{lines}");
        raw(&proxied, &head, "{\"a\":1}")
    };
    assert_eq!(write("host: backend\r\norigin: https://a.example\r\n"), 403);
    assert_eq!(write("host: backend\r\norigin: https://a.example\r\nx-forwarded-host: a.example\r\n"), 200);
    assert_eq!(write("host: a.example\r\norigin: https://a.example\r\n"), 200);
    let forwarded = "host: backend\r\norigin: https://a.example:8443\r\nx-forwarded-host: a.example\r\n";
    assert_eq!(write(forwarded), 403);
    assert_eq!(write(&format!("{forwarded}x-forwarded-port: 8443\r\n")), 200);
    let browser = "host: backend\r\norigin: https://a.example\r\nsec-fetch-site: ";
    assert_eq!(write(&format!("{browser}same-origin\r\n")), 200, "the browser says that the page is the server's");
    assert_eq!(write(&format!("{browser}same-site\r\n")), 403);
    assert_eq!(write(&format!("{browser}same-origin\r\nsec-fetch-site: cross-site\r\n")), 403);
    let direct = serve("");
    let head = "POST /api/streams/clicks HTTP/1.1\r\nhost: localhost\r\norigin: https://a.example\r\n\
        x-forwarded-host: a.example\r\n";
    assert_eq!(raw(&direct, head, "{\"a\":1}"), 403, "without a proxy nobody forwards");
}

#[test]
fn the_same_holds_over_http_2() {
    let server = serve("");
    let own = format!("http://{}", server.address());
    for (method, target, body, expected) in [
        ("POST", "/api/streams/clicks", "{\"a\":1}", 200),
        ("POST", "/api/records/goods", "{\"name\":\"oil\"}", 200),
        ("POST", "/api/sql", "select 1", 200),
        ("GET", "/api/tables/people", "", 200),
    ] {
        let ask = |authority: &str, headers: &[(&str, &str)]| {
            second::ask(&server, (method, target, authority), headers, body.as_bytes())
        };
        assert_eq!(ask(server.address(), &[("origin", &own)]), expected, "{target}: the server's own page");
        assert_eq!(ask("localhost", &[("origin", "http://localhost")]), expected, "{target}: by name");
        assert_eq!(ask("evil.example", &[]), 403, "{target}: a host that is not ours");
        assert_eq!(ask("evil.example", &[("host", server.address())]), 403, "{target}: and a header that is");
        if method == "POST" {
            assert_eq!(ask(server.address(), &[("origin", "http://evil.example")]), 403, "{target}: a page elsewhere");
        }
    }
}

/// What is answered before its body is read is answered all the same.
#[test]
fn who_is_still_sending_sees_the_answer() {
    let server = serve("");
    let body = vec![b' '; 1 << 20];
    let foreign = [("origin", "http://evil.example")];
    for (method, target, headers, expected) in [
        ("POST", "/api/sql", &foreign[..], 403),
        ("POST", "/api/nothing", &[], 404),
        ("DELETE", "/api/sql", &[], 405),
        ("PUT", "/api/streams/clicks", &[], 405),
    ] {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let mut stream = server.connect();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: {}\r\n{lines}content-length: {}\r\nconnection: close\r\n\r\n",
            server.address(),
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // By then it is answered.
        std::thread::sleep(std::time::Duration::from_millis(50));
        stream.write_all(&body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let start = format!("HTTP/1.1 {expected} ");
        assert!(answer.starts_with(start.as_bytes()), "{target}: {}", String::from_utf8_lossy(&answer));
        // No more than a stream's window, which a server need not widen for what it does not want.
        let told = second::ask(&server, (method, target, server.address()), headers, &body[..60_000]);
        assert_eq!(told, expected, "{target} over HTTP/2");
    }
}
