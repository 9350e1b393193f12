//! What stands before the records doors: pages of other origins, forged requests, addresses, and TLS.

use salver_testkit::servers::Kind;

use super::fixture::everything;
use super::program::Program;

fn with(server: &str) -> Program {
    Program::over(everything(Kind::Sqlite), &format!("[server]\n{server}\n"), "writable = true")
}

#[test]
fn cors() {
    let program = with("cors_origins = [\"http://example.com\", \"https://*.example.org\"]");
    let origin = ("origin", "http://example.com");
    let asked = [
        origin,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "X-XSRF-TOKEN, X-Requested-With"),
    ];
    let answer = program.ask("OPTIONS", "/records/people/1?include=id", &asked, None);
    assert_eq!(answer.said(), (200, ""));
    // Salver has some more.
    let headers = answer.header("access-control-allow-headers").unwrap_or_default();
    assert!(headers.starts_with("Content-Type, X-XSRF-TOKEN, X-Authorization, X-API-Key"), "{headers}");
    for (name, value) in [
        ("access-control-allow-methods", "OPTIONS, GET, PUT, POST, DELETE, PATCH"),
        ("access-control-allow-credentials", "true"),
        ("access-control-allow-origin", "http://example.com"),
        ("access-control-max-age", "1728000"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    for origin in ["http://example.com", "https://a.example.org"] {
        let answer = program.ask("GET", "/records/people/1?include=id", &[("origin", origin)], None);
        assert_eq!(answer.said(), (200, r#"{"id":1}"#), "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
        assert_eq!(answer.header("access-control-allow-credentials"), Some("true"));
    }
    // Errors too are for the page that caused them.
    let answer = program.ask("GET", "/records/people/99", &[origin], None);
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (404, Some("http://example.com")));
    for origin in ["http://example.org", "https://example.org.evil", "http://example.com.evil", "null"] {
        let answer = program.ask("GET", "/records/people/1", &[("origin", origin)], None);
        let expected = format!(r#"{{"code":1004,"message":"Origin '{}' is forbidden"}}"#, origin.replace('/', "\\/"));
        assert_eq!(answer.said(), (403, expected.as_str()));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn xsrf() {
    let program = with("xsrf = true");
    assert_eq!(program.get("/records/people/1?include=id").status, 200);
    let body = Some(r#"{"score":1}"#);
    let refused = (403, r#"{"code":1017,"message":"Bad or missing XSRF token"}"#);
    for headers in [
        vec![],
        vec![("cookie", "XSRF-TOKEN=abc")],
        vec![("x-xsrf-token", "abc")],
        vec![("cookie", "XSRF-TOKEN=abc"), ("x-xsrf-token", "abd")],
        vec![("cookie", "XSRF-TOKEN="), ("x-xsrf-token", "")],
    ] {
        assert_eq!(program.ask("PUT", "/records/people/1", &headers, body).said(), refused, "{headers:?}");
    }
    let headers = [("cookie", "a=b; XSRF-TOKEN=abc; c=d"), ("x-xsrf-token", "abc")];
    assert_eq!(program.ask("PUT", "/records/people/1", &headers, body).said(), (200, "1"));
    assert_mutations(&program, &headers, "score: 2");
}

/// Mutations of GraphQL are refused without `headers`, and done with them; what only reads is answered without.
fn assert_mutations(program: &Program, headers: &[(&str, &str)], change: &str) {
    let json = ("content-type", "application/json");
    let body = format!("{{\"query\": \"mutation {{ update_people(id: 1, set: {{{change}}}) {{ id }} }}\"}}");
    let refused = program.ask("POST", "/graphql", &[json], Some(&body));
    assert_eq!(refused.status, 403, "{}", refused.body);
    let read = program.ask("POST", "/graphql", &[json], Some(r#"{"query": "{ people(limit: 1) { id } }"}"#));
    assert_eq!(read.status, 200, "{}", read.body);
    let headers: Vec<_> = headers.iter().copied().chain([json]).collect();
    let done = program.ask("POST", "/graphql", &headers, Some(&body));
    assert!(done.status == 200 && !done.body.contains("errors"), "{}", done.body);
}

#[test]
fn ajax_only() {
    let program = with("ajax_only = true");
    assert_eq!(program.get("/records/people/1?include=id").status, 200);
    let answer = program.send("PUT", "/records/people/1", r#"{"score":1}"#);
    assert_eq!(answer.said(), (403, r#"{"code":1018,"message":"Only AJAX requests allowed for 'PUT'"}"#));
    let headers = [("x-requested-with", "XMLHttpRequest")];
    assert_eq!(program.ask("PUT", "/records/people/1", &headers, Some(r#"{"score":1}"#)).said(), (200, "1"));
    assert_mutations(&program, &headers, "score: 3");
}

#[test]
fn firewall() {
    let refused = (403, r#"{"code":1016,"message":"Temporary or permanently blocked"}"#);
    assert_eq!(with("firewall = [\"10.0.0.0/8\"]").get("/records/people/1").said(), refused);
    assert_eq!(with("firewall = [\"127.0.0.1\"]").get("/records/people/1").status, 200);
    assert_eq!(with("firewall = [\"127.0.0.0/8\", \"::1\"]").get("/records/people/1").status, 200);
    let program = with("firewall = [\"10.0.0.0/8\"]\nreverse_proxy = true");
    let asked = |address| program.ask("GET", "/records/people/1", &[("x-forwarded-for", address)], None).status;
    assert_eq!(asked("10.1.2.3"), 200);
    assert_eq!(asked("11.1.2.3"), 403);
    // What the caller wrote stands before what the proxy wrote.
    assert_eq!(asked("10.1.2.3, 11.1.2.3"), 403);
    // Without a proxy, nobody is believed.
    let program = with("firewall = [\"10.0.0.0/8\"]");
    assert_eq!(program.ask("GET", "/records/people/1", &[("x-forwarded-for", "10.1.2.3")], None).status, 403);
}

#[test]
fn ssl_redirect() {
    let program = with("ssl_redirect = true\nreverse_proxy = true");
    let headers = [("x-forwarded-proto", "http"), ("x-forwarded-host", "data.example.com")];
    let answer = program.ask("GET", "/records/people?size=1", &headers, None);
    assert_eq!(answer.status, 301);
    let location = answer.header("location").unwrap_or_default();
    assert!(location.starts_with("https://") && location.ends_with("/api/records/people?size=1"), "{location}");
    assert_eq!(program.ask("GET", "/records/people?size=1", &[("x-forwarded-proto", "https")], None).status, 200);
}
