//! Parquet, Arrow and Avro.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray,
};
use arrow::datatypes::{DataType, Int32Type};
use salver_model::spec::Residency;

use crate::generated::{
    Made, SAMPLE, arrow_file_of, arrow_stream_of, avro_of, column, error, gzip, load, one, parquet_of, sample, show,
    shown,
};

#[test]
fn every_format_gives_the_same_rows() {
    let batch = sample();
    for (name, bytes) in [
        ("a.parquet", parquet_of(&batch)),
        ("a.arrow", arrow_file_of(&batch)),
        ("a.feather", arrow_file_of(&batch)),
        ("a.arrows", arrow_stream_of(&batch)),
        ("a.avro", avro_of(&batch)),
    ] {
        assert_eq!(shown(name, &bytes), SAMPLE, "{name}");
        assert_eq!(shown(&format!("{name}.gz"), gzip(&bytes)), SAMPLE, "{name}.gz");
    }
    // A stream under the name of a file, and the other way round.
    assert_eq!(shown("a.arrow", arrow_stream_of(&batch)), SAMPLE);
    assert_eq!(shown("a.arrows", arrow_file_of(&batch)), SAMPLE);
}

#[test]
fn few_types_are_held() {
    let dictionary: DictionaryArray<Int32Type> = ["r", "g", "r"].into_iter().collect();
    let batch = RecordBatch::try_from_iter([
        ("d", Arc::new(dictionary) as ArrayRef),
        ("v", Arc::new(StringViewArray::from(vec![Some("a long text that is not inlined"), None, Some("s")]))),
        ("l", Arc::new(LargeStringArray::from(vec!["x", "y", "z"]))),
    ])
    .unwrap();
    let expected = "d:Utf8|v:Utf8|l:Utf8\nr|a long text that is not inlined|x\ng|~|y\nr|s|z";
    assert_eq!(shown("a.parquet", parquet_of(&batch)), expected);
    assert_eq!(shown("a.arrow", arrow_file_of(&batch)), expected);
}

/// pyarrow writes such dictionaries; the reader makes none of them.
#[test]
fn dictionaries_of_decimals_and_bytes_are_their_values() {
    use arrow::array::{Decimal128Array, FixedSizeBinaryArray};
    let keys = || Int32Array::from(vec![Some(1), None, Some(0)]);
    let decimals = Decimal128Array::from(vec![150, -25]).with_precision_and_scale(9, 2).unwrap();
    let bytes = FixedSizeBinaryArray::try_from_iter([[1_u8, 2], [3, 4]].into_iter()).unwrap();
    let batch = RecordBatch::try_from_iter([
        ("d", Arc::new(DictionaryArray::try_new(keys(), Arc::new(decimals)).unwrap()) as ArrayRef),
        ("b", Arc::new(DictionaryArray::try_new(keys(), Arc::new(bytes)).unwrap())),
    ])
    .unwrap();
    let shown = shown("a.parquet", parquet_of(&batch));
    assert!(shown.starts_with("d:Decimal128(9, 2)|b:"), "{shown}");
    assert!(shown.contains("-0.25|") && shown.contains("1.50|"), "{shown}");
}

/// The writer of Parquet, which scanned files are converted with, can't have them.
#[test]
fn bytes_of_no_size_are_bytes() {
    use arrow::array::{FixedSizeBinaryBuilder, StructArray};
    use arrow::datatypes::Field;
    let mut bytes = FixedSizeBinaryBuilder::new(0);
    bytes.append_value([]).unwrap();
    bytes.append_null();
    let bytes: ArrayRef = Arc::new(bytes.finish());
    let field = Arc::new(Field::new("b", DataType::FixedSizeBinary(0), true));
    let deep: ArrayRef = Arc::new(StructArray::from(vec![(field, ArrayRef::clone(&bytes))]));
    let batch = RecordBatch::try_from_iter_with_nullable([("b", bytes, true), ("s", deep, true)]).unwrap();
    let (_made, mut spec) = one("a.arrow", arrow_file_of(&batch));
    for residency in [Residency::Always, Residency::Never] {
        spec.residency = residency;
        let shown = show(&load(&spec).unwrap());
        assert!(shown.starts_with("b:Binary|s:Struct(") && shown.ends_with("\n|{b: }\n~|{b: }"), "{shown}");
    }
}

