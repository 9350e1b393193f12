//! What other systems' doors take is what the native one takes: tombstones, sizes, text, partitions, and a result of
//! its own for each record. Ids are known for as long as they are said to be.

use std::time::Duration;

#[cfg(feature = "kafka")]
use salver_testkit::servers::kafka;
use serde_json::{Value, json};

use super::doors::Doors;

const JSON: (&str, &str) = ("content-type", "application/vnd.kafka.json.v2+json");
const BINARY: (&str, &str) = ("content-type", "application/vnd.kafka.binary.v2+json");
const STREAM: &str = "[[stream]]\nname = \"events\"\n";

#[cfg(feature = "kafka")]
fn with_kafka(topic: &str, settings: &[(&str, &str)], more: &str) -> Doors {
    let broker = kafka();
    broker.create_topic(topic, 2, settings);
    let address = broker.address();
    Doors::open(&format!(
        "[[stream]]\nname = \"events\"\nsink = \"kafka\"\nbrokers = [\"{address}\"]\ntopic = \"{topic}\"\n{more}"
    ))
}

/// What v3 reports, record by record.
fn by_v3(doors: &Doors, body: impl AsRef<[u8]>) -> Vec<Value> {
    let answer = doors.post("/v3/clusters/c/topics/events/records", &[], body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body.lines().map(|line| serde_json::from_str(line).expect("a report")).collect()
}

#[cfg(feature = "kafka")]
#[test]
fn null_is_a_tombstone_in_kafka_and_here() {
    let doors = with_kafka("tombstones", &[], "");
    let v2 = r#"{"records":[{"key":"a","value":{"n":1}},{"key":"a","value":null},{"key":"a"}]}"#;
    assert_eq!(doors.post("/topics/events", &[JSON], v2).status, 200);
    assert_eq!(doors.post("/topics/events", &[BINARY], r#"{"records":[{"key":"Yg==","value":null}]}"#).status, 200);
    let key = r#""key":{"type":"STRING","data":"c"}"#;
    let v3 = [r#""value":null"#, r#""value":{"type":"JSON","data":null}"#, r#""value":{"type":"BINARY","data":null}"#];
    let reports = by_v3(&doors, v3.map(|value| format!("{{{key},{value}}}")).concat());
    assert!(reports.len() == 3 && reports.iter().all(|report| report["error_code"] == 200), "{reports:?}");
    let mut records = kafka().outside("tombstones");
    records.sort_by_key(|record| record.time_ms);
    let is_null: Vec<_> = records.iter().map(|record| (record.is_tombstone, record.value.is_empty())).collect();
    assert_eq!(is_null.iter().filter(|own| **own == (true, true)).count(), 6, "{records:?}");
    assert_eq!(is_null.len(), 7);
    assert_eq!(
        doors.values("events"),
        [json!({"n":1}), Value::Null, Value::Null, Value::Null, Value::Null, Value::Null, Value::Null]
    );
    let rows = doors.process.sql("SELECT _key, n FROM events ORDER BY _offset");
    assert_eq!(rows[1], json!({"_key":"\"a\"","n":null}));
    doors.post(
        "/consumers/g",
        &[("content-type", "application/vnd.kafka.v2+json")],
        r#"{"name":"i","format":"json","auto.offset.reset":"earliest"}"#,
    );
    doors.post(
        "/consumers/g/instances/i/subscription",
        &[("content-type", "application/vnd.kafka.v2+json")],
        r#"{"topics":["events"]}"#,
    );
    let accept = [("accept", "application/vnd.kafka.json.v2+json")];
    let read = doors.ask("GET", "/consumers/g/instances/i/records", &accept, None).json();
    assert_eq!((&read[0]["value"], &read[1]["value"]), (&json!({"n":1}), &Value::Null), "{read}");
}

#[test]
fn where_a_schema_asks_for_objects_there_are_no_tombstones() {
    let doors = Doors::open("[[stream]]\nname = \"events\"\nschema = '{\"type\":\"object\"}'\n");
    let answer = doors.post("/topics/events", &[JSON], r#"{"records":[{"value":null},{"value":{"n":1}},{"value":7}]}"#);
    let codes: Vec<_> =
        answer.json()["offsets"].as_array().unwrap().iter().map(|own| own["error_code"].clone()).collect();
    assert_eq!(codes, [json!(42206), Value::Null, json!(42206)], "{}", answer.body);
}

#[cfg(feature = "kafka")]
#[test]
fn what_kafka_refuses_says_nothing_of_the_others() {
    let doors = with_kafka("refusing", &[("max.message.bytes", "20000")], "ack = \"broker\"\n");
    let large = "x".repeat(60_000);
    let body =
        format!(r#"{{"records":[{{"value":{{"n":1}}}},{{"value":{{"n":2,"x":"{large}"}}}},{{"value":{{"n":3}}}}]}}"#);
    let answer = doors.post("/topics/events", &[JSON], body).json();
    let codes: Vec<_> = answer["offsets"].as_array().unwrap().iter().map(|own| own["error_code"].clone()).collect();
    assert_eq!(codes, [Value::Null, json!(50002), Value::Null], "{answer}");
    assert!(answer["offsets"][2]["offset"].is_u64(), "{answer}");
    let value = |n: u32, x: &str| format!(r#"{{"value":{{"type":"JSON","data":{{"n":{n},"x":"{x}"}}}}}}"#);
    let reports = by_v3(&doors, [value(4, ""), value(5, &large), value(6, "")].concat());
    let codes: Vec<_> = reports.iter().map(|own| own["error_code"].clone()).collect();
    assert_eq!(codes, [200, 50002, 200], "{reports:?}");
    // The native door says which.
    let body = format!("{{\"n\":7}}\n{{\"n\":8,\"x\":\"{large}\"}}\n{{\"n\":9}}\n");
    let answer = doors.post("/api/streams/events?results=true", &[], body);
    let json = answer.json();
    let refused: Vec<_> = json["results"].as_array().unwrap().iter().map(|own| own["refused"].is_string()).collect();
    assert_eq!((answer.status, refused), (200, vec![false, true, false]), "{}", answer.body);
    assert_eq!((&json["taken"], &json["refused"]), (&json!(3), &json!(1)));
    // An event that is sent again gets its own answer, and not that of another.
    let send = |id: &str, body: String| doors.post(&format!("/api/streams/events?id={id}"), &[], body);
    let large = format!("{{\"x\":\"{large}\"}}");
    for (taken, duplicates) in [(1, 0), (0, 1)] {
        let (good, bad) = (send("good", "{}".to_owned()), send("bad", large.clone()));
        assert_eq!((good.status, bad.status), (200, 400), "{} {}", good.body, bad.body);
        assert!(bad.body.contains("MessageSizeTooLarge"), "{}", bad.body);
        for json in [good.json(), bad.json()] {
            assert_eq!((&json["taken"], &json["duplicates"]), (&json!(taken), &json!(duplicates)), "{json}");
        }
    }
}

#[test]
fn values_are_checked_at_every_door() {
    let doors = Doors::open(STREAM);
    let deep = format!("{}1{}", "[".repeat(70), "]".repeat(70));
    let long = format!("\"{}\"", "x".repeat(1 << 20));
    for (value, is_good) in
        [("7", true), ("\"x\"", true), ("[1]", true), (deep.as_str(), false), (long.as_str(), false)]
    {
        let answer = doors.post("/topics/events", &[JSON], format!(r#"{{"records":[{{"value":{value}}}]}}"#)).json();
        assert_eq!(answer["offsets"][0]["error_code"].is_null(), is_good, "{answer}");
        let reports = by_v3(&doors, format!(r#"{{"value":{{"type":"JSON","data":{value}}}}}"#));
        assert_eq!(reports[0]["error_code"] == 200, is_good, "{reports:?}");
    }
    let bytes = [&br#"{"records":[{"value":{"a":""#[..], b"\xff", br#""}}]}"#].concat();
    let answer = doors.post("/topics/events", &[JSON], bytes);
    assert!(answer.status == 400 || !answer.json()["offsets"][0]["error_code"].is_null(), "{}", answer.body);
    // Nor is any of it in the stream.
    assert_eq!(doors.values("events").len(), 6);
    // Bytes are bytes, as long as they are not too many.
    let answer = doors.post("/topics/events", &[BINARY], r#"{"records":[{"value":"/w=="}]}"#).json();
    assert!(answer["offsets"][0]["error_code"].is_null(), "{answer}");
}

#[cfg(feature = "kafka")]
#[test]
fn partitions_that_are_not_there_are_refused() {
    let doors = with_kafka("two", &[], "ack = \"broker\"\n");
    let body = r#"{"records":[{"value":{"n":1},"partition":1},{"value":{"n":2},"partition":2},{"value":{"n":3}}]}"#;
    let answer = doors.post("/topics/events", &[JSON], body).json();
    let codes: Vec<_> = answer["offsets"].as_array().unwrap().iter().map(|own| own["error_code"].clone()).collect();
    assert_eq!(codes, [Value::Null, json!(40402), Value::Null], "{answer}");
    let record = |partition: u32| format!(r#"{{"partition_id":{partition},"value":{{"type":"JSON","data":{{}}}}}}"#);
    let codes: Vec<_> =
        by_v3(&doors, [record(1), record(2)].concat()).iter().map(|own| own["error_code"].clone()).collect();
    assert_eq!(codes, [200, 40402]);
    assert_eq!(doors.post("/api/streams/events?partition=1", &[], "{}").status, 200);
    let refused = doors.post("/api/streams/events?partition=2", &[], "{}");
    assert!(refused.status == 400 && refused.body.contains("no partition 2"), "{}", refused.body);
    assert_eq!(doors.values("events").len(), 4);
}

#[test]
fn ids_are_known_as_long_as_the_stream_says() {
    let doors = Doors::open(
        "[[stream]]\nname = \"short\"\ndedupe = \"300ms\"\n[[stream]]\nname = \"none\"\ndedupe = 0\nid = \"$.id\"\n",
    );
    let send = |stream: &str| {
        let answer = doors.post(&format!("/api/streams/{stream}"), &[("salver-id", "i")], r#"{"n":1}"#).json();
        (answer["taken"].as_u64(), answer["duplicates"].as_u64())
    };
    assert_eq!(send("short"), (Some(1), Some(0)));
    // Nothing else comes meanwhile.
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(send("short"), (Some(1), Some(0)));
    assert_eq!((send("none"), send("none")), ((Some(1), Some(0)), (Some(1), Some(0))));
    let answer = doors.post("/api/streams/none", &[], r#"{"id":1}{"id":1}"#).json();
    assert_eq!(answer["taken"], 2);
}
