//! Spreadsheets of Google, from a stand-in that checks each request.

#[path = "google_sheets/faults.rs"]
mod faults;

use arrow::datatypes::DataType;
use salver_model::Name;
use salver_model::spec::{DatasetSpec, Secret};
use salver_testkit::google_sheets::{API_KEY, Cell, GoogleSheets, ID, Sheet};

use crate::generated::{Made, column, load, probe, show, shown, xlsx};

fn text(text: &'static str) -> Option<Cell> {
    Some(Cell::Text(text))
}

fn number(number: f64) -> Option<Cell> {
    Some(Cell::Number(number))
}

fn date(days: f64) -> Option<Cell> {
    Some(Cell::Formatted(days, "DATE", "yyyy-mm-dd"))
}

fn moment(days: f64) -> Option<Cell> {
    Some(Cell::Formatted(days, "DATE_TIME", "yyyy-mm-dd h:mm"))
}

fn time(days: f64) -> Option<Cell> {
    Some(Cell::Formatted(days, "TIME", "h:mm:ss am/pm"))
}

fn duration(days: f64) -> Option<Cell> {
    Some(Cell::Formatted(days, "TIME", "[h]:mm:ss"))
}

/// Every type of cells, with an empty row, a column without a name, and a cell that was only formatted.
fn every_type() -> Sheet {
    Sheet::new(
        7,
        "Data",
        (2, 1),
        &[
            &[text("id"), text("name"), text("day"), text("at"), None, text("mixed"), text("ok"), text("time")],
            &[
                number(1.0),
                text("ann"),
                date(46_053.0),
                moment(46_053.5),
                number(0.5),
                Some(Cell::Formatted(7.0, "NUMBER", "0.00")),
                Some(Cell::Bool(true)),
                time(0.424_444_444_444_444_46),
            ],
            &[None, None, None, Some(Cell::Blank)],
            &[
                Some(Cell::Formatted(2.0, "CURRENCY", "0.00 €")),
                Some(Cell::Error("DIVIDE_BY_ZERO")),
                date(46_054.0),
                Some(Cell::Blank),
                Some(Cell::Formatted(2.0, "PERCENT", "0%")),
                text("x"),
                Some(Cell::Bool(false)),
            ],
        ],
    )
}

const EVERY_TYPE: &str = "id:Int64|name:Utf8|day:Date32|at:Timestamp(µs)|column_5:Float64|mixed:Utf8|ok:Boolean|time:Utf8\n\
    1|ann|2026-01-31|2026-01-31T12:00:00|0.5|7|true|10:11:12\n2|~|2026-02-01|~|2.0|x|false|~";

/// A spreadsheet of several sheets: the first that is visible, of cells and not empty is the third.
fn several() -> Vec<Sheet> {
    let mut hidden = Sheet::new(1, "Hidden", (0, 0), &[&[text("h")], &[number(1.0)]]);
    hidden.hidden = true;
    let mut chart = Sheet::empty(2, "Chart");
    chart.is_chart = true;
    let quoted = Sheet::new(0, "It's \"2026\" / a&b", (0, 0), &[&[text("a")], &[number(1.5)]]);
    vec![hidden, chart, Sheet::empty(3, "Empty"), every_type(), quoted]
}

/// A dataset of the spreadsheet, asked for with the service account.
fn of(google: &GoogleSheets, made: &Made, source: &str) -> DatasetSpec {
    let account = made.dir.path().join("account.json");
    google.write_account(&account).unwrap();
    let mut spec = DatasetSpec::new(Name::new("budget").unwrap(), vec![source.to_owned()]);
    spec.object_store.endpoint = Some(google.address().to_owned());
    spec.object_store.credentials_file = Some(account);
    spec
}

fn whole(sheets: Vec<Sheet>) -> (GoogleSheets, Made, DatasetSpec) {
    let (google, made) = (GoogleSheets::start(sheets), Made::new());
    let spec = of(&google, &made, &format!("gsheets://{ID}"));
    (google, made, spec)
}

#[test]
fn types_are_those_of_a_workbook() {
    let (google, _made, spec) = whole(vec![every_type()]);
    let loaded = load(&spec).unwrap();
    assert_eq!(show(&loaded), EVERY_TYPE);
    assert!(loaded.source.contains(&format!("gsheets://{ID} (Google spreadsheet)")), "{}", loaded.source);
    assert_eq!(google.take_seen(), ["list", "'Data'"]);
    // The same cells in a file of Excel. The styles are a date, a moment and a time of day.
    let text = |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let names = [("B", "id"), ("C", "name"), ("D", "day"), ("E", "at"), ("G", "mixed"), ("H", "ok"), ("I", "time")];
    let header: String = names.iter().map(|(column, name)| text(&format!("{column}3"), name)).collect();
    let rows = format!(
        "<row r=\"3\">{header}</row>\
         <row r=\"4\"><c r=\"B4\"><v>1</v></c>{}<c r=\"D4\" s=\"1\"><v>46053</v></c>\
         <c r=\"E4\" s=\"2\"><v>46053.5</v></c><c r=\"F4\"><v>0.5</v></c><c r=\"G4\"><v>7</v></c>\
         <c r=\"H4\" t=\"b\"><v>1</v></c><c r=\"I4\" s=\"3\"><v>0.42444444444444446</v></c></row>\
         <row r=\"6\"><c r=\"B6\"><v>2</v></c><c r=\"C6\" t=\"e\"><v>#DIV/0!</v></c>\
         <c r=\"D6\" s=\"1\"><v>46054</v></c><c r=\"F6\"><v>2</v></c>{}<c r=\"H6\" t=\"b\"><v>0</v></c></row>",
        text("C4", "ann"),
        text("G6", "x"),
    );
    assert_eq!(shown("a.xlsx", xlsx(&rows)), EVERY_TYPE);
}

