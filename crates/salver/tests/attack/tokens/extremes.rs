//! Numbers at and beyond the ends of what numbers can be, wherever one says how long, how many or where.

use std::io::{Read, Write};

use super::{CALLERS, Siege, Who, lines, opened};
use crate::server::Server;

/// Numbers as JSON, a query string or a header may say them.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "1.5",
    "0.0000001",
    "4294967296",
    "1099511627776",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "340282366920938463463374607431768211456",
    "1e19",
    "1e308",
    "1e400",
    "-1e308",
    "NaN",
    "Infinity",
    "\"18446744073709551615\"",
    "null",
    "[1]",
];

fn siege() -> Siege {
    let toml = format!(
        "{CALLERS}[limits]\nquery_ms_max = \"5s\"\n[[dataset]]\nname = \"a\"\nsource = \"a.ndjson\"\n\
        [[dataset]]\nname = \"scanned\"\nsource = \"a.ndjson\"\nmemory = \"never\"\n\
        [[stream]]\nname = \"events\"\n"
    );
    let siege = Siege::of(&toml, &[("a.ndjson", lines(1_000).as_bytes())]);
    assert_eq!(siege.server().post("/api/streams/events", &lines(20)).status, 200);
    siege
}

/// Asks, and sees that there was an answer, and no fault.
fn ask(server: &Server, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> u16 {
    let answer = server.ask(method, target, headers, body.as_bytes());
    assert!(
        (200..500).contains(&answer.status) || answer.status == 503,
        "{method} {target} {body}: {} {}",
        answer.status,
        String::from_utf8_lossy(&answer.body)
    );
    answer.status
}

/// Asks for an answer that has no end, and sees how it begins.
fn is_begun(server: &Server, target: &str, more: &str) {
    let mut stream = server.connect();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let head = format!("GET {target} HTTP/1.1\r\nhost: {}\r\n{more}\r\n", server.address());
    stream.write_all(head.as_bytes()).unwrap();
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).unwrap_or_else(|error| panic!("{target} {more}: {error}"));
    assert!(matches!(&begin, b"HTTP/1.1 200" | b"HTTP/1.1 400"), "{target} {more}: {begin:?}");
}

/// The number as it stands in a query string.
fn plain(number: &str) -> String {
    number.replace('"', "%22").replace('[', "%5B").replace(']', "%5D")
}

#[test]
fn exports_take_no_number_that_is_none_of_theirs() {
    let siege = siege();
    siege.attack("extreme numbers of exports", |server| {
        for number in NUMBERS {
            for field in ["streams", "ttl"] {
                let body = format!("{{\"entry\":\"a\",\"{field}\":{number}}}");
                let status = ask(server, "POST", "/api/export", &[], &body);
                assert_eq!(status == 201, matches!(number, "1" | "null"), "{body}: {status}");
            }
            for body in ["columns", "entry"].map(|field| format!("{{\"entry\":\"a\",\"{field}\":{number}}}")) {
                ask(server, "POST", "/api/export", &[], &body);
            }
        }
        for entry in ["a", "scanned", "events"] {
            // Tags are versions that a client may make up.
            for version in ["0", "1", "7fffffffffffffff", "ffffffffffffffff", "fffffffffffffffe", "g", ""] {
                let tag = format!("\"{version:0>16}-{version:0>16}\"");
                for header in ["if-range", "if-none-match", "if-match"] {
                    let headers = [("range", "bytes=3-"), (header, tag.as_str())];
                    ask(server, "GET", &format!("/api/export/{entry}"), &headers, "");
                }
            }
            let (token, _) = opened(Who::Anybody, server, entry);
            for number in NUMBERS.map(plain) {
                for stream in ["0", "1", number.as_str()] {
                    for query in [
                        format!("offset={number}"),
                        format!("rows={number}"),
                        format!("offset={number}&rows={number}"),
                        format!("offset=1&rows={number}&format=csv&header=false"),
                    ] {
                        ask(server, "GET", &format!("/api/export/{token}/{stream}?{query}"), &[], "");
                    }
                }
                for range in [format!("bytes={number}-"), format!("bytes=-{number}"), format!("bytes=1-{number}")] {
                    ask(server, "GET", &format!("/api/export/{entry}"), &[("range", &range)], "");
                }
            }
        }
    });
}

