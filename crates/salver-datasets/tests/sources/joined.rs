//! Files of one dataset whose columns differ in form, and values that a declared type has no place for.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, DictionaryArray, DurationMillisecondArray, Float64Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, LargeListArray, LargeStringArray, ListArray, RecordBatch, StringArray, StringViewArray,
    StructArray, TimestampMicrosecondArray, UInt64Array, UnionArray,
};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type, TimeUnit, UnionFields};
use salver_model::Code;
use salver_model::spec::Residency;

use crate::generated::{Made, arrow_file_of, column, load, one, parquet_of, show};

fn batch(column: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([("x", column, true)]).unwrap()
}

fn of(members: &[(&str, ArrayRef)]) -> ArrayRef {
    let pairs = members
        .iter()
        .map(|(name, column)| (Arc::new(Field::new(*name, column.data_type().clone(), true)), Arc::clone(column)));
    Arc::new(StructArray::from(pairs.collect::<Vec<_>>()))
}

#[test]
fn forms_of_one_type_are_joined() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let whole = |n: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![n])) };
    let list = |n: i64| -> ArrayRef { Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(n)])])) };
    let large = LargeListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(2)])]);
    let decimal = Decimal128Array::from(vec![150]).with_precision_and_scale(10, 2).unwrap();
    let others: [(ArrayRef, ArrayRef, &str); 8] = [
        (list(1), Arc::new(large), "x:List(Int64)\n[1]\n[2]"),
        (whole(-1), Arc::new(decimal), "x:Decimal128(22, 2)\n-1.00\n1.50"),
        (Arc::clone(&text), Arc::new(LargeStringArray::from(vec!["b"])), "x:Utf8\na\nb"),
        (Arc::clone(&text), Arc::new(StringViewArray::from(vec!["b"])), "x:Utf8\na\nb"),
        (text, Arc::new(["b"].into_iter().collect::<DictionaryArray<Int32Type>>()), "x:Utf8\na\nb"),
        (whole(-1), Arc::new(UInt64Array::from(vec![u64::MAX])), "x:Decimal128(20, 0)\n-1\n18446744073709551615"),
        (
            of(&[("a", whole(1))]),
            of(&[("a", whole(2)), ("b", Arc::new(StringArray::from(vec!["t"])))]),
            "x:Struct(\"a\": Int64, \"b\": Utf8)\n{a: 1, b: }\n{a: 2, b: t}",
        ),
        (
            of(&[("b", Arc::new(StringArray::from(vec!["t"]))), ("a", whole(2))]),
            of(&[("a", whole(1))]),
            "x:Struct(\"b\": Utf8, \"a\": Int64)\n{b: t, a: 2}\n{b: , a: 1}",
        ),
    ];
    for (one, other, expected) in others {
        let made = Made::new();
        made.file("1.parquet", parquet_of(&batch(one)));
        made.file("2.parquet", parquet_of(&batch(other)));
        let mut spec = made.spec(&["*.parquet"]);
        spec.residency = Residency::Always;
        let loaded = load(&spec).unwrap_or_else(|error| panic!("{expected}: {error:?}"));
        assert_eq!(show(&loaded), expected);
        spec.residency = Residency::Never;
        assert!(load(&spec).is_ok(), "{expected}");
        // A third file goes with what the two became.
        made.file("3.parquet", parquet_of(&batch(Arc::new(Int32Array::from(vec![7])))));
        spec.residency = Residency::Always;
        assert_eq!(load(&spec).is_ok(), expected.starts_with("x:Decimal"), "{expected}");
    }
}

#[test]
fn a_scanned_file_may_stand_behind_another_directory() {
    let made = Made::new();
    made.file("in/rows.parquet", parquet_of(&batch(Arc::new(Int64Array::from(vec![1])))));
    made.file("beside/other.txt", "");
    let mut spec = made.spec(&["beside/../in/rows.parquet"]);
    spec.residency = Residency::Never;
    assert!(load(&spec).is_ok());
}

