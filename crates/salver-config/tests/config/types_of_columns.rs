//! Names of column types, there and back.

use arrow::datatypes::{DataType, TimeUnit};
use salver_config::data_type::{names, parse, render};

#[test]
fn every_name_reads_and_what_is_written_reads_back() {
    for name in names() {
        let parsed = parse(name).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(parse(&render(&parsed)), Ok(parsed), "{name}");
    }
}

#[test]
fn friendly_and_arrow_names_are_the_same() {
    for (a, b) in [
        ("text", "Utf8"),
        ("int", "Int64"),
        ("BIGINT", "integer"),
        ("double", "Float64"),
        ("date", "Date32"),
        ("timestamp", "Timestamp(Microsecond, None)"),
        ("timestamp('s', 'UTC')", "Timestamp(Second, Some(\"UTC\"))"),
        ("timestamptz", "timestamp(us, UTC)"),
        ("numeric(5)", "decimal(5,0)"),
        ("time(s)", "Time32(Second)"),
        ("array( int )", "list(Int64)"),
    ] {
        assert_eq!(parse(a), parse(b), "{a} {b}");
        assert!(parse(a).is_ok(), "{a}");
    }
    assert_eq!(parse("timestamp"), Ok(DataType::Timestamp(TimeUnit::Microsecond, None)));
}

#[test]
fn wrong_types_say_why() {
    for (text, why) in [
        ("", "a type is missing"),
        ("txet", "there is no type `txet`; did you mean `text`?"),
        ("decimal(90, 2)", "the precision is 1 to 76, not 90"),
        ("decimal(5, 9)", "the scale 9 is larger than the precision 5"),
        ("decimal", "`(` is missing before the end"),
        ("list(int", "`)` is missing before the end"),
        ("int)", "`)` is left over"),
        ("timestamp(\"h\")", "`h` is not a unit of time; there is \"s\", \"ms\", \"us\", \"ns\""),
        ("struct()", "a field of the struct has no name; write struct(name type, ...)"),
    ] {
        assert_eq!(parse(text), Err(why.to_owned()), "{text}");
    }
    let deep = format!("{}int{}", "list(".repeat(99), ")".repeat(99));
    assert_eq!(parse(&deep), Err("types nest at most 16 deep".to_owned()));
}
