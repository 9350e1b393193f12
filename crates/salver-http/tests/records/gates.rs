//! Who may ask: addresses, origins, tokens, TLS, and what is known of the caller.

use std::net::IpAddr;

use salver_http::{HttpOptions, OriginOptions};
use salver_testkit::FakeDatabase;

use super::fixture::World;

async fn world(options: HttpOptions) -> World {
    World::with(FakeDatabase::blog(), options).await
}

#[tokio::test]
async fn the_firewall_lets_its_networks_in() {
    let firewall = vec!["10.0.0.0/8".to_owned(), "fd00::/8".to_owned()];
    let shut = world(HttpOptions { firewall: firewall.clone(), ..HttpOptions::default() }).await;
    let answer = shut.get("/api/records/posts").await;
    assert_eq!(answer.said(), (403, "{\"code\":1016,\"message\":\"Temporary or permanently blocked\"}"));
    assert_eq!((shut.get("/health").await.status, shut.get("/").await.status), (200, 403), "a probe from here");
    assert_eq!(shut.get("/api/records/health").await.status, 403, "a table is not a probe");
    // What is not believed of a client opens nothing.
    assert_eq!(shut.send("GET", "/api/records/posts", &[("x-forwarded-for", "10.0.0.1")], b"").await.status, 403);
    let proxied = world(HttpOptions { firewall, reverse_proxy: true, ..HttpOptions::default() }).await;
    for (said, status) in [
        ("10.0.0.1", 200),
        ("10.0.0.1:4711", 200),
        ("fd12::1", 200),
        ("[fd12::1]:80", 200),
        ("11.0.0.1", 403),
        ("11.0.0.1:80", 403),
        ("10.0.0.1, 11.0.0.1", 403),
        ("x", 403),
    ] {
        let answer = proxied.send("GET", "/api/records/posts", &[("x-forwarded-for", said)], b"").await;
        assert_eq!(answer.status, status, "{said}");
    }
}

#[tokio::test]
async fn callers_are_what_a_trusted_proxy_says() {
    let caller_headers = vec![("user".to_owned(), "X-User".to_owned())];
    let headers = [("x-user", "ada"), ("x-forwarded-for", "1.2.3.4, 5.6.7.8")];
    for reverse_proxy in [false, true] {
        let world =
            world(HttpOptions { reverse_proxy, caller_headers: caller_headers.clone(), ..HttpOptions::default() })
                .await;
        world.send("GET", "/api/records/posts", &headers, b"").await;
        let (caller, _) = world.database.asked().pop().unwrap();
        let address: IpAddr = if reverse_proxy { "5.6.7.8" } else { "127.0.0.1" }.parse().unwrap();
        assert_eq!(caller.address, Some(address));
        assert_eq!(caller.attribute("user").as_deref(), reverse_proxy.then_some("ada"));
        world.send("GET", "/api/records/posts", &[("x-user", "")], b"").await;
        let (nobody, _) = world.database.asked().pop().unwrap();
        assert_eq!(nobody.attribute("user"), None, "an empty header tells nobody");
    }
}

