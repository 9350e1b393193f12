//! Tokens and ids: damaged, forged, or in the hands of another caller.

mod extremes;
mod ids;
mod kept;

use serde_json::Value;

use super::siege::Siege;
use crate::server::{Answer, Server};

/// Three callers: two with keys, and anybody.
const CALLERS: &str = "[auth]\nmode = \"optional\"\napi_keys = [\"ann:the-long-key-of-ann\", \"ben:the-long-key-of-ben\", \"the-long-key-of-nobody\"]\n";

/// Somebody who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Ann,
    Ben,
    /// A key without a name.
    Nameless,
    Anybody,
}

impl Who {
    const ALL: [Self; 4] = [Self::Ann, Self::Ben, Self::Nameless, Self::Anybody];

    fn ask(self, server: &Server, method: &str, target: &str, body: &str) -> Answer {
        self.ask_with(server, method, target, &[], body)
    }

    fn ask_with(self, server: &Server, method: &str, target: &str, more: &[(&str, &str)], body: &str) -> Answer {
        let key = match self {
            Self::Ann => Some("the-long-key-of-ann"),
            Self::Ben => Some("the-long-key-of-ben"),
            Self::Nameless => Some("the-long-key-of-nobody"),
            Self::Anybody => None,
        };
        let mut headers: Vec<(&str, &str)> = key.iter().map(|key| ("x-api-key", *key)).collect();
        headers.extend_from_slice(more);
        server.ask(method, target, &headers, body.as_bytes())
    }

    fn others(self) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |other| *other != self)
    }
}

/// What an answer tells: its status, what it says of its body, and the body.
fn told(answer: &Answer) -> (u16, Option<String>, String) {
    (answer.status, answer.header("content-type").map(str::to_owned), answer.text().to_owned())
}

/// Every way to damage a token: each character changed, what is cut off and what is added, in letters of its own
/// alphabet and of those that are like it.
fn damaged(token: &str) -> Vec<String> {
    let alphabet = "AZaz09-_+/=.,~";
    let mut all = Vec::new();
    for (at, own) in token.char_indices() {
        let (before, behind) = (&token[..at], &token[at + own.len_utf8()..]);
        let others = alphabet.chars().filter(|other| *other != own && *other != '/');
        // A few of them at each place: all would be thousands.
        all.extend(others.skip(at % 4).step_by(4).map(|other| format!("{before}{other}{behind}")));
        if own.is_ascii_alphabetic() {
            let swapped = if own.is_ascii_lowercase() { own.to_ascii_uppercase() } else { own.to_ascii_lowercase() };
            all.push(format!("{before}{swapped}{behind}"));
        }
        if at > 0 {
            all.push(token[..at].to_owned());
        }
    }
    all.extend(["A", "=", "==", "0", "AAAA", "%20", "%00", "."].map(|more| format!("{token}{more}")));
    all.push(format!("{token}{token}"));
    all.retain(|other| other != token);
    all
}

