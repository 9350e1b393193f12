//! A stream is a table: REST, SQL, GraphQL and the schema show what was acknowledged before they were asked, with the
//! columns it brought.

use serde_json::{Value, json};

use super::doors::Doors;

const STREAM: &str = "[[stream]]\nname = \"events\"\n";

/// Appends, and waits for the answer.
#[track_caller]
fn append(doors: &Doors, body: &str) {
    let (status, said) = doors.said("/api/streams/events", body);
    assert_eq!(status, 200, "{said}");
}

#[track_caller]
fn graphql(doors: &Doors, query: &str) -> Value {
    let answer = doors.post("/api/graphql", &[("content-type", "application/graphql")], query);
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    rows(&answer.json()).into()
}

/// The rows of an answer, also of a document of GraphQL.
fn rows(answer: &Value) -> Vec<Value> {
    answer.as_array().or_else(|| answer["data"]["events"].as_array()).unwrap_or_else(|| panic!("{answer}")).clone()
}

fn columns(doors: &Doors, entry: &str) -> Vec<String> {
    let schema = doors.get(&format!("/api/schema/{entry}"));
    schema["fields"].as_array().unwrap().iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect()
}

/// The target of the next page.
fn next(link: Option<&str>) -> Option<String> {
    link.map(|link| link.strip_prefix('<').and_then(|l| l.strip_suffix(">; rel=\"next\"")).unwrap().to_owned())
}

#[test]
fn what_was_acknowledged_is_there_with_its_columns() {
    let doors = Doors::open(STREAM);
    assert_eq!(doors.get("/api/tables/events"), json!([]));
    assert_eq!(columns(&doors, "events"), ["_offset", "_id", "_time", "_key"]);
    for n in 0..40 {
        // Each event has a column that none had before; whoever is asked first must know it.
        append(&doors, &format!("{{\"n\":{n},\"c{n}\":{n}}}"));
        let asked = |door: i32| match door % 4 {
            0 => doors.get(&format!("/api/tables/events?columns=n,c{n}&filter[c{n}]={n}")),
            1 => doors.process.sql(&format!("select n, c{n} from events where c{n} is not null")).into(),
            2 => graphql(&doors, &format!("{{ events(filter: {{ c{n}: {{ eq: {n} }} }}) {{ n c{n} }} }}")),
            _ => {
                assert!(columns(&doors, "events").contains(&format!("c{n}")));
                doors.get(&format!("/api/tables/events?sort=-_offset&limit=1&columns=n,c{n}"))
            }
        };
        for door in n..n + 4 {
            assert_eq!(asked(door).to_string(), format!("[{{\"n\":{n},\"c{n}\":{n}}}]"), "door {}", door % 4);
        }
        let query = json!({ "query": "{ __type(name: \"events\") { fields { name } } }" }).to_string();
        let told = doors.post("/api/graphql", &[("content-type", "application/json")], query).json();
        let fields = told["data"]["__type"]["fields"].as_array().unwrap();
        assert!(fields.iter().any(|field| field["name"] == format!("c{n}")), "{told}");
        let counted = doors.process.sql("select count(*) as n, max(_offset) as last from events");
        assert_eq!(counted, [json!({ "n": n + 1, "last": n })]);
        assert_eq!(graphql(&doors, "{ events { n } }").as_array().unwrap().len() as i32, n + 1);
    }
    let all = doors.get("/api/tables/events?count=true&columns=n,_offset");
    let wanted: Vec<Value> = (0..40).map(|n| json!({ "n": n, "_offset": n })).collect();
    assert_eq!(all, Value::Array(wanted));
}

