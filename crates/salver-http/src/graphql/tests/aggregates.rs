//! Groups and aggregates.

use serde_json::json;

use crate::graphql::tests::fixture::World;

#[tokio::test]
async fn one_group_of_all_rows() {
    let world = World::new();
    let document = "{ orders_aggregate { count amounts: count(column: amount) count_distinct { color } sum { amount id } avg { amount } min { amount day color } max { id } } }";
    assert_eq!(
        world.data(document).await["orders_aggregate"],
        json!([{
            "count": 6, "amounts": 5, "count_distinct": { "color": 2 }, "sum": { "amount": 18.75, "id": 75 },
            "avg": { "amount": 3.75 }, "min": { "amount": 1.0, "day": "2019-04-14", "color": "blue" }, "max": { "id": 15 },
        }])
    );
    let document = "{ orders_aggregate(filter: {id: {lt: 0}}) { count sum { amount } __typename } }";
    assert_eq!(
        world.data(document).await["orders_aggregate"],
        json!([{ "count": 0, "sum": { "amount": null }, "__typename": "orders_aggregate" }])
    );
}

#[tokio::test]
async fn groups() {
    let world = World::new();
    let document = "{ orders_aggregate(group_by: [color], sort: [{function: count, order: desc}, {field: color}]) { group { color } count sum { amount } } }";
    let wanted = json!([
        { "group": { "color": "red" }, "count": 3, "sum": { "amount": 12.75 } },
        { "group": { "color": "blue" }, "count": 2, "sum": { "amount": 3.0 } },
        { "group": { "color": null }, "count": 1, "sum": { "amount": 3.0 } },
    ]);
    assert_eq!(world.data(document).await["orders_aggregate"], wanted);
    // The selection under `group` is the default for `group_by`.
    let document = document.replace("group_by: [color], ", "");
    assert_eq!(world.data(&document).await["orders_aggregate"], wanted);
    let document = "{ orders_aggregate(having: [{function: count, gte: 2}, {function: sum, column: amount, gt: 5}]) { group { color } } }";
    assert_eq!(world.data(document).await["orders_aggregate"], json!([{ "group": { "color": "red" } }]));
    let document = "{ orders_aggregate(sort: {field: color, nulls: last}, limit: 1, offset: 1) { group { color } max { amount } } }";
    assert_eq!(
        world.data(document).await["orders_aggregate"],
        json!([{ "group": { "color": "red" }, "max": { "amount": 7.25 } }])
    );
}

#[tokio::test]
async fn mistakes() {
    let world = World::new();
    for (arguments, selection, message) in [
        ("group_by: [color]", "group { id }", "not in `group_by`"),
        ("sort: {field: id}", "count", "no column `id`"),
        ("having: {function: sum, gt: 1}", "count", "needs a column"),
        ("having: {gt: 1}", "count", "function"),
    ] {
        let (answer, ok) =
            world.run(&format!("{{ orders_aggregate({arguments}) {{ {selection} }} }}"), json!(null)).await;
        assert!(ok && answer["data"]["orders_aggregate"].is_null(), "{answer}");
        assert!(answer["errors"][0]["message"].as_str().unwrap().contains(message), "{answer}");
    }
    world.refusal("{ orders_aggregate { sum { color } } }").await;
}
