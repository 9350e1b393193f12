//! CSV and TSV, clean and messy.

use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use salver_model::Code;
use salver_model::spec::{CsvOptions, Quote};

use crate::generated::{Made, bzip2, column, error, gzip, load, one, show, shown, xz, zstd};

fn with(name: &str, bytes: impl AsRef<[u8]>, change: impl FnOnce(&mut CsvOptions)) -> String {
    let (_made, mut spec) = one(name, bytes);
    change(&mut spec.csv);
    show(&load(&spec).unwrap())
}

#[test]
fn types_are_inferred() {
    let text = "b,i,f,d,t,z,s\ntrue,1,1.5,2026-01-31,2026-01-31T10:20:30,2026-01-31T10:20:30Z,a\n\
                FALSE,-2,2,1999-12-01,2026-01-31 10:20:30.25,2026-01-31T10:20:30+02:00,\n";
    let expected = "b:Boolean|i:Int64|f:Float64|d:Date32|t:Timestamp(µs)|z:Timestamp(µs, \"UTC\")|s:Utf8\n\
        true|1|1.5|2026-01-31|2026-01-31T10:20:30|2026-01-31T10:20:30Z|a\n\
        false|-2|2.0|1999-12-01|2026-01-31T10:20:30.250|2026-01-31T08:20:30Z|~";
    assert_eq!(shown("a.csv", text), expected);
}

/// No type holds both the finest times and the farthest: they are text, wherever they stand.
#[test]
fn fine_and_far_times_are_text() {
    let (fine, far) = ("2024-01-01T00:00:00.1234567", "9999-12-31T00:00:00");
    for far in [far, "9999-12-31", "1600-01-01T00:00:00.5"] {
        for [first, second] in [[fine, far], [far, fine]] {
            let expected = format!("t:Utf8\n{first}\n{second}");
            assert_eq!(shown("a.csv", format!("t\n{first}\n{second}\n")), expected);
            let made = Made::new();
            made.file("1.csv", format!("t\n{first}\n"));
            made.file("2.csv", format!("t\n{second}\n"));
            assert_eq!(show(&load(&made.spec(&["*.csv"])).unwrap()), expected);
        }
    }
    let apart = shown("a.csv", format!("f,t\n{fine},{far}\n"));
    assert!(apart.starts_with("f:Timestamp(ns)|t:Timestamp(µs)\n"), "{apart}");
}

#[test]
fn codes_stay_text() {
    assert_eq!(shown("a.csv", "zip,n\n01234,1\n10115,0\n"), "zip:Utf8|n:Int64\n01234|1\n10115|0");
    assert_eq!(shown("a.csv", "x\n99999999999999999999\n1\n"), "x:Utf8\n99999999999999999999\n1");
    assert_eq!(shown("a.csv", "x\n1\nn/a\n"), "x:Utf8\n1\nn/a");
    assert_eq!(shown("a.csv", "x\n+49 30\n2026-02-30\n"), "x:Utf8\n+49 30\n2026-02-30");
    assert_eq!(shown("a.csv", "x\n1e400\n"), "x:Utf8\n1e400");
}

#[test]
fn uk_cities_as_roapi_types_them() {
    let text = "city,lat,lng\n\"Elgin, Scotland, the UK\",57.653484,-3.335724\n\"Stoke-on-Trent, Staffordshire, the UK\",53.002666,-2.179404\n";
    assert!(
        shown("uk_cities.csv", text)
            .starts_with("city:Utf8|lat:Float64|lng:Float64\nElgin, Scotland, the UK|57.653484|-3.335724")
    );
}

#[test]
fn delimiters_are_sniffed() {
    for delimiter in [",", ";", "\t", "|"] {
        let text = ["a", "b"].join(delimiter) + "\n" + &["1", "\"x,;\t|y\""].join(delimiter) + "\n";
        assert_eq!(shown("a.csv", text), "a:Int64|b:Utf8\n1|x,;\t|y", "{delimiter:?}");
    }
    assert_eq!(shown("a.csv", "name;price\nx;1,5\ny;2,25\n"), "name:Utf8|price:Float64\nx|1.5\ny|2.25");
    assert_eq!(shown("a.tsv", "a\tb\n1,5\t2\n"), "a:Float64|b:Int64\n1.5|2");
    assert_eq!(with("a.csv", "a:b\n1:2\n", |csv| csv.delimiter = Some(b':')), "a:Int64|b:Int64\n1|2");
    assert_eq!(shown("a.csv", "only\n1\n2\n"), "only:Int64\n1\n2");
}

