//! Bodies of writes, and the changes they become.

use salver_http::HttpOptions;
use salver_model::Limits;
use salver_model::records::{Change, ChangeKind, Document, DocumentBody, Field};
use salver_model::{Code, Error};
use salver_testkit::{DatabaseRequest, FakeDatabase};

use super::fixture::{World, document};

fn change(world: &World) -> Change {
    match world.asked() {
        DatabaseRequest::Change(change) => change,
        other => panic!("{other:?}"),
    }
}

fn number(digits: &str) -> Field {
    Field::Number(digits.to_owned())
}

#[tokio::test]
async fn creations() {
    let world = World::new().await;
    world.database.will_answer(document("7"));
    let answer = world.post("/api/records/posts", "{\"id\":12345678901234567890,\"content\":23.010}").await;
    assert_eq!(answer.said(), (200, "7"));
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    let created = change(&world);
    assert_eq!((created.kind, created.batch), (ChangeKind::Create, false));
    assert_eq!(created.records[0][0].1, number("12345678901234567890"));
    assert_eq!(created.records[0][1].1, number("23.010"));

    world.post("/api/records/posts?on_conflict=content&returning=id,content", "[{},{}]").await;
    let upsert = change(&world);
    assert_eq!(upsert.kind, ChangeKind::Upsert { on: vec!["content".into()], ignore: false });
    assert_eq!((upsert.batch, upsert.records.len(), upsert.strict), (true, 2, true));
    assert_eq!(upsert.returning, Some(vec!["id".into(), "content".into()]));

    // The content type does not count.
    world
        .send("POST", "/api/records/posts", &[("content-type", "application/json")], b"content=a+b&place__is_null")
        .await;
    let text = |text: &str| Field::Text(text.to_owned());
    assert_eq!(change(&world).records, [vec![("content".to_owned(), text("a b")), ("place".to_owned(), Field::Null)]]);
    world.send("POST", "/api/records/posts?format=xml", &[], b"<o><content>a</content></o>").await;
    assert_eq!(change(&world).records, [vec![("content".to_owned(), text("a"))]]);
}

#[tokio::test]
async fn changes_by_key() {
    let world = World::new().await;
    for (method, kind) in
        [("PUT", ChangeKind::Update), ("PATCH", ChangeKind::Increment), ("DELETE", ChangeKind::Delete)]
    {
        world
            .send(method, "/api/records/posts/1?include=id,content", &[("if-match", "\"ab-cd\"")], b"{\"id\":2}")
            .await;
        let change = change(&world);
        let records = usize::from(kind != ChangeKind::Delete);
        assert_eq!((change.kind, change.records.len(), change.batch), (kind, records, false));
        assert_eq!((change.keys, change.keys_text.as_str()), (vec![vec!["1".to_owned()]], "1"));
        assert_eq!(change.if_match.as_deref(), Some("ab"));
        assert_eq!(change.include, Some(vec!["id".into(), "content".into()]));
    }
    world.send("PUT", "/api/records/posts/1,2", &[], b"[{},{}]").await;
    assert!(change(&world).batch);
    world.send("PUT", "/api/records/posts/1", &[], b"[{}]").await;
    assert!(change(&world).batch);
    world.send("DELETE", "/api/records/posts/1,2", &[], b"").await;
    assert!(change(&world).batch);
    for (target, body, text) in [("1,2", "{}", "1,2"), ("1,2", "[{}]", "1,2"), ("1", "[{},{}]", "1"), ("1", "[]", "1")]
    {
        let answer = world.send("PUT", &format!("/api/records/posts/{target}"), &[], body.as_bytes()).await;
        let expected = format!("{{\"code\":1002,\"message\":\"Argument count mismatch in '{text}'\"}}");
        assert_eq!(answer.said(), (422, expected.as_str()), "{target} {body}");
    }
}

#[tokio::test]
async fn changes_by_filter_need_a_bound() {
    let world = World::new().await;
    world.send("DELETE", "/api/records/posts?filter=id,lt,3&max_affected=10", &[], b"").await;
    let change = change(&world);
    assert_eq!((change.kind, change.affected_max, change.strict), (ChangeKind::Delete, Some(10), true));
    assert!(change.filter.is_some() && change.keys.is_empty());
    for target in ["?filter=id,lt,3", "?max_affected=1", "?max_affected=1&filter=nothing"] {
        let answer = world.send("PUT", &format!("/api/records/posts{target}"), &[], b"{}").await;
        assert_eq!(answer.status, 400, "{target}: {answer:?}");
    }
    let answer = world.send("PUT", "/api/records/posts", &[], b"{}").await;
    assert_eq!(answer.said(), (404, "{\"code\":1000,\"message\":\"Route '\\/records\\/posts' not found\"}"));
}

