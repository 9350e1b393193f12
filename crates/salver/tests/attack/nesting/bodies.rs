//! JSON and forms at the doors of functions, streams and cursors.

use super::{Ask, Construct, besiege, list, nested, numbered, refuse};

fn function(name: &str, body: String) -> Ask {
    Ask::json(format!("/api/functions/py/{name}"), body)
}

#[test]
fn functions() {
    besiege(&[
        Construct("arrays in an argument", 120, |n| {
            function("echo", format!("{{\"x\":{}}}", nested("[", "1", "]", n)))
        }),
        Construct("objects in an argument", 120, |n| {
            function("echo", format!("{{\"x\":{}}}", nested("{\"a\":", "1", "}", n)))
        }),
        Construct("values of an argument", 50_000, |n| {
            function("listed", format!("{{\"n\":[{}]}}", list("1", ",", n)))
        }),
        Construct("members that any name takes", 10_000, |n| {
            function("many", format!("{{{}}}", numbered("\"a#\":1", ",", n)))
        }),
        Construct("members of a form", 9_000, |n| {
            Ask::post("/api/functions/py/many", numbered("a#=1", "&", n))
                .with("content-type", "application/x-www-form-urlencoded")
        }),
        Construct("values of a query", 900, |n| {
            Ask::post(format!("/api/functions/py/listed?{}", list("n=1", "&", n)), "")
        }),
        Construct("JSON in a query", 100, |n| {
            Ask::post(format!("/api/functions/py/echo?x={}", nested("[", "1", "]", n)), "")
        }),
    ]);
}

#[test]
fn streams() {
    besiege(&[
        Construct("an event's levels", 63, |n| Ask::json("/api/streams/events", nested("{\"a\":", "1", "}", n))),
        Construct("a checked event's levels", 63, |n| {
            Ask::json("/api/streams/checked", nested("{\"a\":", "{}", "}", n))
        }),
        Construct("arrays in an event", 60, |n| {
            Ask::json("/api/streams/events", format!("{{\"b\":{}}}", nested("[", "1", "]", n)))
        }),
        Construct("members of an event", 900, |n| {
            Ask::json("/api/streams/events", format!("{{{}}}", numbered("\"m#\":1", ",", n)))
        }),
        Construct("events of an array", 50_000, |n| {
            Ask::json("/api/streams/events", format!("[{}]", list("{}", ",", n)))
        }),
        Construct("events of lines", 50_000, |n| Ask::post("/api/streams/events", list("{}", "\n", n))),
        Construct("records of Kafka", 10_000, |n| {
            Ask::post("/topics/events", format!("{{\"records\":[{}]}}", list("{\"value\":{}}", ",", n)))
                .with("content-type", "application/vnd.kafka.json.v2+json")
        }),
        Construct("levels of Kafka's records", 60, |n| {
            Ask::post("/topics/events", format!("{{\"records\":[{{\"value\":{}}}]}}", nested("{\"a\":", "1", "}", n)))
                .with("content-type", "application/vnd.kafka.json.v2+json")
        }),
        Construct("events of Tinybird", 10_000, |n| Ask::post("/v0/events?name=events", list("{}", "\n", n))),
        Construct("conditions of a reader", 100, |n| {
            Ask::get(format!("/api/streams/events/tail?from=earliest&limit=1&{}", list("filter[b]null=true", "&", n)))
        }),
        Construct("patterns of a reader", 16, |n| {
            let pattern = "%25_".repeat(500);
            Ask::get(format!(
                "/api/streams/events/tail?from=earliest&limit=1&or=({},b.null)",
                list(&format!("a.like.{pattern}"), ",", n - 1)
            ))
        }),
        Construct("groups in groups of a reader", 32, |n| {
            Ask::get(format!(
                "/api/streams/events/tail?from=earliest&limit=1&or=({})",
                nested("or(", "b.null", ")", n - 1)
            ))
        }),
    ]);
}

#[test]
fn nonsense() {
    let long = "n".repeat(1_000_000);
    refuse(&[
        ("open arrays to a function", function("echo", format!("{{\"x\":{}", "[".repeat(1_900_000)))),
        ("a name a function does not have", function("echo", format!("{{\"{long}\":1}}"))),
        ("a form of names", {
            Ask::post("/api/functions/py/echo", numbered("a#", "&", 250_000))
                .with("content-type", "application/x-www-form-urlencoded")
        }),
        ("a function that is not there", Ask::post(format!("/api/functions/py/{}", &long[..60_000]), "{}")),
        ("lines of open arrays", Ask::post("/api/streams/events", "{\"a\":[1,\n".repeat(50_000))),
        ("lines of open objects", Ask::post("/api/streams/events", "{\"a\":\n".repeat(50_000))),
        ("open arrays", Ask::post("/api/streams/events", "[".repeat(1_900_000))),
        ("open events", Ask::post("/api/streams/events", "{\"a\":".repeat(350_000))),
        ("an open event of Kafka", {
            Ask::post("/topics/events", format!("{{\"records\":{}", "[".repeat(1_900_000)))
                .with("content-type", "application/vnd.kafka.json.v2+json")
        }),
        ("records of nothing", {
            Ask::post("/topics/events", format!("{{\"records\":[{}]}}", list("{}", ",", 600_000)))
                .with("content-type", "application/vnd.kafka.json.v2+json")
        }),
        ("a stream that is not there", Ask::post(format!("/api/streams/{}", &long[..60_000]), "{}")),
        ("a cursor of arrays", Ask::json("/_api/cursor", nested("[", "", "]", 900_000))),
        (
            "an export of objects",
            Ask::json("/_api/export?collection=flat", nested("{\"restrict\":", "{}", "}", 100_000)),
        ),
        ("an export of fields", {
            let fields = numbered("\"f#\"", ",", 200_000);
            Ask::json(
                "/_api/export?collection=x",
                format!("{{\"restrict\":{{\"type\":\"include\",\"fields\":[{fields}]}}}}"),
            )
        }),
    ]);
}

#[test]
fn a_reader_with_a_hostile_pattern_costs_the_others_nothing() {
    let siege = super::server();
    let server = siege.server();
    let event = format!("{{\"t\":\"{}\"}}", "a".repeat(1_000_000));
    for _ in 0..8 {
        assert_eq!(server.post("/api/streams/events", &event).status, 200);
    }
    let pattern = format!("%25{}b%25", "a".repeat(4_000));
    let ask = Ask::get(format!("/api/streams/events/tail?from=earliest&filter[t]like={pattern}"));
    siege.attack("a pattern that almost fits everywhere", |server| {
        let mut tail = server.connect();
        let head = format!("GET {} HTTP/1.1\r\nhost: {}\r\n\r\n", ask.target, server.address());
        std::io::Write::write_all(&mut tail, head.as_bytes()).unwrap();
        assert_eq!(server.get("/health").status, 200);
    });
}
