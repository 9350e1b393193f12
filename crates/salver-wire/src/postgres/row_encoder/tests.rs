//! Rows as clients get them.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Int8Array, ListArray,
    NullArray, StringArray, StructArray, Time64NanosecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow::datatypes::{Field, Int32Type, Schema};
use arrow::record_batch::RecordBatch;

use super::EncodedBatch;
use crate::postgres::column::columns;
use crate::postgres::message::{Format, Formats};
use crate::postgres::outbox::Outbox;

/// Returns the values of a column as they are written; `None` for null.
fn written(array: ArrayRef, format: Format) -> Result<Vec<Option<Vec<u8>>>, salver_model::Error> {
    let schema = Arc::new(Schema::new(vec![Field::new("a", array.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![array]).unwrap();
    let encoded = EncodedBatch::new(&batch, &columns(&schema))?;
    let mut out = Outbox::default();
    let formats = Formats::of(format);
    assert_eq!(encoded.write(0, usize::MAX, &formats, &mut out)?, batch.num_rows());
    let (mut rest, mut found) = (&out.bytes[..], Vec::new());
    while let [b'D', tail @ ..] = rest {
        let (length, body) = tail.split_at(4);
        let length = i32::from_be_bytes(length.try_into().unwrap()) as usize - 4;
        let (row, next) = body.split_at(length);
        assert_eq!(row[..2], [0, 1]);
        let size = i32::from_be_bytes(row[2..6].try_into().unwrap());
        found.push((size >= 0).then(|| row[6..].to_vec()));
        assert_eq!(row.len(), 6 + usize::try_from(size).unwrap_or(0));
        rest = next;
    }
    Ok(found)
}

fn texts(array: impl arrow::array::Array + 'static) -> Vec<Option<String>> {
    let values = written(Arc::new(array), Format::Text).unwrap();
    values.into_iter().map(|value| value.map(|bytes| String::from_utf8(bytes).unwrap())).collect()
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn values_as_text() {
    assert_eq!(texts(NullArray::new(1)), [None]);
    assert_eq!(texts(BooleanArray::from(vec![Some(true), Some(false), None])), [some("t"), some("f"), None]);
    assert_eq!(texts(Int8Array::from(vec![-7])), [some("-7")]);
    assert_eq!(texts(UInt64Array::from(vec![u64::MAX])), [some("18446744073709551615")]);
    assert_eq!(texts(BinaryArray::from(vec![&b"\x00\xff"[..]])), [some("\\x00ff")]);
    assert_eq!(
        texts(Date32Array::from(vec![0, -719_528, i32::MAX])),
        [some("1970-01-01"), some("0001-01-01 BC"), some("5881580-07-11"),]
    );
    assert_eq!(texts(Time64NanosecondArray::from(vec![3_723_000_001_999])), [some("01:02:03.000001")]);
    assert_eq!(texts(TimestampNanosecondArray::from(vec![-1])), [some("1969-12-31 23:59:59.999999")]);
    let zoned = TimestampMicrosecondArray::from(vec![1_500_000]).with_timezone("Europe/Rome");
    assert_eq!(texts(zoned), [some("1970-01-01 00:00:01.5+00")]);
    let decimals = Decimal128Array::from(vec![-5]).with_precision_and_scale(10, 2).unwrap();
    assert_eq!(texts(decimals), [some("-0.05")]);
    let coded: DictionaryArray<Int32Type> = vec![Some("a"), None, Some("a")].into_iter().collect();
    assert_eq!(texts(coded), [some("a"), None, some("a")]);
}

#[test]
fn arrays_and_records() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), Some(vec![]), None]);
    assert_eq!(texts(list.clone()), [some("{1,NULL}"), some("{}"), None]);
    let binary = written(Arc::new(list), Format::Binary).unwrap();
    let words = |words: &[i32]| Some(words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>());
    assert_eq!(binary, [words(&[1, 1, 23, 2, 1, 4, 1, -1]), words(&[0, 0, 23]), None]);
    let mut built = arrow::array::ListBuilder::new(arrow::array::StringBuilder::new());
    for text in ["", "null", "a b", "a\"\\", "{", "x"] {
        built.values().append_value(text);
    }
    built.append(true);
    assert_eq!(texts(built.finish()), [some(r#"{"","null","a b","a\"\\","{",x}"#)]);
    let record = StructArray::from(vec![(
        Arc::new(Field::new("n", arrow::datatypes::DataType::Utf8, true)),
        Arc::new(StringArray::from(vec![Some("x"), None])) as ArrayRef,
    )]);
    assert_eq!(texts(record), [some(r#"{"n":"x"}"#), some(r#"{"n":null}"#)]);
}

#[test]
fn values_in_binary() {
    let binary =
        |array: ArrayRef| written(array, Format::Binary).map(|mut values| values.remove(0).unwrap_or_default());
    assert_eq!(binary(Arc::new(Int8Array::from(vec![-1]))).unwrap(), (-1_i16).to_be_bytes());
    assert_eq!(binary(Arc::new(Date32Array::from(vec![10_957]))).unwrap(), [0; 4]);
    assert_eq!(
        binary(Arc::new(TimestampMicrosecondArray::from(vec![946_684_800_000_001]))).unwrap(),
        1_i64.to_be_bytes()
    );
    assert!(binary(Arc::new(TimestampMillisecondArray::from(vec![i64::MAX]))).is_err());
    assert!(binary(Arc::new(TimestampMicrosecondArray::from(vec![i64::MIN]))).is_err());
    assert!(binary(Arc::new(Date32Array::from(vec![i32::MIN]))).is_err());
}

#[test]
fn a_full_outbox_ends_a_turn() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", arrow::datatypes::DataType::Utf8, true)]));
    let long = "x".repeat(10_000);
    let array = StringArray::from(vec![long.as_str(); 20]);
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(array)]).unwrap();
    let encoded = EncodedBatch::new(&batch, &columns(&schema)).unwrap();
    let (mut at, mut turns) = (0, 0);
    while at < 20 {
        let mut out = Outbox::default();
        at += encoded.write(at, 13, &Formats::default(), &mut out).unwrap();
        turns += 1;
    }
    assert_eq!(turns, 3, "seven rows fill it");
}