#[test]
fn cursors_take_no_number_that_is_none_of_theirs() {
    let siege = siege();
    siege.attack("extreme numbers of cursors", |server| {
        let mut open: Vec<(&str, String)> = Vec::new();
        for number in NUMBERS {
            for (door, rest) in [
                ("/_api/export?collection=a", "\"x\":1"),
                ("/_api/cursor", "\"query\":\"FOR d IN a RETURN d\""),
                ("/_api/cursor", "\"query\":\"FOR d IN a SORT d.id LIMIT 3, 900 RETURN d.id\""),
                ("/_api/cursor", "\"query\":\"SELECT * FROM a\""),
            ] {
                for field in ["ttl", "batchSize", "limit", "memoryLimit", "count", "flushWait", "options"] {
                    let body = format!("{{{rest},\"{field}\":{number}}}");
                    let answer = server.post(door, &body);
                    assert!(answer.status >= 200, "{door} {body}: no answer");
                    // ArangoDB says 500 and 410 of what takes too much.
                    assert!(matches!(answer.status, 201 | 400 | 410 | 500 | 503), "{body}: {}", answer.text());
                    if let Some(id) = answer.json()["id"].as_str() {
                        open.push((door.split('?').next().unwrap(), id.to_owned()));
                    }
                }
                let body =
                    format!("{{{rest},\"batchSize\":1,\"options\":{{\"maxRuntime\":{number},\"stream\":true}}}}");
                let answer = server.post(door, &body);
                assert!(matches!(answer.status, 201 | 400 | 410), "{body}: {}", answer.text());
            }
            for aql in
                [format!("FOR d IN a LIMIT {number} RETURN d"), format!("FOR d IN a LIMIT {number}, {number} RETURN d")]
            {
                let body = serde_json::json!({ "query": aql, "count": true, "options": { "fullCount": true } });
                ask(server, "POST", "/_api/cursor", &[], &body.to_string());
            }
        }
        for (door, id) in &open {
            assert!(server.ask("PUT", &format!("{door}/{id}"), &[], b"").status < 500);
        }
        let body = "{\"query\":\"FOR d IN a RETURN d\",\"batchSize\":1,\"options\":{\"allowRetry\":true}}";
        let id = server.post("/_api/cursor", body).json()["id"].as_str().unwrap().to_owned();
        for number in NUMBERS.map(plain) {
            ask(server, "POST", &format!("/_api/cursor/{id}/{number}"), &[], "");
            ask(server, "POST", &format!("/_api/cursor/{number}"), &[], "");
            ask(server, "DELETE", &format!("/_api/cursor/{number}"), &[], "");
        }
        for (door, id) in open {
            let _ = server.ask("DELETE", &format!("{door}/{id}"), &[], b"");
        }
    });
}

#[test]
fn pages_and_streams_take_no_number_that_is_none_of_theirs() {
    let siege = siege();
    siege.attack("extreme numbers of pages and streams", |server| {
        let v2 = ("content-type", "application/vnd.kafka.v2+json");
        let make = "{\"name\":\"c\",\"format\":\"json\",\"auto.offset.reset\":\"earliest\"}";
        assert_eq!(ask(server, "POST", "/consumers/g", &[v2], make), 200);
        let instance = "/consumers/g/instances/c";
        let partitions = "{\"partitions\":[{\"topic\":\"events\",\"partition\":0}]}";
        assert_eq!(ask(server, "POST", &format!("{instance}/assignments"), &[v2], partitions), 204);
        for number in NUMBERS {
            let place = |member: &str| {
                format!("{{\"{member}\":[{{\"topic\":\"events\",\"partition\":0,\"offset\":{number}}}]}}")
            };
            ask(server, "POST", &format!("{instance}/positions"), &[v2], &place("offsets"));
            ask(server, "GET", &format!("{instance}/records?timeout=1"), &[], "");
            ask(server, "POST", &format!("{instance}/offsets"), &[v2], &place("offsets"));
            ask(server, "POST", &format!("{instance}/offsets"), &[v2], "");
            let settings = format!("{{\"consumer.request.timeout.ms\":{number}}}");
            ask(server, "POST", "/consumers/h", &[v2], &settings);
            ask(server, "POST", "/api/streams/events/groups/k/commit", &[], &format!("{{\"offset\":{number}}}"));
            let number = plain(number);
            for query in ["limit", "offset", "page", "after"] {
                ask(server, "GET", &format!("/api/tables/a?limit=3&{query}={number}"), &[], "");
            }
            ask(server, "GET", &format!("/api/streams/events/events?from={number}&limit=5"), &[], "");
            ask(server, "GET", &format!("/api/streams/events/events?limit={number}"), &[], "");
            is_begun(server, &format!("/api/streams/events/tail?from={number}"), "");
            is_begun(server, "/api/streams/events/tail", &format!("last-event-id: {number}\r\n"));
            // So many events end the answer.
            ask(
                server,
                "GET",
                &format!("/api/streams/events/tail?from=earliest&limit={}", if number == "1" { "1" } else { "2" }),
                &[],
                "",
            );
            ask(server, "GET", &format!("{instance}/records?timeout=1&max_bytes={number}"), &[], "");
        }
        // What was committed beyond the end is no place that the group would never come back from.
        let groups = server.get("/api/streams/events/groups").json();
        for group in groups["groups"].as_array().unwrap() {
            assert!(group["offset"].as_u64().unwrap() <= 20, "{groups}");
        }
    });
}
