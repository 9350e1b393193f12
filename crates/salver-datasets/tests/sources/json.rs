//! JSON documents and NDJSON.

use arrow::datatypes::{DataType, TimeUnit};
use arrow::util::display::array_value_to_string;
use salver_model::Code;

use crate::generated::{column, error, gzip, load, one, show, shown};

#[test]
fn arrays_objects_and_lines() {
    let expected = "b:Int64|a:Utf8\n1|x\n2|~";
    assert_eq!(shown("a.json", r#"[{"b":1,"a":"x"}, {"b":2}]"#), expected);
    assert_eq!(shown("a.ndjson", "{\"b\":1,\"a\":\"x\"}\n\n {\"b\":2} \r\n"), expected);
    assert_eq!(shown("a.jsonl", "{\"b\":1,\"a\":\"x\"}\n{\"b\":2}"), expected);
    // What many programs call JSON is NDJSON.
    assert_eq!(shown("a.json", "{\"b\":1,\"a\":\"x\"}\n{\"b\":2}\n"), expected);
    assert_eq!(shown("a.json.gz", gzip(b"[{\"b\":1,\"a\":\"x\"},{\"b\":2}]")), expected);
    assert_eq!(shown("a.json", "\u{feff}{\n \"b\": 1\n}\n"), "b:Int64\n1");
}

#[test]
fn types_widen() {
    let text = r#"[{"f":1,"m":1,"u":18446744073709551615,"n":null,"t":"2026-01-31","e":{}},
                   {"f":1.5,"m":"x","u":2,"n":null,"t":"2026-02-01","e":{}},
                   {"f":-2,"m":true,"u":3,"n":null,"t":"","e":{}}]"#;
    let expected = "f:Float64|m:Utf8|u:UInt64|n:Utf8|t:Utf8|e:Utf8\n\
        1.0|1|18446744073709551615|~|2026-01-31|{}\n1.5|x|2|~|2026-02-01|{}\n-2.0|true|3|~||{}";
    assert_eq!(shown("a.json", text), expected);
}

#[test]
fn integers_keep_their_digits_beside_each_other() {
    let text = "{\"w\":18446744073709551615,\"z\":-0,\"f\":-0,\"o\":-0.0}\n{\"w\":-1,\"z\":9007199254740993,\"f\":0.5,\"o\":7}\n";
    let expected = "w:Decimal128(20, 0)|z:Int64|f:Float64|o:Int64\n\
        18446744073709551615|0|-0.0|0\n-1|9007199254740993|0.5|7";
    assert_eq!(shown("a.ndjson", text), expected);
    assert_eq!(shown("a.ndjson", "{\"a\":-0}\n"), "a:Float64\n-0.0");
}

#[test]
fn nested_values() {
    let text = "{\"o\":{\"x\":1},\"l\":[1,2]}\n{\"o\":{\"y\":\"z\"},\"l\":[0.5,null]}\n{}\n";
    let expected =
        "o:Struct(\"x\": Int64, \"y\": Utf8)|l:List(Float64)\n{x: 1, y: }|[1.0, 2.0]\n{x: , y: z}|[0.5, ]\n~|~";
    assert_eq!(shown("a.ndjson", text), expected);
    let mixed = "{\"v\":1}\n{\"v\":{\"a\":[1]}}\n{\"v\":[\"x\"]}\n{\"v\":\"t\"}\n";
    assert_eq!(shown("a.ndjson", mixed), "v:Utf8\n1\n{\"a\":[1]}\n[\"x\"]\nt");
}

#[test]
fn pointers() {
    let text = r#"{"skip":{"rows":[0]},"da/ta":{"x":[9,{"rows":[{"a":1},{"a":2}],"more":[1,2]}]},"end":"]"}"#;
    let (_made, mut spec) = one("a.json", text);
    spec.json.pointer = Some("/da~1ta/x/1/rows".into());
    assert_eq!(show(&load(&spec).unwrap()), "a:Int64\n1\n2");
    spec.json.pointer = Some("/da~1ta/x/1/rows/1".into());
    assert_eq!(show(&load(&spec).unwrap()), "a:Int64\n2");
    for missing in ["/nothing", "/da~1ta/x/7", "da", "/end/x"] {
        spec.json.pointer = Some(missing.into());
        let wrong = load(&spec).unwrap_err();
        assert!(wrong.message.contains("has nothing at the pointer"), "{missing}: {wrong:?}");
    }
    spec.json.pointer = Some("/end".into());
    assert!(load(&spec).unwrap_err().message.contains("expected an array of rows"));
}

#[test]
fn array_encoded_rows() {
    let (_made, mut spec) = one("a.json", r#"{"rows":[[1,"x"],[2,null]]}"#);
    spec.json.pointer = Some("/rows".into());
    spec.json.array_encoded = true;
    assert!(load(&spec).unwrap_err().hint.unwrap().contains("schema"));
    spec.schema = vec![column("id", DataType::Int32), column("name", DataType::Utf8)];
    assert_eq!(show(&load(&spec).unwrap()), "id:Int32|name:Utf8\n1|x\n2|~");
    let (_made, other) = one("a.ndjson", "[1,\"x\"]\n[2]\n");
    spec.sources = other.sources;
    spec.json.pointer = None;
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("line 2"), "{wrong:?}");
}

#[test]
fn declared_types() {
    let (_made, mut spec) =
        one("a.ndjson", "{\"at\":\"2026-01-31T10:00:00Z\",\"n\":5,\"k\":1}\n{\"at\":null,\"n\":6}\n");
    spec.schema =
        vec![column("at", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))), column("n", DataType::Utf8)];
    assert_eq!(
        show(&load(&spec).unwrap()),
        "at:Timestamp(ms, \"UTC\")|n:Utf8|k:Int64\n2026-01-31T10:00:00Z|5|1\n~|6|~"
    );
    spec.schema = vec![column("at", DataType::Int64)];
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("a.ndjson` line 1: column `at`: `2026-01-31T10:00:00Z` is not Int64"), "{wrong:?}");
}

