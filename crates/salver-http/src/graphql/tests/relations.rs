//! Relations in both directions, with one read per level.

use salver_model::ports::Table;
use salver_testkit::MemoryTable;
use serde_json::json;
use std::sync::Arc;

use crate::graphql::tests::fixture::World;

#[tokio::test]
async fn forward_and_backward() {
    let world = World::new();
    let data = world.data("{ orders { id customer { name home { name } } } }").await;
    assert_eq!(
        data,
        json!({ "orders": [
            { "id": 10, "customer": { "name": "Ada", "home": { "name": "Britain" } } },
            { "id": 11, "customer": { "name": "Ada", "home": { "name": "Britain" } } },
            { "id": 12, "customer": { "name": "Bob", "home": { "name": "France" } } },
            { "id": 13, "customer": { "name": "Ada", "home": { "name": "Britain" } } },
            { "id": 14, "customer": null },
            { "id": 15, "customer": null },
        ]})
    );
    assert_eq!((world.reads("orders"), world.reads("customers"), world.reads("countries")), (1, 1, 1));
    let world = World::new();
    let data = world.data("{ countries { name customers { name orders { id } } } }").await;
    assert_eq!(
        data,
        json!({ "countries": [
            { "name": "Britain", "customers": [
                { "name": "Ada", "orders": [{ "id": 10 }, { "id": 11 }, { "id": 13 }] },
                { "name": "Cleo", "orders": [] },
            ]},
            { "name": "France", "customers": [{ "name": "Bob", "orders": [{ "id": 12 }] }] },
            { "name": "Germany", "customers": [] },
        ]})
    );
    assert_eq!((world.all_reads(), world.reads("orders")), (3, 1), "one read a level, however many rows");
}

#[tokio::test]
async fn arguments_are_for_each_row_above() {
    let world = World::new();
    let data = world
        .data(
            "{ customers(sort: {field: id}) { id
                 last: orders(sort: {field: id, order: desc}, limit: 1) { id }
                 red: orders(filter: {color: {eq: \"red\"}}) { id amount }
                 none: orders(limit: 0) { id } } }",
        )
        .await;
    assert_eq!(
        data["customers"],
        json!([
            { "id": 1, "last": [{ "id": 13 }], "red": [{ "id": 10, "amount": 5.5 }, { "id": 13, "amount": null }], "none": [] },
            { "id": 2, "last": [{ "id": 12 }], "red": [{ "id": 12, "amount": 7.25 }], "none": [] },
            { "id": 3, "last": [], "red": [], "none": [] },
            { "id": 4, "last": [], "red": [], "none": [] },
        ])
    );
    assert_eq!(world.reads("orders"), 3, "one read for each field");
}

#[tokio::test]
async fn around_in_a_circle() {
    let world = World::new();
    let data = world.data("{ orders_by_key(id: 10) { customer { orders { customer { id } } } } }").await;
    let again = json!({ "customer": { "id": 1 } });
    assert_eq!(data["orders_by_key"]["customer"]["orders"], json!([again, again, again]));
    assert_eq!((world.reads("orders"), world.reads("customers")), (2, 2));
}

#[tokio::test]
async fn on_pages_and_without_rows() {
    let world = World::new();
    let data = world.data("{ orders_page(limit: 1) { rows { customer { name } } total } }").await;
    assert_eq!(data, json!({ "orders_page": { "rows": [{ "customer": { "name": "Ada" } }], "total": 6 } }));
    let data = world.data("{ orders(limit: 0) { customer { name } } }").await;
    assert_eq!(data, json!({ "orders": [] }));
    assert_eq!(world.reads("customers"), 1, "nothing is read for no rows");
}

/// Returns a table of numbers in `rows` rows, `per` rows for each `parent`.
fn numbers(name: &str, rows: i64, per: i64) -> MemoryTable {
    use arrow::array::{ArrayRef, Int64Array};
    let id: ArrayRef = Arc::new((0..rows).map(Some).collect::<Int64Array>());
    let parent: ArrayRef = Arc::new((0..rows).map(|i| Some(i / per)).collect::<Int64Array>());
    let batch = arrow::record_batch::RecordBatch::try_from_iter([("id", id), ("parent", parent)]).unwrap();
    MemoryTable::new(name, batch)
}

#[tokio::test]
async fn two_links_to_one_table_and_several_columns() {
    let world = World::of(vec![
        numbers("hubs", 4, 2).with_key(&["id"]),
        numbers("trips", 3, 1)
            .with_relation("from", &["id"], "hubs", &["id"])
            .with_relation("to", &["parent"], "hubs", &["id"])
            .with_relation("both", &["id", "parent"], "hubs", &["id", "parent"])
            .with_relation("nowhere", &["id"], "absent", &["id"])
            .with_relation("wrong", &["nope"], "hubs", &["id"]),
    ]);
    let data =
        world.data("{ trips { from { id } both { id } } hubs { id trips_by_from { id } trips_by_to { id } } }").await;
    assert_eq!(
        data["trips"],
        json!([
            { "from": { "id": 0 }, "both": { "id": 0 } },
            { "from": { "id": 1 }, "both": null },
            { "from": { "id": 2 }, "both": null },
        ])
    );
    assert_eq!(data["hubs"][2], json!({ "id": 2, "trips_by_from": [{ "id": 2 }], "trips_by_to": [{ "id": 2 }] }));
    let refusal = world.refusal("{ trips { nowhere { id } } }").await;
    assert!(refusal["message"].as_str().unwrap().contains("nowhere"), "{refusal}");
}

#[tokio::test]
async fn too_many_rows_are_an_error_of_their_field_alone() {
    let world = World::of(vec![
        numbers("parents", 2, 1).with_key(&["id"]),
        numbers("children", 100_002, 60_000).with_relation("up", &["parent"], "parents", &["id"]),
    ]);
    let (answer, ok) = world.run("{ parents { id children { id } } }", json!(null)).await;
    assert!(ok);
    assert_eq!(answer["data"], json!({ "parents": [{ "id": 0, "children": null }, { "id": 1, "children": null }] }));
    assert_eq!(answer["errors"][0]["path"], json!(["parents", "children"]));
    assert_eq!(answer["errors"][0]["extensions"]["code"], "answer_too_large");
    assert_eq!(world.tables[1].describe().rows, Some(100_002));
}