#[tokio::test]
async fn origins() {
    let origins = Some(OriginOptions::of(vec!["http://*.example.com".to_owned(), "http://example.com".to_owned()]));
    let world = world(HttpOptions { origins, ..HttpOptions::default() }).await;
    let preflight = [("origin", "http://example.com"), ("access-control-request-method", "POST")];
    let answer = world.send("OPTIONS", "/api/records/posts/1?include=id", &preflight, b"").await;
    assert_eq!(answer.said(), (200, ""));
    for (name, value) in [
        ("access-control-allow-methods", "OPTIONS, GET, PUT, POST, DELETE, PATCH"),
        ("access-control-max-age", "1728000"),
        ("access-control-allow-credentials", "true"),
        ("access-control-allow-origin", "http://example.com"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{answer:?}");
    }
    let upstream = "Content-Type, X-XSRF-TOKEN, X-Authorization, X-API-Key";
    assert_eq!(answer.header("access-control-allow-headers"), Some(upstream));
    let asked = [("origin", "http://example.com"), ("access-control-request-headers", "if-match,x-what")];
    let answer = world.send("OPTIONS", "/api/records/posts/1", &asked, b"").await;
    assert_eq!(answer.header("access-control-allow-headers"), Some(format!("{upstream}, If-Match").as_str()));
    let answer = world.send("GET", "/api/records/posts", &[("origin", "http://a.example.com")], b"").await;
    assert_eq!(answer.header("access-control-allow-origin"), Some("http://a.example.com"));
    assert_eq!(answer.header("access-control-allow-credentials"), Some("true"));
    let answer = world.send("POST", "/api/records/posts", &[("origin", "http://evil.com")], b"{}").await;
    assert_eq!(answer.said(), (403, "{\"code\":1004,\"message\":\"Origin 'http:\\/\\/evil.com' is forbidden\"}"));
    assert_eq!(world.get("/api/records/posts").await.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn xsrf_tokens_must_agree() {
    let world = world(HttpOptions { xsrf: true, ..HttpOptions::default() }).await;
    let answer = world.get("/api/records/posts").await;
    let cookie = answer.header("set-cookie").expect("a token").to_owned();
    let token = cookie.split(['=', ';']).nth(1).unwrap().to_owned();
    assert!(token.len() == 16 && answer.status == 200, "{cookie}");
    let pair = format!("other=1; XSRF-TOKEN={token}");
    let refused = "{\"code\":1017,\"message\":\"Bad or missing XSRF token\"}";
    for headers in [
        vec![],
        vec![("cookie", pair.as_str())],
        vec![("x-xsrf-token", token.as_str())],
        vec![("cookie", "XSRF-TOKEN="), ("x-xsrf-token", "")],
    ] {
        assert_eq!(
            world.send("POST", "/api/records/posts", &headers, b"{}").await.said(),
            (403, refused),
            "{headers:?}"
        );
    }
    let both = [("cookie", pair.as_str()), ("x-xsrf-token", token.as_str())];
    let answer = world.send("POST", "/api/records/posts", &both, b"{}").await;
    assert_eq!((answer.status, answer.header("set-cookie")), (200, None));
}

#[tokio::test]
async fn scripts_only() {
    let world = world(HttpOptions { ajax_only: true, ..HttpOptions::default() }).await;
    assert_eq!(world.get("/api/records/posts").await.status, 200);
    let answer = world.send("DELETE", "/api/records/posts/1", &[], b"").await;
    assert_eq!(answer.said(), (403, "{\"code\":1018,\"message\":\"Only AJAX requests allowed for 'DELETE'\"}"));
    let headers = [("x-requested-with", "XMLHttpRequest")];
    assert_eq!(world.send("DELETE", "/api/records/posts/1", &headers, b"").await.status, 200);
}

#[tokio::test]
async fn the_way_to_tls() {
    let world = world(HttpOptions { ssl_redirect: true, reverse_proxy: true, ..HttpOptions::default() }).await;
    let answer = world.get("/api/records/posts?size=1").await;
    assert_eq!((answer.status, answer.header("location")), (301, Some("https://localhost/api/records/posts?size=1")));
    let secure = [("x-forwarded-proto", "https")];
    assert_eq!(world.send("GET", "/api/records/posts", &secure, b"").await.status, 200);
    assert_eq!(world.get("/health").await.status, 200);
}

#[tokio::test]
async fn without_options_as_before() {
    let world = world(HttpOptions { cors: true, ..HttpOptions::default() }).await;
    let answer = world.send("OPTIONS", "/api/records/posts", &[("origin", "http://a.b")], b"").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, Some("*")));
    assert!(answer.header("allow").unwrap().contains("PATCH"));
    assert_eq!(world.get("/api/records/posts").await.header("access-control-allow-origin"), Some("*"));
}
