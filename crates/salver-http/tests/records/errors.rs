//! Failures as clients of PHP-CRUD-API know them.

use salver_model::{Code, Error};

use super::fixture::World;

#[tokio::test]
async fn every_code_has_its_number_and_status() {
    let world = World::new().await;
    for (code, status, number) in [
        (Code::UnknownTable, 404, 1001),
        (Code::ArgumentCount, 422, 1002),
        (Code::RecordNotFound, 404, 1003),
        (Code::OriginForbidden, 403, 1004),
        (Code::UnknownColumn, 404, 1005),
        (Code::TableExists, 409, 1006),
        (Code::ColumnExists, 409, 1007),
        (Code::InvalidBody, 422, 1008),
        (Code::DuplicateKey, 409, 1009),
        (Code::Integrity, 409, 1010),
        (Code::Invalid, 422, 1013),
        (Code::Forbidden, 403, 1014),
        (Code::ReadOnly, 403, 1014),
        (Code::Unsupported, 405, 1015),
        (Code::Blocked, 403, 1016),
        (Code::XsrfToken, 403, 1017),
        (Code::PageForbidden, 403, 1019),
        (Code::NoPrimaryKey, 404, 1023),
        (Code::Execution, 500, 9999),
        (Code::Internal, 500, 9999),
        (Code::DatabaseUnavailable, 503, 9999),
        (Code::Contention, 503, 9999),
        (Code::Timeout, 503, 9999),
        (Code::Overloaded, 503, 9999),
    ] {
        world.database.will_answer(Err(Error::new(code, "what happened").with_source("secret")));
        let answer = world.get("/api/records/posts").await;
        assert_eq!(answer.status, status, "{code:?}: {answer:?}");
        assert!(answer.body.starts_with(&format!("{{\"code\":{number},\"message\":\"")), "{code:?}: {answer:?}");
        assert!(!answer.body.contains("secret") && !answer.body.contains("hint"), "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(answer.header("retry-after").is_some(), status == 503, "{code:?}");
    }
}

#[tokio::test]
async fn salvers_own_have_a_hint() {
    let world = World::new().await;
    for (code, status) in [
        (Code::InvalidColumn, 400),
        (Code::InvalidFilter, 400),
        (Code::InvalidCursor, 400),
        (Code::ExpiredCursor, 410),
        (Code::PreconditionFailed, 412),
        (Code::TooManyAffected, 409),
    ] {
        world.database.will_answer(Err(Error::new(code, "what happened").with_hint("what to do")));
        let answer = world.get("/api/records/posts").await;
        let expected = format!(
            "{{\"code\":{status},\"error\":\"{}\",\"message\":\"what happened\",\"hint\":\"what to do\"}}",
            code.slug()
        );
        assert_eq!(answer.said(), (status, expected.as_str()), "{code:?}");
    }
}

#[tokio::test]
async fn details_name_the_columns() {
    let world = World::new().await;
    let mut error = Error::new(Code::Invalid, "Input validation failed for 'comments'");
    error.details.push(("post_id".to_owned(), "must be numeric".to_owned()));
    world.database.will_answer(Err(error));
    let expected = "{\"code\":1013,\"message\":\"Input validation failed for 'comments'\",\
                    \"details\":{\"post_id\":\"must be numeric\"}}";
    assert_eq!(world.get("/api/records/comments").await.said(), (422, expected));
    let mut error = Error::new(Code::Invalid, "Input validation failed for 'a'");
    error.details.push(("b".to_owned(), "x".to_owned()));
    world.database.will_answer(Err(error));
    let answer = world.get("/api/records/posts?format=xml").await;
    let expected =
        "<root><code>1013</code><message>Input validation failed for 'a'</message><details><b>x</b></details></root>";
    assert_eq!((answer.said(), answer.header("content-type")), ((422, expected), Some("text/xml; charset=utf-8")));
}

#[tokio::test]
async fn paths_that_lead_nowhere() {
    let world = World::new().await;
    for (method, path, allowed) in [
        ("GET", "/records/a/b/c", None),
        ("GET", "/cache", None),
        ("GET", "/status/pong", None),
        ("GET", "/records", Some("POST, OPTIONS")),
        ("POST", "/records/posts/1", Some("GET, HEAD, PUT, PATCH, DELETE, OPTIONS")),
        ("POST", "/openapi", Some("GET, HEAD, OPTIONS")),
        ("PUT", "/columns", Some("GET, HEAD, POST, OPTIONS")),
        ("POST", "/columns/posts/id", Some("GET, HEAD, PUT, DELETE, OPTIONS")),
        ("TRACE", "/records/posts", Some("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")),
        ("DELETE", "/geojson/posts/1", Some("GET, HEAD, OPTIONS")),
    ] {
        let body: &[u8] = if method == "GET" { b"" } else { b"{}" };
        let answer = world.send(method, &format!("/api{path}"), &[], body).await;
        let expected = format!("{{\"code\":1000,\"message\":\"Route '{}' not found\"}}", path.replace('/', "\\/"));
        let status = if allowed.is_some() { 405 } else { 404 };
        assert_eq!(answer.said(), (status, expected.as_str()), "{method} {path}");
        assert_eq!(answer.header("allow"), allowed, "{method} {path}");
    }
    assert_eq!(world.get("/api/recordsets").await.status, 404);
}

#[tokio::test]
async fn heads_are_gets_without_a_body() {
    let world = World::new().await;
    let answer = world.send("HEAD", "/api/records/posts", &[], b"").await;
    assert_eq!((answer.said(), answer.header("content-length")), ((200, ""), Some("14")));
}