#[test]
fn quotes() {
    let text = "a,b\n\"x\"\"y\",\"two\nlines\"\n5\" pipe,\"\"\n\"q\"tail,\"z\"\r\n";
    assert_eq!(shown("a.csv", text), "a:Utf8|b:Utf8\nx\"y|two\nlines\n5\" pipe|\nqtail|z");
    assert_eq!(with("a.csv", "a\n'x,y'\n", |csv| csv.quote = Quote::Is(b'\'')), "a:Utf8\nx,y");
    assert_eq!(with("a.csv", "a,b\n\"x,y\"\n", |csv| csv.quote = Quote::Off), "a:Utf8|b:Utf8\n\"x|y\"");
    assert_eq!(with("a.csv", "a,b\n\"x\\\"y\",1\n", |csv| csv.escape = Some(b'\\')), "a:Utf8|b:Int64\nx\"y|1");
    let (_made, mut spec) = one("a.csv", "a,b\n1,2\n3,\"never\nclosed\n");
    spec.csv.quote = Quote::Is(b'"');
    let open = load(&spec).unwrap_err();
    assert_eq!(open.code, Code::Source);
    assert!(open.message.contains("a.csv` line 3 opens a quote"), "{open:?}");
}

#[test]
fn lines() {
    assert_eq!(shown("a.csv", "a,b\r\n1,2\r\n\r\n\r\n3,4"), "a:Int64|b:Int64\n1|2\n3|4");
    assert_eq!(shown("a.csv", "a,b\r1,2\r3,4\r"), "a:Int64|b:Int64\n1|2\n3|4");
    let text = "junk\nmore junk\n# a comment\na,b\n#1,2\n3,4\n";
    let options = |csv: &mut CsvOptions| (csv.skip_rows, csv.comment) = (Some(2), Some(b'#'));
    assert_eq!(with("a.csv", text, options), "a:Int64|b:Int64\n3|4");
    assert_eq!(shown("a.csv", "a,b\n"), "a:Utf8|b:Utf8");
    assert_eq!(shown("a.csv", "a,b"), "a:Utf8|b:Utf8");
}

#[test]
fn ragged_rows() {
    assert_eq!(shown("a.csv", "a,b,c\n1\n1,2\n1,2,3\n1,2,3,\n"), "a:Int64|b:Int64|c:Int64\n1|~|~\n1|2|~\n1|2|3\n1|2|3");
    let long = error("a.csv", "a,b\n1,2\n\"x\ny\",2\n1,2,3\n");
    assert!(long.message.contains("a.csv` line 5 has 3 fields, the header has 2"), "{long:?}");
    assert!(long.hint.is_some());
}

#[test]
fn headers() {
    assert_eq!(
        shown("a.csv", "a,,a, b ,a_2\n1,2,3,4,5\n"),
        "a:Int64|column_2:Int64|a_3:Int64|b:Int64|a_2:Int64\n1|2|3|4|5"
    );
    assert_eq!(with("a.csv", "1,x\n2,y\n", |csv| csv.header = Some(false)), "column_1:Int64|column_2:Utf8\n1|x\n2|y");
    let (_made, mut spec) = one("a.csv", "1,x\n2,y\n");
    spec.csv.header = Some(false);
    spec.schema = vec![column("id", DataType::Int32)];
    assert_eq!(show(&load(&spec).unwrap()), "id:Int32|column_2:Utf8\n1|x\n2|y");
}

#[test]
fn what_nobody_said_is_guessed_and_told() {
    let guessed = |text: &str| {
        let (_made, spec) = one("a.csv", text);
        let loaded = load(&spec).unwrap();
        (show(&loaded), loaded.source)
    };
    let (rows, told) = guessed("1,x\n2,y\n");
    assert_eq!(rows, "column_1:Int64|column_2:Utf8\n1|x\n2|y");
    assert!(told.contains("without a header (`header = true`"), "{told}");
    let (rows, told) = guessed("'a','b, c'\n'd','e'\n");
    assert_eq!(rows, "a:Utf8|b, c:Utf8\nd|e");
    assert!(told.contains("quoted by `'`"), "{told}");
    let (rows, told) = guessed("a,b\n\"x,1\ny,2\n");
    assert_eq!(rows, "a:Utf8|b:Int64\n\"x|1\ny|2");
    assert!(told.contains("without quotes"), "{told}");
    assert!(!guessed("a,b\n1,2\n").1.contains("header"));
    assert_eq!(with("a.csv", "1,x\n2,y\n", |csv| csv.header = Some(true)), "1:Int64|x:Utf8\n2|y");
}