#[test]
fn a_declared_type_cuts_nothing() {
    let decimals = Decimal128Array::from(vec![1_005, 2_000]).with_precision_and_scale(10, 3).unwrap();
    let moments = TimestampMicrosecondArray::from(vec![82_800_000_000, 86_400_000_000]);
    let fine = Decimal128Array::from(vec![1_005]).with_precision_and_scale(10, 3).unwrap();
    let texts = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![Some(text), None])) };
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([
        Some(vec![Some(1)]),
        Some(vec![]),
        Some(vec![Some(2), Some(300)]),
    ]));
    let seconds = DataType::Timestamp(TimeUnit::Second, None);
    let spans: ArrayRef = Arc::new(DurationMillisecondArray::from(vec![1_500]));
    let refused: [(ArrayRef, DataType, &str); 19] = [
        (Arc::new(Float64Array::from(vec![1.5, 1.005])), DataType::Decimal128(10, 2), "`1.005` is not"),
        (Arc::new(Float64Array::from(vec![1.5])), seconds.clone(), "`1.5` is not"),
        (Arc::new(Int64Array::from(vec![7])), DataType::Binary, "`7` is not"),
        (spans, DataType::Duration(TimeUnit::Second), "row 1"),
        (
            Arc::new(TimestampMicrosecondArray::from(vec![86_401_000_000])),
            DataType::Time64(TimeUnit::Microsecond),
            "row 1",
        ),
        (Arc::new(Int64Array::from(vec![1, 70_000])), DataType::Float16, "row 2"),
        (Arc::new(Int64Array::from(vec![200, 255])), DataType::Decimal128(5, -2), "`255` is not"),
        (Arc::new(UInt64Array::from(vec![u64::MAX])), DataType::new_list(DataType::Int64, true), "row 1"),
        (Arc::new(TimestampMicrosecondArray::from(vec![1_000_000, 1_500_000])), seconds.clone(), "row 2"),
        (Arc::new(fine), DataType::Decimal128(9, 2), "`1.005` is not"),
        (Arc::new(Float64Array::from(vec![1.0, 1e39])), DataType::Float32, "row 2"),
        (texts("1e39"), DataType::Float32, "`1e39` is not"),
        (texts("2026-01-31T10:00:00.5"), seconds, "is not"),
        (list, DataType::new_list(DataType::Int8, true), "row 3"),
        (of(&[("n", texts("x"))]), DataType::Struct(vec![Field::new("n", DataType::Int64, true)].into()), "row 1"),
        (Arc::new(Float64Array::from(vec![2.0, -2.9])), DataType::Int64, "`-2.9` is not"),
        (Arc::new(decimals), DataType::Int64, "`1.005` is not"),
        (Arc::new(Int64Array::from(vec![1, 300])), DataType::Boolean, "`300` is not"),
        (Arc::new(moments), DataType::Date32, "`1970-01-01T23:00:00` is not"),
    ];
    for (rows, declared, told) in refused {
        let (_made, mut spec) = one("a.parquet", parquet_of(&batch(rows)));
        spec.schema = vec![column("x", declared)];
        spec.residency = Residency::Always;
        let wrong = load(&spec).unwrap_err();
        assert!(wrong.message.contains(told), "{wrong:?}");
    }
    let nested = of(&[("a", Arc::new(Float64Array::from(vec![None, Some(1.5)]))), ("b", texts("\"x\""))]);
    let lists: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None, Some(vec![])]));
    for (rows, declared, shown) in [
        (Arc::new(Float64Array::from(vec![2.0, -3.0])) as ArrayRef, DataType::Int64, "x:Int64\n2\n-3"),
        (nested, DataType::Utf8, "x:Utf8\n{\"a\":null,\"b\":\"\\\"x\\\"\"}\n{\"a\":1.5,\"b\":null}"),
        (lists, DataType::Utf8, "x:Utf8\n[1,null]\n~\n[]"),
        (Arc::new(Int64Array::from(vec![1, 0])), DataType::Boolean, "x:Boolean\ntrue\nfalse"),
        (
            Arc::new(Float64Array::from(vec![1_577_836_800.5, 1.0])),
            DataType::Decimal128(38, 10),
            "x:Decimal128(38, 10)\n1577836800.5000000000\n1.0000000000",
        ),
    ] {
        let (_made, mut spec) = one("a.parquet", parquet_of(&batch(rows)));
        spec.schema = vec![column("x", declared)];
        spec.residency = Residency::Always;
        assert_eq!(show(&load(&spec).unwrap()), shown);
    }
}

/// A column of text that has nothing in it takes the type that it has elsewhere.
#[test]
fn empty_columns_of_text_join_anything() {
    for other in ["{\"v\":{\"a\":1}}", "{\"v\":[1]}", "{\"v\":true}"] {
        let made = Made::new();
        made.file("a.csv", "v\n\"\"\n");
        made.file("b.ndjson", other);
        let shown = show(&load(&made.spec(&["a.csv", "b.ndjson"])).unwrap());
        assert_eq!(shown.lines().nth(1), Some("~"), "{shown}");
    }
}

/// What Parquet has no type for can't be kept on disk, and is told by its name.
#[test]
fn what_parquet_lacks_is_kept_in_memory() {
    let fields = UnionFields::try_new([0], [Field::new("n", DataType::Int64, true)]).unwrap();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let union: ArrayRef =
        Arc::new(UnionArray::try_new(fields, ScalarBuffer::from(vec![0_i8]), None, vec![numbers]).unwrap());
    let spans: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from(vec![None]));
    for rows in [Arc::clone(&union), spans, of(&[("u", union)])] {
        let (_made, mut spec) = one("a.arrow", arrow_file_of(&batch(rows)));
        assert!(load(&spec).is_ok());
        spec.residency = Residency::Never;
        let wrong = load(&spec).unwrap_err();
        assert!(wrong.code == Code::Source && wrong.message.contains("column `x` is"), "{wrong:?}");
    }
}
