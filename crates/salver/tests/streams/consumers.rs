//! The consumers of Confluent's REST Proxy v2: made, subscribed, assigned, read, committed, sought and deleted.

use serde_json::{Value, json};

use super::doors::Doors;

const STREAM: &str = "[[stream]]\nname = \"a\"\n[[stream]]\nname = \"b\"\n";
const JSON: (&str, &str) = ("accept", "application/vnd.kafka.json.v2+json");

fn filled() -> Doors {
    let doors = Doors::open(STREAM);
    for stream in ["a", "b"] {
        let body: String = (0..5).map(|n| format!("{{\"{stream}\":{n}}}\n")).collect();
        assert_eq!(doors.post(&format!("/api/streams/{stream}?key=k"), &[], body).status, 200);
    }
    doors
}

fn make(doors: &Doors, group: &str, config: &Value) -> String {
    let answer = doors.post(&format!("/consumers/{group}"), &[], config.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    let json = answer.json();
    let name = json["instance_id"].as_str().unwrap();
    let base = format!("/consumers/{group}/instances/{name}");
    assert_eq!(json["base_uri"], format!("http://{}{base}", doors.process.address()));
    base
}

fn earliest(name: &str) -> Value {
    json!({"name": name, "format": "json", "auto.offset.reset": "earliest", "auto.commit.enable": "false"})
}

/// What a consumer reads: the topics and offsets.
#[track_caller]
fn read(doors: &Doors, base: &str, query: &str) -> Vec<(String, u64)> {
    let answer = doors.ask("GET", &format!("{base}/records?{query}"), &[JSON], None);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let json = answer.json();
    let place = |record: &Value| (record["topic"].as_str().unwrap().to_owned(), record["offset"].as_u64().unwrap());
    json.as_array().unwrap().iter().map(place).collect()
}

fn from_to(topic: &str, offsets: std::ops::Range<u64>) -> Vec<(String, u64)> {
    offsets.map(|offset| (topic.to_owned(), offset)).collect()
}

#[test]
fn a_life() {
    let doors = filled();
    let base = make(&doors, "g", &earliest("one"));
    assert_eq!(base, "/consumers/g/instances/one");
    let nothing = doors.ask("GET", &format!("{base}/records"), &[JSON], None);
    assert_eq!((nothing.status, &nothing.json()["error_code"]), (409, &json!(40903)));
    assert_eq!(doors.post(&format!("{base}/subscription"), &[], r#"{"topics":["a"]}"#).status, 204);
    assert_eq!(doors.get(&format!("{base}/subscription")), json!({"topics":["a"]}));
    let answer = doors.ask("GET", &format!("{base}/records"), &[JSON], None);
    assert_eq!(answer.header("content-type"), Some(JSON.1));
    let first = r#"[{"topic":"a","key":"k","value":{"a":0},"partition":0,"offset":0},"#;
    assert!(answer.body.starts_with(first), "{}", answer.body);
    assert_eq!(answer.json().as_array().unwrap().len(), 5);
    assert_eq!(doors.get(&format!("{base}/assignments")), json!({"partitions":[{"topic":"a","partition":0}]}));
    assert!(read(&doors, &base, "timeout=10").is_empty());
    // What was read is committed when that is asked for.
    let asked = r#"{"partitions":[{"topic":"a","partition":0}]}"#;
    let committed = || doors.ask("GET", &format!("{base}/offsets"), &[], Some(asked.as_bytes())).json();
    assert_eq!(committed(), json!({"offsets":[]}));
    assert_eq!(doors.post(&format!("{base}/offsets"), &[], "").status, 200);
    assert_eq!(committed(), json!({"offsets":[{"topic":"a","partition":0,"offset":5,"metadata":""}]}));
    // An offset is the last that was worked on.
    let two = r#"{"offsets":[{"topic":"a","partition":0,"offset":2}]}"#;
    assert_eq!(doors.post(&format!("{base}/offsets"), &[], two).said(), (200, "[]"));
    assert_eq!(committed()["offsets"][0]["offset"], 3);
    assert_eq!(doors.get("/api/streams/a/groups/g")["offset"], 3);
    // Elsewhere, and back.
    assert_eq!(doors.post(&format!("{base}/positions/beginning"), &[], asked).status, 204);
    assert_eq!(read(&doors, &base, ""), from_to("a", 0..5));
    assert_eq!(doors.post(&format!("{base}/positions"), &[], two).status, 204);
    assert_eq!(read(&doors, &base, ""), from_to("a", 2..5));
    assert_eq!(doors.post(&format!("{base}/positions/end"), &[], asked).status, 204);
    assert!(read(&doors, &base, "timeout=10").is_empty());
    let other = r#"{"partitions":[{"topic":"b","partition":0}]}"#;
    let refused = doors.post(&format!("{base}/positions/end"), &[], other);
    assert_eq!((refused.status, &refused.json()["error_code"]), (409, &json!(40903)));
    assert_eq!(doors.ask("DELETE", &base, &[], None).status, 204);
    let gone = doors.ask("GET", &format!("{base}/records"), &[JSON], None);
    let text = r#"{"error_code":40403,"message":"Consumer instance not found."}"#;
    assert_eq!(gone.said(), (404, text));
}

#[test]
fn one_of_a_group_reads_a_topic() {
    let doors = filled();
    let (one, two) = (make(&doors, "g", &earliest("one")), make(&doors, "g", &earliest("two")));
    for base in [&one, &two] {
        assert_eq!(doors.post(&format!("{base}/subscription"), &[], r#"{"topic_pattern":"a|b.*"}"#).status, 204);
        assert_eq!(doors.get(&format!("{base}/subscription")), json!({"topics":["a","b"]}));
    }
    let everything = [from_to("a", 0..5), from_to("b", 0..5)].concat();
    assert_eq!(read(&doors, &one, ""), everything);
    assert!(read(&doors, &two, "timeout=10").is_empty());
    // Of another group everything comes again.
    let other = make(&doors, "h", &earliest("one"));
    doors.post(&format!("{other}/subscription"), &[], r#"{"topics":["b","missing"]}"#);
    assert_eq!(read(&doors, &other, ""), from_to("b", 0..5));
    // The first goes without a commit: the second begins where the group is.
    assert_eq!(doors.ask("DELETE", &one, &[], None).status, 204);
    assert_eq!(read(&doors, &two, ""), everything);
}

#[test]
fn reading_waits_and_commits_by_itself() {
    let doors = filled();
    let config = json!({"name":"one","format":"json","auto.commit.enable":"true","consumer.request.timeout.ms":60_000});
    let base = make(&doors, "g", &config);
    doors.post(&format!("{base}/assignments"), &[], r#"{"partitions":[{"topic":"a","partition":0}]}"#);
    let place = r#"{"partitions":[{"topic":"a","partition":0}]}"#;
    assert_eq!(doors.post(&format!("{base}/positions/end"), &[], place).status, 204);
    let head = format!("GET {base}/records HTTP/1.1\r\naccept: {}\r\nconnection: close", JSON.1);
    let mut talk = doors.begin(&head);
    doors.post("/api/streams/a", &[], "{\"late\":1}");
    assert!(talk.head().starts_with("http/1.1 200"));
    // What an answer brought is committed when the next one is asked for.
    assert_eq!(doors.get("/api/streams/a/groups/g")["offset"], 5);
    let answer = doors.ask("GET", &format!("{base}/records?timeout=0"), &[JSON], None);
    assert_eq!(answer.status, 200);
    assert_eq!(doors.get("/api/streams/a/groups/g")["offset"], 6);
    let max =
        doors.post(&format!("{base}/positions/beginning"), &[], r#"{"partitions":[{"topic":"a","partition":0}]}"#);
    assert_eq!(max.status, 204);
    assert_eq!(read(&doors, &base, "max_bytes=1"), from_to("a", 0..1));
}

#[test]
fn keys_and_values_in_base64() {
    let doors = filled();
    let base = make(&doors, "g", &json!({"auto.offset.reset":"earliest"}));
    assert!(base.starts_with("/consumers/g/instances/rest-consumer-"), "{base}");
    doors.post(&format!("{base}/subscription"), &[], r#"{"topics":["a"]}"#);
    let mismatch = doors.ask("GET", &format!("{base}/records"), &[JSON], None);
    assert_eq!((mismatch.status, &mismatch.json()["error_code"]), (406, &json!(40601)));
    let binary = [("accept", "application/vnd.kafka.binary.v2+json")];
    let answer = doors.ask("GET", &format!("{base}/records"), &binary, None);
    assert!(answer.body.starts_with(r#"[{"topic":"a","key":"aw==","value":"eyJhIjowfQ==","partition":0,"offset":0},"#));
}

#[test]
fn what_is_refused() {
    let doors = filled();
    let base = make(&doors, "g", &earliest("one"));
    doors.post(&format!("{base}/subscription"), &[], r#"{"topics":["a"]}"#);
    let place = r#"{"partitions":[{"topic":"a","partition":0}]}"#;
    for (method, target, body, status, code) in [
        ("POST", "/consumers/g", r#"{"name":"one"}"#, 409, 40902),
        ("POST", "/consumers/g", r#"{"format":"avro"}"#, 422, 42204),
        ("POST", "/consumers/g", r#"{"auto.offset.reset":"newest"}"#, 422, 42204),
        ("POST", "/consumers/g", r#"{"colour":"red"}"#, 422, 422),
        ("POST", "/consumers/g", "{", 400, 400),
        ("GET", "/consumers/g", "", 405, 405),
        ("DELETE", "/consumers/g/instances/two", "", 404, 40403),
        ("POST", "/consumers/g/instances/two/subscription", r#"{"topics":["a"]}"#, 404, 40403),
        ("POST", "/consumers/g/instances/one/assignments", place, 409, 40903),
        ("POST", "/consumers/g/instances/one/subscription", r#"{"topics":["a"],"topic_pattern":"a"}"#, 409, 40903),
        ("POST", "/consumers/g/instances/one/subscription", r#"{"topic_pattern":"[a]"}"#, 422, 42204),
        ("POST", "/consumers/g/instances/one/subscription", "{}", 422, 422),
        ("POST", "/consumers/g/instances/one/positions", r#"{"offsets":[{"topic":"a"}]}"#, 422, 422),
        ("DELETE", "/consumers/g/instances/one/records", "", 405, 405),
        ("GET", "/consumers/g/instances/one/elsewhere", "", 404, 404),
    ] {
        let answer = doors.ask(method, target, &[], Some(body.as_bytes()));
        let json = answer.json();
        assert_eq!((answer.status, json["error_code"].as_u64()), (status, Some(code)), "{target}: {}", answer.body);
    }
    assert_eq!(doors.ask("DELETE", &format!("{base}/subscription"), &[], None).status, 204);
    assert_eq!(doors.post(&format!("{base}/assignments"), &[], place).status, 204);
    assert_eq!(read(&doors, &base, ""), from_to("a", 0..5));
}
