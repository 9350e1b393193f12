//! CSV and TSV: quoting, nulls, headers, and reading back.

use std::sync::Arc;

use arrow::array::*;
use arrow::csv::ReaderBuilder;
use arrow::datatypes::{DataType, Field, Schema};
use salver_formats::{Format, Nulls, Style, encode};

use super::sample::{batch, csv, text_of};

#[test]
fn rows_as_roapi_writes_them() {
    let rows = batch(&[
        ("city", Arc::new(StringArray::from(vec!["Elgin, Scotland, the UK"]))),
        ("lat", Arc::new(Float64Array::from(vec![57.653484]))),
        ("lng", Arc::new(Float64Array::from(vec![-3.335724]))),
    ]);
    assert_eq!(csv(&rows), "city,lat,lng\n\"Elgin, Scotland, the UK\",57.653484,-3.335724\n");
}

fn awkward() -> RecordBatch {
    let texts = vec![Some("a,b"), Some("tab\there"), Some("\"q\""), Some("two\nlines"), Some("cr\rlf"), Some(""), None];
    batch(&[
        ("na,me", Arc::new(StringArray::from(texts))),
        ("n\"o\"", Arc::new(Int32Array::from(vec![Some(1), None, Some(3), None, Some(5), Some(6), None]))),
    ])
}

#[test]
fn quotes_only_where_needed() {
    assert_eq!(
        csv(&awkward()),
        "\"na,me\",\"n\"\"o\"\"\"\n\"a,b\",1\ntab\there,\n\"\"\"q\"\"\",3\n\"two\nlines\",\n\"cr\rlf\",5\n\"\",6\n,\n"
    );
    assert_eq!(
        text_of(Format::Tsv, Nulls::Write, &[awkward()]),
        "na,me\t\"n\"\"o\"\"\"\na,b\t1\n\"tab\there\"\t\n\"\"\"q\"\"\"\t3\n\"two\nlines\"\t\n\"cr\rlf\"\t5\n\"\"\t6\n\t\n"
    );
}

#[test]
fn a_header_always() {
    let schema =
        Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, true), Field::new("", DataType::Utf8, true)]));
    assert_eq!(encode(Format::Csv, &schema, &[], &Style::default()).unwrap(), b"a,\"\"\n");
    assert_eq!(encode(Format::Tsv, &schema, &[], &Style::default()).unwrap(), b"a\t\"\"\n");
    assert_eq!(encode(Format::Csv, &Arc::new(Schema::empty()), &[], &Style::default()).unwrap(), b"\n");
}

#[test]
fn reads_back() {
    for (format, delimiter) in [(Format::Csv, b','), (Format::Tsv, b'\t')] {
        let text = text_of(format, Nulls::Write, &[awkward(), awkward()]);
        let reader = ReaderBuilder::new(awkward().schema()).with_header(true).with_delimiter(delimiter);
        let read: Vec<_> = reader.build(text.as_bytes()).unwrap().map(Result::unwrap).collect();
        let read = arrow::compute::concat_batches(&awkward().schema(), &read).unwrap();
        assert_eq!(read.num_rows(), 14);
        assert_eq!(read.column(1), &arrow::compute::concat(&[awkward().column(1), awkward().column(1)]).unwrap());
        // Arrow's reader takes a quoted empty field for null, so only the others are compared.
        let (before, after) = (awkward(), read.column(0).as_string::<i32>());
        for row in 0..5 {
            assert_eq!(after.value(row), before.column(0).as_string::<i32>().value(row));
        }
    }
}