#[test]
fn nulls() {
    let tokens = |csv: &mut CsvOptions| csv.null_tokens = vec!["NA".into(), "-".into()];
    let text = "n,s\n1,x\nNA,\"NA\"\n-,\n,\"\"\n";
    assert_eq!(with("a.csv", text, tokens), "n:Int64|s:Utf8\n1|x\n~|NA\n~|~\n~|");
}

#[test]
fn encodings() {
    assert_eq!(shown("a.csv", "\u{feff}a,b\n1,ü\n"), "a:Int64|b:Utf8\n1|ü");
    let (_made, spec) = one("a.csv", b"a,b\n1,caf\xe9 \x80\n");
    let loaded = load(&spec).unwrap();
    assert_eq!(show(&loaded), "a:Int64|b:Utf8\n1|café €");
    assert!(loaded.source.contains("windows-1252"), "{}", loaded.source);
    let utf16: Vec<u8> = "\u{feff}a,b\n1,ü\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(shown("a.csv", utf16), "a:Int64|b:Utf8\n1|ü");
    assert_eq!(with("a.csv", b"a\n\x83e\x83X\x83g\n", |csv| csv.encoding = Some("shift_jis".into())), "a:Utf8\nテスト");
    let (_made, mut spec) = one("a.csv", b"a,b\n1,x\n2,\xe9\n");
    spec.csv.encoding = Some("utf-8".into());
    assert!(load(&spec).unwrap_err().message.contains("line 3 is not UTF-8"));
    spec.csv.encoding = Some("klingon".into());
    assert!(load(&spec).unwrap_err().message.contains("no encoding is called `klingon`"));
    // A byte that isn't UTF-8 may come long after the types were told.
    let mut late = b"a,b\n".to_vec();
    for _ in 0..20_000 {
        late.extend(b"1,plain\n");
    }
    late.extend(b"2,\xe9\n");
    assert!(shown("a.csv", late).ends_with("2|é"));
    assert_eq!(shown("a.csv", b"a\n\0x\n"), "a:Utf8\n\0x");
}

#[test]
fn compressed() {
    let text = b"a,b\n1,x\n2,y\n";
    let expected = "a:Int64|b:Utf8\n1|x\n2|y";
    for (name, bytes) in
        [("a.csv.gz", gzip(text)), ("a.csv.bz2", bzip2(text)), ("a.csv.xz", xz(text)), ("a.csv.zst", zstd(text))]
    {
        assert_eq!(shown(name, &bytes), expected, "{name}");
        // By its bytes, whatever it is called.
        assert_eq!(shown("a.csv", &bytes), expected, "{name}");
        let cut = error(name, &bytes[..bytes.len() / 2]);
        assert_eq!(cut.code, Code::Source);
        assert!(cut.message.contains(name), "{cut:?}");
    }
    let members = [gzip(b"a,b\n1,x\n"), gzip(b"2,y\n")].concat();
    assert_eq!(shown("a.csv.gz", members), expected);
    let frames = [zstd(b"a,b\n1,x\n"), zstd(b"2,y\n")].concat();
    assert_eq!(shown("a.csv.zst", frames), expected);
}

#[test]
fn declared_types() {
    let (_made, mut spec) = one("a.csv", "id,at,n,x\n007,2026-01-31 10:00,1,1.25\n8,2026-02-01 11:30,,2.50\n");
    spec.schema = vec![
        column("id", DataType::Int32),
        column("at", DataType::Timestamp(TimeUnit::Second, None)),
        column("x", DataType::Decimal128(9, 2)),
        column("extra", DataType::Date32),
    ];
    let expected = "id:Int32|at:Timestamp(s)|n:Int64|x:Decimal128(9, 2)|extra:Date32\n\
        7|2026-01-31T10:00:00|1|1.25|~\n8|2026-02-01T11:30:00|~|2.50|~";
    assert_eq!(show(&load(&spec).unwrap()), expected);
    spec.schema[3].nullable = false;
    assert!(load(&spec).unwrap_err().message.contains("`extra` is in no file"));
}

