//! Every type of Arrow in JSON and CSV, as `docs/formats.md` has it.

use std::sync::Arc;

use arrow::array::types::*;
use arrow::array::*;
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Fields, TimeUnit, UnionFields, i256};
use salver_formats::json::ColumnWriter;

use super::sample::{column, csv, json};

/// Checks a column in JSON and CSV, whole, sliced at an offset, and value by value.
fn check(array: impl Array + 'static, in_json: &[&str], in_csv: &[&str]) {
    check_array(Arc::new(array), in_json, in_csv);
}

fn check_array(array: ArrayRef, in_json: &[&str], in_csv: &[&str]) {
    let kind = array.data_type().clone();
    assert_eq!(array.len(), in_json.len(), "{kind}");
    for skipped in 0..array.len() {
        let part = array.slice(skipped, array.len() - skipped);
        let rows: Vec<_> = in_json[skipped..].iter().map(|text| format!("{{\"v\":{text}}}")).collect();
        assert_eq!(json(&column(Arc::clone(&part))), format!("[{}]", rows.join(",")), "{kind} from {skipped}");
        let rows: Vec<_> = in_csv[skipped..].iter().map(|text| format!("{text}\n")).collect();
        assert_eq!(csv(&column(Arc::clone(&part))), format!("v\n{}", rows.concat()), "{kind} from {skipped}");
        let writer = ColumnWriter::new(&part).unwrap();
        for (row, text) in in_json[skipped..].iter().enumerate() {
            let mut out = Vec::new();
            writer.write(row, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), *text, "{kind} from {skipped}, row {row}");
            assert_eq!(writer.is_null(row), *text == "null" && in_csv[skipped + row].is_empty(), "{kind}");
        }
    }
    serde_json::from_str::<serde_json::Value>(&json(&column(array))).unwrap();
}

/// For types that both formats write alike.
fn check_bare(array: impl Array + 'static, texts: &[&str]) {
    let in_csv: Vec<_> = texts.iter().map(|text| if *text == "null" { "" } else { text }).collect();
    check(array, texts, &in_csv);
}

/// For types that are strings in JSON.
fn check_quoted(array: impl Array + 'static, texts: &[&str]) {
    let in_json: Vec<_> =
        texts.iter().map(|text| if text.is_empty() { "null".to_owned() } else { format!("\"{text}\"") }).collect();
    let in_json: Vec<_> = in_json.iter().map(String::as_str).collect();
    check(array, &in_json, texts);
}

#[test]
fn nulls_and_booleans() {
    check_bare(NullArray::new(2), &["null", "null"]);
    check_bare(BooleanArray::from(vec![Some(true), None, Some(false)]), &["true", "null", "false"]);
}

#[test]
fn integers() {
    check_bare(Int8Array::from(vec![Some(i8::MIN), None, Some(i8::MAX)]), &["-128", "null", "127"]);
    check_bare(Int16Array::from(vec![Some(i16::MIN), None, Some(0)]), &["-32768", "null", "0"]);
    check_bare(Int32Array::from(vec![Some(i32::MIN), None, Some(1_000)]), &["-2147483648", "null", "1000"]);
    check_bare(
        Int64Array::from(vec![Some(i64::MIN), None, Some(9_007_199_254_740_993), Some(i64::MAX)]),
        &["-9223372036854775808", "null", "9007199254740993", "9223372036854775807"],
    );
    check_bare(UInt8Array::from(vec![Some(255), None]), &["255", "null"]);
    check_bare(UInt16Array::from(vec![Some(65_535), None]), &["65535", "null"]);
    check_bare(UInt32Array::from(vec![Some(u32::MAX), None]), &["4294967295", "null"]);
    check_bare(UInt64Array::from(vec![Some(u64::MAX), None]), &["18446744073709551615", "null"]);
}

