//! Spreadsheets.

use arrow::datatypes::DataType;

use crate::generated::{Made, column, error, load, ods, one, show, shown, workbook, xlsx, xlsx_from_1904};

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

/// Rows of one column called `a`, each the attributes and the content of its cell.
fn column_of(cells: &[(&str, &str)]) -> String {
    let mut rows = r#"<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>"#.to_owned();
    for (row, (attributes, value)) in (2..).zip(cells) {
        rows += &format!(r#"<row r="{row}"><c r="A{row}" {attributes}><v>{value}</v></c></row>"#);
    }
    rows
}

#[test]
fn every_error_is_null() {
    for error in [
        "#NULL!",
        "#DIV/0!",
        "#VALUE!",
        "#REF!",
        "#NAME?",
        "#NUM!",
        "#N/A",
        "#GETTING_DATA",
        "#SPILL!",
        "#CALC!",
        "#FIELD!",
        "#CONNECT!",
        "#BLOCKED!",
        "#UNKNOWN!",
        "#BUSY!",
        "#PYTHON!",
        "Err:502",
    ] {
        let cells = r#"<row r="1"><c r="A1"><v>1</v></c><c r="B1" t="e"><v>ERROR</v></c><c r="C1"><v>3</v></c></row>
            <row r="2"><c r="A2" t="e"><v>ERROR</v></c><c r="B2"><v>2</v></c><c r="C2" t="e"><v>ERROR</v></c></row>
            <row r="3"><c r="A3"><v>4</v></c></row>"#;
        let (_made, mut spec) = one("a.xlsx", xlsx(&cells.replace("ERROR", error)));
        spec.sheet.no_header = true;
        let expected = "column_1:Int64|column_2:Int64|column_3:Int64\n1|~|3\n~|2|~\n4|~|~";
        assert_eq!(show(&load(&spec).unwrap()), expected, "{error}");
    }
    // Without references, cells would move into the place of the error.
    for bare in [
        r#"<row><c><v>1</v></c><c t="e"><v>#SPILL!</v></c><c><v>3</v></c></row>"#,
        r#"<row><c t="e"><v>#SPILL!</v></c><c><v>3</v></c></row>"#,
        r#"<row><c><v>1</v></c></row><row><c t="e"><v>#SPILL!</v></c><c><v>3</v></c></row>"#,
    ] {
        assert!(error("a.xlsx", xlsx(bare)).message.contains("don't say where they are"), "{bare}");
    }
}

#[test]
fn the_first_day_of_1904() {
    for (cells, expected) in [
        (&[("s=\"1\"", "0")][..], "a:Date32\n1904-01-01"),
        (&[("s=\"1\"", "0"), ("s=\"1\"", "1")], "a:Date32\n1904-01-01\n1904-01-02"),
        (&[("s=\"2\"", "0.5"), ("s=\"1\"", "0")], "a:Timestamp(µs)\n1904-01-01T12:00:00\n1904-01-01T00:00:00"),
        (&[("s=\"3\"", "0"), ("s=\"3\"", "0.5")], "a:Utf8\n00:00:00\n12:00:00"),
        (&[("s=\"3\"", "0.5"), ("s=\"1\"", "0")], "a:Utf8\n12:00:00\n1904-01-01"),
        (&[("s=\"3\"", "0.5"), ("s=\"1\"", "1e10")], "a:Utf8\n12:00:00\n240000000000:00:00"),
    ] {
        assert_eq!(shown("a.xlsx", xlsx_from_1904(&column_of(cells))), expected);
    }
    // Counted from 1900, there is no day 0.
    assert_eq!(shown("a.xlsx", xlsx(&column_of(&[("s=\"1\"", "0")]))), "a:Utf8\n00:00:00");
}

#[test]
fn whole_numbers_that_are_rounded_are_floats() {
    for (value, expected) in [
        ("9007199254740991", "a:Int64\n9007199254740991"),
        ("-9007199254740991", "a:Int64\n-9007199254740991"),
        ("9007199254740992", "a:Float64\n9007199254740992.0"),
        ("9007199254740993", "a:Float64\n9007199254740992.0"),
        ("-9007199254740993", "a:Float64\n-9007199254740992.0"),
    ] {
        assert_eq!(shown("a.xlsx", xlsx(&column_of(&[("", value)]))), expected, "{value}");
    }
}

#[test]
fn times_of_day_are_alike_in_every_format() {
    let expected = "a:Utf8\n10:11:12\n00:00:00.500\n00:00:00";
    let cells = [("s=\"3\"", "0.42444444444444446"), ("s=\"3\"", "0.000005787037037037037"), ("s=\"3\"", "0")];
    assert_eq!(shown("a.xlsx", xlsx(&column_of(&cells))), expected);
    let cell = |time: &str| {
        format!(
            "<table:table-row><table:table-cell office:value-type=\"time\" office:time-value=\"{time}\">\
             <text:p>shown</text:p></table:table-cell></table:table-row>"
        )
    };
    let header = "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>a</text:p>\
        </table:table-cell></table:table-row>";
    let times = |times: &[&str]| ods(&times.iter().fold(header.to_owned(), |rows, time| rows + &cell(time)));
    assert_eq!(shown("a.ods", times(&["PT10H11M12S", "PT00H00M00.5S", "PT0S"])), expected);
    assert_eq!(shown("a.ods", times(&["PT36H00M00S", "-PT1H", "P1Y"])), "a:Utf8\n36:00:00\n-01:00:00\nP1Y");
}

#[test]
fn changed_cells_are_noticed() {
    let mut bytes = xlsx(&column_of(&[("", "1234")]));
    let at = bytes.windows(4).position(|part| part == b"1234").unwrap();
    bytes[at] = b'9';
    let found = error("a.xlsx", bytes);
    assert!(
        found.message.contains("`xl/worksheets/sheet2.xml`") && found.message.contains("checksum"),
        "{}",
        found.message
    );
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

#[test]
fn every_sheet_of_a_workbook_in_a_directory_is_an_entry() {
    let rows = |value: &str| {
        format!(
            r#"<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c r="A2"><v>{value}</v></c></row>"#
        )
    };
    let made = Made::new();
    let book = workbook(
        "",
        &[
            ("name=\"Empty\"", ""),
            ("name=\"Data\"", &rows("1")),
            ("name=\"Costs 2026\"", &rows("2")),
            ("name=\"Notes\" state=\"hidden\"", &rows("3")),
            ("name=\"Blank\"", ""),
            ("name=\"b\"", &rows("4")),
        ],
    );
    made.file("a.xlsx", &book);
    // Files keep their names.
    made.file("a_b.csv", "x\n1\n");
    made.file("broken.xlsx", &book[..book.len() / 2]);
    made.file("plain.xlsx", xlsx(&rows("5")));
    let (specs, left_out) = salver_datasets::discover(made.dir.path()).unwrap();
    assert!(left_out.is_empty());
    let shown: Vec<_> = specs.iter().map(|spec| (spec.name.as_str(), spec.sheet.sheet.as_deref())).collect();
    let expected = [
        ("a", None),
        ("a_Costs 2026", Some("Costs 2026")),
        ("a_b", None),
        ("a_b_xlsx", Some("b")),
        ("broken", None),
        ("plain", None),
    ];
    assert_eq!(shown, expected);
    for (index, value) in [(0, "1"), (1, "2"), (3, "4")] {
        assert_eq!(show(&load(&specs[index]).unwrap()), format!("a:Int64\n{value}"));
    }
    let further = salver_datasets::further_sheets(&made.dir.path().join("a.xlsx")).unwrap();
    let names: Vec<_> = further.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["a_Costs 2026", "a_b"]);
    assert_eq!(show(&load(&further[1]).unwrap()), "a:Int64\n4");
    assert_eq!(salver_datasets::further_sheets(&made.dir.path().join("a_b.csv")).unwrap(), []);
    // What is known stays as it is, and so do its sheets.
    made.file("c.csv", "x\n1\n");
    let (again, _) = salver_datasets::discover_beside(made.dir.path(), &specs, &|_| true).unwrap();
    assert_eq!(again.iter().filter(|spec| spec.name.as_str() != "c").cloned().collect::<Vec<_>>(), specs);
    std::fs::remove_file(made.dir.path().join("a.xlsx")).unwrap();
    let (again, _) = salver_datasets::discover_beside(made.dir.path(), &specs, &|_| true).unwrap();
    assert_eq!(again.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["a_b", "broken", "c", "plain"]);
}
