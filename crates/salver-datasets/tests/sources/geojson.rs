//! GeoJSON: features are rows.

use arrow::datatypes::DataType;
use salver_model::Code;
use salver_model::spec::SourceFormat;

use crate::generated::{Made, column, error, gzip, load, one, show, shown};

const FIRST: &str = r#"{"type":"Feature","id":1,"properties":{"name":"York","people":153717},
    "geometry":{"type":"Point","coordinates":[-1.08, 53.96]}}"#;
const SECOND: &str = r#"{"type":"Feature","id":2,"geometry":null,"properties":{"name":"Nowhere","area":1.5}}"#;
const EXPECTED: &str = "id:Int64|name:Utf8|people:Int64|geometry:Utf8|area:Float64\n\
    1|York|153717|{\"type\":\"Point\",\"coordinates\":[-1.08,53.96]}|~\n2|Nowhere|~|~|1.5";

#[test]
fn collections_lists_and_sequences() {
    let both = format!("[{FIRST},\n{SECOND}]");
    for text in [
        format!("{{\"type\":\"FeatureCollection\",\"features\":{both}}}"),
        // What stands around the features, and in another order.
        format!("{{\"features\" : {both} , \"crs\":{{\"features\":[]}},\"type\":\"FeatureCollection\"}}\n"),
        format!("{{\"bbox\":[1,2],\"name\":\"[\\\"\",\"type\":\"FeatureCollection\",\"features\":{both}}}"),
        both.clone(),
        // One after another, also as RFC 8142 has it.
        format!("{}\n{SECOND}\n", FIRST.replace('\n', "")),
        format!("\u{1e}{FIRST}\n\u{1e}{SECOND}\n"),
    ] {
        assert_eq!(shown("a.geojson", &text), EXPECTED, "{text}");
        assert_eq!(shown("a.geojsonl", &text), EXPECTED, "{text}");
        assert_eq!(shown("a.geojson.gz", gzip(text.as_bytes())), EXPECTED, "{text}");
        let (_made, mut spec) = one("a.json", &text);
        spec.format = Some(SourceFormat::GeoJson);
        assert_eq!(show(&load(&spec).unwrap()), EXPECTED, "{text}");
    }
    assert_eq!(
        shown("a.geojson", FIRST.replace("\"people\"", "\"id\"")).lines().next().unwrap(),
        "feature_id:Int64|name:Utf8|id:Int64|geometry:Utf8"
    );
}

#[test]
fn declared_columns_and_several_files() {
    let made = Made::new();
    made.file("1.geojson", FIRST);
    made.file("2.geojson", SECOND);
    let mut spec = made.spec(&["*.geojson"]);
    assert_eq!(show(&load(&spec).unwrap()), EXPECTED);
    spec.schema = vec![column("people", DataType::Decimal128(12, 2)), column("area", DataType::Int64)];
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("2.geojson") && wrong.message.contains("`area`"), "{wrong:?}");
    spec.schema.pop();
    assert!(show(&load(&spec).unwrap()).contains("|153717.00|"));
    let (_made, mut spec) = one("a.geojson", r#"{"type":"FeatureCollection","features":[]}"#);
    assert!(load(&spec).unwrap_err().message.contains("is empty"));
    spec.schema = vec![column("geometry", DataType::Utf8)];
    assert_eq!(show(&load(&spec).unwrap()), "geometry:Utf8");
}

#[test]
fn what_is_no_feature_is_an_error_that_names_it() {
    let collection = |features: &str| format!("{{\"type\":\"FeatureCollection\",\"features\":[{features}]}}");
    for (text, expected) in [
        (
            collection(&format!("{SECOND},\n{{\"type\":\"Point\"}}")),
            "line 2 column 1: feature 2: its `type` is \"Point\"",
        ),
        (collection("7"), "feature 1: invalid type"),
        (collection(&SECOND.replace("null", "\"POINT (1 2)\"")), "feature 1: its `geometry` is not an object"),
        (collection(&SECOND.replace("1.5}", "1.5")), "a.geojson` line 1"),
        (format!("{{\"type\":\"FeatureCollection\",\"features\":[{SECOND}"), "expected `,` or `]`, found the end"),
        (r#"{"type":"Topology","objects":{}}"#.to_owned(), "feature 1: its `type` is \"Topology\", not \"Feature\""),
        (format!("{SECOND}\n{{\"a\":1}}"), "feature 2: its `type` is null"),
        (format!("{SECOND} x"), "a.geojson` line 1"),
        ("\"x\"".to_owned(), "expected a FeatureCollection or a Feature"),
        ("{\"type\"".to_owned(), "found the end"),
        ("{\"a\":1,}".to_owned(), "expected a name in quotes"),
    ] {
        let wrong = error("a.geojson", &text);
        assert_eq!(wrong.code, Code::Source);
        assert!(wrong.message.contains("a.geojson`") && wrong.message.contains(expected), "{text}: {wrong:?}");
    }
}