#[test]
fn uuids_of_avro_are_text() {
    use arrow::array::FixedSizeBinaryArray;
    use arrow::datatypes::{Field, Schema};
    let id = 0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8_u128.to_be_bytes();
    let ids = FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some(id), None].into_iter(), 16).unwrap();
    let said = [("logicalType".to_owned(), "uuid".to_owned())].into();
    let field = Field::new("id", DataType::FixedSizeBinary(16), true).with_metadata(said);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(ids)]).unwrap();
    assert_eq!(shown("a.avro", avro_of(&batch)), "id:Utf8\n67e55044-10b1-426f-9247-bb680e5fe0c8\n~");
}

#[test]
fn several_files_are_joined_by_name() {
    let made = Made::new();
    let batch = |columns: Vec<(&str, ArrayRef)>| parquet_of(&RecordBatch::try_from_iter(columns).unwrap());
    made.file(
        "1.parquet",
        batch(vec![("id", Arc::new(Int32Array::from(vec![1]))), ("a", Arc::new(StringArray::from(vec!["x"])))]),
    );
    made.file(
        "2.parquet",
        batch(vec![("b", Arc::new(Int64Array::from(vec![5]))), ("id", Arc::new(Int64Array::from(vec![2])))]),
    );
    let loaded = load(&made.spec(&["."])).unwrap();
    assert_eq!(show(&loaded), "id:Int64|a:Utf8|b:Int64\n1|x|~\n2|~|5");
    made.file("3.parquet", batch(vec![("a", Arc::new(Int64Array::from(vec![5])))]));
    let wrong = load(&made.spec(&["*.parquet"])).unwrap_err();
    assert!(
        wrong.message.contains("column `a` is Utf8 in") && wrong.message.contains("1.parquet` and Int64 in"),
        "{wrong:?}"
    );
    assert!(wrong.message.contains("3.parquet"));
    let mut spec = made.spec(&["*.parquet"]);
    spec.schema = vec![column("a", DataType::Utf8)];
    assert_eq!(show(&load(&spec).unwrap()), "id:Int64|a:Utf8|b:Int64\n1|x|~\n2|~|5\n~|5|~");
}

#[test]
fn declared_types_are_cast() {
    let (_made, mut spec) = one("a.parquet", parquet_of(&sample()));
    spec.schema = vec![column("id", DataType::Utf8), column("x", DataType::Float32)];
    assert_eq!(show(&load(&spec).unwrap()), "id:Utf8|name:Utf8|x:Float32\n1|ann|0.5\n2|~|1.5\n3|cäsar|-2.0");
    spec.schema = vec![column("name", DataType::Int64)];
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("a.parquet` row 1: column `name`: `ann` is not Int64"), "{wrong:?}");
    spec.schema = vec![column("name", DataType::Utf8)];
    spec.schema[0].nullable = false;
    assert!(load(&spec).unwrap_err().message.contains("row 2: column `name` is null"));
}

#[test]
fn wrong_formats_say_so() {
    for (name, bytes) in [
        ("a.parquet", &b"id,name\n1,x\n"[..]),
        ("a.arrow", b"id,name\n1,x\n2,yyyyyyyyyyyyyyyyyyyyyyyy\n"),
        ("a.arrows", b"id,name\n1,x\n"),
        ("a.avro", b"id,name\n1,x\n"),
        ("a.xlsx", b"id,name\n1,x\n"),
        ("a.parquet", b""),
        ("a.arrow", b"FEA1xxxxxxxxxxxxxxxxxxxxxxx"),
    ] {
        let wrong = error(name, bytes);
        assert!(wrong.message.contains(name) && wrong.hint.is_some(), "{wrong:?}");
    }
}

#[test]
fn no_rows() {
    let empty = sample().slice(0, 0);
    let columns = SAMPLE.split('\n').next().unwrap();
    for (name, bytes) in
        [("a.parquet", parquet_of(&empty)), ("a.arrow", arrow_file_of(&empty)), ("a.arrows", arrow_stream_of(&empty))]
    {
        assert_eq!(shown(name, bytes), columns, "{name}");
    }
    assert!(sample().column(1).is_null(1));
}