#[test]
fn decimals_are_not_rounded() {
    let (_made, mut spec) = one("a.csv", "x\n1.230\n1200e-3\n-0.00\n 4 \n1.239\n");
    spec.schema = vec![column("x", DataType::Decimal128(5, 2))];
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("line 6: column `x`: `1.239` is not"), "{wrong:?}");
    spec.schema = vec![column("x", DataType::Decimal128(6, 3))];
    assert_eq!(show(&load(&spec).unwrap()), "x:Decimal128(6, 3)\n1.230\n1.200\n0.000\n4.000\n1.239");
    spec.schema = vec![column("x", DataType::Decimal128(3, 3))];
    assert!(load(&spec).unwrap_err().message.contains("line 2: column `x`: `1.230` is not"));
}

#[test]
fn a_first_line_may_name_the_delimiter() {
    assert_eq!(shown("a.csv", "sep=;\r\na;b;c\r\n1;2,5;x\r\n"), "a:Int64|b:Float64|c:Utf8\n1|2.5|x");
    assert_eq!(shown("a.csv", "sep=|\na\n1\n"), "a:Int64\n1");
    assert_eq!(shown("a.csv", "sep=x,b\n1,2\n"), "sep=x:Int64|b:Int64\n1|2");
}

#[test]
fn declared_values_are_whole_or_refused() {
    for (value, declared, shown) in [
        ("2026-01-31T00:00", DataType::Date32, Some("2026-01-31")),
        ("2026-01-31T23:00", DataType::Date32, None),
        ("2026-01-31T10:00:00.250", DataType::Timestamp(TimeUnit::Second, None), None),
        ("2026-01-31T10:00:00.000", DataType::Timestamp(TimeUnit::Second, None), Some("2026-01-31T10:00:00")),
        ("2026-01-31T10:00:00.123456789", DataType::Timestamp(TimeUnit::Microsecond, None), None),
        ("2026-01-31", DataType::Date64, Some("2026-01-31T00:00:00")),
        ("2026-01-31T10:20:30.123", DataType::Date64, Some("2026-01-31T10:20:30.123")),
        ("2026-01-31T10:20:30.1239", DataType::Date64, None),
        (
            "2026-01-31T10:20:30.1234567890",
            DataType::Timestamp(TimeUnit::Nanosecond, None),
            Some("2026-01-31T10:20:30.123456789"),
        ),
        ("2026-01-31T10:20:30.1234567891", DataType::Timestamp(TimeUnit::Nanosecond, None), None),
        ("10:20:30.1234567891", DataType::Time64(TimeUnit::Nanosecond), None),
        ("10:20:30.5", DataType::Time64(TimeUnit::Microsecond), Some("10:20:30.500")),
        ("10:20:30.5", DataType::Time32(TimeUnit::Second), None),
        ("1e39", DataType::Float32, None),
        ("1e400", DataType::Float64, None),
        ("inf", DataType::Float64, Some("inf")),
        ("-NaN", DataType::Float32, Some("NaN")),
        ("70000", DataType::Time64(TimeUnit::Microsecond), None),
        ("0.005", DataType::Interval(IntervalUnit::MonthDayNano), None),
        ("1 month 2 days", DataType::Interval(IntervalUnit::MonthDayNano), Some("1 mons 2 days")),
        ("PT90S", DataType::Duration(TimeUnit::Second), Some("PT90S")),
        ("-PT0.250S", DataType::Duration(TimeUnit::Millisecond), Some("-PT0.25S")),
        ("PT0.5S", DataType::Duration(TimeUnit::Second), None),
        ("90", DataType::Duration(TimeUnit::Second), Some("PT90S")),
        ("abc", DataType::new_list(DataType::Utf8, true), None),
    ] {
        let (_made, mut spec) = one("a.csv", format!("x,y\n{value},1\n"));
        spec.schema = vec![column("x", declared.clone())];
        match shown {
            Some(shown) => {
                assert_eq!(show(&load(&spec).unwrap()), format!("x:{declared}|y:Int64\n{shown}|1"), "{value}")
            }
            None => {
                let told = load(&spec).unwrap_err().message;
                assert!(told.contains(&format!("line 2: column `x`: `{value}` is not")), "{value}: {told}");
            }
        }
    }
}