#[test]
fn dates_times_and_durations() {
    let one = |cells: Vec<Option<Cell>>| {
        let rows: Vec<Vec<Option<Cell>>> =
            std::iter::once(vec![text("a")]).chain(cells.into_iter().map(|cell| vec![cell])).collect();
        let rows: Vec<&[Option<Cell>]> = rows.iter().map(Vec::as_slice).collect();
        let (_google, _made, spec) = whole(vec![Sheet::new(0, "S", (0, 0), &rows)]);
        show(&load(&spec).unwrap())
    };
    for (cells, expected) in [
        (vec![date(0.0), date(-1.0)], "a:Date32\n1899-12-30\n1899-12-29"),
        (vec![date(1.0), moment(2.5)], "a:Timestamp(µs)\n1899-12-31T00:00:00\n1900-01-01T12:00:00"),
        (vec![moment(46_053.500_005_787)], "a:Timestamp(µs)\n2026-01-31T12:00:00.500"),
        (vec![moment(0.25)], "a:Timestamp(µs)\n1899-12-30T06:00:00"),
        (vec![time(0.0), time(0.5)], "a:Utf8\n00:00:00\n12:00:00"),
        (vec![duration(1.5), duration(0.5), duration(-0.5)], "a:Utf8\n36:00:00\n12:00:00\n-12:00:00"),
        (vec![date(46_053.0), text("x")], "a:Utf8\n2026-01-31\nx"),
        (vec![moment(46_053.5), number(1.0)], "a:Utf8\n2026-01-31T12:00:00\n1"),
        (vec![number(9_007_199_254_740_991.0)], "a:Int64\n9007199254740991"),
        (vec![number(9_007_199_254_740_992.0)], "a:Float64\n9007199254740992.0"),
        (vec![number(0.1), number(-2.0)], "a:Float64\n0.1\n-2.0"),
        (vec![Some(Cell::Text("")), text("x")], "a:Utf8\nx"),
    ] {
        assert_eq!(one(cells), expected);
    }
}

#[test]
fn the_first_visible_sheet_with_cells() {
    let (google, _made, spec) = whole(several());
    assert_eq!(show(&load(&spec).unwrap()), EVERY_TYPE);
    assert_eq!(google.take_seen(), ["list", "'Empty'", "'Data'"]);
    google.change(|sheets| {
        for sheet in sheets.iter_mut() {
            sheet.hidden = true;
        }
    });
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("no visible sheet"), "{wrong:?}");
    assert!(wrong.hint.unwrap().contains("`Hidden`, `Empty`, `Data`"));
}

#[test]
fn a_sheet_by_its_title_or_the_gid_of_the_address() {
    let (google, made, mut spec) = whole(several());
    let page = format!("https://docs.google.com/spreadsheets/d/{ID}/edit");
    for (source, expected) in [
        (format!("gsheets://{ID}#gid=0"), "a:Float64\n1.5"),
        (format!("{page}#gid=0"), "a:Float64\n1.5"),
        (format!("{page}?gid=7#gid=7"), EVERY_TYPE),
        (format!("{page}?usp=sharing"), EVERY_TYPE),
        // One that is hidden is read if it is named.
        (format!("{page}#gid=1"), "h:Int64\n1"),
    ] {
        assert_eq!(show(&load(&of(&google, &made, &source)).unwrap()), expected, "{source}");
    }
    // The title counts more than the address, which always has a gid.
    let mut titled = of(&google, &made, &format!("{page}#gid=7"));
    titled.sheet.sheet = Some("It's \"2026\" / a&b".to_owned());
    assert_eq!(show(&load(&titled).unwrap()), "a:Float64\n1.5");
    assert_eq!(google.take_seen().last().unwrap(), "'It''s \"2026\" / a&b'");
    spec.sheet.sheet = Some("data".to_owned());
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("no sheet `data`") && wrong.hint.as_ref().unwrap().contains("`Data`"), "{wrong:?}");
    spec.sheet.sheet = Some("Chart".to_owned());
    assert!(load(&spec).unwrap_err().message.contains("the sheet `Chart`"));
    let wrong = load(&of(&google, &made, &format!("{page}#gid=99"))).unwrap_err();
    assert!(wrong.message.contains("gid 99") && wrong.hint.unwrap().contains("`Data`"));
    spec.sheet.sheet = Some("Empty".to_owned());
    assert!(load(&spec).unwrap_err().message.contains("is empty"));
}

