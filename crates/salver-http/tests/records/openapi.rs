//! `/openapi.json`, of a catalog in memory and a database that remembers what it was asked.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Float64Array, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use salver_http::HttpOptions;
use salver_model::Limits;
use salver_model::ports::Table;
use salver_testkit::{FakeDatabase, MemoryTable};
use serde_json::{Value as Json, json};

use super::fixture::World;

/// A table with one row.
fn table(name: &str, columns: Vec<(&str, ArrayRef)>) -> Arc<dyn Table> {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    Arc::new(MemoryTable::new(name, RecordBatch::try_from_iter_with_nullable(columns).unwrap()))
}

fn cities(name: &str) -> Arc<dyn Table> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("city", Arc::new(StringArray::from(vec!["York"]))),
        ("lat", Arc::new(Float64Array::from(vec![53.96]))),
        ("people", Arc::new(Int64Array::from(vec![141_000]))),
        ("flag", Arc::new(BinaryArray::from(vec![&b"\x01"[..]]))),
    ];
    table(name, columns)
}

async fn document(world: &World) -> Json {
    let answer = world.get("/openapi.json").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    serde_json::from_str(&answer.body).unwrap()
}

#[tokio::test]
async fn entries_have_paths_of_their_own() {
    let tables = [cities("cities"), cities("a b"), cities("a-b")];
    let world = World::serving(&tables, FakeDatabase::blog(), HttpOptions::default(), Limits::default()).await;
    let document = document(&world).await;
    let (paths, components) = (&document["paths"], &document["components"]);
    let get = &paths["/api/tables/cities"]["get"];
    assert_eq!(get["operationId"], "rows.cities");
    let parameters = get["parameters"].as_array().unwrap();
    let named = |name: &str| parameters.iter().find(|parameter| parameter["name"] == name);
    assert_eq!(named("filter[lat]").unwrap()["schema"], json!({ "type": ["number", "null"] }));
    assert_eq!(named("columns").unwrap()["example"], "city,lat");
    // Bytes can't be compared, and the name is in the path.
    assert!(named("filter[flag]").is_none() && named("name").is_none(), "{parameters:?}");
    assert!(parameters.contains(&json!({ "$ref": "#/components/parameters/limit" })), "{parameters:?}");
    let rows = &get["responses"]["200"]["content"]["application/json"]["schema"];
    assert_eq!(*rows, json!({ "type": "array", "items": { "$ref": "#/components/schemas/row.cities" } }));
    let row = &components["schemas"]["row.cities"]["properties"];
    assert_eq!(row["people"], json!({ "type": ["integer", "null"], "format": "int64" }));
    for (path, id) in [("/api/tables/a%20b", "rows.a-20b"), ("/api/tables/a-b", "rows.a--b")] {
        assert_eq!(paths[path]["get"]["operationId"], id, "{path}");
    }
    // The tables of the database are described as in its own document, in the words of 3.1.
    let posts = &paths["/api/records/posts"];
    assert_eq!(posts["get"]["operationId"], "records.list_posts");
    assert_eq!(posts["post"]["tags"], json!(["Records"]));
    assert_eq!(posts["get"]["responses"]["default"]["$ref"], "#/components/responses/records_problem-default");
    let list = &components["schemas"]["records.list-posts"]["properties"];
    assert_eq!(list["next"]["type"], json!(["string", "null"]));
    assert_eq!(paths["/api/records/counts"].get("post"), None, "a view");
    // What changes the rows that match a filter, with the bodies of the table.
    for method in ["put", "patch", "delete"] {
        let (many, one) = (&posts[method], &paths["/api/records/posts/{id}"][method]);
        assert_eq!(many.get("requestBody"), one.get("requestBody"), "{method}");
        let parameters = many["parameters"].as_array().unwrap();
        let reference = |name: &str| json!({ "$ref": format!("#/components/parameters/{name}") });
        assert!(parameters.contains(&reference("change_filter")), "{method}: {parameters:?}");
        assert!(parameters.iter().all(|parameter| parameter["in"] != "path"), "{method}: {parameters:?}");
        assert!(!parameters.contains(&reference("returning")), "{method}: its response is a number");
        assert_eq!(paths["/api/records/counts"].get(method), None, "a view");
    }
    assert!(paths["/api/geojson/posts"]["get"].is_object());
    assert!(!document.to_string().contains("\"nullable\":true"));
}

#[tokio::test]
async fn what_is_not_there_is_not_described() {
    let world = World::new().await;
    let document = document(&world).await;
    let paths = document["paths"].as_object().unwrap();
    let tags: Vec<&str> = document["tags"].as_array().unwrap().iter().filter_map(|tag| tag["name"].as_str()).collect();
    assert!(tags.contains(&"Records") && !tags.contains(&"Streams") && !tags.contains(&"Accounts"), "{tags:?}");
    for path in
        ["/api/streams/{name}", "/topics", "/v0/events", "/api/functions", "/api/kv/{store}/{key}", "/auth/login"]
    {
        assert!(!paths.contains_key(path), "{path}");
    }
    for path in ["/", "/api/tables/{name}", "/api/sql", "/api/records/{table}", "/_api/cursor"] {
        assert!(paths.contains_key(path), "{path}");
    }
    // Two rows of the table of routes, and one operation.
    let open = &paths["/api/export"]["post"];
    assert!(open["description"].as_str().unwrap().contains("`collection`"), "{open}");
}

#[tokio::test]
async fn many_entries_are_described_by_paths_with_parameters() {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let names: Vec<String> = (0..200).map(|number| format!("column_with_a_long_name_{number}")).collect();
    let columns = || names.iter().map(|name| (name.as_str(), Arc::clone(&column))).collect();
    let tables: Vec<Arc<dyn Table>> = (0..250).map(|number| table(&format!("table_{number}"), columns())).collect();
    let world = World::serving(&tables, FakeDatabase::blog(), HttpOptions::default(), Limits::default()).await;
    let answer = world.get("/openapi.json").await;
    assert!(answer.body.len() < 1024 * 1024, "{} bytes", answer.body.len());
    let document: Json = serde_json::from_str(&answer.body).unwrap();
    assert!(document["info"]["description"].as_str().unwrap().contains("too many entries"));
    assert!(document["paths"]["/api/tables/{name}"].is_object());
    assert!(document["paths"].get("/api/tables/table_0").is_none());
    let few = World::serving(&tables[..3], FakeDatabase::blog(), HttpOptions::default(), Limits::default()).await;
    let answer = few.get("/openapi.json").await;
    assert!(answer.body.contains("/api/tables/table_0") && !answer.body.contains("too many entries"));
}

#[tokio::test]
async fn what_the_client_has_is_not_sent_again() {
    let world = World::new().await;
    let first = world.get("/openapi.json").await;
    let tag = first.header("etag").unwrap();
    let again = world.send("GET", "/openapi.json", &[("if-none-match", tag)], b"").await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let packed = world.send("GET", "/openapi.json", &[("accept-encoding", "gzip")], b"").await;
    assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
    let based = HttpOptions { base_path: "/data/".to_owned(), ..HttpOptions::default() };
    let world = World::with(FakeDatabase::blog(), based).await;
    let document: Json = serde_json::from_str(&world.get("/data/openapi.json").await.body).unwrap();
    assert_eq!(document["servers"], json!([{ "url": "/data" }]));
}