#[test]
fn signs_and_what_is_not_finite() {
    let text = "f,i,p,n,t\n1,+1,+442079460000,NaN,inf\nNaN,-2,+442079460001,-inf,x\n-inf,+30,,,\n+.5,4,,inf,\n";
    let expected = "f:Float64|i:Int64|p:Utf8|n:Float64|t:Utf8\n1.0|1|+442079460000|NaN|inf\n\
        NaN|-2|+442079460001|-inf|x\n-inf|30|~|~|~\n0.5|4|~|inf|~";
    assert_eq!(shown("a.csv", text), expected);
}

#[test]
fn binary_data_is_no_csv() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR,x\n";
    let noise: Vec<u8> = (0..600_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).filter(|b| *b > 0).collect();
    for bytes in [&png[..], &noise] {
        for name in ["a.csv", "a.tsv", "a.json", "a.ndjson"] {
            let wrong = error(name, bytes);
            assert_eq!(wrong.code, Code::Source);
            assert!(wrong.message.contains(name) && wrong.message.contains("binary"), "{wrong:?}");
            assert!(wrong.hint.unwrap().contains("format"));
        }
    }
    // Who says what it is, is believed.
    let (_made, mut spec) = one("a.csv", b"a\0,\0c\0\n\x001\0,\x002\0\n\0");
    assert!(load(&spec).is_err());
    spec.csv.encoding = Some("utf-16le".into());
    assert_eq!(show(&load(&spec).unwrap()), "a:Int64|c:Int64\n1|2");
    // Text of another alphabet is not noise.
    assert_eq!(shown("a.csv", b"caf\xe9\n\xfc\n"), "caf\u{e9}:Utf8\n\u{fc}");
}

#[test]
fn declared_types_that_do_not_fit() {
    let (_made, mut spec) = one("a.csv", "id,age\n1,7\n2,\"a\nb\"\n3,old\n");
    spec.schema = vec![column("age", DataType::Int64)];
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("a.csv` line 3: column `age`: `a\nb` is not Int64"), "{wrong:?}");
    assert!(wrong.hint.unwrap().contains("declare `age` as text"));
    let (_made, mut spec) = one("a.csv", "id,age\n1,7\n2,\n");
    spec.schema = vec![column("age", DataType::Int64)];
    spec.schema[0].nullable = false;
    assert!(load(&spec).unwrap_err().message.contains("line 3: column `age` is null"));
}

#[test]
fn a_late_value_widens_its_column() {
    let mut text = String::from("n,s\n");
    // More than the sample.
    while text.len() < 65 * 1024 * 1024 {
        text.push_str("12345678,abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\n");
    }
    text.push_str("1.5,x\nlate,y\n");
    let (_made, spec) = one("a.csv", text);
    let loaded = load(&spec).unwrap();
    let salver_datasets::Content::Resident { schema, chunks } = &loaded.content else { panic!() };
    assert_eq!(schema.field(0).data_type(), &DataType::Utf8);
    let last = chunks.last().unwrap();
    let value = |row| arrow::util::display::array_value_to_string(last.column(0), row).unwrap();
    assert_eq!((value(last.num_rows() - 2), value(last.num_rows() - 1)), ("1.5".into(), "late".into()));
}

#[test]
fn empty_files() {
    assert!(error("a.csv", "").message.contains("a.csv` is empty"));
    assert!(error("a.csv", "\n\n").message.contains("is empty"));
    let (_made, mut spec) = one("a.csv", "");
    spec.schema = vec![column("id", DataType::Int64)];
    assert_eq!(show(&load(&spec).unwrap()), "id:Int64");
}

#[test]
fn wide_files() {
    let names: Vec<String> = (0..3_000).map(|index| format!("c{index}")).collect();
    let row = vec!["1"; 3_000].join(",");
    let text = format!("{}\n{row}\n{row}\n", names.join(","));
    assert!(shown("a.csv", text).ends_with("|1|1"));
    let too_wide = error("a.csv", ",".repeat(100_000) + "\n1\n");
    assert!(too_wide.message.contains("line 1 has too many fields"), "{too_wide:?}");
}
