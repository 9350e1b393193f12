//! ROAPI's form: a bare document in, a bare array out.

use salver_model::Code;

use crate::graphql::tests::fixture::World;

const FIRST_TWO: &str = r#"[{"city":"Elgin, Scotland, the UK","lat":57.653484,"lng":-3.335724},{"city":"Stoke-on-Trent, Staffordshire, the UK","lat":53.002666,"lng":-2.179404}]"#;

#[tokio::test]
async fn its_own_examples() {
    let world = World::new();
    for document in [
        "query { uk_cities(limit: 2) {city, lat, lng} }",
        "{ uk_cities(limit: 2) {city, lat, lng} }",
        "query named { uk_cities(limit: 2) { city lat lng } }",
        "{ uk_cities(limit: 2, page: 1) }",
        "{ uk_cities(limit: 2) { ...all } } fragment all on uk_cities { city lat lng }",
    ] {
        assert_eq!(world.raw(document).await.unwrap().trim_end(), FIRST_TWO, "{document}");
    }
    let filtered = r#"{ uk_cities(filter: {lat: {gt: 57, lteq: 57.6}, lng: {lt: -2}}, sort: [{field: "lat", order: "desc"}]) { city } }"#;
    assert_eq!(
        world.raw(filtered).await.unwrap().trim_end(),
        r#"[{"city":"Inverness, the UK"},{"city":"Aberdeen, Aberdeen City, UK"}]"#
    );
    let second = r#"{ uk_cities(limit: 2, page: 2) { city } }"#;
    let wanted = r#"[{"city":"Solihull, Birmingham, UK"},{"city":"Cardiff, Cardiff county, UK"}]"#;
    assert_eq!(world.raw(second).await.unwrap().trim_end(), wanted);
}

