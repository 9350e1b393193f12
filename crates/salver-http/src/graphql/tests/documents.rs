//! Documents in the standard form: one test per part of the language.

use serde_json::json;

use crate::graphql::tests::fixture::World;

#[tokio::test]
async fn columns_of_every_type_keep_their_values() {
    let world = World::new();
    let data = world
        .data(
            "{ orders(limit: 2) { id amount color day big } launches { price links { wikipedia } cores { serial } } }",
        )
        .await;
    assert_eq!(data["orders"][0]["big"].to_string(), u64::MAX.to_string());
    assert_eq!(data["orders"][1]["big"].to_string(), "9007199254740993");
    assert_eq!(data["orders"][0]["day"], "2019-04-14");
    assert_eq!(data["launches"][2]["links"], json!(null));
    assert_eq!(data["launches"][1]["links"], json!({ "wikipedia": "p2" }));
    assert_eq!(data["launches"][0]["cores"], json!([{ "serial": "B1" }, { "serial": "B2" }]));
    assert_eq!(data["launches"][1]["cores"], json!([]));
    let data = world.data("{ customers { Mixed_Col active } }").await;
    assert_eq!(
        data["customers"],
        json!([
            { "Mixed_Col": "a\"b", "active": true },
            { "Mixed_Col": "ü", "active": false },
            { "Mixed_Col": null, "active": null },
            { "Mixed_Col": "", "active": true },
        ])
    );
}

#[tokio::test]
async fn aliases_fragments_and_typenames() {
    let world = World::new();
    let document = "
        query All { __typename ...Tables q: __typename }
        fragment Tables on Query {
            first: orders(limit: 1) { ...Row ...Row __typename ... on orders { shade: color } ... { id } }
            second: orders(limit: 1, offset: 1) { ...Row }
        }
        fragment Row on orders { number: id customer { id } customer { name kind: __typename } }";
    assert_eq!(
        world.data(document).await,
        json!({
            "__typename": "Query",
            "first": [{ "number": 10, "customer": { "id": 1, "name": "Ada", "kind": "customers" },
                        "__typename": "orders", "shade": "red", "id": 10 }],
            "second": [{ "number": 11, "customer": { "id": 1, "name": "Ada", "kind": "customers" } }],
            "q": "Query",
        })
    );
}

#[tokio::test]
async fn the_order_of_fields_is_the_order_of_the_document() {
    let world = World::new();
    let answer = world.raw("{ b: orders(limit: 1) { color id } a: __typename }").await.unwrap();
    assert_eq!(answer, r#"{"data":{"b":[{"color":"red","id":10}],"a":"Query"}}"#);
}

#[tokio::test]
async fn skip_include_and_variables() {
    let world = World::new();
    let document =
        "query Q($yes: Boolean!, $no: Boolean = false, $filter: orders_filter, $by: orders_column = id, $n: Int) {
        orders(filter: $filter, sort: [{field: $by, order: desc}], limit: $n) {
            id
            color @skip(if: $yes)
            amount @include(if: $yes)
            ... @include(if: $no) { day }
        }
    }";
    let (answer, ok) =
        world.run(document, json!({ "yes": true, "n": 2, "filter": { "or": [{ "id": { "in": [10, 12] } }, { "color": { "is_null": true } }] } })).await;
    assert!(ok);
    assert_eq!(answer, json!({ "data": { "orders": [{ "id": 15, "amount": 3.0 }, { "id": 12, "amount": 7.25 }] } }));
    let (answer, ok) = world.run(document, json!({})).await;
    assert!(!ok, "{answer}");
    assert!(answer["errors"][0]["message"].as_str().unwrap().contains("yes"), "{answer}");
    let (answer, ok) = world.run(document, json!({ "yes": true, "filter": { "colour": {} } })).await;
    assert!(!ok, "{answer}");
}