/// The hash that tokens were once checked with, which anybody can compute: FNV-1a with a final mix.
fn unkeyed(content: &[u8]) -> u64 {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    // A slice hashes its length first.
    for byte in (content.len() as u64).to_le_bytes().iter().chain(content) {
        state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let mixed = (state ^ (state >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

/// Base64 for paths, without padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, at| word << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        out.extend((0..=chunk.len()).map(|at| char::from(DIGITS[(word >> (18 - 6 * at) & 63) as usize])));
    }
    out
}

/// A token of an export as it was once made.
fn old_export(version: u64, streams: u64, ttl_s: u64, entry: &str, columns: &[u16]) -> String {
    let mut bytes = vec![1];
    for number in [7, version, streams, ttl_s] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&(entry.len() as u16).to_le_bytes());
    bytes.extend_from_slice(entry.as_bytes());
    bytes.extend(columns.iter().flat_map(|column| column.to_le_bytes()));
    bytes.extend_from_slice(&unkeyed(&bytes).to_le_bytes());
    format!("x_{}", base64(&bytes))
}

/// Rows in NDJSON.
fn lines(count: u64) -> String {
    (0..count).map(|id| format!("{{\"id\":{id},\"word\":\"word {id}\"}}\n")).collect()
}

/// Two entries with the same rows, for the three callers.
fn siege(more: &str) -> Siege {
    let rows = lines(1_000);
    let toml = format!(
        "{more}{CALLERS}[[dataset]]\nname = \"a\"\nsource = \"a.ndjson\"\n[[dataset]]\nname = \"b\"\nsource = \"b.ndjson\"\n"
    );
    Siege::of(&toml, &[("a.ndjson", rows.as_bytes()), ("b.ndjson", rows.as_bytes())])
}

fn opened(who: Who, server: &Server, entry: &str) -> (String, Value) {
    let answer = who.ask(server, "POST", "/api/export", &format!("{{\"entry\":\"{entry}\",\"streams\":2,\"ttl\":60}}"));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let export = answer.json();
    (export["export"].as_str().unwrap().to_owned(), export)
}

#[test]
fn tokens_of_exports_are_good_to_the_letter_and_for_their_caller() {
    let siege = siege("");
    siege.attack("damaged tokens of exports", |server| {
        for who in Who::ALL {
            let (token, export) = opened(who, server, "a");
            let version = u64::from_str_radix(export["version"].as_str().unwrap(), 16).unwrap();
            let batch = |who: Who, token: &str| who.ask(server, "GET", &format!("/api/export/{token}/0?rows=5"), "");
            assert_eq!(batch(who, &token).status, 200);
            let wrong =
                if who == Who::Ann { damaged(&token) } else { damaged(&token).into_iter().step_by(97).collect() };
            for wrong in wrong {
                for (method, target) in [
                    ("GET", format!("/api/export/{wrong}/0?rows=5")),
                    ("GET", format!("/api/export/{wrong}")),
                    ("DELETE", format!("/api/export/{wrong}")),
                ] {
                    let answer = who.ask(server, method, &target, "");
                    assert!(matches!(answer.status, 400 | 404 | 405), "{method} {target}: {}", answer.text());
                }
            }
            for (streams, ttl_s, columns) in
                [(2, 60, &[][..]), (1 << 40, 60, &[]), (2, u64::MAX, &[]), (2, 60, &[0, 0]), (2, 60, &[9])]
            {
                let forged = old_export(version, streams, ttl_s, "a", columns);
                assert_eq!(batch(who, &forged).status, 400, "{forged}");
            }
            // Another's token is what never was: to the letter, at every door.
            let mut never = token.clone();
            let last = never.pop().unwrap();
            never.push(if last == 'A' { 'E' } else { 'A' });
            for other in who.others() {
                for (method, behind) in [("GET", "/0?rows=5"), ("GET", "/1"), ("GET", ""), ("DELETE", "")] {
                    let ask =
                        |token: &str| told(&other.ask(server, method, &format!("/api/export/{token}{behind}"), ""));
                    let (taken, unknown) = (ask(&token), ask(&never));
                    assert_eq!(taken, unknown, "{other:?} with the token of {who:?}: {method} {behind}");
                    assert_eq!(taken.0, 400, "{taken:?}");
                }
            }
            assert_eq!(batch(who, &token).status, 200, "what others try does it no harm");
            assert_eq!(who.ask(server, "DELETE", &format!("/api/export/{token}"), "").status, 204);
            assert_eq!(batch(who, &token).status, 410, "it is over");
        }
    });
}

/// The `after` of the second page.
fn next_of(answer: &Answer) -> String {
    let link = answer.header("link").unwrap_or_else(|| panic!("{answer:?}"));
    let (_, rest) = link.split_once("after=").unwrap();
    rest.split_once('>').unwrap().0.to_owned()
}

#[test]
fn tokens_of_pages_are_positions_that_nobody_can_make_up() {
    let siege = siege("");
    siege.attack("damaged tokens of pages", |server| {
        let page = |who: Who, entry: &str, after: &str| {
            who.ask(server, "GET", &format!("/api/tables/{entry}?sort=-id&limit=2&after={after}"), "")
        };
        let first = Who::Ann.ask(server, "GET", "/api/tables/a?sort=-id&limit=2", "");
        let token = next_of(&first);
        let second = page(Who::Ann, "a", &token);
        assert_eq!(second.json()[0]["id"], 997, "{}", second.text());
        // It is no permission: the rows behind it are theirs who may read them.
        for who in Who::ALL {
            assert_eq!(page(who, "a", &token).text(), second.text());
        }
        for wrong in damaged(&token) {
            assert_eq!(page(Who::Anybody, "a", &wrong).status, 400, "{wrong}");
        }
        // Of another entry, and of another query.
        assert!(matches!(page(Who::Ann, "b", &token).status, 400 | 410));
        let other = server.get(&format!("/api/tables/a?sort=id&limit=2&after={token}"));
        assert_eq!(other.status, 400, "{}", other.text());
        let forged = |version: u8| {
            // As they once were: the fields, and one byte of a hash that anybody can compute.
            let bytes = (0..token.len() / 2 - 16).map(|at| u8::from_str_radix(&token[2 * at..2 * at + 2], 16).unwrap());
            let mut bytes: Vec<u8> = bytes.collect();
            bytes[0] = version;
            bytes[17..25].copy_from_slice(&u64::MAX.to_le_bytes());
            bytes.push(unkeyed(&bytes) as u8);
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        assert_eq!((page(Who::Ann, "a", &forged(1)).status, page(Who::Ann, "a", &forged(2)).status), (400, 400));
        let graphql = |after: &str| {
            let query =
                format!("{{ a_page(limit: 2, sort: {{field: id, order: desc}}{after}) {{ rows {{ id }} next }} }}");
            server.post_json("/api/graphql", &serde_json::json!({ "query": query }).to_string())
        };
        let first = graphql("").json();
        let token = first["data"]["a_page"]["next"].as_str().unwrap_or_else(|| panic!("{first}")).to_owned();
        let second = graphql(&format!(", after: \"{token}\"")).json();
        assert_eq!(second["data"]["a_page"]["rows"][0]["id"], 997, "{second}");
        for wrong in damaged(&token).into_iter().step_by(7).chain([forged(1), forged(2)]) {
            let answer = graphql(&format!(", after: \"{wrong}\"")).json();
            assert!(answer["errors"].is_array(), "{wrong}: {answer}");
        }
    });
}

#[test]
fn tokens_of_pages_of_databases_too() {
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT);\nCREATE TABLE u (id INTEGER PRIMARY KEY, word TEXT);\n\
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)\n\
        INSERT INTO t SELECT i, 'w' || i FROM n;\n\
        INSERT INTO u SELECT * FROM t;\n";
    let toml = format!(
        "{CALLERS}[[database]]\nname = \"db\"\nurl = \"sqlite:db.sqlite\"\ninit = \"db.sql\"\nwritable = true\n"
    );
    let siege = Siege::of(&toml, &[("db.sql", sql.as_bytes())]);
    siege.server().until(|server| server.get("/api/tables/t?limit=1").status == 200);
    siege.attack("damaged tokens of pages of a database", |server| {
        let records =
            |table: &str, after: &str| server.get(&format!("/api/records/{table}?after={after}&size=2&order=id"));
        let token = records("t", "").json()["next"].as_str().unwrap().to_owned();
        assert_eq!(records("t", &token).json()["records"][0]["id"], 2);
        let tables = |name: &str, after: &str| server.get(&format!("/api/tables/{name}?limit=2{after}"));
        let other = next_of(&tables("t", ""));
        assert_eq!(tables("t", &format!("&after={other}")).json()[0]["id"], 2);
        for (wrong, door) in damaged(&token)
            .into_iter()
            .map(|wrong| (wrong, 0))
            .step_by(3)
            .chain(damaged(&other).into_iter().map(|wrong| (wrong, 1)).step_by(3))
        {
            let answer = if door == 0 { records("t", &wrong) } else { tables("t", &format!("&after={wrong}")) };
            assert!((400..500).contains(&answer.status), "{wrong}: {}", answer.text());
        }
        // At another entry, at the other door.
        assert_eq!(records("u", &token).status, 400, "{}", records("u", &token).text());
        assert!((400..500).contains(&tables("u", &format!("&after={other}")).status));
        assert!((400..500).contains(&records("t", &other).status));
        assert!((400..500).contains(&tables("t", &format!("&after={token}")).status));
    });
}
