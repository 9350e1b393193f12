//! Chains and nesting in everything else a client writes: paths of joins and orders, conditions, bodies, documents.
//!
//! Each construct is a line: how many of it are taken, and what makes a request of so many. It is sent as often as is
//! taken, which must work, and ten times as often, which must be answered or refused, with the server well afterwards.

mod aql;
mod bodies;
mod documents;
mod headers;
mod records;
mod rest;

use std::fmt::Write as _;

use super::siege::Siege;
use crate::server::{Answer, Server};

/// A table of nodes under nodes, leaves of nodes, and tags of leaves.
const DATABASE: &str = "
    CREATE TABLE node (id INTEGER PRIMARY KEY, node_id INTEGER REFERENCES node(id), name TEXT);
    CREATE TABLE leaf (id INTEGER PRIMARY KEY, node_id INTEGER REFERENCES node(id), name TEXT, n INTEGER, more JSON);
    CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE leaf_tag (id INTEGER PRIMARY KEY, leaf_id INTEGER REFERENCES leaf(id),
        tag_id INTEGER REFERENCES tag(id));
    CREATE TABLE pair (a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (a, b));
    INSERT INTO node VALUES (1, NULL, 'root'), (2, 1, 'branch');
    INSERT INTO leaf VALUES (1, 2, 'aaa', 1, NULL), (2, 2, 'bbb', 2, NULL);
    INSERT INTO tag VALUES (1, 'red');
    INSERT INTO leaf_tag VALUES (1, 1, 1);
    INSERT INTO pair VALUES (1, 1, 'one');
";
/// Values that hold themselves: as deep as an event.
const SCHEMA: &str = r##"{"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "array"}}}"##;
const FUNCTIONS: &[u8] = b"
def echo(x):
    return x


def many(**names):
    return len(names)


def listed(n: list[int]):
    return len(n)
";
const SETTINGS: &str = r#"
    [server]
    data_dir = "data"
    [[dataset]]
    name = "flat"
    source = "flat.csv"
    [[dataset]]
    name = "deep"
    source = "deep.ndjson"
    [[database]]
    name = "db"
    url = "sqlite:db.sqlite"
    init = "db.sql"
    writable = true
    columns = true
    search = "search"
    [[stream]]
    name = "events"
    [[stream]]
    name = "checked"
    schema = "checked.json"
"#;

/// The longest head the server reads.
const HEAD_BYTES_MAX: usize = 512 * 1024;

/// A request.
#[derive(Debug)]
struct Ask {
    method: &'static str,
    target: String,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Ask {
    fn get(target: impl Into<String>) -> Self {
        Self { method: "GET", target: target.into(), headers: Vec::new(), body: String::new() }
    }

    fn post(target: impl Into<String>, body: impl Into<String>) -> Self {
        Self { method: "POST", body: body.into(), ..Self::get(target) }
    }

    fn json(target: impl Into<String>, body: impl Into<String>) -> Self {
        Self::post(target, body).with("content-type", "application/json")
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn send(&self, server: &Server) -> Answer {
        let headers: Vec<(&str, &str)> = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        server.ask(self.method, &encoded(&self.target), &headers, self.body.as_bytes())
    }
}

/// A construct: what it is called, how many are taken, and a request of so many.
struct Construct(&'static str, usize, fn(usize) -> Ask);

/// Sends each construct as often as is taken, then ten times as often.
fn besiege(constructs: &[Construct]) {
    let siege = server();
    for Construct(name, taken, make) in constructs {
        let answer = make(*taken).send(siege.server());
        assert!(
            (200..300).contains(&answer.status),
            "{name}: {taken} are answered with {} {}",
            answer.status,
            shown(&answer)
        );
        let ask = make(taken * 10);
        let answer = siege.attack(name, |server| ask.send(server));
        // Of what is longer than a head may be, the server need not read all before it closes.
        let is_cut = answer.status == 0 && ask.target.len() > HEAD_BYTES_MAX;
        let is_fine = (200..300).contains(&answer.status) || (400..500).contains(&answer.status) || is_cut;
        assert!(is_fine, "{name}: {} are answered with {} {}", taken * 10, answer.status, shown(&answer));
    }
}

/// Sends what is nonsense at any number, and sees that it is refused without harm.
fn refuse(nonsense: &[(&str, Ask)]) {
    let siege = server();
    for (name, ask) in nonsense {
        let answer = siege.attack(name, |server| ask.send(server));
        assert!((400..500).contains(&answer.status), "{name}: {} {}", answer.status, shown(&answer));
    }
}

fn server() -> Siege {
    let mut flat = "id,name,n,x,flag\n".to_owned();
    for id in 0..100 {
        writeln!(flat, "{id},name{id},{},{}.5,{}", id % 7, id, id % 2 == 0).unwrap();
    }
    let deep = r#"{"id":1,"o":{"p":{"q":{"r":1,"s":"x"}}},"l":[{"a":1},{"a":2}]}"#;
    Siege::of(
        SETTINGS,
        &[
            ("flat.csv", flat.as_bytes()),
            ("deep.ndjson", deep.as_bytes()),
            ("db.sql", DATABASE.as_bytes()),
            ("checked.json", SCHEMA.as_bytes()),
            ("functions/py.py", FUNCTIONS),
        ],
    )
}

/// The beginning of an answer.
fn shown(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).chars().take(400).collect()
}

/// `text` with what can't stand in a target percent-encoded.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' | b'"' | b'<' | b'>' | b'{' | b'}' | b'\\' | b'^' | b'`' | b'|' | 0x80.. | b'\n' => {
                write!(out, "%{byte:02X}").unwrap();
            }
            byte => out.push(char::from(byte)),
        }
    }
    out
}

/// `part` so many times, with `between` between them.
fn list(part: &str, between: &str, count: usize) -> String {
    vec![part; count].join(between)
}

/// `part` so many times with its number in place of `#`.
fn numbered(part: &str, between: &str, count: usize) -> String {
    (0..count).map(|n| part.replace('#', &n.to_string())).collect::<Vec<_>>().join(between)
}

/// `inner` in so many brackets.
fn nested(open: &str, inner: &str, close: &str, count: usize) -> String {
    format!("{}{inner}{}", open.repeat(count), close.repeat(count))
}
