//! Loads of NDJSON and CSV.

use salver_http::HttpOptions;
use salver_model::records::{Field, LoadReport, RowProblem};
use salver_model::{Code, Error, Limits};
use salver_testkit::{Asked, FakeDatabase};

use super::world::World;

const NDJSON: &[(&str, &str)] = &[("content-type", "application/x-ndjson")];
const CSV: &[(&str, &str)] = &[("content-type", "text/csv; charset=utf-8")];

#[tokio::test]
async fn rows_of_both_formats() {
    let world = World::new().await;
    let answer = world.send("POST", "/api/records/posts", NDJSON, b"{\"id\":1}\n{\"id\":2.50}\n").await;
    assert_eq!(answer.said(), (200, "{\"read\":2,\"loaded\":2,\"refused\":0,\"problems\":[]}"));
    let Asked::Load(load, rows) = world.asked() else { panic!() };
    assert!(!load.dry_run && !load.keep_good && !load.upsert);
    assert_eq!(rows[1], [("id".to_owned(), Field::Number("2.50".to_owned()))]);
    let target = "/api/records/posts?dry_run=1&keep_good=1&upsert=update";
    assert_eq!(world.send("POST", target, CSV, b"id,content\n1,\n2,\"a,b\"\n").await.status, 200);
    let Asked::Load(load, rows) = world.asked() else { panic!() };
    assert!(load.dry_run && load.keep_good && load.upsert);
    assert_eq!(rows[0][1].1, Field::Null);
    assert_eq!(rows[1][1].1, Field::Text("a,b".to_owned()));
}

#[tokio::test]
async fn many_rows_are_no_body_in_memory() {
    let limits = Limits { body_bytes_max: 1_000, ..Limits::default() };
    let world = World::bounded(FakeDatabase::blog(), HttpOptions::default(), limits).await;
    let line = "{\"id\":1,\"content\":\"something\"}\n";
    let body = line.repeat(10_000);
    let answer = world.send("POST", "/api/records/posts", NDJSON, body.as_bytes()).await;
    assert_eq!(answer.said(), (200, "{\"read\":10000,\"loaded\":10000,\"refused\":0,\"problems\":[]}"));
    let long = format!("{{\"content\":\"{}\"}}\n", "x".repeat(2_000));
    assert_eq!(world.send("POST", "/api/records/posts", NDJSON, long.as_bytes()).await.status, 413);
}

#[tokio::test]
async fn refused_rows_are_told() {
    let world = World::new().await;
    let report = || {
        let mut error = Error::new(Code::Invalid, "Input validation failed for 'posts'");
        error.details.push(("id".to_owned(), "cannot be null".to_owned()));
        let problems =
            vec![RowProblem { row: 3, error: Error::new(Code::Integrity, "x") }, RowProblem { row: 4, error }];
        LoadReport { read: 4, loaded: 2, refused: 2, problems }
    };
    let told = "\"refused\":2,\"problems\":[{\"row\":3,\"code\":1010,\"message\":\"Data integrity violation\"},\
                {\"row\":4,\"code\":1013,\"message\":\"Input validation failed for 'posts'\",\"details\":{\"id\":\"cannot be null\"}}]}";
    world.database.will_report(report());
    let answer = world.send("POST", "/api/records/posts?keep_good=1", NDJSON, b"{}").await;
    assert_eq!(answer.said(), (200, format!("{{\"read\":4,\"loaded\":2,{told}").as_str()));
    world.database.will_report(LoadReport { loaded: 0, ..report() });
    let answer = world.send("POST", "/api/records/posts", NDJSON, b"{}").await;
    assert_eq!(answer.said(), (422, format!("{{\"read\":4,\"loaded\":0,{told}").as_str()));
}

#[tokio::test]
async fn what_is_malformed_ends_the_load() {
    let world = World::new().await;
    for (headers, body, told) in [
        (NDJSON, "{\"id\":1}\n{\"id\":\n", "row 2"),
        (NDJSON, "[1]", "row 1"),
        (CSV, "a,b\n1\n", "row 1"),
        (CSV, "a\n\"open", "quotes"),
    ] {
        let answer = world.send("POST", "/api/records/posts", headers, body.as_bytes()).await;
        assert!(answer.status == 400 && answer.body.contains(told), "{body}: {answer:?}");
        assert!(world.database.asked().is_empty());
    }
    assert_eq!(world.send("POST", "/api/records/posts?upsert=ignore", NDJSON, b"{}").await.status, 400);
    assert_eq!(world.send("POST", "/api/records/posts?returning=*", NDJSON, b"{}").await.status, 400);
    assert_eq!(world.send("POST", "/api/records/nothing", NDJSON, b"{}").await.status, 404);
}
