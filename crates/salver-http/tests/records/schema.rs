//! `/columns`, `/openapi`, `/status/ping` and `/cache/clear`.

use salver_http::HttpOptions;
use salver_model::records::{ColumnDefinition, Definition};
use salver_testkit::{DatabaseRequest, FakeDatabase};
use serde_json::Value as Json;

use super::fixture::World;

#[tokio::test]
async fn the_schema_is_shown() {
    let world = World::new().await;
    let posts = "{\"name\":\"abc_posts\",\"alias\":\"posts\",\"type\":\"table\",\"columns\":[{\"name\":\"id\",\"type\":\"integer\",\"pk\":true},\
                 {\"name\":\"abc_content\",\"alias\":\"content\",\"type\":\"varchar\",\"length\":255},\
                 {\"name\":\"place\",\"type\":\"geometry\",\"nullable\":true}]}";
    assert_eq!(world.get("/api/columns/posts").await.said(), (200, posts));
    let column = "{\"name\":\"post_id\",\"type\":\"integer\",\"fk\":\"posts\"}";
    assert_eq!(world.get("/api/columns/comments/post_id").await.said(), (200, column));
    let all: Json = serde_json::from_str(&world.get("/api/columns").await.body).unwrap();
    assert_eq!(all["tables"].as_array().map(Vec::len), Some(4));
    assert_eq!(all["tables"][1]["type"], "view");
    let answer = world.get("/api/columns/nothing").await;
    assert_eq!(answer.said(), (404, "{\"code\":1001,\"message\":\"Table 'nothing' not found\"}"));
    let answer = world.get("/api/columns/posts/nothing").await;
    assert_eq!(answer.said(), (404, "{\"code\":1005,\"message\":\"Column 'nothing' not found\"}"));
    let answer = world.get("/api/columns/comments/post_id?format=xml").await;
    assert_eq!(answer.body, "<root><name>post_id</name><type>integer</type><fk>posts</fk></root>");
}

fn defined(world: &World) -> Definition {
    match world.asked() {
        DatabaseRequest::Define(definition) => definition,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_schema_is_changed() {
    let world = World::new().await;
    let body = "{\"name\":\"t\",\"type\":\"table\",\"columns\":[{\"name\":\"id\",\"type\":\"integer\",\"pk\":true},\
                {\"name\":\"p\",\"type\":\"decimal\",\"precision\":10,\"scale\":\"4\",\"nullable\":false,\"fk\":\"\"}]}";
    assert_eq!(world.post("/api/columns", body).await.said(), (200, "true"));
    let Definition::CreateTable(table) = defined(&world) else { panic!() };
    assert_eq!((table.name.as_deref(), table.columns.len()), (Some("t"), 2));
    let expected = ColumnDefinition {
        name: Some("p".into()),
        kind: Some("decimal".into()),
        precision: Some(10),
        scale: Some(4),
        nullable: Some(false),
        fk: Some(String::new()),
        ..ColumnDefinition::default()
    };
    assert_eq!(table.columns[1], expected);
    for (method, target) in [
        ("PUT", "/api/columns/posts"),
        ("POST", "/api/columns/posts"),
        ("DELETE", "/api/columns/posts"),
        ("PUT", "/api/columns/posts/id"),
        ("DELETE", "/api/columns/posts/id"),
    ] {
        assert_eq!(
            world.send(method, target, &[], b"{\"name\":\"x\"}").await.said(),
            (200, "true"),
            "{method} {target}"
        );
        let definition = defined(&world);
        let fits = match (method, target.ends_with("id")) {
            ("PUT", false) => matches!(definition, Definition::UpdateTable { .. }),
            ("POST", _) => matches!(definition, Definition::CreateColumn { .. }),
            ("DELETE", false) => matches!(definition, Definition::DropTable { .. }),
            ("PUT", true) => matches!(definition, Definition::UpdateColumn { .. }),
            _ => matches!(definition, Definition::DropColumn { .. }),
        };
        assert!(fits, "{method} {target}: {definition:?}");
    }
    assert_eq!(world.post("/api/columns", "{\"columns\":1,").await.status, 422);
}

#[tokio::test]
async fn an_entry_that_can_not_be_defined_has_no_such_methods() {
    let mut database = FakeDatabase::blog();
    database.spec.definable = false;
    let world = World::with(database, HttpOptions::default()).await;
    for (method, path) in [
        ("DELETE", "/api/columns/posts"),
        ("POST", "/api/columns"),
        ("PUT", "/api/columns/posts/id"),
        ("TRACE", "/api/columns/posts"),
    ] {
        let answer = world.send(method, path, &[], b"{\"name\":\"t\"}").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{method} {path}");
    }
    let options = world.send("OPTIONS", "/api/columns/posts", &[], b"").await;
    assert_eq!((options.status, options.header("allow")), (204, Some("GET, HEAD, OPTIONS")));
    assert_eq!(world.get("/api/columns").await.status, 200);
}

#[tokio::test]
async fn the_openapi_document_is_whole() {
    let world = World::new().await;
    let answer = world.get("/api/openapi").await;
    assert!(answer.body.contains("\\/records\\/posts"), "slashes as PHP writes them");
    let document: Json = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(document["paths"]["/records/posts"]["get"]["operationId"], "list_posts");
    assert_eq!(document["paths"]["/records/posts/{id}"]["patch"]["operationId"], "increment_posts");
    assert!(document["paths"]["/records/counts"].get("post").is_none(), "a view");
    assert!(document["paths"]["/geojson/posts"].is_object() && document["paths"].get("/geojson/comments").is_none());
    let id = &document["components"]["schemas"]["read-posts"]["properties"]["id"];
    assert_eq!((&id["x-primary-key"], &id["x-referenced"][0]), (&Json::Bool(true), &Json::from("comments.post_id")));
    // Everything that is referred to is there.
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(references.len() > 50);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
    let mut ids: Vec<&str> = Vec::new();
    for path in document["paths"].as_object().unwrap().values() {
        ids.extend(path.as_object().unwrap().values().map(|operation| operation["operationId"].as_str().unwrap()));
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "operation ids are unique");
}

fn collect(json: &Json, references: &mut Vec<String>) {
    match json {
        Json::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("$ref", Json::String(reference)) => references.push(reference.clone()),
                    _ => collect(value, references),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}

#[tokio::test]
async fn a_read_only_entry_documents_reads() {
    let mut database = FakeDatabase::blog();
    database.spec.writable = false;
    let world = World::with(database, HttpOptions::default()).await;
    let document: Json = serde_json::from_str(&world.get("/api/openapi").await.body).unwrap();
    let posts = document["paths"]["/records/posts"].as_object().unwrap();
    assert_eq!(posts.keys().collect::<Vec<_>>(), ["get"]);
}

#[tokio::test]
async fn status_and_cache() {
    let world = World::new().await;
    let ping: Json = serde_json::from_str(&world.get("/api/status/ping").await.body).unwrap();
    assert_eq!(ping["db"], 7);
    assert!(ping["cache"].is_u64());
    assert_eq!(world.get("/api/cache/clear").await.said(), (200, "true"));
}