#[test]
fn floats() {
    let ordinary =
        [57.653484, -3.335724, 1.0, 0.0, -0.0, 0.1, 1e15, 1e16, 1e300, 5e-324, 0.00001, 1e-7, 123_456_789.125];
    check_bare(
        Float64Array::from_iter_values(ordinary),
        &[
            "57.653484",
            "-3.335724",
            "1.0",
            "0.0",
            "-0.0",
            "0.1",
            "1000000000000000.0",
            "1e+16",
            "1e+300",
            "5e-324",
            "0.00001",
            "1e-7",
            "123456789.125",
        ],
    );
    check(
        Float64Array::from(vec![Some(f64::NAN), None, Some(f64::INFINITY), Some(f64::NEG_INFINITY)]),
        &["null", "null", "null", "null"],
        &["NaN", "", "inf", "-inf"],
    );
    check(
        Float32Array::from(vec![Some(0.1), None, Some(f32::NAN), Some(16_777_216.0)]),
        &["0.1", "null", "null", "16777216.0"],
        &["0.1", "", "NaN", "16777216.0"],
    );
    let half =
        arrow::compute::cast(&Float32Array::from(vec![Some(1.5), None, Some(f32::INFINITY)]), &DataType::Float16);
    check_array(half.unwrap(), &["1.5", "null", "null"], &["1.5", "", "inf"]);
}

#[test]
fn decimals() {
    let values = vec![Some(150), None, Some(-5), Some(0), Some(-123_456)];
    let texts = ["1.50", "null", "-0.05", "0.00", "-1234.56"];
    check_bare(
        Decimal32Array::from(values.iter().map(|v| v.map(|v: i64| v as i32)).collect::<Vec<_>>())
            .with_precision_and_scale(9, 2)
            .unwrap(),
        &texts,
    );
    check_bare(Decimal64Array::from(values.clone()).with_precision_and_scale(18, 2).unwrap(), &texts);
    let wide: Vec<_> = values.iter().map(|v| v.map(i128::from)).collect();
    check_bare(Decimal128Array::from(wide.clone()).with_precision_and_scale(38, 2).unwrap(), &texts);
    let wider: Vec<_> = wide.iter().map(|v| v.map(i256::from_i128)).collect();
    check_bare(Decimal256Array::from(wider).with_precision_and_scale(76, 2).unwrap(), &texts);
    check_bare(
        Decimal128Array::from(vec![Some(12), Some(0), Some(-7)]).with_precision_and_scale(10, -3).unwrap(),
        &["12000", "0", "-7000"],
    );
    check_bare(Decimal128Array::from(vec![12, -7]).with_precision_and_scale(10, 0).unwrap(), &["12", "-7"]);
    let most = 10_i128.pow(38) - 1;
    check_bare(
        Decimal128Array::from(vec![most, -most]).with_precision_and_scale(38, 38).unwrap(),
        &["0.99999999999999999999999999999999999999", "-0.99999999999999999999999999999999999999"],
    );
    let huge = i256::from_string("-1234567890123456789012345678901234567890123").unwrap();
    check_bare(
        Decimal256Array::from(vec![huge]).with_precision_and_scale(76, 3).unwrap(),
        &["-1234567890123456789012345678901234567890.123"],
    );
    // Without a declared scale, the zeros that fill it say nothing.
    let free: Vec<i256> = ["1500000000000000000000000000000", "-2000000000000000000000000000000", "0", "1"]
        .iter()
        .map(|text| i256::from_string(text).unwrap())
        .collect();
    check_bare(
        Decimal256Array::from(free).with_precision_and_scale(76, 30).unwrap(),
        &["1.5", "-2", "0", "0.000000000000000000000000000001"],
    );
}

#[test]
fn text() {
    let texts = vec![Some("plain"), None, Some(""), Some("a,\"b\"\nc"), Some("größe"), Some("tab\there")];
    let in_json = ["\"plain\"", "null", "\"\"", "\"a,\\\"b\\\"\\nc\"", "\"größe\"", "\"tab\\there\""];
    let in_csv = ["plain", "", "\"\"", "\"a,\"\"b\"\"\nc\"", "größe", "tab\there"];
    check(StringArray::from(texts.clone()), &in_json, &in_csv);
    check(LargeStringArray::from(texts.clone()), &in_json, &in_csv);
    check(StringViewArray::from(texts), &in_json, &in_csv);
}

#[test]
fn binary() {
    let values: Vec<Option<&[u8]>> = vec![Some(&[0, 255]), None, Some(&[0xab, 0x01, 0x10])];
    let texts = ["00ff", "", "ab0110"];
    check_quoted(BinaryArray::from(values.clone()), &texts);
    check_quoted(LargeBinaryArray::from(values.clone()), &texts);
    check_quoted(BinaryViewArray::from_iter(values), &texts);
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some([1, 2]), None].into_iter(), 2).unwrap();
    check_quoted(fixed, &["0102", ""]);
    check(BinaryArray::from(vec![Some(b"".as_slice()), None]), &["\"\"", "null"], &["\"\"", ""]);
}

