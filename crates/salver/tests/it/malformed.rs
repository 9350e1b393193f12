//! Whatever is thrown at the doors: a clear 4xx, never a 5xx, a panic, a hang or an empty reply.

use super::server::{Answer, Server};

/// xorshift64*, seeded: the same garbage every run, so that a failure can be found again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap_or(0)
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

fn server() -> Server {
    Server::with(
        "[[dataset]]\nname = \"t\"\nsource = \"t.csv\"\nkey = [\"id\"]\n",
        &[("t.csv", b"id,name,at\n1,a,2024-01-01\n2,b,\n3,,2024-05-05\n")],
    )
}

/// 500 pieces of the grammars put together at random, for each door.
#[test]
fn grammar_soup() {
    let server = server();
    let mut random = Random(42);
    let rest = [
        "filter",
        "[",
        "]",
        "id",
        "name",
        "=",
        "&",
        "%27",
        "'",
        "(",
        ")",
        ",",
        "or",
        "not",
        ".",
        "eq",
        "like",
        "%25",
        "limit",
        "-1",
        "99999999999999999999",
        "sort",
        "columns",
        "group",
        "count()",
        "after",
        "00",
        "null",
        "page",
        "having",
        "%00",
        "%ff",
        "+",
        "in",
        "between",
        "distinct",
        "offset",
        "format",
        "csv",
        "json",
        "\\",
        "at",
        "1e999",
    ];
    let sql = [
        "select", "*", "from", "t", "where", "id", "=", "1", "'", "\"", "(", ")", ",", "group by", "order by", "limit",
        "join", "on", "union", "with", "as", "case", "when", "null", "::", "int", "$1", "?", "over", "[", "]", "{",
        "--", "/*", ";", "interval", "cast", "date", "'x'", "-", "/", "%", "name", "exists", "lateral", "unnest",
        "array",
    ];
    let graphql = [
        "{",
        "}",
        "(",
        ")",
        "query",
        "t",
        "id",
        "name",
        "filter",
        ":",
        "\"a\"",
        "1",
        "-1.5e5",
        "sort",
        "[",
        "]",
        "limit",
        "$x",
        "Int",
        "!",
        "...",
        "on",
        "fragment",
        "f",
        "@skip",
        "@include",
        "if",
        "true",
        "null",
        "__schema",
        "types",
        "__typename",
        "mutation",
        "subscription",
        "#",
        "\"\"\"",
        ",",
        "eq",
        "and",
        "or",
        "t_aggregate",
        "count",
    ];
    for round in 0..500 {
        let soup = |random: &mut Random, words: &[&str], space: &str| {
            let count = 1 + random.below(25);
            (0..count).map(|_| random.of(words)).collect::<Vec<_>>().join(space)
        };
        let query = soup(&mut random, &rest, "");
        check(&server.get(&format!("/api/tables/t?{query}")), round, &query);
        let text = soup(&mut random, &sql, " ");
        check(&server.post("/api/sql", &text), round, &text);
        let text = soup(&mut random, &graphql, " ");
        check(&server.post("/api/graphql", &text), round, &text);
        let json = serde_json::json!({ "query": text }).to_string();
        check(&server.post_json("/api/graphql", &json), round, &text);
    }
    assert_eq!(server.get("/health").status, 200);
}

fn check(answer: &super::server::Answer, round: usize, sent: &str) {
    let fine = (200..500).contains(&answer.status);
    assert!(fine, "round {round}: {} for {sent}\n{}", answer.status, String::from_utf8_lossy(&answer.body));
    if answer.status >= 400 {
        assert!(!answer.body.is_empty(), "round {round}: no message for {sent}");
    }
}

/// Random bytes as bodies, as targets and as whole requests.
#[test]
fn random_bytes() {
    let server = server();
    let mut random = Random(7);
    for round in 0..300 {
        let length = random.below(400);
        let bytes: Vec<u8> = (0..length).map(|_| (random.next() >> 33) as u8).collect();
        for target in ["/api/sql", "/api/graphql", "/api/table"] {
            for media_type in ["application/json", "text/plain", "application/x-www-form-urlencoded"] {
                let answer = server.ask("POST", target, &[("content-type", media_type)], &bytes);
                assert!((200..500).contains(&answer.status), "round {round}: {target} {answer:?}");
            }
        }
        let escaped: String = bytes.iter().take(100).map(|byte| format!("%{byte:02X}")).collect();
        for target in [format!("/api/tables/t?{escaped}"), format!("/api/tables/{escaped}"), format!("/{escaped}")] {
            let answer = server.get(&target);
            assert!((200..500).contains(&answer.status), "round {round}: {target} {answer:?}");
        }
        server.garbage(&bytes);
    }
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn extremes() {
    let server = server();
    let deep = "{".repeat(50_000);
    assert_eq!(server.post("/api/graphql", &deep).status, 400);
    let wide = format!("{{ t {{ {} }} }}", "id ".repeat(50_000));
    assert!((200..500).contains(&server.post("/api/graphql", &wide).status));
    let nested = format!("{}id.eq.1{}", "and(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(server.get(&format!("/api/tables/t?or=({nested})")).status, 400);
    let large = "x".repeat(3 * 1024 * 1024);
    assert_eq!(server.post("/api/sql", &large).status, 413);
    let long = format!("/api/tables/t?columns={}", "a".repeat(200_000));
    let answer = server.get(&long);
    assert!((400..500).contains(&answer.status), "{}", answer.status);
    let many: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
    let answer = server.get(&format!("/api/tables/t?columns=id&filter[id]in={}", many.join(",")));
    assert_eq!(answer.text(), r#"[{"id":1},{"id":2},{"id":3}]"#);
    assert_eq!(server.get("/health").status, 200);
}

/// What a body is packed with on the way is not taken for the body.
#[test]
fn transfer_codings_are_chunks_or_refused() {
    let server = server();
    let head = format!("POST /api/sql HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", server.address());
    for (coding, status) in [
        ("transfer-encoding: chunked", 200),
        ("transfer-encoding: Chunked", 200),
        ("transfer-encoding: gzip, chunked", 415),
        ("transfer-encoding: gzip\r\ntransfer-encoding: chunked", 415),
        ("transfer-encoding: chunked, chunked", 415),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked", 415),
    ] {
        let request = format!("{head}{coding}\r\n\r\n8\r\nselect 1\r\n0\r\n\r\n");
        let answer = Answer::parse(&server.raw(request.as_bytes()));
        assert_eq!(answer.status, status, "{coding}: {}", answer.text());
    }
}