#[test]
fn decimals_are_not_rounded() {
    let (_made, mut spec) =
        one("a.ndjson", "{\"x\":1.20,\"o\":1}\n{\"x\":\"-3.5\"}\n{\"x\":2.5e1}\n\n{\"x\":12.345}\n");
    spec.schema = vec![column("x", DataType::Decimal128(5, 2))];
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("line 5: column `x`: `12.345` is not"), "{wrong:?}");
    spec.schema = vec![column("x", DataType::Decimal128(5, 3))];
    assert_eq!(show(&load(&spec).unwrap()), "x:Decimal128(5, 3)|o:Int64\n1.200|1\n-3.500|~\n25.000|~\n12.345|~");
}

#[test]
fn whole_numbers_are_not_cut() {
    for (rows, wrong_row) in [
        ("{\"a\":1}\n{\"a\":1.5}\n", Some("line 2: column `a`: `1.5` is not")),
        ("{\"a\":1}\n{\"a\":-1.9e0}\n", Some("line 2: column `a`: `-1.9e0` is not")),
        ("{\"a\":9223372036854775808}\n", Some("column `a`")),
        ("{\"a\":\"x\"}\n", Some("column `a`")),
        ("{\"a\":true}\n", Some("column `a`")),
        ("{\"a\":1.0}\n{\"a\":2e3}\n{\"a\":\"4\"}\n{\"a\":9007199254740993}\n", None),
    ] {
        let (_made, mut spec) = one("a.ndjson", rows);
        spec.schema = vec![column("a", DataType::Int64)];
        match wrong_row {
            Some(told) => {
                let wrong = load(&spec).unwrap_err();
                assert!(wrong.message.contains(told), "{rows}: {wrong:?}");
            }
            None => assert_eq!(show(&load(&spec).unwrap()), "a:Int64\n1\n2000\n4\n9007199254740993"),
        }
    }
    let (_made, mut spec) = one("a.ndjson", "{\"l\":[1,2]}\n{\"l\":null}\n{\"l\":[3,4.5]}\n");
    spec.schema = vec![column("l", DataType::new_list(DataType::Int64, true))];
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("line 3: column `l`"), "{wrong:?}");
}