#[test]
fn dates_and_times() {
    check_quoted(
        Date32Array::from(vec![Some(1), None, Some(-1), Some(-719_528), Some(-719_529), Some(2_932_897), Some(18_321)]),
        &["1970-01-02", "", "1969-12-31", "0000-01-01", "-0001-12-31", "+10000-01-01", "2020-02-29"],
    );
    check_quoted(
        Date64Array::from(vec![Some(86_400_000), None, Some(-1)]),
        &["1970-01-02T00:00:00", "", "1969-12-31T23:59:59.999"],
    );
    check_quoted(
        Time32SecondArray::from(vec![Some(1), None, Some(86_399), Some(90_000), Some(-1)]),
        &["00:00:01", "", "23:59:59", "25:00:00", "-00:00:01"],
    );
    check_quoted(Time32MillisecondArray::from(vec![Some(1_500), None]), &["00:00:01.500", ""]);
    check_quoted(
        Time64MicrosecondArray::from(vec![Some(1_000_001), Some(2_000_000)]),
        &["00:00:01.000001", "00:00:02"],
    );
    check_quoted(Time64NanosecondArray::from(vec![Some(1), None]), &["00:00:00.000000001", ""]);
}

#[test]
fn timestamps() {
    check_quoted(
        TimestampSecondArray::from(vec![Some(1_618_200_268), None, Some(-1)]),
        &["2021-04-12T04:04:28", "", "1969-12-31T23:59:59"],
    );
    check_quoted(
        TimestampMillisecondArray::from(vec![Some(-1), Some(1_000)]),
        &["1969-12-31T23:59:59.999", "1970-01-01T00:00:01"],
    );
    check_quoted(
        TimestampMicrosecondArray::from(vec![1, 1_000]),
        &["1970-01-01T00:00:00.000001", "1970-01-01T00:00:00.001"],
    );
    check_quoted(
        TimestampNanosecondArray::from(vec![i64::MIN, i64::MAX]),
        &["1677-09-21T00:12:43.145224192", "2262-04-11T23:47:16.854775807"],
    );
    check_quoted(
        TimestampSecondArray::from(vec![i64::MAX, i64::MIN]),
        &["+292277026596-12-04T15:30:07", "-292277022657-01-27T08:29:52"],
    );
    let nanos = TimestampNanosecondArray::from(vec![Some(1_795_274_650_226_975_609), None]);
    check_quoted(nanos.clone().with_timezone("UTC"), &["2026-11-21T15:24:10.226975609Z", ""]);
    check_quoted(nanos.clone().with_timezone("+05:30"), &["2026-11-21T20:54:10.226975609+05:30", ""]);
    check_quoted(nanos.clone().with_timezone("-03:30"), &["2026-11-21T11:54:10.226975609-03:30", ""]);
    check_quoted(nanos.with_timezone("+00:00"), &["2026-11-21T15:24:10.226975609Z", ""]);
    let summer_and_winter = TimestampSecondArray::from(vec![1_626_300_000, 1_610_700_000]);
    check_quoted(
        summer_and_winter.clone().with_timezone("Europe/Berlin"),
        &["2021-07-15T00:00:00+02:00", "2021-01-15T09:40:00+01:00"],
    );
    check_quoted(
        summer_and_winter.with_timezone("Europe/London"),
        &["2021-07-14T23:00:00+01:00", "2021-01-15T08:40:00Z"],
    );
}

#[test]
fn an_unknown_zone_is_an_error_with_its_name() {
    let array = TimestampSecondArray::from(vec![1]).with_timezone("Mars/Olympus");
    let error = ColumnWriter::new(&array).unwrap_err();
    assert_eq!(error.code, salver_model::Code::Execution);
    assert!(error.message.contains("Mars/Olympus"), "{error}");
}

