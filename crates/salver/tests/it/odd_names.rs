//! Names that GraphQL has no letters for: an entry with them is shown under others, and takes nothing from the rest.

use super::server::Server;

#[test]
fn names_without_letters_leave_graphql_a_schema() {
    let server = Server::with(
        "[[stream]]\nname = \"events\"\n",
        &[
            ("a.csv", b"id,name\n1,x\n"),
            ("odd.csv", "是,否,_,__,?_,_?,2,_2,-_\n1,2,3,4,5,6,7,8,9\n".as_bytes()),
            ("nested.ndjson", b"{\"links\":{\"?\":1,\"!\":2},\"_\":{\"_\":{\"?\":3}}}\n"),
        ],
    );
    let schema = |server: &Server| {
        let answer =
            server.post_json("/api/graphql", r#"{"query": "{ __schema { types { name fields { name } } } }"}"#);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["data"]["__schema"]["types"].clone()
    };
    schema(&server);
    let event = server.post("/api/streams/events", r#"{"?":1,"!":2,"_":{"__":3,"?":4}}"#);
    assert_eq!(event.status, 200, "{}", event.text());
    server.until(|server| server.get("/api/tables/events?limit=1").text().contains('?'));
    let types = schema(&server);
    let names = |of: &serde_json::Value| {
        let all = of.as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for of in types.as_array().unwrap() {
        let own = of["name"].as_str().unwrap();
        let fields = if of["fields"].is_array() { names(&of["fields"]) } else { Vec::new() };
        assert!(own.starts_with("__") || fields.iter().all(|name| !name.starts_with("__")), "{own}: {fields:?}");
    }
    let odd = types.as_array().unwrap().iter().find(|of| of["name"] == "odd").unwrap();
    assert_eq!(names(&odd["fields"]).len(), 9, "{odd}");
    let rows = server.post_json("/api/graphql", r#"{"query": "{ a { id name } odd { unnamed _2 } }"}"#);
    assert_eq!(rows.status, 200, "{}", rows.text());
    assert_eq!(rows.json()["data"]["a"][0]["name"], "x");
}

/// What would turn the text beside it is isolated on both kinds of pages, and no control character comes out.
#[test]
fn values_on_pages() {
    let rows = "{\"id\":1,\"v\":\"a\\u0000b\"}\n{\"id\":2,\"v\":\"x\\u202ey\"}\n";
    let server = Server::of(&[("odd.ndjson", rows.as_bytes())]);
    for target in ["/", "/api/tables/odd"] {
        let page = server.get_with(target, &[("Accept", "text/html")]);
        let text = page.text();
        assert!(page.status == 200 && text.contains("<table>"), "{target}: {text}");
        assert!(text.contains("<bdi>x\u{202e}y</bdi>") && text.contains("a\u{fffd}b"), "{target}: {text}");
        assert!(!text.contains('\0'), "{target}");
    }
}