#[test]
fn answers_are_never_kept() {
    let doors = Doors::open(STREAM);
    append(&doors, r#"{"n":1}"#);
    for target in
        ["/api/tables/events?columns=n", "/api/sql?q=select%20n%20from%20events", "/api/graphql?query={events{n}}"]
    {
        let before = doors.ask("GET", target, &[], None);
        assert_eq!((before.status, before.header("etag")), (200, None), "{target}: {}", before.body);
        append(&doors, r#"{"n":2}"#);
        let after = doors.ask("GET", target, &[("if-none-match", "\"x\"")], None);
        assert_eq!((after.status, after.header("etag")), (200, None), "{target}");
        assert_eq!(rows(&after.json()).len(), rows(&before.json()).len() + 1, "{target}");
    }
}

#[test]
fn columns_widen_and_keep_what_is_in_them() {
    let doors = Doors::open(STREAM);
    let values = || -> Vec<Value> {
        let rows = doors.get("/api/tables/events?columns=v");
        rows.as_array().unwrap().iter().map(|row| row["v"].clone()).collect()
    };
    append(&doors, r#"{"v":1}{"v":null}{}"#);
    assert_eq!(values(), [json!(1), Value::Null, Value::Null]);
    append(&doors, r#"{"v":1.5}"#);
    assert_eq!(doors.process.sql("select sum(v) as s from events"), [json!({ "s": 2.5 })]);
    append(&doors, r#"{"v":"x","deep":{"a":{"b":[1,2]}}}"#);
    let text = values();
    assert_eq!(text.last(), Some(&json!("x")));
    assert_eq!(text.len(), 5);
    let found = doors.process.sql("select _offset from events where v = 'x'");
    assert_eq!(found, [json!({ "_offset": 4 })]);
    let deep = doors.get("/api/tables/events?columns=deep&filter[_offset]=4");
    assert_eq!(deep, json!([{ "deep": { "a": { "b": [1, 2] } } }]));
}

#[test]
fn pages_go_on_with_the_rows_they_began_with() {
    let orders: [(&str, Vec<u64>); 4] = [
        ("", (0..500).collect()),
        ("&sort=-_offset", (0..500).rev().collect()),
        ("&sort=half,-n", (0..250).flat_map(|half| [half * 2 + 1, half * 2]).collect()),
        ("&filter[n]gte=100", (100..500).collect()),
    ];
    let settings = |index: usize| format!("[[stream]]\nname = \"s{index}\"\nsegment_bytes = 8192\n");
    let doors = Doors::open(&(0..orders.len()).map(settings).collect::<String>());
    for (index, (query, wanted)) in orders.into_iter().enumerate() {
        let append = |body: &str| assert_eq!(doors.said(&format!("/api/streams/s{index}"), body).0, 200);
        for start in (0..500).step_by(50) {
            let event = |n: u64| format!("{{\"n\":{n},\"half\":{}}}\n", n / 2);
            append(&(start..start + 50).map(event).collect::<String>());
        }
        let mut paged = Vec::new();
        let mut target = Some(format!("/api/tables/s{index}?columns=n&limit=70{query}"));
        while let Some(page) = target {
            let answer = doors.ask("GET", &page, &[], None);
            assert_eq!(answer.status, 200, "{page}: {}", answer.body);
            paged.extend(answer.json().as_array().unwrap().iter().map(|row| row["n"].as_u64().unwrap()));
            assert!(paged.len() <= wanted.len(), "pages without end");
            // These would be on the next page, or before the first.
            append(r#"{"n":100000,"half":-1}{"n":100000,"other":"x"}"#);
            target = next(answer.header("link"));
        }
        assert_eq!(paged, wanted, "{query}");
        let fresh = doors.get(&format!("/api/tables/s{index}?columns=n&limit=1&sort=-_offset"));
        assert_eq!(fresh, json!([{ "n": 100_000 }]));
    }
}

#[test]
fn what_is_not_taken_is_a_table_too() {
    let doors = Doors::open(STREAM);
    assert_eq!(doors.get("/api/tables/events_quarantine"), json!([]));
    append(&doors, "{\"n\":1}\nnot json\n{\"n\":2}\n");
    let bad = doors.get("/api/tables/events_quarantine?columns=event,reason");
    assert_eq!(bad.as_array().unwrap().len(), 1, "{bad}");
    assert!(bad[0]["event"].as_str().unwrap().contains("not json"), "{bad}");
    assert!(!bad[0]["reason"].as_str().unwrap().is_empty());
    let both =
        doors.process.sql("select (select count(*) from events) as good, count(*) as bad from events_quarantine");
    assert_eq!(both, [json!({ "good": 2, "bad": 1 })]);
}

#[test]
fn sql_joins_counts_and_explains() {
    let doors = Doors::open("[[stream]]\nname = \"events\"\n[[stream]]\nname = \"users\"\n");
    append(&doors, "{\"user\":1,\"n\":5}{\"user\":2,\"n\":7}{\"user\":1,\"n\":1}{\"user\":9,\"n\":0}");
    let (status, _) = doors.said("/api/streams/users", "{\"id\":1,\"name\":\"Ann\"}{\"id\":2,\"name\":\"Bob\"}");
    assert_eq!(status, 200);
    let joined = "select u.name, sum(e.n) as n from events e join users u on u.id = e.user group by u.name order by 1";
    assert_eq!(doors.process.sql(joined), [json!({ "name": "Ann", "n": 6 }), json!({ "name": "Bob", "n": 7 })]);
    let explain = |text: &str| serde_json::to_string(&doors.process.sql(&format!("explain {text}"))).unwrap();
    let shown = explain("select \"user\", count(*) from events where n > 1 group by \"user\"");
    assert!(shown.contains("HeldScan: events (") && shown.contains("columns=[user, n], filter=n > 1"), "{shown}");
    assert!(!explain("select count(*) + 1 from events").contains("HeldScan"), "counting reads");
    assert_eq!(doors.process.sql("select count(*) as n from events"), [json!({ "n": 4 })]);
    assert_eq!(doors.process.sql("select count(*) + 1 as n from events"), [json!({ "n": 5 })]);
    // What came a moment ago is within the last hour.
    let recent = "select count(*) as n from events where _time > now() - interval '1 hour'";
    assert_eq!(doors.process.sql(recent), [json!({ "n": 4 })]);
    let never = doors.get("/api/tables/events?filter[_time]lt=2000-01-01T00:00:00Z");
    assert_eq!(never, json!([]));
}

#[test]
fn the_catalog_tells_of_streams_and_of_those_that_cannot_be_opened() {
    let doors = Doors::open("[[stream]]\nname = \"broken\"\ndir = \"salver.toml\"\n[[stream]]\nname = \"events\"\n");
    append(&doors, r#"{"n":1}"#);
    let ready = doors.get("/ready");
    let (events, broken) = (&ready["entries"]["events"], &ready["entries"]["broken"]);
    assert_eq!((&events["state"], &events["kind"], &events["rows"]), (&json!("ready"), &json!("stream"), &json!(1)));
    assert_eq!(broken["state"], "failed", "{broken}");
    assert!(!broken["message"].as_str().unwrap().is_empty());
    let index = doors.get("/");
    let names: Vec<&str> =
        index["entries"]["events"]["columns"].as_array().unwrap().iter().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["_offset", "_id", "_time", "_key", "n"]);
    let refused = doors.ask("GET", "/api/tables/broken", &[], None);
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.body.contains("`broken` could not be loaded"), "{}", refused.body);
    assert_eq!(doors.said("/api/streams/broken", r#"{"n":1}"#).0, 503);
}

#[test]
fn everything_is_there_after_a_restart() {
    let doors = Doors::open("[[stream]]\nname = \"events\"\nsegment_bytes = 4096\n");
    for n in 0..20 {
        let events: String = (0..20).map(|m| format!("{{\"n\":{},\"c{n}\":\"x\"}}\n", n * 20 + m)).collect();
        append(&doors, &events);
    }
    let before = doors.get("/api/tables/events");
    let names = columns(&doors, "events");
    assert_eq!(before.as_array().unwrap().len(), 400);
    let Doors { mut process, .. } = doors;
    process.restart();
    let after: Value = serde_json::from_str(&process.get("/api/tables/events")).unwrap();
    assert_eq!(after, before);
    let schema: Value = serde_json::from_str(&process.get("/api/schema/events")).unwrap();
    assert_eq!(schema["fields"].as_array().unwrap().len(), names.len());
    assert_eq!(process.sql("select count(*) as n, sum(n) as s from events"), [json!({ "n": 400, "s": 79_800 })]);
}
