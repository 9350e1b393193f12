//! Loads of NDJSON and CSV.

use salver_http::HttpOptions;
use salver_model::records::{Field, LoadReport, RowProblem};
use salver_model::{Code, Error, Limits};
use salver_testkit::{DatabaseRequest, FakeDatabase};

use super::fixture::World;

const NDJSON: &[(&str, &str)] = &[("content-type", "application/x-ndjson")];
const CSV: &[(&str, &str)] = &[("content-type", "text/csv; charset=utf-8")];

#[tokio::test]
async fn rows_of_both_formats() {
    let world = World::new().await;
    let answer = world.send("POST", "/api/records/posts", NDJSON, b"{\"id\":1}\n{\"id\":2.50}\n").await;
    assert_eq!(answer.said(), (200, "{\"read\":2,\"loaded\":2,\"refused\":0,\"problems\":[]}"));
    let DatabaseRequest::Load(load, rows) = world.asked() else { panic!() };
    assert!(!load.dry_run && !load.keep_good && !load.upsert);
    assert_eq!(rows[1], [("id".to_owned(), Field::Number("2.50".to_owned()))]);
    let target = "/api/records/posts?dry_run=1&keep_good=1&upsert=update";
    assert_eq!(world.send("POST", target, CSV, b"id,content\n1,\n2,\"a,b\"\n").await.status, 200);
    let DatabaseRequest::Load(load, rows) = world.asked() else { panic!() };
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
    let long = format!("{{\"content\":\"{}\"}}\n{line}", "x".repeat(2_000));
    let answer = world.send("POST", "/api/records/posts?keep_good=1", NDJSON, long.as_bytes()).await;
    assert!(answer.status == 200 && answer.body.contains("more than 1000 bytes"), "{answer:?}");
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
async fn what_is_malformed_is_a_bad_row() {
    let world = World::new().await;
    for (headers, body, row, told) in [
        (NDJSON, "{\"id\":1}\n{\"id\":\n{\"id\":3}\n", 2, "not a JSON object"),
        (NDJSON, "[1]\n{\"id\":2}", 1, "not a JSON object"),
        (CSV, "id,content\n1\n2,b\n", 1, "1 fields"),
        (CSV, "id,content\n1,a\n2,\"open", 2, "quotes"),
    ] {
        for (target, status) in [("/api/records/posts?keep_good=1", 200), ("/api/records/posts", 422)] {
            let answer = world.send("POST", target, headers, body.as_bytes()).await;
            assert_eq!(answer.status, status, "{body}: {answer:?}");
            let json: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
            let problem = &json["problems"][0];
            assert_eq!((&json["refused"], &problem["row"]), (&1.into(), &row.into()), "{body}: {json}");
            assert!(problem["message"].as_str().unwrap().contains(told), "{body}: {json}");
        }
    }
    let answer = world.send("POST", "/api/records/posts", CSV, b"a,\n1,2\n").await;
    assert!(answer.status == 400 && answer.body.contains("line of names"), "{answer:?}");
    assert_eq!(world.send("POST", "/api/records/posts?upsert=ignore", NDJSON, b"{}").await.status, 400);
    assert_eq!(world.send("POST", "/api/records/posts?returning=*", NDJSON, b"{}").await.status, 400);
    assert_eq!(world.send("POST", "/api/records/nothing", NDJSON, b"{}").await.status, 404);
}
