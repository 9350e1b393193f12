//! Pages of events, consumer groups, and what streams say of themselves.

use serde_json::json;

use super::doors::Doors;

const STREAM: &str = "[[stream]]\nname = \"events\"\nkey = \"$.n\"\n[[stream]]\nname = \"other\"\n";

fn with_events() -> Doors {
    let doors = Doors::open(STREAM);
    let body: String = (0..10).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    assert_eq!(doors.post("/api/streams/events", &[], body).status, 200);
    doors
}

fn ns(page: &serde_json::Value) -> Vec<u64> {
    page["events"].as_array().unwrap().iter().map(|event| event["value"]["n"].as_u64().unwrap()).collect()
}

#[test]
fn pages() {
    let doors = with_events();
    let page = doors.get("/api/streams/events/events?from=4&limit=3");
    assert_eq!((ns(&page), &page["next"]), (vec![4, 5, 6], &json!(7)));
    assert_eq!(page["events"][0]["key"], "4");
    let end = doors.get("/api/streams/events/events?from=latest&wait=10ms");
    assert_eq!(end, json!({"events":[],"next":10}));
    // A page that is waited for.
    let mut talk = doors.begin("GET /api/streams/events/events?from=10&wait=60s HTTP/1.1\r\nconnection: close");
    doors.post("/api/streams/events", &[], "{\"n\":10}");
    assert!(talk.head().starts_with("http/1.1 200"));
    for (query, slug) in [
        ("limit=0", "invalid_numeric_param"),
        ("limit=x", "invalid_numeric_param"),
        ("wait=2h", "rest_query_value"),
        ("wait=61s", "rest_query_value"),
        ("from=-1", "rest_query_value"),
        ("fron=1", "rest_query"),
    ] {
        let answer = doors.ask("GET", &format!("/api/streams/events/events?{query}"), &[], None);
        assert_eq!((answer.status, &answer.json()["error"]), (400, &json!(slug)), "{query}");
    }
}

#[test]
fn groups_remember_across_a_crash() {
    let mut doors = with_events();
    let page = doors.get("/api/streams/events/groups/g/events?limit=4");
    assert_eq!((&page["group"], ns(&page), &page["next"]), (&json!("g"), vec![0, 1, 2, 3], &json!(4)));
    // Not committed yet, so the same again.
    assert_eq!(ns(&doors.get("/api/streams/events/groups/g/events?limit=1")), [0]);
    assert_eq!(doors.ask("GET", "/api/streams/events/groups/g", &[], None).status, 404);
    let committed = doors.said("/api/streams/events/groups/g/commit", "{\"offset\":4}");
    assert_eq!(committed, (200, r#"{"group":"g","offset":4,"lag":6}"#.to_owned()));
    doors.process.restart();
    let process = &doors.process;
    assert_eq!(process.get("/api/streams/events/groups"), r#"{"groups":[{"group":"g","offset":4,"lag":6}]}"#);
    let page: serde_json::Value =
        serde_json::from_str(&process.get("/api/streams/events/groups/g/events?limit=2")).unwrap();
    assert_eq!(ns(&page), [4, 5]);
}

#[test]
fn wrong_commits() {
    let doors = with_events();
    for body in ["", "{", "[]", "{\"offset\":-1}", "{\"offset\":\"1\"}", "{\"offset\":1,\"x\":2}", "{\"offset\":11}"] {
        let answer = doors.post("/api/streams/events/groups/g/commit", &[], body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert!(answer.json()["hint"].is_string(), "{}", answer.body);
    }
    assert_eq!(doors.get("/api/streams/events/groups"), json!({"groups":[]}));
}

#[test]
fn what_streams_say_of_themselves() {
    let doors = with_events();
    let list = doors.get("/api/streams");
    assert_eq!(list["streams"][0], json!({"name":"events","first":0,"next":10,"backlog":0,"kafka":null}));
    assert_eq!(list["streams"][1]["name"], "other");
    let one = doors.get("/api/streams/events");
    assert_eq!((&one["ack"], &one["key"], &one["events"]), (&json!("disk"), &json!("$.n"), &json!(10)));
    assert_eq!(one["tables"][0], "events");
    assert_eq!(doors.ask("HEAD", "/api/streams/events", &[], None).status, 200);
    let options = doors.ask("OPTIONS", "/api/streams/events", &[], None);
    assert_eq!((options.status, options.header("allow")), (204, Some("GET, HEAD, POST, OPTIONS")));
}
