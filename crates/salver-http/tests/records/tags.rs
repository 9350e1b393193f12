//! Entity tags: 304 without a question, and 412.

use std::sync::atomic::Ordering;

use salver_http::HttpOptions;
use salver_model::records::Document;
use salver_testkit::{DatabaseRequest, FakeDatabase};

use super::fixture::World;

fn row(tag: &str) -> salver_model::Result<Document> {
    Ok(Document { tag: Some(tag.to_owned()), ..Document::whole(b"{\"id\":1}".to_vec()) })
}

#[tokio::test]
async fn a_record_has_the_tag_of_its_row() {
    let world = World::new().await;
    world.database.will_answer(row("ab12"));
    let answer = world.get("/api/records/posts/1").await;
    assert_eq!(answer.header("etag"), Some("\"ab12\""));
    world.database.will_answer(row("ab12"));
    let again = world.send("GET", "/api/records/posts/1", &[("if-none-match", "\"x\", \"ab12\"")], b"").await;
    assert_eq!((again.said(), again.header("etag")), ((304, ""), Some("\"ab12\"")));
    world.database.will_answer(row("ab13"));
    assert_eq!(world.send("GET", "/api/records/posts/1", &[("if-none-match", "\"ab12\"")], b"").await.status, 200);
    // What is joined is not told by the row.
    world.database.will_answer(row("ab12"));
    assert_eq!(world.get("/api/records/posts/1?join=comments").await.header("etag"), None);
}

#[tokio::test]
async fn each_form_of_a_row_has_a_tag_of_its_own() {
    let world = World::new().await;
    let read = async |target: &str, tag: &str| {
        world.database.will_answer(row("ab12"));
        world.send("GET", target, &[("if-none-match", tag)], b"").await
    };
    let (json, xml) = ("/api/records/posts/1", "/api/records/posts/1?format=xml");
    for (target, own, other) in [(json, "\"ab12\"", "\"ab12-xml\""), (xml, "\"ab12-xml\"", "\"ab12\"")] {
        let answer = read(target, other).await;
        assert_eq!((answer.status, answer.header("etag")), (200, Some(own)), "{target}");
        assert_eq!(read(target, own).await.status, 304, "{target}");
        assert_eq!(read(target, &format!("{other}, {own}")).await.status, 304, "{target}");
        assert_eq!(read(target, "*").await.status, 304, "{target}");
    }
}

#[tokio::test]
async fn nothing_is_asked_while_the_version_holds() {
    let world = World::new().await;
    world.database.version.store(5, Ordering::Relaxed);
    for target in ["posts", "posts/1,2", "posts/1?join=comments", "posts?filter=id,gt,1"] {
        let target = format!("/api/records/{target}");
        world.database.will_answer(row("ab12"));
        let tag = world.get(&target).await.header("etag").expect("a tag").to_owned();
        world.database.asked();
        let again = world.send("GET", &target, &[("if-none-match", &tag)], b"").await;
        assert_eq!((again.said(), again.header("etag")), ((304, ""), Some(tag.as_str())), "{target}");
        assert!(world.database.asked().is_empty(), "{target}");
        world.database.version.fetch_add(1, Ordering::Relaxed);
        world.database.will_answer(row("ab13"));
        let changed = world.send("GET", &target, &[("if-none-match", &tag)], b"").await;
        assert_eq!(changed.status, 200, "{target}");
        world.database.asked();
    }
    world.database.will_answer(row("a"));
    assert_eq!(world.get("/api/records/counts").await.header("etag"), None, "a view may differ though no row does");
}

#[tokio::test]
async fn both_ways_give_the_same_tag() {
    let general = World::new().await;
    let mut database = FakeDatabase::blog();
    database.answers_now = true;
    let fast = World::with(database, HttpOptions::default()).await;
    for world in [&general, &fast] {
        world.database.version.store(5, Ordering::Relaxed);
    }
    for target in ["posts/1", "posts", "posts?filter=id,eq,1", "posts/1?include=id", "counts", "counts/1"] {
        let mut answers = Vec::new();
        for world in [&general, &fast] {
            world.database.will_answer(row("ab12"));
            let answer = world.get(&format!("/api/records/{target}")).await;
            let mut headers = answer.headers;
            headers.retain(|(name, _)| name != "date");
            answers.push((answer.status, headers, answer.body));
        }
        assert_eq!(answers[0], answers[1], "{target}");
    }
}

#[tokio::test]
async fn tags_of_xml_are_those_of_what_is_sent() {
    // Names, of which a long one makes many bytes of XML of few of JSON.
    let name = |length: usize| format!("{{\"{}\":1}}", "n".repeat(length));
    for now in [false, true] {
        let mut database = FakeDatabase::blog();
        database.answers_now = now;
        let world = World::with(database, HttpOptions::default()).await;
        for (length, coding) in [(8, None), (600, Some("gzip")), (2_000, Some("gzip"))] {
            let document = || Ok(Document { tag: Some("ab12".to_owned()), ..Document::whole(name(length).into()) });
            let target = "/api/records/posts/1?format=xml";
            let tag = if coding.is_some() { "\"ab12-xml-gzip\"" } else { "\"ab12-xml\"" };
            world.database.will_answer(document());
            let answer = world.send("GET", target, &[("accept-encoding", "gzip")], b"").await;
            let said = (answer.status, answer.header("content-encoding"), answer.header("etag"));
            assert_eq!(said, (200, coding, Some(tag)), "{length} {now}");
            world.database.will_answer(document());
            let again = [("accept-encoding", "gzip"), ("if-none-match", tag)];
            assert_eq!(world.send("GET", target, &again, b"").await.status, 304, "{length} {now}");
            world.database.will_answer(document());
            let plain = world.get(target).await;
            assert_eq!(
                (plain.header("content-encoding"), plain.header("etag")),
                (None, Some("\"ab12-xml\"")),
                "{length}"
            );
        }
    }
}

#[tokio::test]
async fn if_match_goes_to_the_database() {
    let world = World::new().await;
    world.database.version.store(5, Ordering::Relaxed);
    world.database.will_answer(row("ab12"));
    let tag = world.get("/api/records/posts/1?join=comments").await.header("etag").expect("a tag").to_owned();
    world.database.asked();
    world.send("PUT", "/api/records/posts/1", &[("if-match", &tag)], b"{}").await;
    let DatabaseRequest::Change(change) = world.asked() else { panic!() };
    assert_eq!(change.if_match.as_deref(), Some("ab12"));
    for (method, target, given) in
        [("PUT", "posts/1", "\"a\", \"b\""), ("DELETE", "posts/1,2", "\"a\""), ("POST", "posts", "\"a\"")]
    {
        let answer = world.send(method, &format!("/api/records/{target}"), &[("if-match", given)], b"{}").await;
        assert_eq!(answer.status, 400, "{method} {target} {given}");
    }
}
