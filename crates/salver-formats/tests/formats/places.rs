//! The fast way to write rows against the general one, which writes them cell by cell: the same bytes.

use std::sync::Arc;

use arrow::array::*;
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit};
use salver_formats::json::{ColumnWriter, write_string};
use salver_formats::{Format, Nulls};

use super::random::Random;
use super::sample::{batch, text_of};

/// The rows as objects, each cell written by itself.
fn objects(batch: &RecordBatch, nulls: Nulls) -> Vec<String> {
    let schema = batch.schema();
    let writers: Vec<_> =
        batch.columns().iter().map(|array| ColumnWriter::with_nulls(array.as_ref(), nulls).unwrap()).collect();
    let object = |row: usize| {
        let mut out = vec![b'{'];
        for (field, writer) in schema.fields().iter().zip(&writers) {
            if nulls == Nulls::Omit && writer.is_null(row) {
                continue;
            }
            if out.len() > 1 {
                out.push(b',');
            }
            write_string(field.name(), &mut out);
            out.push(b':');
            writer.write(row, &mut out);
        }
        out.push(b'}');
        String::from_utf8(out).unwrap()
    };
    (0..batch.num_rows()).map(object).collect()
}

/// The rows as delimited text, each cell written by itself and quoted where that is needed.
fn delimited(batch: &RecordBatch, delimiter: char) -> String {
    let writers: Vec<_> = batch.columns().iter().map(|array| ColumnWriter::new(array.as_ref()).unwrap()).collect();
    let field = |text: String, is_null: bool| {
        let is_special = |letter: char| letter == delimiter || matches!(letter, '"' | '\n' | '\r');
        if is_null || !(text.is_empty() || text.contains(is_special)) {
            return text;
        }
        format!("\"{}\"", text.replace('"', "\"\""))
    };
    let cell = |writer: &ColumnWriter<'_>, row| {
        let mut out = Vec::new();
        writer.write_text(row, &mut out);
        field(String::from_utf8(out).unwrap(), writer.is_null(row))
    };
    let delimiter_text = delimiter.to_string();
    let schema = batch.schema();
    let names: Vec<_> = schema.fields().iter().map(|name| field(name.name().clone(), false)).collect();
    let mut text = names.join(&delimiter_text) + "\n";
    for row in 0..batch.num_rows() {
        let cells: Vec<_> = writers.iter().map(|writer| cell(writer, row)).collect();
        text += &(cells.join(&delimiter_text) + "\n");
    }
    text
}

#[track_caller]
fn check(batch: &RecordBatch) {
    let one = std::slice::from_ref(batch);
    for nulls in [Nulls::Write, Nulls::Omit] {
        let objects = objects(batch, nulls);
        let lines: String = objects.iter().map(|object| format!("{object}\n")).collect();
        assert_eq!(text_of(Format::NdJson, nulls, one), lines);
        assert_eq!(text_of(Format::Json, nulls, one), format!("[{}]", objects.join(",")));
    }
    assert_eq!(text_of(Format::Csv, Nulls::Write, one), delimited(batch, ','));
    assert_eq!(text_of(Format::Tsv, Nulls::Write, one), delimited(batch, '\t'));
}

/// The column alone, and in parts that begin anywhere, as a scan gives them.
#[track_caller]
fn check_column(array: ArrayRef) {
    let whole = batch(&[("a column", array)]);
    check(&whole);
    for start in [1, whole.num_rows() / 3, whole.num_rows().saturating_sub(1)] {
        let len = (whole.num_rows() - start).min(9);
        check(&whole.slice(start, len));
    }
}

#[test]
fn batches_of_any_columns() {
    let mut random = Random::new(0x51_7c_c1_b7_27_22_0a_95);
    for _ in 0..600 {
        check(&random.batch());
    }
}

#[test]
fn rows_of_many_windows() {
    let mut random = Random::new(11);
    let rows = 5_000;
    let texts = StringArray::from(random.many(rows, Random::text));
    let numbers = Int64Array::from(random.many(rows, Random::number));
    let floats = Float64Array::from(random.many(rows, Random::float));
    let flags = BooleanArray::from(random.many(rows, |random| random.below(2) == 0));
    check(&batch(&[
        ("text", Arc::new(texts)),
        ("number", Arc::new(numbers)),
        ("a name that is longer than the block of a short key", Arc::new(floats)),
        ("flag", Arc::new(flags)),
    ]));
}

