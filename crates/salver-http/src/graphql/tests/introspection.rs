//! Introspection of the schema.

use arrow::array::{ArrayRef, Int32Array};
use arrow::record_batch::RecordBatch;
use salver_testkit::MemoryTable;
use serde_json::{Value as Json, json};
use std::sync::Arc;

use crate::graphql::tests::fixture::World;
use crate::graphql::{Answer, asset};

/// The query that GraphiQL 3 sends when it starts.
const GRAPHIQL: &str = "
query IntrospectionQuery {
  __schema {
    queryType { name } mutationType { name } subscriptionType { name }
    types { ...FullType }
    directives { name description locations args(includeDeprecated: true) { ...InputValue } }
  }
}
fragment FullType on __Type {
  kind name description
  fields(includeDeprecated: true) {
    name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason
  }
  inputFields(includeDeprecated: true) { ...InputValue }
  interfaces { ...TypeRef }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { ...TypeRef }
}
fragment InputValue on __InputValue {
  name description type { ...TypeRef } defaultValue isDeprecated deprecationReason
}
fragment TypeRef on __Type {
  kind name
  ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
    ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } } }
}";

fn named<'a>(list: &'a Json, name: &str) -> &'a Json {
    list.as_array().unwrap().iter().find(|item| item["name"] == name).unwrap_or_else(|| panic!("no {name} in {list:#}"))
}

#[tokio::test]
async fn graphiql_gets_its_schema() {
    let world = World::new();
    let data = world.data(GRAPHIQL).await;
    assert_eq!(data["__schema"]["queryType"]["name"], "Query");
    assert_eq!(data["__schema"]["mutationType"], json!(null));
    let types = &data["__schema"]["types"];
    let orders = named(types, "orders");
    assert_eq!(named(&orders["fields"], "id")["type"]["name"], "Int64");
    assert_eq!(named(&orders["fields"], "day")["type"]["name"], "Date");
    assert_eq!(named(&orders["fields"], "customer")["type"]["name"], "customers");
    assert_eq!(named(&named(types, "customers")["fields"], "Mixed_Col")["description"], "Column `Mixed Col`");
    assert_eq!(named(&named(types, "launches")["fields"], "links")["type"]["name"], "launches_links");
    assert_eq!(named(&named(types, "launches")["fields"], "cores")["type"]["ofType"]["name"], "launches_cores");
    assert_eq!(named(&named(types, "launches")["fields"], "price")["type"]["name"], "Decimal");
    let query = named(types, "Query");
    assert!(named(&query["fields"], "orders")["description"].as_str().unwrap().contains("6 rows"));
    assert_eq!(world.all_reads(), 0);
}

#[tokio::test]
async fn with_data_and_by_name() {
    let world = World::new();
    let data = world
        .data("{ t: __type(name: \"orders_column\") { enumValues { name } } orders(limit: 1) { id } n: __typename }")
        .await;
    assert_eq!(data["t"]["enumValues"].as_array().unwrap().len(), 6);
    assert_eq!((&data["orders"], &data["n"]), (&json!([{ "id": 10 }]), &json!("Query")));
    let body = br#"{"query":"{ __schema { queryType { name } } }"}"#;
    let Answer::Document { repeatable, .. } = world.post(None, body).await.unwrap() else { panic!("bare rows") };
    assert!(!repeatable, "the schema changes with entries that are not read");
}

#[tokio::test]
async fn names_that_graphql_does_not_have() {
    let table = |name: &str, columns: &[&str]| {
        let column: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        let batch = RecordBatch::try_from_iter(columns.iter().map(|name| (*name, Arc::clone(&column)))).unwrap();
        MemoryTable::new(name, batch).with_key(&columns[..1])
    };
    let world = World::of(vec![
        table("events.main", &["a b", "a_b", "a-b", "größe", "1st", "", "__x", "true", "and"]),
        table("events_main", &["id"]),
        table("Query", &["id"]),
        table("String", &["is_null"]),
        table("__type", &["id"]),
        table("orders", &["filter"]),
        table("orders_filter", &["id"]),
        table("orders_page", &["id"]),
        table("größe", &["count"]),
    ]);
    let data = world.data("{ __type(name: \"Query\") { fields { name } } }").await;
    let names: Vec<&str> =
        data["__type"]["fields"].as_array().unwrap().iter().map(|field| field["name"].as_str().unwrap()).collect();
    for name in ["events_main", "events_main_2", "Query_2", "String_2", "_type", "orders", "orders_page", "gr__e"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let document = "{ events_main_2 { a_b a_b_2 a_b_3 gr__e _1st unnamed _x true_2 and_2 } events_main { id } orders_page { id } orders { filter } }";
    let data = world.data(document).await;
    assert_eq!(data["events_main_2"][0].as_object().unwrap().len(), 9);
    assert!(world.data("{ gr__e_aggregate { count sum { count } } }").await["gr__e_aggregate"][0]["count"] == 1);
}

#[tokio::test]
async fn an_empty_catalog_has_a_schema() {
    let world = World::of(Vec::new());
    assert_eq!(world.data("{ __typename _empty }").await, json!({ "__typename": "Query", "_empty": null }));
}

#[test]
fn graphiql_is_inside() {
    let (page, media_type, coding) = asset("").unwrap();
    assert_eq!((media_type, coding), ("text/html; charset=utf-8", None));
    let page = std::str::from_utf8(page).unwrap();
    assert!(!page.contains("http:") && !page.contains("https:"), "the page loads nothing from elsewhere");
    let mut files = 0;
    for name in page.split('"').filter_map(|text| text.strip_prefix("graphql/")) {
        let (bytes, _, coding) = asset(name).unwrap_or_else(|| panic!("no file {name}"));
        assert_eq!(coding == Some("gzip"), bytes.starts_with(&[0x1f, 0x8b]), "{name}");
        files += 1;
    }
    assert_eq!(files, 5);
    assert!(asset("LICENSES.txt").is_some() && asset("../Cargo.toml").is_none());
}