#[tokio::test]
async fn filters() {
    let world = World::new();
    let cases = [
        ("{id: {eq: 12}}", json!([12])),
        ("{id: {ne: 12, lt: 14}}", json!([10, 11, 13])),
        ("{id: {neq: 12, lte: 13}}", json!([10, 11, 13])),
        ("{id: {gteq: 14}}", json!([14, 15])),
        ("{id: {in: [10, 15]}}", json!([10, 15])),
        ("{id: {not_in: [10, 15]}}", json!([11, 12, 13, 14])),
        ("{id: {in: []}}", json!([])),
        ("{color: {like: \"r%\"}}", json!([10, 12, 13])),
        ("{color: {not_like: \"r%\"}}", json!([11, 14])),
        ("{color: {ilike: \"BLU_\"}}", json!([11, 14])),
        ("{color: {is_null: true}}", json!([15])),
        ("{color: {is_null: false}}", json!([10, 11, 12, 13, 14])),
        ("{color: {eq: null}}", json!([15])),
        ("{amount: {ne: null, lt: 3}}", json!([11, 14])),
        ("{day: {gt: \"2019-04-16\"}}", json!([13, 14, 15])),
        ("{big: {eq: 18446744073709551615}}", json!([10])),
        ("{or: [{id: {eq: 10}}, {color: {eq: \"blue\"}}]}", json!([10, 11, 14])),
        ("{and: [{id: {gt: 10}}, {not: {color: {eq: \"red\"}}}]}", json!([11, 14])),
        ("{not: {or: [{id: {lt: 13}}, {id: {gt: 14}}]}}", json!([13, 14])),
        ("{}", json!([10, 11, 12, 13, 14, 15])),
        ("{or: []}", json!([])),
    ];
    for (filter, wanted) in cases {
        let data = world.data(&format!("{{ orders(filter: {filter}) {{ id }} }}")).await;
        let ids: serde_json::Value = data["orders"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
        assert_eq!(ids, wanted, "{filter}");
    }
    let data = world.data("{ launches(filter: {links: {wikipedia: {like: \"p%\"}}}) { name } }").await;
    assert_eq!(data, json!({ "launches": [{ "name": "A" }, { "name": "B" }] }));
    let data = world.data("{ launches(filter: {links: {is_null: true}}) { name } }").await;
    assert_eq!(data, json!({ "launches": [{ "name": "C" }] }));
}

#[tokio::test]
async fn order_and_pages() {
    let world = World::new();
    let ids = async |arguments: &str| {
        let data = world.data(&format!("{{ orders({arguments}) {{ id }} }}")).await;
        data["orders"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("sort: [{field: amount}]").await, [13, 14, 11, 15, 10, 12]);
    assert_eq!(ids("sort: [{field: amount, order: desc}]").await, [13, 12, 10, 15, 11, 14]);
    assert_eq!(ids("sort: [{field: amount, nulls: last}]").await, [14, 11, 15, 10, 12, 13]);
    assert_eq!(ids("limit: 2, offset: 3").await, [13, 14]);
    assert_eq!(ids("limit: 2, page: 3").await, [14, 15]);
    let data = world.data("{ orders(distinct: true) { color } }").await;
    assert_eq!(data["orders"].as_array().unwrap().len(), 3);
    let mut seen = Vec::new();
    let mut after = json!(null);
    loop {
        let document =
            "query($after: String) { orders_page(limit: 4, after: $after) { rows { id } total next t: __typename } }";
        let (answer, _) = world.run(document, json!({ "after": after })).await;
        let page = &answer["data"]["orders_page"];
        assert_eq!((&page["total"], &page["t"]), (&json!(6), &json!("orders_page")));
        seen.extend(page["rows"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()));
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(seen, [10, 11, 12, 13, 14, 15]);
    let reads = world.reads("orders");
    assert_eq!(
        world.data("{ orders_page(filter: {color: {eq: \"red\"}}) { total } }").await["orders_page"]["total"],
        3
    );
    assert_eq!(world.reads("orders"), reads + 1);
}

#[tokio::test]
async fn by_key() {
    let world = World::new();
    let data = world.data("{ customers_by_key(id: 2) { name } none: customers_by_key(id: 99) { name } }").await;
    assert_eq!(data, json!({ "customers_by_key": { "name": "Bob" }, "none": null }));
    let refusal = world.refusal("{ customers_by_key { name } }").await;
    assert!(refusal["message"].as_str().unwrap().contains("required"), "{refusal}");
    world.refusal("{ uk_cities_by_key(city: \"x\") { city } }").await;
}

#[tokio::test]
async fn one_field_fails_and_the_others_answer() {
    let world = World::new();
    let document = "{ good: orders(limit: 1) { id } bad: orders(limit: -1) { id } cursor: orders(after: \"x\") { id } day: orders(filter: {day: {eq: \"x\"}}) { id } }";
    let (answer, ok) = world.run(document, json!(null)).await;
    assert!(ok);
    assert_eq!(answer["data"], json!({ "good": [{ "id": 10 }], "bad": null, "cursor": null, "day": null }));
    let errors: Vec<_> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (e["path"][0].clone(), e["extensions"]["code"].clone()))
        .collect();
    let wanted = [("bad", "invalid_numeric_param"), ("cursor", "invalid_cursor"), ("day", "rest_query_value")];
    assert_eq!(errors, wanted.map(|(path, code)| (json!(path), json!(code))));
}

#[tokio::test]
async fn refusals_have_a_place_and_a_hint() {
    let world = World::new();
    let refusal = world.refusal("{\n  orders {\n    colour\n  }\n}").await;
    assert_eq!(refusal["locations"], json!([{ "line": 3, "column": 5 }]), "{refusal}");
    assert_eq!(refusal["extensions"]["hint"], "did you mean `color`?");
    assert_eq!(refusal["extensions"]["code"], "invalid graphql query");
    let cases = [
        ("{ ordres { id } }", "did you mean `orders`?"),
        ("{ orders(limits: 1) { id } }", "did you mean `limit`?"),
        ("{ orders(filter: {colour: {eq: \"red\"}}) { id } }", "did you mean `color`?"),
        ("{ orders(sort: {field: colour}) { id } }", "did you mean `color`?"),
    ];
    for (document, hint) in cases {
        assert_eq!(world.refusal(document).await["extensions"]["hint"], hint, "{document}");
    }
    for document in [
        "{ orders }",
        "{ orders { id { x } } }",
        "{ orders { id } ",
        "{ orders(filter: {id: \"x\", color: 3}) { id } }",
        "query { ...A } fragment A on Query { ...A }",
        "{ ...A }",
        "query A { __typename } query B { __typename }",
        "query($x: Nope) { orders(limit: $x) { id } }",
        "{ orders @nope { id } }",
        "subscription { orders { id } }",
        "type T { a: Int }",
        "",
    ] {
        world.refusal(document).await;
    }
    let refusal = world.refusal("{ broken { id } }").await;
    assert_eq!(refusal["extensions"]["code"], "entry_unavailable");
}

#[tokio::test]
async fn only_what_is_selected_is_asked_for() {
    let world = World::new();
    assert_eq!(
        world.data("{ orders(limit: 1) { __typename } }").await,
        json!({ "orders": [{ "__typename": "orders" }] })
    );
    // The table returns the columns that the query names, which the bare form reveals.
    let crate::graphql::Answer::Rows(rows) =
        world.post(None, b"{ orders(sort: [{field: \"day\"}]) { id a: id color } }").await.unwrap()
    else {
        panic!("no bare rows");
    };
    let names: Vec<_> = rows.schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["id", "a", "color"]);
    assert_eq!(rows.read.len(), 1);
}