#[test]
fn durations_and_intervals() {
    check_quoted(DurationSecondArray::from(vec![Some(90), None, Some(0)]), &["PT90S", "", "P0D"]);
    check_quoted(DurationMillisecondArray::from(vec![-500, 1_500]), &["-PT0.5S", "PT1.5S"]);
    check_quoted(DurationMicrosecondArray::from(vec![10, i64::MIN]), &["PT0.00001S", "-PT9223372036854.775808S"]);
    check_quoted(DurationNanosecondArray::from(vec![1, 1_000_000_000]), &["PT0.000000001S", "PT1S"]);
    check_quoted(
        IntervalYearMonthArray::from(vec![Some(14), None, Some(-1)]),
        &["1 years 2 mons", "", "-1 years 11 mons"],
    );
    check_quoted(
        IntervalDayTimeArray::from(vec![IntervalDayTime::new(1, 0), IntervalDayTime::new(2, -3_661_500)]),
        &["1 days", "2 days -1 hours -1 mins -1.500 secs"],
    );
    let intervals = vec![
        IntervalMonthDayNano::new(0, 1, 0),
        IntervalMonthDayNano::new(1, -2, 3_600_000_000_001),
        IntervalMonthDayNano::new(0, 0, 0),
    ];
    check_quoted(
        IntervalMonthDayNanoArray::from(intervals),
        &["1 days", "1 mons -2 days 1 hours 0.000000001 secs", "0 secs"],
    );
}

fn lists() -> ListArray {
    let mut lists = ListBuilder::new(Float64Builder::new());
    lists.append_value([Some(1.5), None, Some(f64::NAN)]);
    lists.append_null();
    lists.append_value([]);
    lists.append_value([Some(2.0)]);
    lists.finish()
}

#[test]
fn lists_of_every_kind() {
    let in_json = ["[1.5,null,null]", "null", "[]", "[2.0]"];
    let in_csv = ["\"[1.5,null,null]\"", "", "[]", "[2.0]"];
    check(lists(), &in_json, &in_csv);
    let to = |make: fn(Arc<Field>) -> DataType| {
        let item = Arc::new(Field::new_list_field(DataType::Float64, true));
        arrow::compute::cast(&lists(), &make(item)).unwrap()
    };
    check_array(to(DataType::LargeList), &in_json, &in_csv);
    check_array(to(DataType::ListView), &in_json, &in_csv);
    check_array(to(DataType::LargeListView), &in_json, &in_csv);
    let pairs = vec![Some(vec![Some(1), None]), None, Some(vec![Some(3), Some(4)])];
    check(
        FixedSizeListArray::from_iter_primitive::<Int32Type, _, _>(pairs, 2),
        &["[1,null]", "null", "[3,4]"],
        &["\"[1,null]\"", "", "\"[3,4]\""],
    );
}

#[test]
fn structs_and_maps() {
    let fields = Fields::from(vec![
        Field::new("a \"b\"", DataType::Int32, true),
        Field::new("list", lists().data_type().clone(), true),
    ]);
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(vec![Some(1), Some(2), None, None])), Arc::new(lists())];
    let nulls = NullBuffer::from(vec![true, true, true, false]);
    check(
        StructArray::new(fields, columns, Some(nulls)),
        &[
            "{\"a \\\"b\\\"\":1,\"list\":[1.5,null,null]}",
            "{\"a \\\"b\\\"\":2,\"list\":null}",
            "{\"a \\\"b\\\"\":null,\"list\":[]}",
            "null",
        ],
        &[
            "\"{\"\"a \\\"\"b\\\"\"\"\":1,\"\"list\"\":[1.5,null,null]}\"",
            "\"{\"\"a \\\"\"b\\\"\"\"\":2,\"\"list\"\":null}\"",
            "\"{\"\"a \\\"\"b\\\"\"\"\":null,\"\"list\"\":[]}\"",
            "",
        ],
    );
    check(StructArray::new_empty_fields(2, None), &["{}", "{}"], &["{}", "{}"]);

    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("x\"");
    maps.values().append_value(1);
    maps.keys().append_value("y");
    maps.values().append_null();
    maps.append(true).unwrap();
    maps.append(false).unwrap();
    maps.append(true).unwrap();
    let in_csv = ["\"{\"\"x\\\"\"\"\":1,\"\"y\"\":null}\"", "", "{}"];
    check(maps.finish(), &["{\"x\\\"\":1,\"y\":null}", "null", "{}"], &in_csv);

    let mut by_number = MapBuilder::new(None, Int32Builder::new(), BooleanBuilder::new());
    by_number.keys().append_value(7);
    by_number.values().append_value(true);
    by_number.append(true).unwrap();
    check(by_number.finish(), &["{\"7\":true}"], &["\"{\"\"7\"\":true}\""]);
}

