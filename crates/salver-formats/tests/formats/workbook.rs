//! Workbooks: how each type of value is written, and what a sheet can't hold.

use std::io::{Cursor, Read};
use std::sync::Arc;

use arrow::array::types::*;
use arrow::array::*;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit, i256};
use salver_formats::{Encoder, Format, Style, encode};
use salver_model::{Code, Error};

use super::sample::{batch, column};

fn bytes_of(batches: &[RecordBatch]) -> Vec<u8> {
    encode(Format::Xlsx, &batches[0].schema(), batches, &Style::default()).unwrap()
}

/// The text of a part, whose checksum is that of the archive.
fn part(bytes: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The rows of the sheet, without the header.
fn rows(bytes: &[u8]) -> String {
    let sheet = part(bytes, "xl/worksheets/sheet1.xml");
    let (_, rows) = sheet.split_once("</row>").unwrap();
    rows.split_once("</sheetData>").unwrap().0.to_owned()
}

/// The number format of a style.
fn format_code(styles: &str, style: usize) -> String {
    let (_, cells) = styles.split_once("<cellXfs").unwrap();
    let id = cells.split("<xf numFmtId=\"").nth(style + 1).unwrap().split('"').next().unwrap();
    match styles.split_once(&format!("<numFmt numFmtId=\"{id}\" formatCode=\"")) {
        Some((_, code)) => code.split('"').next().unwrap().replace("&quot;", "\""),
        None => id.to_owned(),
    }
}

/// Checks each cell of a column: `n` or `s` for a number or text, what it holds, and its format (by number or text).
#[track_caller]
fn check(array: impl Array + 'static, expected: &[&str]) {
    let bytes = bytes_of(&[column(Arc::new(array))]);
    let (styles, rows) = (part(&bytes, "xl/styles.xml"), rows(&bytes));
    let mut found = Vec::new();
    for row in rows.split("</row>").filter(|row| !row.is_empty()) {
        let Some((_, cell)) = row.split_once("<c r=\"A") else {
            found.push(String::new());
            continue;
        };
        let style = cell.split_once(" s=\"").filter(|(before, _)| !before.contains('>'));
        let style = style.map_or(0, |(_, style)| style.split('"').next().unwrap().parse().unwrap());
        let (kind, value) = match cell.split_once("<v>") {
            Some((_, value)) if cell.contains(" t=\"b\"") => ("b", value.split('<').next().unwrap()),
            Some((_, value)) => ("n", value.split('<').next().unwrap()),
            None => ("s", cell.split_once("preserve\">").unwrap().1.split('<').next().unwrap()),
        };
        found.push(format!("{kind} {value} [{}]", format_code(&styles, style)));
    }
    assert_eq!(found, expected);
}

#[test]
fn numbers() {
    check(BooleanArray::from(vec![Some(true), Some(false), None]), &["b 1 [0]", "b 0 [0]", ""]);
    check(Int8Array::from(vec![i8::MIN, 7]), &["n -128 [1]", "n 7 [1]"]);
    check(
        Int64Array::from(vec![999_999_999_999_999, -1_000_000_000_000_000, i64::MIN]),
        &["n 999999999999999 [1]", "s -1000000000000000 [49]", "s -9223372036854775808 [49]"],
    );
    check(UInt64Array::from(vec![0, u64::MAX]), &["n 0 [1]", "s 18446744073709551615 [49]"]);
    check(
        Float64Array::from(vec![57.653_484, -0.0, 1e16, f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        &["n 57.653484 [0]", "n -0.0 [0]", "n 1e+16 [0]", "s NaN [0]", "s inf [0]", "s -inf [0]"],
    );
    check(Float32Array::from(vec![0.1]), &["n 0.1 [0]"]);
}

#[test]
fn decimals() {
    let narrow = Decimal128Array::from(vec![Some(-150), Some(0), None]).with_precision_and_scale(10, 2).unwrap();
    check(narrow, &["n -1.50 [2]", "n 0.00 [2]", ""]);
    let digits = Decimal128Array::from(vec![999_999_999_999_999, 1_234_567_890_123_456, 1_500_000_000_000_000_000]);
    check(
        digits.with_precision_and_scale(38, 3).unwrap(),
        &["n 999999999999.999 [0.000]", "s 1234567890123.456 [49]", "s 1500000000000000.000 [49]"],
    );
    let long = Decimal256Array::from(vec![i256::from_i128(15)]).with_precision_and_scale(76, 40).unwrap();
    check(long, &["n 0.0000000000000000000000000000000000000015 [0]"]);
    let tens = Decimal64Array::from(vec![12]).with_precision_and_scale(10, -3).unwrap();
    check(tens, &["n 12000 [1]"]);
}

#[test]
fn dates_and_times() {
    let day = "yyyy\\-mm\\-dd";
    check(
        Date32Array::from(vec![0, -25_567, -25_509, -25_508, -25_568, 2_932_896, 2_932_897]),
        &[
            &format!("n 25569 [{day}]"),
            &format!("n 1 [{day}]"),
            &format!("n 59 [{day}]"),
            &format!("n 61 [{day}]"),
            "s 1899-12-31 [0]",
            &format!("n 2958465 [{day}]"),
            "s +10000-01-01 [49]",
        ],
    );
    check(
        Date64Array::from(vec![86_400_000, 43_200_000]),
        &[&format!("n 25570 [{day}]"), &format!("n 25569.5 [{day}\\ hh:mm:ss]")],
    );
    check(
        Time32MillisecondArray::from(vec![0, 43_200_000, 500, 86_400_000, -1]),
        &[
            "n 0 [hh:mm:ss]",
            "n 0.5 [hh:mm:ss]",
            "n 5.787037037037037e-6 [hh:mm:ss.000]",
            "s 24:00:00 [0]",
            "s -00:00:00.001 [49]",
        ],
    );
    check(
        TimestampMicrosecondArray::from(vec![43_200_000_000, 43_200_250_000, 43_200_000_001, i64::MAX]),
        &[
            &format!("n 25569.5 [{day}\\ hh:mm:ss]"),
            &format!("n 25569.500002893517 [{day}\\ hh:mm:ss.000]"),
            "s 1970-01-01T12:00:00.000001 [0]",
            "s +294247-01-10T04:00:54.775807 [49]",
        ],
    );
    let summer = 1_625_140_800;
    check(
        TimestampSecondArray::from(vec![0, summer]).with_timezone("Europe/Berlin"),
        &[
            &format!("n 25569.041666666668 [{day}\\ hh:mm:ss\"+01:00\"]"),
            &format!("n 44378.583333333336 [{day}\\ hh:mm:ss\"+02:00\"]"),
        ],
    );
    check(TimestampSecondArray::from(vec![0]).with_timezone("UTC"), &[&format!("n 25569 [{day}\\ hh:mm:ss\"Z\"]")]);
    check(DurationSecondArray::from(vec![90, -1]), &["s PT90S [0]", "s -PT1S [49]"]);
}

#[test]
fn texts() {
    check(
        StringArray::from(vec!["", " a ", "a<&>\"", "=1+1", "-x", "@a", "\r\n\t\0", "_x0041_", "007", "ü🙂"]),
        &[
            "s  [0]",
            "s  a  [0]",
            "s a&lt;&amp;&gt;&quot; [0]",
            "s =1+1 [49]",
            "s -x [49]",
            "s @a [49]",
            "s _x000D_\n\t_x0000_ [0]",
            "s _x005F_x0041_ [0]",
            "s 007 [0]",
            "s ü🙂 [0]",
        ],
    );
    check(BinaryArray::from(vec![&[0_u8, 255][..]]), &["s 00ff [0]"]);
}

#[test]
fn values_within_values() {
    let mut list = ListBuilder::new(Int64Builder::new());
    list.append_value([Some(1), None]);
    check(list.finish(), &["s [1,null] [0]"]);
    let numbers = Int64Array::from(vec![5]);
    let fields = vec![(Arc::new(Field::new("a", DataType::Int64, true)), Arc::new(numbers) as ArrayRef)];
    check(StructArray::from(fields), &["s {&quot;a&quot;:5} [0]"]);
    let dictionary: DictionaryArray<Int8Type> = vec![Some("b"), None, Some("b")].into_iter().collect();
    check(dictionary, &["s b [0]", "", "s b [0]"]);
    let runs = RunArray::try_new(&Int32Array::from(vec![2, 3]), &Int64Array::from(vec![Some(7), None])).unwrap();
    check(runs, &["n 7 [1]", "n 7 [1]", ""]);
    check(NullArray::new(2), &["", ""]);
}

fn sample() -> RecordBatch {
    let texts: StringArray = (0..30_000).map(|i| (i % 7 > 0).then(|| format!("text {}", i * 7919 % 30_011))).collect();
    let at = TimestampMillisecondArray::from_iter_values((0..30_000).map(|i| i * 86_399_123));
    batch(&[("id", Arc::new(Int64Array::from_iter_values(0..30_000))), ("text", Arc::new(texts)), ("at", Arc::new(at))])
}

/// However rows are cut into batches and whenever the output is taken, the bytes are the same.
#[test]
fn several_batches_make_the_same_bytes() {
    let whole = bytes_of(&[sample()]);
    let parts = [sample().slice(0, 0), sample().slice(0, 1), sample().slice(1, 12_345), sample().slice(12_346, 17_654)];
    assert!(bytes_of(&parts) == whole);
    let mut encoder = Encoder::new(Format::Xlsx, &sample().schema(), &Style::default()).unwrap();
    let (mut all, mut out) = (Vec::new(), Vec::new());
    for start in (0..30_000).step_by(1_000) {
        encoder.write(&sample().slice(start, 1_000), &mut out).unwrap();
        assert!(start == 0 || !out.is_empty(), "nothing came out of rows from {start}");
        all.append(&mut out);
    }
    encoder.finish(&mut out).unwrap();
    all.append(&mut out);
    assert!(all == whole);
    let sheet = rows(&whole);
    assert!(sheet.starts_with("<row r=\"2\"><c r=\"A2\" s=\"2\"><v>0</v></c><c r=\"C2\""), "{}", &sheet[..100]);
    assert_eq!(sheet.matches("<row ").count(), 30_000);
}

#[test]
fn the_header_is_bold_frozen_and_filters() {
    let schema =
        Arc::new(Schema::new(vec![Field::new("a<b", DataType::Int64, true), Field::new("", DataType::Utf8, true)]));
    let none = RecordBatch::new_empty(Arc::clone(&schema));
    let bytes = encode(Format::Xlsx, &schema, &[], &Style::default()).unwrap();
    assert_eq!(bytes, bytes_of(&[none]));
    let sheet = part(&bytes, "xl/worksheets/sheet1.xml");
    assert!(
        sheet.contains("<pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/>"),
        "{sheet}"
    );
    let header = "<row r=\"1\"><c r=\"A1\" s=\"1\" t=\"inlineStr\"><is><t xml:space=\"preserve\">a&lt;b</t></is></c>";
    assert!(sheet.contains(header) && sheet.ends_with("<autoFilter ref=\"A1:B1\"/></worksheet>"), "{sheet}");
    assert!(part(&bytes, "xl/styles.xml").contains("<font><b/>"));
    assert!(part(&bytes, "xl/workbook.xml").contains("Sheet1!$A$1:$B$1<"));
}

#[track_caller]
fn refused(schema: &SchemaRef, batches: &[RecordBatch]) -> Error {
    encode(Format::Xlsx, schema, batches, &Style::default()).unwrap_err()
}

#[test]
fn what_a_sheet_does_not_hold() {
    let all = column(Arc::new(NullArray::new(1_048_575)));
    assert!(rows(&bytes_of(std::slice::from_ref(&all))).ends_with("<row r=\"1048576\"></row>"));
    let error = refused(&all.schema(), &[all.clone(), all.slice(0, 1)]);
    assert_eq!(error.code, Code::AnswerTooLarge);
    assert!(error.message.contains("1048575 rows") && error.hint.unwrap().contains("CSV or Parquet"));
    assert!(Encoder::check_rows(Format::Xlsx, 1_048_575).is_ok() && Encoder::check_rows(Format::Csv, u64::MAX).is_ok());
    assert_eq!(Encoder::check_rows(Format::Xlsx, 1_048_576).unwrap_err().code, Code::AnswerTooLarge);

    let wide = |columns: usize| {
        let fields = (0..columns).map(|at| Field::new(format!("c{at}"), DataType::Null, true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    };
    assert_eq!(Encoder::check(Format::Xlsx, &wide(16_385)).unwrap_err().code, Code::AnswerTooLarge);
    let sheet = part(&encode(Format::Xlsx, &wide(16_384), &[], &Style::default()).unwrap(), "xl/worksheets/sheet1.xml");
    assert!(sheet.ends_with("<autoFilter ref=\"A1:XFD1\"/></worksheet>"));
    assert_eq!(Encoder::check(Format::Xlsx, &wide(0)).unwrap_err().code, Code::UnknownFormat);

    let long = |text: String| column(Arc::new(StringArray::from(vec![String::new(), text])));
    bytes_of(&[long("ü".repeat(32_767))]);
    bytes_of(&[long("🙂".repeat(16_383))]);
    for text in ["x".repeat(32_768), "🙂".repeat(16_384)] {
        let error = refused(&long(String::new()).schema(), &[long(text)]);
        assert_eq!(error.code, Code::AnswerTooLarge);
        assert!(error.message.starts_with("column `v`, row 2: ") && error.message.contains("32768"), "{error:?}");
    }
    let zone = DataType::Timestamp(TimeUnit::Second, Some("Moon/Crater".into()));
    let schema = Arc::new(Schema::new(vec![Field::new("at", zone, true)]));
    assert_eq!(Encoder::check(Format::Xlsx, &schema).unwrap_err().code, Code::Execution);
}

/// Spreadsheets hold a bounded number of formats; a zone with more offsets goes on as text.
#[test]
fn more_formats_than_there_can_be() {
    let columns: Vec<(String, ArrayRef)> = (0..200)
        .map(|at: i32| {
            let zone = format!("{}{:02}:{:02}", if at < 100 { '+' } else { '-' }, at % 100 / 8, at % 8 * 7);
            (format!("c{at}"), Arc::new(TimestampSecondArray::from(vec![0]).with_timezone(zone)) as ArrayRef)
        })
        .collect();
    let columns: Vec<(&str, ArrayRef)> =
        columns.iter().map(|(name, array)| (name.as_str(), Arc::clone(array))).collect();
    let bytes = bytes_of(&[batch(&columns)]);
    assert_eq!(part(&bytes, "xl/styles.xml").matches("<numFmt ").count(), 150);
    assert_eq!(rows(&bytes).matches("1970-01-01T").count() + rows(&bytes).matches("1969-12-31T").count(), 49);
}
