//! Confluent's REST Proxy: producing by v2 and v3, and what there is, byte for byte.

#[cfg(feature = "kafka")]
use salver_testkit::servers::kafka;
use serde_json::{Value, json};

use super::doors::Doors;

const JSON: (&str, &str) = ("content-type", "application/vnd.kafka.json.v2+json");
const BINARY: (&str, &str) = ("content-type", "application/vnd.kafka.binary.v2+json");
const V2: &str = "application/vnd.kafka.v2+json";
const STREAM: &str = "[[stream]]\nname = \"events\"\n";

/// A stream that goes on to a topic of three partitions.
#[cfg(feature = "kafka")]
fn with_kafka(topic: &str) -> Doors {
    let broker = kafka();
    broker.create_topic(topic, 3, &[]);
    let address = broker.address();
    Doors::open(&format!(
        "[[stream]]\nname = \"events\"\nsink = \"kafka\"\nbrokers = [\"{address}\"]\ntopic = \"{topic}\"\n"
    ))
}

#[test]
fn produce_by_v2() {
    let doors = Doors::open(STREAM);
    let body = r#"{"records":[{"key":"k","value":{"n":1.0}},{"value":{"n":2},"partition":0}]}"#;
    let answer = doors.post("/topics/events", &[JSON], body);
    assert_eq!(answer.header("content-type"), Some(V2));
    let text = "{\"offsets\":[{\"partition\":0,\"offset\":0,\"error_code\":null,\"error\":null},\
                {\"partition\":0,\"offset\":1,\"error_code\":null,\"error\":null}],\
                \"key_schema_id\":null,\"value_schema_id\":null}";
    assert_eq!(answer.said(), (200, text));
    let binary =
        doors.post("/topics/events/partitions/0", &[BINARY], r#"{"records":[{"key":"Zm9v","value":"eyJuIjozfQ=="}]}"#);
    assert_eq!(binary.json()["offsets"][0]["offset"], 2, "{}", binary.body);
    let page = doors.get("/api/streams/events/events");
    let keys: Vec<&Value> = page["events"].as_array().unwrap().iter().map(|event| &event["key"]).collect();
    assert_eq!(keys, [&json!("\"k\""), &Value::Null, &json!("foo")]);
    assert_eq!(doors.values("events"), [json!({"n":1.0}), json!({"n":2}), json!({"n":3})]);
}

#[test]
fn what_v2_refuses() {
    let doors = Doors::open(STREAM);
    let good = r#"{"records":[{"value":{}}]}"#;
    let avro = ("content-type", "application/vnd.kafka.avro.v2+json");
    let html = ("accept", "text/html");
    for (target, headers, body, status, code) in [
        ("/topics/nothing", vec![JSON], good, 404, 40401),
        ("/topics/events/partitions/7", vec![JSON], good, 404, 40402),
        ("/topics/events", vec![("content-type", "application/json")], good, 415, 415),
        ("/topics/events", vec![avro], good, 415, 415),
        ("/topics/events", vec![JSON, html], good, 406, 406),
        ("/topics/events", vec![JSON], "{", 400, 400),
        ("/topics/events", vec![JSON], "{}", 422, 422),
        ("/topics/events", vec![JSON], r#"{"records":[]}"#, 422, 422),
        ("/topics/events", vec![JSON], r#"{"records":[{"value":1}],"value_schema":"x"}"#, 422, 42205),
        ("/topics/events", vec![BINARY], r#"{"records":[{"value":"?"}]}"#, 422, 42206),
        ("/topics/events", vec![JSON, ("origin", "http://evil.example")], good, 403, 40301),
        ("/topics", vec![JSON], good, 405, 405),
        ("/topics/events/x", vec![JSON], good, 404, 404),
        ("/v3/clusters/c/topics/nothing/records", vec![], "{}", 404, 40401),
        ("/v3/clusters/c/topics/events/records:batch", vec![], "", 422, 42208),
        ("/v3/clusters/c/topics/events/records:batch", vec![], "{", 400, 400),
        ("/v3/clusters/c/topics/events/records", vec![avro], "{}", 415, 415),
    ] {
        let answer = doors.post(target, &headers, body);
        let json = answer.json();
        assert_eq!((answer.status, json["error_code"].as_u64()), (status, Some(code)), "{target}: {}", answer.body);
        assert!(json["message"].is_string() && json.as_object().unwrap().len() == 2, "{}", answer.body);
    }
    assert!(doors.values("events").is_empty());
}

#[test]
fn metadata_of_v2_and_v3() {
    let doors = Doors::open(STREAM);
    doors.post("/topics/events", &[JSON], r#"{"records":[{"value":{}}]}"#);
    assert_eq!(doors.get("/topics"), json!(["events"]));
    assert_eq!(doors.get("/brokers"), json!({"brokers":[0]}));
    let partition = json!({"partition":0,"leader":0,"replicas":[{"broker":0,"leader":true,"in_sync":true}]});
    assert_eq!(doors.get("/topics/events"), json!({"name":"events","configs":{},"partitions":[partition]}));
    assert_eq!(doors.get("/topics/events/partitions"), json!([partition]));
    assert_eq!(doors.get("/topics/events/partitions/0"), partition);
    let offsets = doors.get("/topics/events/partitions/0/offsets");
    assert_eq!(offsets, json!({"beginning_offset":0,"end_offset":1}));
    for (target, code) in [("/topics/no", 40401), ("/topics/events/partitions/1", 40402), ("/topics/events/x", 404)] {
        let answer = doors.ask("GET", target, &[], None);
        assert_eq!((answer.status, answer.json()["error_code"].as_u64()), (404, Some(code)), "{target}");
    }
    let clusters = doors.get("/v3/clusters");
    assert_eq!((&clusters["kind"], &clusters["data"][0]["kind"]), (&json!("KafkaClusterList"), &json!("KafkaCluster")));
    let id = clusters["data"][0]["cluster_id"].as_str().unwrap().to_owned();
    let base = clusters["metadata"]["self"].as_str().unwrap();
    assert_eq!(base, format!("http://{}/v3/clusters", doors.process.address()));
    let topic = doors.get(&format!("/v3/clusters/{id}/topics/events"));
    let own = format!("{base}/{id}/topics/events");
    let expected = json!({
        "kind": "KafkaTopic",
        "metadata": {"self": own, "resource_name": format!("crn:///kafka={id}/topic=events")},
        "cluster_id": id,
        "topic_name": "events",
        "is_internal": false,
        "replication_factor": 1,
        "partitions_count": 1,
        "partitions": {"related": format!("{own}/partitions")},
        "configs": {"related": format!("{own}/configs")},
        "partition_reassignments": {"related": format!("{own}/partitions/-/reassignment")},
    });
    assert_eq!(topic, expected);
    let topics = doors.get(&format!("/v3/clusters/{id}/topics"));
    assert_eq!(topics["data"], json!([expected]));
    let partitions = doors.get(&format!("/v3/clusters/{id}/topics/events/partitions"));
    assert_eq!(partitions["data"][0]["partition_id"], 0);
    let none = doors.ask("GET", &format!("/v3/clusters/{id}/topics/events/partitions/9"), &[], None);
    assert_eq!((none.status, &none.json()["error_code"]), (404, &json!(40403)));
}

#[test]
fn records_by_v3_while_they_come() {
    let doors = Doors::open(STREAM);
    let mut talk = doors.begin(
        "POST /v3/clusters/c/topics/events/records HTTP/1.1\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked",
    );
    // The answer to a record comes before the next is sent.
    for n in 0..3 {
        let record = format!(
            "{{\"key\":{{\"type\":\"STRING\",\"data\":\"k\"}},\"value\":{{\"type\":\"JSON\",\"data\":{{\"n\":{n}}}}},\
             \"timestamp\":\"2026-01-31T10:20:30Z\",\"headers\":[{{\"name\":\"h\",\"value\":\"aGk=\"}}]}}"
        );
        talk.send(&record);
        if n == 0 {
            assert!(talk.head().starts_with("http/1.1 200"));
        }
        let report = format!(
            "{{\"error_code\":200,\"cluster_id\":\"c\",\"topic_name\":\"events\",\"partition_id\":0,\"offset\":{n},\
             \"timestamp\":\"2026-01-31T10:20:30.000Z\",\"key\":{{\"type\":\"STRING\",\"size\":1}},\
             \"value\":{{\"type\":\"JSON\",\"size\":7}}}}\n"
        );
        assert_eq!(talk.until("\n"), report);
    }
    // One that is wrong does not end the conversation; what is not JSON does.
    talk.send(r#"{"value":{"type":"AVRO","data":1}} {"value":{"type":"JSON","data":{"n":3}}}"#);
    talk.send("\n");
    let text = talk.until("\"offset\":3");
    assert!(text.starts_with("{\"error_code\":42205,"), "{text}");
    talk.send("}}}");
    assert!(talk.until("\n").contains("\"error_code\":400"));
    assert_eq!(talk.rest(), "");
    let page = doors.get("/api/streams/events/events");
    assert_eq!(page["events"][0]["headers"], json!({"h":"hi"}));
    assert_eq!(page["next"], 4);
}

#[test]
fn a_batch_by_v3() {
    let doors = Doors::open(STREAM);
    let body = r#"{"entries":[{"id":"a","value":{"type":"JSON","data":{"n":1}},"timestamp":"2026-01-31T10:20:30Z"},
        {"id":"b","value":{"type":"PROTOBUF","data":1}},{"id":"c","value":{"type":"BINARY","data":"e30="}}]}"#;
    let answer =
        doors.post("/v3/clusters/c/topics/events/records:batch", &[("content-type", "application/json")], body);
    assert_eq!(answer.status, 207, "{}", answer.body);
    let json = answer.json();
    let success = json!({"id":"a","cluster_id":"c","topic_name":"events","partition_id":0,"offset":0,
        "timestamp":"2026-01-31T10:20:30.000Z","value":{"type":"JSON","size":7}});
    assert_eq!(json["successes"][0], success);
    assert_eq!((&json["successes"][1]["id"], &json["successes"][1]["offset"]), (&json!("c"), &json!(1)));
    assert_eq!((&json["failures"][0]["id"], &json["failures"][0]["error_code"]), (&json!("b"), &json!(42205)));
    assert_eq!(doors.values("events"), [json!({"n":1}), json!({})]);
}

#[cfg(feature = "kafka")]
#[test]
fn partitions_and_offsets_are_those_of_kafka() {
    let doors = with_kafka("golden");
    // By the name of the stream, and by that of the topic.
    let records: Vec<String> = (0..30).map(|n| format!("{{\"key\":\"k{}\",\"value\":{{\"n\":{n}}}}}", n % 7)).collect();
    let body = format!("{{\"records\":[{}]}}", records.join(","));
    let mut told = Vec::new();
    for target in ["/topics/events", "/topics/golden"] {
        let answer = doors.post(target, &[JSON], &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        for (n, place) in answer.json()["offsets"].as_array().unwrap().iter().enumerate() {
            told.push((place["partition"].as_u64().unwrap(), place["offset"].as_u64().unwrap(), n));
        }
    }
    let placed = doors.post("/topics/golden/partitions/2", &[JSON], r#"{"records":[{"value":{"n":30}}]}"#);
    let place = placed.json()["offsets"][0].clone();
    assert_eq!(place["partition"], 2, "{}", placed.body);
    told.push((2, place["offset"].as_u64().unwrap(), 30));
    let v3 = doors.post(
        "/v3/clusters/c/topics/golden/records",
        &[("content-type", "application/json")],
        r#"{"partition_id":1,"key":{"type":"BINARY","data":"Zm9v"},"value":{"type":"JSON","data":{"n":31}},
            "headers":[{"name":"h","value":"aGk="}],"timestamp":"2026-01-31T10:20:30.123Z"}"#,
    );
    assert_eq!((&v3.json()["error_code"], &v3.json()["partition_id"]), (&json!(200), &json!(1)), "{}", v3.body);
    told.push((1, v3.json()["offset"].as_u64().unwrap(), 31));
    // As somebody else reads the topic.
    let mut outside = Vec::new();
    for record in kafka().outside("golden") {
        let value: Value = serde_json::from_slice(&record.value).unwrap();
        let n = usize::try_from(value["n"].as_u64().unwrap()).unwrap();
        match n {
            30 => assert_eq!(record.key, None),
            31 => {
                assert_eq!((record.key.as_deref(), record.time_ms), (Some(&b"foo"[..]), 1_769_854_830_123));
                assert!(record.headers.contains(&("h".to_owned(), "hi".to_owned())), "{record:?}");
            }
            n => assert_eq!(record.key, Some(format!("\"k{}\"", n % 7).into_bytes())),
        }
        outside.push((u64::from(record.partition), record.offset, n));
    }
    told.sort_unstable();
    outside.sort_unstable();
    assert_eq!(told, outside);
    assert_eq!(doors.get("/topics"), json!(["golden"]));
    assert_eq!(doors.get("/topics/golden/partitions").as_array().unwrap().len(), 3);
    assert_eq!(doors.get("/v3/clusters/c/topics/golden")["partitions_count"], 3);
    assert_eq!(doors.get("/api/streams/events")["kafka"], json!({"topic":"golden","partitions":3}));
    let none = doors.post("/topics/golden/partitions/3", &[JSON], r#"{"records":[{"value":{}}]}"#);
    assert_eq!((none.status, &none.json()["error_code"]), (404, &json!(40402)));
}