#[test]
fn dictionaries_with_every_key() {
    let plain = StringArray::from(vec![Some("a,b"), None, Some(""), Some("a,b")]);
    for keys in [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
    ] {
        let dictionary = DataType::Dictionary(Box::new(keys), Box::new(DataType::Utf8));
        let array = arrow::compute::cast(&plain, &dictionary).unwrap();
        check_array(array, &["\"a,b\"", "null", "\"\"", "\"a,b\""], &["\"a,b\"", "", "\"\"", "\"a,b\""]);
    }
}

#[test]
fn dictionaries_of_anything() {
    // Null by its value and not by its key, and more values than rows.
    let values = Int64Array::from(vec![Some(7), None, Some(8), Some(9), Some(10)]);
    let keys = Int32Array::from(vec![Some(1), Some(0), None]);
    check_bare(DictionaryArray::new(keys, Arc::new(values.clone())), &["null", "7", "null"]);
    // A dictionary of dates is quoted in JSON, and one of lists is JSON in CSV.
    let dates = Date32Array::from(vec![1]);
    check_quoted(DictionaryArray::new(Int8Array::from(vec![0, 0]), Arc::new(dates)), &["1970-01-02", "1970-01-02"]);
    let of_lists = DictionaryArray::new(Int8Array::from(vec![Some(0), Some(1), Some(2)]), Arc::new(lists()));
    check(of_lists, &["[1.5,null,null]", "null", "[]"], &["\"[1.5,null,null]\"", "", "[]"]);
}

#[test]
fn runs() {
    let values = StringArray::from(vec![Some("x"), None, Some("z")]);
    let array = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![2, 3, 5]), &values).unwrap();
    check(array, &["\"x\"", "\"x\"", "null", "\"z\"", "\"z\""], &["x", "x", "", "z", "z"]);
    let array = RunArray::<Int16Type>::try_new(&Int16Array::from(vec![1, 2]), &Int8Array::from(vec![5, 6])).unwrap();
    check_bare(array, &["5", "6"]);
    let array = RunArray::<Int64Type>::try_new(&Int64Array::from(vec![2]), &Int8Array::from(vec![5])).unwrap();
    check_bare(array, &["5", "5"]);
}

#[test]
fn unions() {
    let fields = UnionFields::try_new(
        [3, 7],
        [Field::new("number", DataType::Int32, true), Field::new("word", DataType::Utf8, true)],
    )
    .unwrap();
    let in_json = ["1", "\"b,\"", "null", "4"];
    let in_csv = ["1", "\"b,\"", "", "4"];
    let ids = ScalarBuffer::from(vec![3_i8, 7, 3, 3]);
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(0), None, Some(4)]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["a", "b,", "c", "d"]));
    check(UnionArray::try_new(fields.clone(), ids.clone(), None, vec![numbers, words]).unwrap(), &in_json, &in_csv);
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(4)]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["b,"]));
    let offsets = ScalarBuffer::from(vec![0, 0, 1, 2]);
    check(UnionArray::try_new(fields, ids, Some(offsets), vec![numbers, words]).unwrap(), &in_json, &in_csv);
}

#[test]
fn deep_nesting_keeps_every_rule() {
    let inner = StructArray::new(
        Fields::from(vec![Field::new("at", DataType::Timestamp(TimeUnit::Second, Some("UTC".into())), true)]),
        vec![Arc::new(TimestampSecondArray::from(vec![Some(0), None, Some(1)]).with_timezone("UTC"))],
        None,
    );
    let list = ListArray::new(
        Arc::new(Field::new_list_field(inner.data_type().clone(), true)),
        OffsetBuffer::new(vec![0, 2, 2, 3].into()),
        Arc::new(inner),
        None,
    );
    check(
        list,
        &["[{\"at\":\"1970-01-01T00:00:00Z\"},{\"at\":null}]", "[]", "[{\"at\":\"1970-01-01T00:00:01Z\"}]"],
        &[
            "\"[{\"\"at\"\":\"\"1970-01-01T00:00:00Z\"\"},{\"\"at\"\":null}]\"",
            "[]",
            "\"[{\"\"at\"\":\"\"1970-01-01T00:00:01Z\"\"}]\"",
        ],
    );
}