#[test]
fn texts_of_every_length_with_something_special_anywhere() {
    let specials = ["", "\"", "\\", "\n", "\r", "\t", ",", "\u{0}", "\u{8}", "\u{c}", "\u{1f}", "\u{7f}", "é", "😀"];
    for special in specials {
        let mut texts = Vec::new();
        for len in 0..80 {
            for at in (0..=len).step_by(if len < 36 { 1 } else { 7 }) {
                texts.push(format!("{}{special}{}", "a".repeat(at), "b".repeat(len - at)));
            }
        }
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        for kind in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
            check_column(cast(&texts, &kind).unwrap());
        }
    }
}

#[test]
fn texts_longer_than_a_window() {
    let mut random = Random::new(5);
    let mut texts = vec![Some("short".to_owned()), None];
    for len in [8_190, 16_384, 16_385, 40_000, 100_000] {
        texts.push(Some("x".repeat(len)));
        texts.push(Some("\u{1}".repeat(len)));
        texts.push(Some("\"".repeat(len)));
        texts.extend(random.many(30, Random::text));
    }
    let numbers = Int32Array::from(random.many(texts.len(), |random| random.number() as i32));
    check(&batch(&[("text", Arc::new(StringArray::from(texts))), ("number", Arc::new(numbers))]));
}

#[test]
fn numbers_at_their_edges() {
    let powers = || (0..20).map(|exponent| 10_u64.pow(exponent));
    let values = powers().flat_map(|power| [power - 1, power, power + 1]).chain([u64::MAX, u64::MAX - 1]);
    let unsigned = UInt64Array::from_iter_values(values);
    let signed: Int64Array =
        unsigned.values().iter().flat_map(|value| [*value as i64, (*value as i64).wrapping_neg()]).map(Some).collect();
    let signed: ArrayRef = Arc::new(signed);
    for kind in [DataType::Int8, DataType::Int16, DataType::Int32, DataType::Int64] {
        check_column(cast(&signed, &kind).unwrap());
    }
    let unsigned: ArrayRef = Arc::new(unsigned);
    for kind in [DataType::UInt8, DataType::UInt16, DataType::UInt32, DataType::UInt64, DataType::Float64] {
        check_column(cast(&unsigned, &kind).unwrap());
    }
}

#[test]
fn floats_that_were_decimals() {
    let mut random = Random::new(3);
    let mut values = vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-3, 1e7, 1e16, 1e-7, 9_999_999.99];
    for _ in 0..20_000 {
        let decimal = random.number() as f64 / 10_f64.powi(random.below(12) as i32);
        values.extend([decimal, f64::from_bits(decimal.to_bits() ^ 1)]);
    }
    check_column(Arc::new(Float64Array::from(values)));
}

#[test]
fn times_near_and_far() {
    let mut random = Random::new(9);
    let mut days = vec![-719_529, -719_528, -719_469, -719_468, -719_467, 2_932_895, 2_932_896, 2_932_897];
    days.extend([-1, 0, 1, 59, 11_016, i32::MIN, i32::MAX]);
    days.extend((0..4_000).map(|_| random.below(4_000_000) as i32 - 800_000));
    check_column(Arc::new(Date32Array::from(days.clone())));
    for (unit, second) in [
        (TimeUnit::Second, 1),
        (TimeUnit::Millisecond, 1_000),
        (TimeUnit::Microsecond, 1_000_000),
        (TimeUnit::Nanosecond, 1_000_000_000_i64),
    ] {
        let mut values = vec![i64::MIN, i64::MAX, -1, 0, 1, second - 1, second, -second];
        for day in &days {
            let of_day = [0, 1, 86_399, random.below(86_400) as i64][random.below(4) as usize];
            let fraction = [0, second / 2, second - 1, random.below(second as u64) as i64][random.below(4) as usize];
            let seconds = i64::from(*day) * 86_400 + of_day;
            values.push(seconds.saturating_mul(second).saturating_add(fraction));
        }
        let values: ArrayRef = Arc::new(Int64Array::from(values));
        for zone in [None, Some("UTC"), Some("+00:00"), Some("+05:30"), Some("Europe/Berlin")] {
            check_column(cast(&values, &DataType::Timestamp(unit, zone.map(Arc::from))).unwrap());
        }
    }
}