#[tokio::test]
async fn its_argument_grammar() {
    let world = World::new();
    let cases = [
        (r#"{ orders(filter: {color: "red", amount: {gteq: 5.5, lt: 7}}) { id } }"#, r#"[{"id":10}]"#),
        (r#"{ orders(filter: {id: {gt: 3, gte: 14}}) { id } }"#, r#"[{"id":14},{"id":15}]"#),
        (r#"{ orders(filter: {day: "2019-04-14"}) { id } }"#, r#"[{"id":10}]"#),
        (r#"{ customers(filter: {active: true}) { id } }"#, r#"[{"id":1},{"id":4}]"#),
        (
            r#"{ orders(sort: [{field: "color"}, {field: "id", order: "desc"}], limit: 3) { id } }"#,
            r#"[{"id":15},{"id":14},{"id":11}]"#,
        ),
        // Nulls come first in both directions.
        (
            r#"{ orders(sort: [{field: "color", order: "desc"}, {field: "id"}], limit: 2) { id } }"#,
            r#"[{"id":15},{"id":10}]"#,
        ),
        (r#"{ orders(page: 2) { id } }"#, r#"[{"id":10},{"id":11},{"id":12},{"id":13},{"id":14},{"id":15}]"#),
        (r#"{ orders(limit: 0) { id } }"#, "[]"),
        (r#"{ o: orders(limit: 1) { number: id shade: color } }"#, r#"[{"number":10,"shade":"red"}]"#),
        (r#"{ customers(limit: 1) { Mixed_Col } }"#, r#"[{"Mixed_Col":"a\"b"}]"#),
        (r#"{ launches(filter: {links: {webcast: "w1"}}) { name } }"#, r#"[{"name":"A"}]"#),
        // Several columns in another order than the table's, and a limit, which ROAPI ignores here.
        (r#"{ uk_cities(limit: 1) { lat city } }"#, r#"[{"lat":57.653484,"city":"Elgin, Scotland, the UK"}]"#),
    ];
    for (document, wanted) in cases {
        assert_eq!(world.raw(document).await.unwrap().trim_end(), wanted, "{document}");
    }
}

#[tokio::test]
async fn structs_whole_and_cut() {
    let world = World::new();
    let cases = [
        (
            "{ launches { links } }",
            r#"[{"links":{"webcast":"w1","wikipedia":"p1"}},{"links":{"webcast":null,"wikipedia":"p2"}},{"links":null}]"#,
        ),
        ("{ launches { l: links { w: wikipedia } } }", r#"[{"l":{"w":"p1"}},{"l":{"w":"p2"}},{"l":null}]"#),
        ("{ launches(limit: 1) { cores { flight } } }", r#"[{"cores":[{"flight":1},{"flight":null}]}]"#),
        (
            "{ launches(limit: 1) { cores } }",
            r#"[{"cores":[{"serial":"B1","flight":1},{"serial":"B2","flight":null}]}]"#,
        ),
    ];
    for (document, wanted) in cases {
        assert_eq!(world.raw(document).await.unwrap().trim_end(), wanted, "{document}");
    }
}

#[tokio::test]
async fn what_roapi_has_not_is_answered_by_the_standard() {
    let world = World::new();
    let cases = [
        (
            "{ a: orders(limit: 1) { id } b: customers(limit: 1) { id } }",
            r#"{"data":{"a":[{"id":10}],"b":[{"id":1}]}}"#,
        ),
        ("query($n: Int = 1) { orders(limit: $n) { id } }", r#"[{"id":10}]"#),
        ("{ __typename }", r#"{"data":{"__typename":"Query"}}"#),
        ("{ orders(limit: 1) { __typename } }", r#"{"data":{"orders":[{"__typename":"orders"}]}}"#),
        (r#"{"query": "{ orders(limit: 1) { id } }"}"#, r#"{"data":{"orders":[{"id":10}]}}"#),
        ("{ orders_aggregate { count } }", r#"{"data":{"orders_aggregate":[{"count":6}]}}"#),
    ];
    for (document, wanted) in cases {
        assert_eq!(world.raw(document).await.unwrap().trim_end(), wanted, "{document}");
    }
}

#[tokio::test]
async fn mistakes_are_named() {
    let world = World::new();
    let cases = [
        ("{ uk_citis { city } }", Code::UnknownEntry, "uk_citis", "did you mean `uk_cities`?"),
        ("{ broken { city } }", Code::EntryUnavailable, "line 3 of broken.csv", ""),
        ("{ uk_cities { citi } }", Code::InvalidColumn, "no column `citi` in `uk_cities`", "did you mean `city`?"),
        ("{ uk_cities(limt: 2) { city } }", Code::InvalidGraphql, "limt", "did you mean `limit`?"),
        ("{ uk_cities(limit: -1) { city } }", Code::InvalidNumber, "limit", ""),
        ("{ uk_cities(limit: 1, page: 0) { city } }", Code::InvalidNumber, "page", ""),
        ("{ uk_cities(filter: {lats: 1}) { city } }", Code::InvalidFilter, "lats", "did you mean `lat`?"),
        ("{ uk_cities(filter: {lat: {gtt: 1}}) { city } }", Code::InvalidFilter, "gtt", "did you mean"),
        ("{ uk_cities(filter: {lat: \"x\"}) { city } }", Code::InvalidValue, "", ""),
        ("{ uk_cities(sort: [{field: \"lats\"}]) { city } }", Code::InvalidSort, "lats", "did you mean `lat`?"),
        ("{ uk_cities(sort: [{field: \"lat\", order: \"up\"}]) { city } }", Code::InvalidSort, "asc", ""),
        ("{ uk_cities(sort: \"lat\") { city } }", Code::InvalidSort, "not an object", "field"),
        ("{ uk_cities(filter: {lat: null}) { city } }", Code::InvalidValue, "null", "is_null"),
        ("{ uk_cities(filter: 3) { city } }", Code::InvalidFilter, "object", ""),
        ("{ uk_cities { city ", Code::InvalidGraphql, "line 1", ""),
        ("mutation { uk_cities { city } }", Code::InvalidGraphql, "mutation", ""),
        ("", Code::InvalidGraphql, "", ""),
        (
            "{ a: uk_cities(filter: {lat: 1}) { city } a: uk_cities(filter: {lat: 2}) { city } }",
            Code::InvalidGraphql,
            "`a`",
            "alias",
        ),
    ];
    for (document, code, message, hint) in cases {
        let error = world.raw(document).await.expect_err(document);
        assert_eq!(error.code, code, "{document}: {error:?}");
        assert!(error.message.contains(message), "{document}: {error:?}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{document}: {:?}", error.hint);
    }
}
