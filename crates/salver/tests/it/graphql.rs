//! GraphQL under its own media type, as GraphQL over HTTP says: names and statuses.

use super::server::{Answer, Server};

const OWN: &str = "application/graphql-response+json";

fn server() -> Server {
    let toml = "[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\ninit = \"shop.sql\"\nwritable = true\n";
    let sql = b"create table items (id integer primary key, name text); insert into items values (1, 'one');";
    Server::with(toml, &[("t.csv", b"a\n1\n2\n"), ("shop.sql", sql)])
}

/// The media type without its parameters.
fn media_type(answer: &Answer) -> &str {
    answer.header("content-type").and_then(|value| value.split(';').next()).unwrap_or_default()
}

#[test]
fn names_and_statuses() {
    let server = server();
    let json = ("content-type", "application/json");
    for (body, status) in [
        (r#"{"query":"{ t { a } }"}"#, 200),
        (r#"{"query":"{ t { b } }"}"#, 400),
        (r#"{"query":"{ t { a "}"#, 400),
        (r#"{"query":3}"#, 400),
        (r#"{"query":"{ t { a } }","variables":7}"#, 400),
        (r#"{"query""#, 400),
    ] {
        let answer = server.ask("POST", "/api/graphql", &[json, ("accept", OWN)], body.as_bytes());
        assert_eq!((answer.status, media_type(&answer)), (status, OWN), "{body}: {}", answer.text());
        let members = answer.json();
        assert_eq!(members["errors"].is_array(), status == 400, "{body}: {members}");
        assert_eq!(members["data"].is_object(), status == 200, "{body}: {members}");
    }
    for (accept, expected) in [
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("application/json, application/graphql-response+json", "application/json"),
        ("application/graphql-response+json, application/json;q=0.9", OWN),
        ("application/graphql-response+json;q=0.1, application/json", "application/json"),
        ("application/graphql-response+json;q=0", "application/json"),
    ] {
        // Twice: the second may come out of the cache, and must not be the other name's.
        for _ in 0..2 {
            let query = br#"{"query":"{ t { a } }"}"#;
            let answer = server.ask("POST", "/api/graphql", &[json, ("accept", accept)], query);
            assert_eq!((answer.status, media_type(&answer)), (200, expected), "{accept}: {}", answer.text());
            assert_eq!(answer.text(), r#"{"data":{"t":[{"a":1},{"a":2}]}}"#);
        }
    }
}

#[test]
fn a_mutation_by_get_is_405() {
    let server = server();
    let target = "/api/graphql?query=mutation%7Bdelete_items(id:1)%7D";
    for accept in [OWN, "application/json"] {
        let answer = server.get_with(target, &[("accept", accept)]);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{}", answer.text());
        assert_eq!(media_type(&answer), accept);
    }
    let json = [("content-type", "application/json"), ("accept", OWN)];
    let rows = server.ask("POST", "/api/graphql", &json, br#"{"query":"{ items { name } }"}"#);
    assert_eq!(rows.text(), r#"{"data":{"items":[{"name":"one"}]}}"#);
    let answer = server.ask("POST", "/api/graphql", &json, br#"{"query":"mutation { delete_items(id: 1) }"}"#);
    assert_eq!((answer.status, media_type(&answer)), (200, OWN), "{}", answer.text());
    assert_eq!(answer.text(), r#"{"data":{"delete_items":true}}"#);
}

/// A decimal has more digits than a float keeps, as it is written and as it is answered.
#[test]
fn decimals_are_compared_with_all_their_digits() {
    let toml = "[[dataset]]\nname = \"sums\"\nsource = \"sums.csv\"\n\
        schema = [{ name = \"id\", type = \"int\" }, { name = \"n\", type = \"decimal(18,2)\" }]\n";
    let server = Server::with(toml, &[("sums.csv", b"id,n\n1,99999999999999.99\n2,99999999999999.98\n")]);
    for (condition, ids) in [
        ("eq: 99999999999999.99", "[{\"id\":1}]"),
        ("eq: \"99999999999999.99\"", "[{\"id\":1}]"),
        ("lt: 99999999999999.99", "[{\"id\":2}]"),
        ("lte: 99999999999999.98", "[{\"id\":2}]"),
        ("in: [99999999999999.98, 5]", "[{\"id\":2}]"),
    ] {
        // A bare document is answered with bare rows.
        let answer = server.post("/api/graphql", &format!("{{ sums(filter: {{n: {{{condition}}}}}) {{ id }} }}"));
        assert_eq!(answer.text(), ids, "{condition}");
    }
    let body = r#"{"query": "query q($n: Decimal) { sums(filter: {n: {eq: $n}}) { id } }", "variables": {"n": 99999999999999.99}}"#;
    let answer = server.ask("POST", "/api/graphql", &[("content-type", "application/json")], body.as_bytes());
    assert_eq!(answer.text(), r#"{"data":{"sums":[{"id":1}]}}"#);
    let target =
        "/api/graphql?query=query%20q($n:Decimal){sums(filter:{n:{lt:$n}}){id}}&variables={%22n%22:99999999999999.99}";
    assert_eq!(server.get(target).text(), r#"{"data":{"sums":[{"id":2}]}}"#);
}

/// What a variable of a mutation has is stored with all its digits, or refused.
#[test]
fn variables_of_mutations_keep_their_digits() {
    let server = server();
    let create = |number: &str| {
        let query = "mutation m($i: items_new!) { create_items(records: [$i]) { id } }";
        let body = format!(r#"{{"query": "{query}", "variables": {{"i": {{"id": {number}, "name": "x"}}}}}}"#);
        server.ask("POST", "/api/graphql", &[("content-type", "application/json")], body.as_bytes()).text().to_owned()
    };
    assert!(create("9007199254740993.0").contains("\"id\":9007199254740993}"), "{}", create("9007199254740995.0"));
    assert!(create("9007199254740993.5").contains("errors"));
}
