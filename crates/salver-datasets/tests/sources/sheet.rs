//! Spreadsheets.

use arrow::datatypes::DataType;

use crate::generated::{column, load, ods, one, show, shown, xlsx};

const ROWS: &str = r#"
<row r="3"><c r="B3" t="inlineStr"><is><t>id</t></is></c><c r="C3" t="inlineStr"><is><t>name</t></is></c><c r="D3" t="inlineStr"><is><t>day</t></is></c><c r="E3" t="inlineStr"><is><t>at</t></is></c><c r="G3" t="inlineStr"><is><t>mixed</t></is></c><c r="H3" t="inlineStr"><is><t>ok</t></is></c></row>
<row r="4"><c r="B4"><v>1</v></c><c r="C4" t="inlineStr"><is><t>ann</t></is></c><c r="D4" s="1"><v>46053</v></c><c r="E4" s="2"><v>46053.5</v></c><c r="F4"><v>0.5</v></c><c r="G4"><v>7</v></c><c r="H4" t="b"><v>1</v></c></row>
<row r="6"><c r="B6"><v>2</v></c><c r="C6" t="e"><v>#N/A</v></c><c r="D6" s="1"><v>46054</v></c><c r="F6"><v>2</v></c><c r="G6" t="inlineStr"><is><t>x</t></is></c><c r="H6" t="b"><v>0</v></c></row>"#;

#[test]
fn header_types_and_gaps() {
    let expected = "id:Int64|name:Utf8|day:Date32|at:Timestamp(µs)|column_5:Float64|mixed:Utf8|ok:Boolean\n\
        1|ann|2026-01-31|2026-01-31T12:00:00|0.5|7|true\n2|~|2026-02-01|~|2.0|x|false";
    assert_eq!(shown("a.xlsx", xlsx(ROWS)), expected);
    // By its bytes, whatever kind of spreadsheet the name says.
    assert_eq!(shown("a.xls", xlsx(ROWS)), expected);
}

#[test]
fn ranges_and_sheets() {
    let (_made, mut spec) = one("a.xlsx", xlsx(ROWS));
    for (range, expected) in [
        ("B3:C4", "id:Int64|name:Utf8\n1|ann"),
        ("c3:$c$100", "name:Utf8\nann"),
        ("G:H", "mixed:Utf8|ok:Boolean\n7|true\nx|false"),
        ("H3", "ok:Boolean\ntrue\nfalse"),
        ("A3:C4", "id:Int64|name:Utf8\n1|ann"),
    ] {
        spec.sheet.range = Some(range.into());
        assert_eq!(show(&load(&spec).unwrap()), expected, "{range}");
    }
    spec.sheet.no_header = true;
    spec.sheet.range = Some("B4:C6".into());
    spec.schema = vec![column("n", DataType::Int32)];
    assert_eq!(show(&load(&spec).unwrap()), "n:Int32|column_2:Utf8\n1|ann\n2|~");
    for wrong in ["B3:A1", "?", "", "B3:C4:D5", "ABCD1"] {
        spec.sheet.range = Some(wrong.into());
        assert!(load(&spec).unwrap_err().message.contains("not a range of cells"), "{wrong}");
    }
    spec.sheet.range = None;
    spec.sheet.sheet = Some("data".into());
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("no sheet `data`") && wrong.hint.unwrap().contains("`Data`"));
    spec.sheet.sheet = Some("Empty".into());
    spec.schema.clear();
    assert!(load(&spec).unwrap_err().message.contains("is empty"));
}

#[test]
fn fractions_of_a_second_stay() {
    let rows = r#"<row r="1"><c r="A1" t="inlineStr"><is><t>at</t></is></c></row>
        <row r="2"><c r="A2" s="2"><v>46053.500005787</v></c></row>
        <row r="3"><c r="A3" t="inlineStr"><is><t>x</t></is></c></row>"#;
    assert_eq!(shown("a.xlsx", xlsx(rows)), "at:Utf8\n2026-01-31T12:00:00.500\nx");
}

#[test]
fn a_cell_far_away_is_no_trap() {
    let far = r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>"#;
    let (_made, spec) = one("a.xlsx", xlsx(far));
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("spans 1048576 rows") && wrong.hint.unwrap().contains("range"));
}

#[test]
fn opendocument() {
    let cell = |kind: &str, value: &str, text: &str| {
        format!("<table:table-cell office:value-type=\"{kind}\" {value}><text:p>{text}</text:p></table:table-cell>")
    };
    let text = |text: &str| cell("string", "", text);
    let rows = format!(
        "<table:table-row>{}{}{}</table:table-row><table:table-row>{}{}{}</table:table-row>",
        text("id"),
        text("name"),
        text("day"),
        cell("float", "office:value=\"1\"", "1"),
        text("ann"),
        cell("date", "office:date-value=\"2026-01-31\"", "31.01.2026"),
    );
    assert_eq!(shown("a.ods", ods(&rows)), "id:Int64|name:Utf8|day:Date32\n1|ann|2026-01-31");
}

#[test]
fn the_old_binary_excel() {
    // Written with xlwt 1.3: a header, two whole rows, and one of which only the first cell is there.
    let expected = "id:Int64|name:Utf8|day:Date32|mass:Float64|ok:Boolean\n\
        1|Åre|2026-01-31|0.5|true\n2|Bø|2026-02-01|2.25|false\n3|~|~|~|~";
    assert_eq!(shown("stations.xls", include_bytes!("samples/stations.xls")), expected);
}