#[test]
fn declared_values_are_whole_or_refused() {
    let moment = |unit| DataType::Timestamp(unit, None);
    for (value, declared, shown) in [
        ("\"2026-01-31\"", DataType::Date32, Some("2026-01-31")),
        ("\"2026-01-31T00:00:00\"", DataType::Date32, Some("2026-01-31")),
        ("\"2026-01-31T00:00:01\"", DataType::Date32, None),
        ("5.7", DataType::Date32, None),
        ("20484", DataType::Date32, None),
        ("\"2026-01-31T10:00:00.5\"", moment(TimeUnit::Millisecond), Some("2026-01-31T10:00:00.500")),
        ("\"2026-01-31T10:00:00.5\"", moment(TimeUnit::Second), None),
        ("\"9999-12-31T23:59:59.999999\"", moment(TimeUnit::Microsecond), Some("9999-12-31T23:59:59.999999")),
        ("1769853600000", moment(TimeUnit::Millisecond), Some("2026-01-31T10:00:00")),
        ("1769853600.5", moment(TimeUnit::Second), None),
        ("\"10:20:30.25\"", DataType::Time32(TimeUnit::Millisecond), Some("10:20:30.250")),
        ("\"10:20:30.25\"", DataType::Time32(TimeUnit::Second), None),
        ("1e38", DataType::Float32, Some("1e38")),
        ("1e39", DataType::Float32, None),
        ("\"inf\"", DataType::Float32, Some("inf")),
        ("\"1e400\"", DataType::Float64, None),
        ("\"inf\"", DataType::Float64, Some("inf")),
        ("0.1", DataType::Float64, Some("0.1")),
        ("1", DataType::Float64, Some("1.0")),
        ("5.7", DataType::Duration(TimeUnit::Second), None),
        ("70000", DataType::Time64(TimeUnit::Microsecond), None),
        ("\"127f\"", DataType::Binary, Some("127f")),
        ("\"127\"", DataType::Binary, None),
        ("12345678901234567890.10", DataType::Utf8, Some("12345678901234567890.10")),
        (
            "{ \"a\": 12345678901234567890.10, \"b c\": \"d \\\" e\" }",
            DataType::Utf8,
            Some("{\"a\":12345678901234567890.10,\"b c\":\"d \\\" e\"}"),
        ),
    ] {
        let (_made, mut spec) = one("a.ndjson", format!("{{\"x\":{value}}}\n{{\"x\":null}}\n"));
        spec.schema = vec![column("x", declared.clone())];
        match shown {
            Some(shown) => assert_eq!(show(&load(&spec).unwrap()), format!("x:{declared}\n{shown}\n~"), "{value}"),
            None => {
                let wrong = load(&spec).unwrap_err();
                assert!(wrong.message.contains("line 1: column `x`"), "{value}: {wrong:?}");
            }
        }
    }
    // Objects among other things are text as they were written.
    let rows = "{\"x\":{\"n\": 123456789012345678901234567890}}\n{\"x\":1}\n";
    assert_eq!(shown("a.ndjson", rows), "x:Utf8\n{\"n\":123456789012345678901234567890}\n1");
}

