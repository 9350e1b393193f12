//! Following a stream: server-sent events and NDJSON, from anywhere, filtered, and to the end of the server.

use serde_json::json;

use super::doors::Doors;

const STREAM: &str = "[[stream]]\nname = \"events\"\n";

fn with_events(count: usize) -> Doors {
    let doors = Doors::open(STREAM);
    let body: String = (0..count).map(|n| format!("{{\"n\":{n},\"kind\":\"k{}\"}}\n", n % 3)).collect();
    assert_eq!(doors.post("/api/streams/events", &[], body).status, 200);
    doors
}

#[test]
fn server_sent_events() {
    let doors = with_events(5);
    let answer = doors.ask("GET", "/api/streams/events/tail?from=earliest&limit=2", &[], None);
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let text = ":\n\nid: 0\ndata: {\"n\":0,\"kind\":\"k0\"}\n\nid: 1\ndata: {\"n\":1,\"kind\":\"k1\"}\n\n";
    assert_eq!(answer.said(), (200, text));
    // As a browser comes again: the header wins.
    let again = doors.ask("GET", "/api/streams/events/tail?from=0&limit=1", &[("last-event-id", "3")], None);
    assert_eq!(again.body, ":\n\nid: 4\ndata: {\"n\":4,\"kind\":\"k1\"}\n\n");
    let at = doors.ask("GET", "/api/streams/events/tail?from=2020-01-01T00:00:00Z&limit=1", &[], None);
    assert!(at.body.contains("id: 0\n"), "{}", at.body);
    doors.post("/api/streams/events", &[], "{\n  \"n\": 9\n}");
    let lines = doors.ask("GET", "/api/streams/events/tail?from=5&limit=1", &[], None);
    assert_eq!(lines.body, ":\n\nid: 5\ndata: {\ndata:   \"n\": 9\ndata: }\n\n");
}

/// As after the log was removed: the reader is told, and gets what comes now.
#[test]
fn an_offset_beyond_the_end() {
    let doors = with_events(3);
    let mut talk = doors.begin("GET /api/streams/events/tail?limit=1 HTTP/1.1\r\nlast-event-id: 99");
    talk.head();
    doors.post("/api/streams/events", &[], "{\"n\":\"new\"}");
    let text = talk.until("new");
    assert!(text.contains("event: missing\ndata: {\"from\":3,\"to\":99}\n\nid: 3\ndata: {\"n\":\"new\"}"), "{text}");
}

#[test]
fn lines_for_who_accepts_them() {
    let doors = with_events(2);
    let accept = [("accept", "application/x-ndjson")];
    let answer = doors.ask("GET", "/api/streams/events/tail?from=1&limit=1", &accept, None);
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let page = doors.get("/api/streams/events/events?from=1");
    let line: serde_json::Value = serde_json::from_str(answer.body.trim()).unwrap();
    assert_eq!(line, page["events"][0]);
}

#[test]
fn only_what_passes() {
    let doors = with_events(3_000);
    for (query, offsets) in [
        ("filter[n]lt=4&filter[kind]=k0&limit=2", vec![0, 3]),
        ("or=(n.eq.2998,n.eq.7)&limit=2", vec![7, 2998]),
        ("filter[_offset]gte=2500&filter[kind]in=(k1)&limit=1", vec![2500]),
        ("filter[missing]null=true&limit=1", vec![0]),
    ] {
        let answer = doors.ask("GET", &format!("/api/streams/events/tail?from=0&{query}"), &[], None);
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        let ids = answer.body.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok());
        assert_eq!(ids.collect::<Vec<u64>>(), offsets, "{query}");
    }
    for (query, hint) in [("filter[n]gtt=1", "gt"), ("form=1", "did you mean `from`?"), ("from=start", "earliest")] {
        let answer = doors.ask("GET", &format!("/api/streams/events/tail?{query}"), &[], None);
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.json()["hint"].as_str().unwrap().contains(hint), "{}", answer.body);
    }
}

#[test]
fn events_come_as_they_happen_and_the_end_is_whole() {
    let mut doors = with_events(1);
    let mut talk = doors.begin("GET /api/streams/events/tail HTTP/1.1");
    assert!(talk.head().starts_with("http/1.1 200"));
    talk.until(":\n\n");
    for n in 1..20 {
        doors.post("/api/streams/events?ack=memory", &[], format!("{{\"n\":{n}}}"));
        assert!(talk.until("}\n\n").contains(&format!("id: {n}\ndata: {{\"n\":{n}}}")));
    }
    let mut waiting = doors.begin("GET /api/streams/events/events?from=latest&wait=60s HTTP/1.1");
    // Both are open when the server ends; neither is cut off, and neither keeps it.
    let pid = doors.process.pid().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill is there");
    assert_eq!(talk.rest().replace(":\n\n", ""), "");
    let head = waiting.head();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(9);
    while doors.process.is_alive() {
        assert!(std::time::Instant::now() < patience, "the server did not end");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    doors.process.restart();
    assert_eq!(doors.get("/api/streams/events")["next"], json!(20));
}

#[test]
fn a_reader_that_leaves_is_forgotten() {
    let doors = with_events(1);
    for _ in 0..50 {
        let mut talk = doors.begin("GET /api/streams/events/tail?from=0 HTTP/1.1");
        assert!(talk.head().starts_with("http/1.1 200"));
        talk.until("id: 0");
    }
    assert_eq!(doors.post("/api/streams/events", &[], "{}").status, 200);
}
