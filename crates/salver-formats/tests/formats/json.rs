//! JSON and NDJSON beyond single types: rows, nulls, names and strings.

use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, Field, Fields, Schema};
use salver_formats::json::write_string;
use salver_formats::{Format, Nulls, Style, TextEncoder, encode};

use super::sample::{batch, json, json_without_nulls, text_of};

fn cities() -> RecordBatch {
    batch(&[
        ("city", Arc::new(StringArray::from(vec!["Elgin, Scotland, the UK", "Stoke-on-Trent, Staffordshire, the UK"]))),
        ("lat", Arc::new(Float64Array::from(vec![57.653484, 53.002666]))),
        ("lng", Arc::new(Float64Array::from(vec![-3.335724, -2.179404]))),
    ])
}

#[test]
fn rows_as_roapi_writes_them() {
    assert_eq!(
        json(&cities()),
        "[{\"city\":\"Elgin, Scotland, the UK\",\"lat\":57.653484,\"lng\":-3.335724},\
         {\"city\":\"Stoke-on-Trent, Staffordshire, the UK\",\"lat\":53.002666,\"lng\":-2.179404}]"
    );
}

#[test]
fn lines() {
    let one = cities().project(&[1]).unwrap();
    let text = text_of(Format::NdJson, Nulls::Write, &[one.clone(), one.slice(0, 0), one]);
    assert_eq!(text, "{\"lat\":57.653484}\n{\"lat\":53.002666}\n".repeat(2));
}

#[test]
fn batches_are_joined() {
    let one = cities().project(&[1]).unwrap();
    let empty = one.slice(0, 0);
    let expected = "[{\"lat\":57.653484},{\"lat\":53.002666},{\"lat\":53.002666}]";
    assert_eq!(text_of(Format::Json, Nulls::Write, &[empty.clone(), one.clone(), empty, one.slice(1, 1)]), expected);
    // In parallel, as the text encoder allows.
    let encoder = TextEncoder::new(Format::Json, &one.schema(), &Style::default());
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    encoder.begin(&mut parts[0]);
    encoder.rows(&one.slice(1, 1), false, &mut parts[2]).unwrap();
    encoder.rows(&one, true, &mut parts[1]).unwrap();
    encoder.end(&mut parts[2]);
    assert_eq!(String::from_utf8(parts.concat()).unwrap(), expected);
}

#[test]
fn nulls_may_be_left_out() {
    let inner = StructArray::new(
        Fields::from(vec![Field::new("x", DataType::Int32, true), Field::new("y", DataType::Int32, true)]),
        vec![
            Arc::new(Int32Array::from(vec![None, None, Some(1)])),
            Arc::new(Int32Array::from(vec![Some(2), None, None])),
        ],
        None,
    );
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for (key, value) in [("k", None), ("l", Some(1))] {
        map.keys().append_value(key);
        map.values().append_option(value);
    }
    map.append(true).unwrap();
    map.append(false).unwrap();
    map.append(true).unwrap();
    let mut list = ListBuilder::new(Int32Builder::new());
    list.append_value([None, Some(1)]);
    list.append_null();
    list.append_null();
    let rows = batch(&[
        ("a", Arc::new(Int32Array::from(vec![None, Some(1), None]))),
        ("n", Arc::new(Float64Array::from(vec![Some(f64::NAN), None, None]))),
        ("s", Arc::new(inner)),
        ("m", Arc::new(map.finish())),
        ("l", Arc::new(list.finish())),
    ]);
    assert_eq!(
        json_without_nulls(&rows),
        "[{\"n\":null,\"s\":{\"y\":2},\"m\":{\"l\":1},\"l\":[null,1]},{\"a\":1,\"s\":{}},{\"s\":{\"x\":1},\"m\":{}}]"
    );
    let nothing = batch(&[("a", Arc::new(Int32Array::from(vec![None, Some(1)])))]);
    assert_eq!(json_without_nulls(&nothing), "[{},{\"a\":1}]");
    assert_eq!(text_of(Format::NdJson, Nulls::Omit, &[nothing]), "{}\n{\"a\":1}\n");
}

#[test]
fn no_rows_and_no_columns() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, true)]));
    assert_eq!(encode(Format::Json, &schema, &[], &Style::default()).unwrap(), b"[]");
    assert_eq!(encode(Format::NdJson, &schema, &[], &Style::default()).unwrap(), b"");
    let options = RecordBatchOptions::new().with_row_count(Some(2));
    let bare = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
    assert_eq!(json(&bare), "[{},{}]");
    assert_eq!(json_without_nulls(&bare), "[{},{}]");
}

#[test]
fn names_are_escaped_and_may_repeat() {
    let value: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let long = "a name that is far longer than thirty-two bytes, as some are";
    let rows = batch(&[
        ("a\"b\\c\n", Arc::clone(&value)),
        ("", Arc::clone(&value)),
        ("größe", Arc::clone(&value)),
        ("x", Arc::clone(&value)),
        ("x", Arc::clone(&value)),
        (long, value),
    ]);
    let expected = format!("[{{\"a\\\"b\\\\c\\n\":1,\"\":1,\"größe\":1,\"x\":1,\"x\":1,\"{long}\":1}}]");
    assert_eq!(json(&rows), expected);
    assert_eq!(json_without_nulls(&rows), expected);
}

#[test]
fn names_of_every_length() {
    for len in 0..70 {
        let name = "n".repeat(len);
        let rows = batch(&[(&name, Arc::new(Int32Array::from(vec![1]))), ("z", Arc::new(Int32Array::from(vec![2])))]);
        assert_eq!(json(&rows), format!("[{{\"{name}\":1,\"z\":2}}]"));
    }
}

/// Strings of every length with one awkward character at every place.
#[test]
fn strings_read_back() {
    let awkward =
        (0..0x20_u8).map(char::from).chain("\"\\/\u{7f}é€😀\u{d7ff}\u{e000}\u{ffff}\u{2028}\u{10ffff}".chars());
    for awkward in awkward {
        for len in 0..40_usize {
            for at in 0..=len {
                let mut text = "x".repeat(at);
                text.push(awkward);
                text.push_str(&"y".repeat(len - at));
                let mut out = Vec::new();
                write_string(&text, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
            }
        }
    }
}

#[test]
fn a_batch_of_another_schema_is_refused() {
    let encoder = TextEncoder::new(Format::Json, &cities().schema(), &Style::default());
    let mut out = Vec::new();
    assert!(encoder.rows(&cities().project(&[0]).unwrap(), true, &mut out).is_err());
    assert!(out.is_empty());
}
