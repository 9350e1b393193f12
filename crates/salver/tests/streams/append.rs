//! Events in by `POST /api/streams/{name}`: shapes, words, what goes along, what is refused, and bodies without end.

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Value, json};

use super::client::value;
use super::doors::{Doors, without_id};

const STREAM: &str = "[[stream]]\nname = \"events\"\n";

fn lines(numbers: std::ops::Range<usize>) -> String {
    numbers.fold(String::new(), |mut text, n| {
        writeln!(text, "{{\"n\":{n},\"text\":\"an event\"}}").unwrap();
        text
    })
}

fn ns(doors: &Doors) -> Vec<u64> {
    doors.values("events").iter().map(|value| value["n"].as_u64().unwrap()).collect()
}

#[test]
fn every_shape_of_a_body() {
    let doors = Doors::open(STREAM);
    for (body, answer) in [
        ("{\"n\":0}", r#"{"taken":1,"duplicates":0,"quarantined":0,"first_offset":0,"last_offset":0}"#),
        ("[{\"n\":1},\n {\"n\":2}]", r#"{"taken":2,"duplicates":0,"quarantined":0,"first_offset":1,"last_offset":2}"#),
        ("{\"n\":3}\n{\"n\":4}\r\n", r#"{"taken":2,"duplicates":0,"quarantined":0,"first_offset":3,"last_offset":4}"#),
        ("{\"n\":5}{\"n\":6}", r#"{"taken":2,"duplicates":0,"quarantined":0,"first_offset":5,"last_offset":6}"#),
        ("\n{\n  \"n\": 7\n}\n", r#"{"taken":1,"duplicates":0,"quarantined":0,"first_offset":7,"last_offset":7}"#),
        ("[]", r#"{"taken":0,"duplicates":0,"quarantined":0}"#),
    ] {
        let (status, said) = doors.said("/api/streams/events", body);
        assert_eq!((status, without_id(&said).as_str()), (200, answer), "{body}");
    }
    assert_eq!(ns(&doors), (0..8).collect::<Vec<_>>());
    let rows = doors.process.sql("SELECT count(*) AS n, sum(n) AS s FROM events");
    assert_eq!(serde_json::to_string(&rows).unwrap(), r#"[{"n":8,"s":28}]"#);
}

#[test]
fn the_quick_way_says_what_the_long_way_says() {
    let doors = Doors::open(STREAM);
    for (ack, status) in [("", 200), ("?ack=memory", 202), ("?ack=disk", 200), ("?ack=broker", 200)] {
        for body in ["{\"n\":1}", "{\"n\":1}{\"n\":2}", "{\"n\":1}\nno\n", "nothing", "", "  ", "[]", "[{},1]"] {
            let target = format!("/api/streams/events{ack}");
            let quick = doors.post(&target, &[("content-type", "application/json")], body);
            let long = doors.post(&target, &[("content-type", "text/plain")], body);
            let shown = |answer: &super::client::Answer| {
                let mut json: Value = answer.json();
                for name in ["id", "first_offset", "last_offset"] {
                    if let Some(value) = json.get_mut(name) {
                        *value = json!("...");
                    }
                }
                let names: Vec<&str> = ["content-type", "cache-control"].into_iter().collect();
                let headers: Vec<_> = names.iter().map(|name| answer.header(name).map(str::to_owned)).collect();
                (answer.status, serde_json::to_string(&json).unwrap(), headers)
            };
            assert_eq!(shown(&quick), shown(&long), "{target} {body:?}");
            assert!([status, 400].contains(&quick.status), "{target} {body:?}: {:?}", quick.said());
        }
    }
}

#[test]
fn each_event_is_told_of_in_order() {
    let doors = Doors::open("[[stream]]\nname = \"events\"\nid = \"$.id\"\n");
    let body = "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2}\n{\"id\":\"a\",\"n\":3}\n{]\n{\"id\":\"c\",\"n\":4}\n";
    let answer = doors.post("/api/streams/events?results=true", &[], body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let json = answer.json();
    assert_eq!((&json["taken"], &json["duplicates"], &json["quarantined"]), (&json!(3), &json!(1), &json!(1)));
    let results = json["results"].as_array().unwrap();
    assert_eq!(results[..3], [json!({"offset":0}), json!({"offset":1}), json!({"duplicate":0})]);
    assert!(results[3]["quarantined"].is_string() && results[3]["quarantined"] == json["reason"], "{results:?}");
    assert_eq!(results[4], json!({"offset":2}));
    // Again, everything was there already.
    let again = doors.post("/api/streams/events", &[], "{\"id\":\"a\"}");
    assert_eq!(again.said(), (200, r#"{"taken":0,"duplicates":1,"quarantined":0}"#));
    assert_eq!(ns(&doors), [1, 2, 4]);
    let kept = doors.process.sql("SELECT count(*) AS n FROM events_quarantine");
    assert_eq!(kept[0]["n"], 1);
}

#[test]
fn what_goes_along_is_kept() {
    let doors = Doors::open(
        "[[stream]]\nname = \"events\"\n[[stream]]\nname = \"picked\"\nkey = \"header:X-User\"\nid = \"header:X-Event\"\n\
         time = \"header:X-Time\"\n",
    );
    let headers = [
        ("salver-key", "k1"),
        ("salver-id", "i1"),
        ("salver-partition", "0"),
        ("salver-time", "2026-01-31T10:20:30.123Z"),
        ("salver-header-Trace", "abc"),
    ];
    let answer = doors.post("/api/streams/events", &headers, "{}");
    assert_eq!(answer.json()["id"], "i1", "{}", answer.body);
    let target = format!("/api/streams/events?key={}&id=i2&time=1769854830123", value("k 2"));
    doors.post(&target, &[], "{}{}");
    doors.post("/api/streams/picked", &[("x-user", "u"), ("x-event", "e"), ("x-time", "1769854830123")], "{}");
    let page = doors.get("/api/streams/events/events");
    let time = "2026-01-31T10:20:30.123Z";
    let expected = json!([
        {"offset":0,"time":time,"id":"i1","key":"k1","headers":{"trace":"abc"},"value":{}},
        {"offset":1,"time":time,"id":"i2-0","key":"k 2","headers":{},"value":{}},
        {"offset":2,"time":time,"id":"i2-1","key":"k 2","headers":{},"value":{}},
    ]);
    assert_eq!((&page["events"], &page["next"]), (&expected, &json!(3)));
    let page = doors.get("/api/streams/picked/events");
    assert_eq!(page["events"], json!([{"offset":0,"time":time,"id":"e","key":"u","headers":{},"value":{}}]));
}

#[test]
fn refusals_name_the_thing() {
    let doors = Doors::open(STREAM);
    let multipart = ("content-type", "multipart/form-data; boundary=x");
    for (target, headers, body, status, slug, hint) in [
        ("/api/streams/event", vec![], "{}", 404, "unknown_stream", "did you mean `events`?"),
        ("/api/streams/events?akc=disk", vec![], "{}", 400, "rest_query", "did you mean `ack`?"),
        ("/api/streams/events?ack=dsk", vec![], "{}", 400, "rest_query", "did you mean `disk`?"),
        ("/api/streams/events?partition=x", vec![], "{}", 400, "invalid_numeric_param", "partition=10"),
        ("/api/streams/events?partition=1", vec![], "{}", 400, "rest_query_value", "counted from 0"),
        ("/api/streams/events", vec![("salver-partition", "7")], "{}", 400, "rest_query_value", "counted from 0"),
        ("/api/streams/events", vec![("salver-kye", "x")], "{}", 400, "rest_query", "did you mean `salver-key`?"),
        ("/api/streams/events", vec![("salver-time", "soon")], "{}", 400, "rest_query_value", "2026"),
        ("/api/streams/events", vec![multipart], "x", 415, "unsupported_media_type", "ndjson"),
        ("/api/streams/events", vec![("content-encoding", "br")], "x", 415, "unsupported_media_type", "zstd"),
        ("/api/streams/events", vec![], "", 400, "invalid_body", "one JSON object"),
        ("/api/streams/events", vec![], " \n ", 400, "invalid_body", "one JSON object"),
        ("/api/streams/events", vec![("content-encoding", "gzip")], "no gzip", 400, "invalid_body", ""),
        ("/api/streams/events", vec![("origin", "http://evil.example")], "{}", 403, "origin_forbidden", "cors_origins"),
        ("/api/streams/events/tails", vec![], "{}", 404, "not_found", "/api/streams"),
    ] {
        let answer = doors.post(target, &headers, body);
        let json = answer.json();
        assert_eq!((answer.status, json["error"].as_str()), (status, Some(slug)), "{target}: {}", answer.body);
        let found = json["hint"].as_str().unwrap_or("");
        assert!(found.contains(hint), "{target}: {}", answer.body);
    }
    let refused = doors.post("/api/streams/events", &[], "[1,2]");
    let json = refused.json();
    assert_eq!((refused.status, &json["error"], &json["taken"]), (400, &json!("invalid_event"), &json!(0)));
    assert!(json["quarantined"].as_u64() > Some(0) && json["message"].is_string(), "{}", refused.body);
    let wrong = doors.ask("DELETE", "/api/streams/events", &[], None);
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("GET, HEAD, POST, OPTIONS")));
    assert!(doors.values("events").is_empty());
}

#[test]
fn packed_bodies_in_bounded_memory() {
    let doors = Doors::open(STREAM);
    let gzip = |text: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    };
    // Two members one after the other are one body.
    let mut both = gzip(lines(0..500).as_bytes());
    both.extend(gzip(lines(500..1000).as_bytes()));
    let zstd = zstd::encode_all(lines(1000..2000).as_bytes(), 1).unwrap();
    for (coding, body) in [("gzip", &both), ("zstd", &zstd)] {
        let answer = doors.post("/api/streams/events", &[("content-encoding", coding)], body);
        assert_eq!((answer.status, &answer.json()["taken"]), (200, &json!(1000)), "{}", answer.body);
    }
    assert_eq!(ns(&doors), (0..2000).collect::<Vec<_>>());
    // Cut off: nothing of one piece was taken.
    for (coding, body) in [("gzip", &both[..both.len() - 9]), ("zstd", &zstd[..zstd.len() - 9])] {
        let answer = doors.post("/api/streams/events", &[("content-encoding", coding)], body);
        assert_eq!(answer.status, 400, "{coding}: {}", answer.body);
    }
    // A quarter of a gigabyte in a few bytes, of nothing and of one event.
    for bomb in [vec![b' '; 1 << 28], [&b"{\"a\":\""[..], &vec![b'x'; 1 << 28]].concat()] {
        for (coding, body) in [("gzip", gzip(&bomb)), ("zstd", zstd::encode_all(&bomb[..], 1).unwrap())] {
            let answer = doors.post("/api/streams/events", &[("content-encoding", coding)], body);
            assert!([400, 413].contains(&answer.status), "{coding}: {}", answer.body);
        }
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", doors.process.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kib < 512 * 1024, "{peak_kib} KiB");
    assert_eq!(ns(&doors).len(), 2000);
}

#[test]
fn bodies_longer_than_any_limit() {
    let doors = Doors::open("[limits]\nbody_bytes_max = \"1KiB\"\n[[stream]]\nname = \"events\"\n");
    let text = lines(0..100_000);
    let answer = doors.post("/api/streams/events?results=true", &[], &text);
    let json = answer.json();
    assert_eq!((answer.status, &json["taken"], &json["last_offset"]), (200, &json!(100_000), &json!(99_999)));
    assert_eq!(json["results"].as_array().unwrap().len(), 100_000);
    let array = format!("[{}]", text.trim_end().replace('\n', ","));
    assert_eq!(doors.post("/api/streams/events", &[], array).json()["taken"], 100_000);
    let mut talk = doors.begin("POST /api/streams/events HTTP/1.1\r\ntransfer-encoding: chunked");
    for piece in text.as_bytes().chunks(7_777) {
        talk.send(std::str::from_utf8(piece).unwrap());
    }
    talk.end();
    assert!(talk.head().starts_with("http/1.1 200"));
    let rows = doors.process.sql("SELECT count(*) AS n, count(DISTINCT n) AS d, sum(n) AS s FROM events");
    assert_eq!(serde_json::to_string(&rows).unwrap(), r#"[{"n":300000,"d":100000,"s":14999850000}]"#);
}

#[test]
fn an_open_body_is_heard_and_what_was_taken_stays() {
    let doors = Doors::open(STREAM);
    let mut talk = doors.begin("POST /api/streams/events HTTP/1.1\r\ntransfer-encoding: chunked");
    talk.send("{\"n\":0}\n{\"n\":");
    doors.until("the first event is there", |doors| ns(doors) == [0]);
    talk.send("1}\n{\"n\":2}\n{\"n\"");
    doors.until("the next are there", |doors| ns(doors) == [0, 1, 2]);
    // The body breaks off.
    drop(talk);
    let answer = doors.post("/api/streams/events", &[], "{\"n\":3}");
    assert_eq!(answer.status, 200);
    assert_eq!(ns(&doors), [0, 1, 2, 3]);
}

#[test]
fn a_client_that_stalls_is_told_so() {
    let doors = Doors::open("[limits]\nhead_ms_max = \"300ms\"\n[[stream]]\nname = \"events\"\n");
    let mut talk = doors.begin("POST /api/streams/events HTTP/1.1\r\ncontent-length: 100");
    let head = talk.head();
    assert!(head.starts_with("http/1.1 400"), "{head}");
    let mut talk = doors.begin("POST /api/streams/events HTTP/1.1\r\ntransfer-encoding: chunked");
    talk.send("{\"n\":1}\n{\"n\":");
    let head = talk.head();
    assert!(head.starts_with("http/1.1 400"), "{head}");
    assert_eq!(ns(&doors), [1]);
}

/// A few bytes that are packed stand for millions of values that are not events: the rest of such a body is not read.
#[test]
fn a_body_of_nothing_but_mistakes_is_refused_from_somewhere_on() {
    let doors = Doors::open(STREAM);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all("7\n".repeat(4_000_000).as_bytes()).unwrap();
    let answer = doors.post("/api/streams/events", &[("content-encoding", "gzip")], packer.finish().unwrap());
    assert_eq!(answer.status, 400, "{}", answer.body);
    let told = answer.json();
    assert_eq!(told["error"], "invalid_event", "{told}");
    assert!(told["message"].as_str().unwrap().contains("more than 100000 events"), "{told}");
    let quarantined = told["quarantined"].as_u64().unwrap();
    assert!((100_000..2_000_000).contains(&quarantined), "{quarantined}");
    // The stream goes on.
    assert_eq!(doors.post("/api/streams/events", &[], br#"{"a":1}"#).status, 200);
}