/// What comes behind the rows that the types are guessed from is not cut to them.
#[test]
fn a_late_fraction_widens_its_column() {
    let mut text = String::new();
    while text.len() < 65 * 1024 * 1024 {
        text.push_str(
            "{\"n\":12345678,\"o\":{\"l\":[7]},\"s\":\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\"}\n",
        );
    }
    text.push_str("{\"n\":1.5,\"o\":{\"l\":[2.5]},\"s\":\"y\"}\n");
    let (_made, spec) = one("a.ndjson", text);
    let loaded = load(&spec).unwrap();
    let salver_datasets::Content::Resident { chunks, .. } = &loaded.content else { panic!() };
    let last = chunks.last().unwrap();
    let value = |column: usize, row| array_value_to_string(last.column(column), row).unwrap();
    let row = last.num_rows() - 1;
    assert_eq!((value(0, row), value(1, row)), ("1.5".into(), "{l: [2.5]}".into()));
    assert_eq!((value(0, row - 1), value(1, row - 1)), ("12345678.0".into(), "{l: [7.0]}".into()));
}

#[test]
fn a_name_that_is_empty() {
    assert_eq!(shown("a.json", r#"[{"":1,"a":"x"},{"":2.5}]"#), "unnamed:Float64|a:Utf8\n1.0|x\n2.5|~");
    let (_made, mut spec) = one("a.ndjson", "{\"a\":1,\"\":\"x\"}\n");
    spec.schema = vec![column("a", DataType::Utf8)];
    assert_eq!(show(&load(&spec).unwrap()), "a:Utf8|unnamed:Utf8\n1|x");
}

#[test]
fn no_rows_but_declared_columns() {
    for (name, bytes) in [("a.json", "[]"), ("a.ndjson", "")] {
        let (_made, mut spec) = one(name, bytes);
        spec.schema = vec![column("id", DataType::Int64)];
        spec.schema[0].nullable = false;
        assert_eq!(show(&load(&spec).unwrap()), "id:Int64", "{name}");
    }
}

#[test]
fn errors_name_line_and_column() {
    for (name, text, at) in [
        ("a.ndjson", "{\"a\":1}\n{\"a\":}\n", "line 2 column 6"),
        ("a.ndjson", "{\"a\":1}\n{\"a\":\n", "line 2 column 5"),
        ("a.ndjson", "{\"a\":1}\n{\"a\":\r\n{\"a\":3}\n", "line 2 column 5"),
        ("a.json", "[\n {\"a\":1},\n {\"a\" 2}\n]", "line 3 column 7"),
        ("a.json", "[{\"a\":1}", "line 1 column 9"),
        ("a.json", "[{\"a\":1}]x", "line 1 column 10"),
        ("a.json", "[{\"a\":1},]", "line 1 column 10"),
        ("a.json", "[{\"a\":1", "the text ends in the middle of a value"),
        ("a.json", "[1,2]", "a row that is an object"),
        ("a.ndjson", "[{\"a\":1}]", "a row that is an object"),
        ("a.json", "5", "expected an array of rows"),
    ] {
        let wrong = error(name, text);
        assert_eq!(wrong.code, Code::Source);
        assert!(wrong.message.contains(at), "{text}: {wrong:?}");
        assert!(wrong.hint.is_some());
    }
    assert!(error("a.json", "").message.contains("is empty"));
    assert!(error("a.json", "[]").message.contains("is empty"));
    let deep = format!("[{{\"a\":{}{}}}]", "[".repeat(5_000), "]".repeat(5_000));
    assert!(error("a.json", deep).message.contains("recursion"));
}

#[test]
fn a_late_name_becomes_a_column() {
    let mut text = String::new();
    while text.len() < 65 * 1024 * 1024 {
        text.push_str("{\"n\":12345678,\"s\":\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\"}\n");
    }
    text.push_str("{\"n\":1.5,\"late\":true}\n");
    let (_made, spec) = one("a.ndjson", text);
    let loaded = load(&spec).unwrap();
    let salver_datasets::Content::Resident { schema, .. } = &loaded.content else { panic!() };
    assert_eq!(crate::generated::columns(schema), "n:Float64|s:Utf8|late:Boolean");
}
