//! `Idempotency-Key` over HTTP.

use std::sync::Arc;

use salver_http::HttpOptions;
use salver_model::{Code, Error};
use salver_testkit::FakeDatabase;

use super::fixture::{World, document, request};

const KEY: &[(&str, &str)] = &[("idempotency-key", "k1")];

#[tokio::test]
async fn a_write_is_done_once() {
    let world = World::new().await;
    world.database.will_answer(document("7"));
    for _ in 0..3 {
        assert_eq!(world.send("POST", "/api/records/posts", KEY, b"{\"content\":1}").await.said(), (200, "7"));
    }
    assert_eq!(world.database.asked().len(), 1);
    let answer = world.send("POST", "/api/records/posts", KEY, b"{\"content\":2}").await;
    assert!(answer.status == 422 && answer.body.contains("another request"), "{answer:?}");
    assert_eq!(world.send("POST", "/api/records/posts", &[("idempotency-key", "")], b"{}").await.status, 400);
    assert_eq!(
        world.send("POST", "/api/records/posts", &[("idempotency-key", "k2")], b"{\"content\":1}").await.status,
        200
    );
    assert_eq!(world.database.asked().len(), 1);
}

#[tokio::test]
async fn refusals_are_kept_and_bad_weather_is_not() {
    let world = World::new().await;
    world.database.will_answer(Err(Error::new(Code::DatabaseUnavailable, "down")));
    assert_eq!(world.send("POST", "/api/records/posts", KEY, b"{}").await.status, 503);
    world.database.will_answer(Err(Error::new(Code::DuplicateKey, "twice")));
    for _ in 0..2 {
        let answer = world.send("POST", "/api/records/posts", KEY, b"{}").await;
        assert_eq!(answer.said(), (409, "{\"code\":1009,\"message\":\"Duplicate key exception\"}"));
    }
    assert_eq!(world.database.asked().len(), 2);
}

#[tokio::test]
async fn callers_have_keys_of_their_own() {
    let caller_headers = vec![("user".to_owned(), "x-user".to_owned())];
    let options = HttpOptions { reverse_proxy: true, caller_headers, ..HttpOptions::default() };
    let world = World::with(FakeDatabase::blog(), options).await;
    for user in ["ada", "bob", "ada"] {
        world.send("POST", "/api/records/posts", &[("idempotency-key", "k"), ("x-user", user)], b"{}").await;
    }
    assert_eq!(world.database.asked().len(), 2);
}

#[tokio::test]
async fn a_write_goes_on_when_its_client_leaves() {
    let world = Arc::new(World::new().await);
    let held = world
        .database
        .places
        .acquire_many(u32::try_from(world.database.places.available_permits().min(1 << 20)).unwrap());
    let held = held.await.unwrap();
    // All the rest too, so that nothing gets a place.
    let rest = world.database.places.forget_permits(usize::MAX);
    let stream = world.begin(&request("POST", "/api/records/posts", KEY, b"{}")).await;
    while world.database.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    drop(stream);
    let twin = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.send("POST", "/api/records/posts", KEY, b"{}").await.status })
    };
    tokio::task::yield_now().await;
    world.database.places.add_permits(rest.min(16));
    drop(held);
    assert_eq!(twin.await.unwrap(), 200);
    assert!(world.database.asked().is_empty(), "it was not done again");
}

#[tokio::test]
async fn loads_have_no_key() {
    let world = World::new().await;
    let headers = [("idempotency-key", "k"), ("content-type", "application/x-ndjson")];
    assert_eq!(world.send("POST", "/api/records/posts", &headers, b"{}").await.status, 400);
}