#[test]
fn ranges_and_headers() {
    let (google, _made, mut spec) = whole(vec![every_type()]);
    for (range, asked, expected) in [
        ("B3:C4", "'Data'!B3:C4", "id:Int64|name:Utf8\n1|ann"),
        ("c3:$c$100", "'Data'!C3:C100", "name:Utf8\nann"),
        ("G:H", "'Data'!G1:H1000", "mixed:Utf8|ok:Boolean\n7|true\nx|false"),
        ("H3", "'Data'!H3:Z1000", "ok:Boolean|time:Utf8\ntrue|10:11:12\nfalse|~"),
        ("A3:C4", "'Data'!A3:C4", "id:Int64|name:Utf8\n1|ann"),
        // Google refuses what goes beyond its grid.
        ("B3:C1048576", "'Data'!B3:C1000", "id:Int64|name:Utf8\n1|ann\n2|~"),
    ] {
        spec.sheet.range = Some(range.to_owned());
        assert_eq!(show(&load(&spec).unwrap()), expected, "{range}");
        assert_eq!(google.take_seen(), ["list", asked]);
    }
    spec.sheet.range = Some("AB1:AC2".to_owned());
    assert!(load(&spec).unwrap_err().message.contains("is empty"));
    assert_eq!(google.take_seen(), ["list"]);
    spec.sheet.range = Some("B3:A1".to_owned());
    assert!(load(&spec).unwrap_err().message.contains("not a range of cells"));
    assert!(google.take_seen().is_empty());
    spec.sheet.no_header = true;
    spec.sheet.range = Some("B4:C6".to_owned());
    spec.schema = vec![column("n", DataType::Int32)];
    assert_eq!(show(&load(&spec).unwrap()), "n:Int32|column_2:Utf8\n1|ann\n2|~");
    // Of several sheets, the first one with cells is meant, wherever the range has some.
    google.change(|sheets| sheets.push(Sheet::new(8, "Other", (0, 25), &[&[text("z")], &[number(1.0)]])));
    spec.sheet.no_header = false;
    spec.schema.clear();
    spec.sheet.range = Some("Z1".to_owned());
    assert!(load(&spec).unwrap_err().message.contains("is empty"));
}

#[test]
fn changes_are_noticed_by_the_content() {
    let (google, _made, spec) = whole(vec![every_type()]);
    let first = load(&spec).unwrap();
    assert_eq!(probe(&spec).unwrap(), first.version);
    google.change(|sheets| sheets[0].title = "Renamed".to_owned());
    assert_eq!(probe(&spec).unwrap(), first.version, "the cells are the same");
    google.change(|sheets| _ = sheets[0].cells.insert((3, 1), Cell::Number(5.0)));
    assert_ne!(probe(&spec).unwrap(), first.version);
    let second = load(&spec).unwrap();
    assert_eq!(show(&second), EVERY_TYPE.replace("\n1|", "\n5|"));
    assert_eq!(probe(&spec).unwrap(), second.version);
}

#[test]
fn credentials_of_every_kind() {
    let (google, _made, spec) = whole(vec![every_type()]);
    let mut open = spec.clone();
    open.object_store.credentials_file = None;
    // An API key reads what everybody may read.
    open.object_store.api_key = Some(Secret::new(API_KEY));
    let wrong = load(&open).unwrap_err();
    assert!(wrong.message.contains("403 PERMISSION_DENIED"), "{wrong:?}");
    assert!(wrong.hint.as_ref().unwrap().contains("everybody with the link"), "{wrong:?}");
    google.share(true, true);
    assert_eq!(show(&load(&open).unwrap()), EVERY_TYPE);
    assert_eq!(google.tokens(), 0);
    open.object_store.api_key = Some(Secret::new("AIza-another"));
    let wrong = load(&open).unwrap_err();
    assert!(wrong.message.contains("API key not valid") && wrong.hint.unwrap().contains("store_api_key"));
    // A token that somebody else got, in the settings or as a header.
    load(&spec).unwrap();
    let token = google.secrets()[0].clone();
    open.object_store.api_key = None;
    open.object_store.token = Some(Secret::new(token.as_str()));
    assert_eq!(show(&load(&open).unwrap()), EVERY_TYPE);
    open.object_store.token = None;
    open.headers = vec![("authorization".to_owned(), format!("Bearer {token}"))];
    assert_eq!(show(&load(&open).unwrap()), EVERY_TYPE);
    google.revoke_tokens();
    let wrong = load(&open).unwrap_err();
    assert!(wrong.message.contains("401 UNAUTHENTICATED") && wrong.hint.unwrap().contains("expired"));
}
