//! Tinybird's door, and the founding service's shape at a route of the stream's own.

use serde_json::json;

use super::doors::Doors;

#[test]
fn tinybird() {
    let doors = Doors::open("[[stream]]\nname = \"events\"\n");
    let rows = "{\"n\":1}\n{\"n\":2}\n";
    let accepted = doors.said("/v0/events?name=events", rows);
    assert_eq!(accepted, (202, r#"{"successful_rows":2,"quarantined_rows":0}"#.to_owned()));
    let waited = doors.said("/v0/events?name=events&wait=true", format!("{rows}nothing\n"));
    assert_eq!(waited, (200, r#"{"successful_rows":2,"quarantined_rows":1}"#.to_owned()));
    let bad = doors.said("/v0/events?name=events&wait=true", "nothing\n");
    assert_eq!(bad, (200, r#"{"successful_rows":0,"quarantined_rows":1}"#.to_owned()));
    let json = doors.said("/v0/events?name=events&format=json&wait=true&token=x", "[{\"n\":3}]");
    assert_eq!(json, (200, r#"{"successful_rows":1,"quarantined_rows":0}"#.to_owned()));
    for (target, status, word) in [
        ("/v0/events", 400, "`name`"),
        ("/v0/events?name=event", 404, "did you mean `events`?"),
        ("/v0/events?name=events&format=xml", 400, "ndjson"),
    ] {
        let answer = doors.post(target, &[], rows);
        assert_eq!(answer.status, status, "{target}: {}", answer.body);
        assert!(answer.json()["error"].as_str().unwrap().contains(word), "{}", answer.body);
    }
    let rows = doors.process.sql("SELECT count(*) AS n FROM events_quarantine");
    assert_eq!(rows[0]["n"], 2);
    assert_eq!(doors.values("events").len(), 5);
}

#[test]
fn the_founding_service() {
    let settings = "[[stream]]\nname = \"events.main\"\nroute = \"/\"\n\
                    [[stream]]\nname = \"picked\"\nroute = \"/in\"\nid = \"$.meta.id\"\n";
    let doors = Doors::open(settings);
    let event = json!({"client_id":"c","name":"click","data":{"x":1}}).to_string();
    let answer = doors.post("/", &[("content-type", "application/json")], &event);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.header("content-type").unwrap().starts_with("text/plain"));
    assert_eq!(answer.body.len(), 36);
    let page = doors.get("/api/streams/events.main/events");
    assert_eq!(page["events"][0]["id"], answer.body.as_str());
    assert_eq!(page["events"][0]["key"], answer.body.as_str());
    assert_eq!(page["events"][0]["value"]["data"]["x"], 1);
    let picked = doors.post("/in", &[], "{\"meta\":{\"id\":\"mine\"}}");
    assert_eq!(picked.said(), (200, "mine"));
    let page = doors.get("/api/streams/picked/events");
    assert_eq!((&page["events"][0]["id"], &page["events"][0]["key"]), (&json!("mine"), &json!("mine")));
    // `/` is still the index for who reads.
    assert_eq!(doors.ask("GET", "/", &[], None).status, 200);
    for body in ["", "nothing", "[1]", "{}{}", "1"] {
        let answer = doors.post("/", &[], body);
        assert_eq!(answer.status, 400, "{body:?}: {}", answer.body);
        assert!(answer.json()["message"].is_string());
    }
    assert_eq!(doors.values("events.main").len(), 1);
}