#[tokio::test]
async fn transactions() {
    let world = World::new().await;
    let body = r#"{"operations":[{"create":"posts","record":{"content":"a"}},
        {"create":"blog.comments","record":{"post_id":{"$ref":"0.id"}}}]}"#;
    assert_eq!(world.post("/api/records", body).await.said(), (200, "[1]"));
    let DatabaseRequest::Transact(changes) = world.asked() else { panic!() };
    assert_eq!((changes[0].table.as_str(), changes[1].table.as_str()), ("posts", "comments"));
    assert_eq!(changes[1].records[0][0].1, Field::Back { change: 0, column: "id".into() });
    assert_eq!(world.post("/api/records", "{\"operations\":[]}").await.said(), (200, "[]"));
    assert_eq!(world.post("/api/records", "{").await.status, 422);
    assert_eq!(world.post("/api/records", "{\"operations\":[{\"drop\":\"posts\"}]}").await.status, 400);
    assert_eq!(world.get("/api/records").await.status, 405);
}

#[tokio::test]
async fn undone_batches_are_424() {
    let world = World::new().await;
    let parts = || {
        let mut invalid = Error::new(Code::Invalid, "Input validation failed for 'posts'");
        invalid.details.push(("a/b".to_owned(), "must be numeric".to_owned()));
        let integrity = Error::new(Code::Integrity, "words of the database").with_hint("constraint `posts_user`");
        vec![None, Some(invalid), Some(integrity)]
    };
    let begin = "[{\"code\":0,\"message\":\"Success\"},{\"code\":1013,\"message\":\"Input validation failed for 'posts'\",\
                 \"details\":{\"a\\/b\":\"must be numeric\"}},\
                 {\"code\":1010,\"message\":\"Data integrity violation\"";
    world.database.will_undo(parts());
    let answer = world.post("/api/records/posts", "[{},{},{}]").await;
    assert_eq!(answer.said(), (424, format!("{begin}}}]").as_str()));
    assert_eq!(answer.header("x-exception-message"), Some("constraint `posts_user`"));
    // Transactions are Salver's own, and have hints.
    world.database.will_undo(parts());
    let body = "{\"operations\":[{\"create\":\"posts\",\"record\":{}}]}";
    let hinted = format!("{begin},\"hint\":\"constraint `posts_user`\"}}]");
    assert_eq!(world.post("/api/records", body).await.said(), (424, hinted.as_str()));
}

#[tokio::test]
async fn bodies_that_can_not_be_read() {
    let world = World::new().await;
    for body in ["", " ", "[\"truncat", "{\"}", "{} {}", "[1]", "[[]]"] {
        for (method, target) in [("POST", "posts"), ("PUT", "posts/1"), ("PATCH", "posts/1")] {
            let answer = world.send(method, &format!("/api/records/{target}"), &[], body.as_bytes()).await;
            let expected = "{\"code\":1008,\"message\":\"Cannot read HTTP message\"}";
            assert_eq!(answer.said(), (422, expected), "{method} {body}");
        }
    }
    let limits = Limits { body_bytes_max: 10, ..Limits::default() };
    let world = World::bounded(FakeDatabase::blog(), HttpOptions::default(), limits).await;
    assert_eq!(world.post("/api/records/posts", "{\"content\":\"long\"}").await.status, 413);
}

#[tokio::test]
async fn streamed_documents_arrive_or_break_off() {
    let world = World::new().await;
    let stream = |pieces: Vec<salver_model::Result<Vec<u8>>>| {
        let body = DocumentBody::Stream(Box::pin(futures::stream::iter(pieces)));
        Ok(Document { body, tag: None })
    };
    let pieces = || vec![Ok(b"{\"records\":[".to_vec()), Ok(b"{\"a/b\":null}".to_vec()), Ok(b"]}".to_vec())];
    world.database.will_answer(stream(pieces()));
    assert_eq!(world.get("/api/records/posts").await.said(), (200, "{\"records\":[{\"a/b\":null}]}"));
    world.database.will_answer(stream(pieces()));
    let xml = "<root><records type=\"array\"><item><ab name=\"a/b\" type=\"null\"></ab></item></records></root>";
    assert_eq!(world.get("/api/records/posts?format=xml").await.said(), (200, xml));
    let mut broken = pieces();
    broken[1] = Err(Error::new(Code::Execution, "gone"));
    world.database.will_answer(stream(broken));
    let answer = world.get("/api/records/posts").await;
    assert!(answer.body.ends_with("[cut]"), "{answer:?}");
}
