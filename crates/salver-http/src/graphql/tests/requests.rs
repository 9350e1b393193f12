//! The forms of a request.

use salver_model::Code;
use serde_json::Value as Json;

use crate::graphql::tests::fixture::World;
use crate::graphql::{Answer, answer, parse_get, parse_post};

async fn data(world: &World, content_type: Option<&str>, body: &[u8]) -> Json {
    match world.post(content_type, body).await.unwrap() {
        Answer::Document { body, .. } => serde_json::from_slice::<Json>(&body).unwrap()["data"].clone(),
        Answer::Rows(rows) => Json::from(format!("{} columns", rows.schema.fields().len())),
    }
}

#[tokio::test]
async fn bodies() {
    let world = World::new();
    let json = br#" {"query": "query A { __typename } query B { b: __typename }", "operationName": "B", "variables": null, "extensions": {}}"#;
    for content_type in [None, Some("application/json"), Some("Application/JSON; charset=utf-8"), Some("text/plain")] {
        assert_eq!(data(&world, content_type, json).await["b"], "Query", "{content_type:?}");
    }
    let bare = b"{ orders(limit: 1) { id } }";
    assert_eq!(data(&world, Some("application/graphql"), bare).await["orders"][0]["id"], 10);
    for content_type in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/json")]
    {
        assert_eq!(data(&world, content_type, bare).await, "1 columns", "{content_type:?}");
    }
    let bad: [&[u8]; 9] = [
        b"{}",
        b"[]",
        b"{\"query\": 3}",
        b"{\"query\": \"{a}\", \"variables\": []}",
        b"{\"query\"",
        b"\xff\xfe",
        b"{\"query\": \"{a}\", \"operationName\": 1}",
        b"[{\"query\": \"{ __typename }\"}]",
        b"{\"variables\": {}}",
    ];
    for body in bad {
        assert_eq!(parse_post(Some("application/json"), body).expect_err("bad").code, Code::InvalidBody);
    }
}

#[tokio::test]
async fn query_strings() {
    let world = World::new();
    let url = "query=query+Q(%24n%3A+Int)+%7B+orders(limit%3A+%24n)+%7B+id+%7D+%7D&variables=%7B%22n%22%3A2%7D&operationName=Q";
    let request = parse_get(url).unwrap();
    let snapshot = world.service.catalog().snapshot();
    let queries = world.service.queries_settled(&request.caller, &snapshot).await;
    let state = (&snapshot, &queries);
    let answered = answer(&world.door, &world.service, state, &request, salver_formats::Nulls::Write).await.unwrap();
    let Answer::Document { body, read, repeatable, refused, .. } = answered else { panic!("bare rows") };
    assert_eq!(String::from_utf8(body).unwrap(), r#"{"data":{"orders":[{"id":10},{"id":11}]}}"#);
    assert!(repeatable && refused.is_none());
    assert_eq!(read.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["orders"]);
    for bad in ["", "query=%FF", "query={a}&variables=3", "variables={}"] {
        assert!(parse_get(bad).is_err(), "{bad}");
    }
}
