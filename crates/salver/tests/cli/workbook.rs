//! Workbooks: out of Salver and in again, and as another program reads them.

use std::process::Command;

use super::super::Place;

const TYPES: &str = "select 1 as i, 1.5 as f, true as b, '=1+1' as t, date '2024-02-29' as d, \
    timestamp '2024-02-29T12:30:15.250' as at, 9007199254740993 as big, cast(null as int) as n, \
    cast('1.50' as decimal(10, 2)) as dec, make_array(1, 2) as l, 'a' || chr(13) || chr(1) || '_x0041_ ' as odd \
    union all select -2, null, false, '', date '1900-01-01', timestamp '9999-12-31T23:59:59', 1, null, -2, null, 'ü' \
    order by i desc";

/// What openpyxl, which pandas reads workbooks with, finds in that workbook.
const OPENPYXL: &str = r#"
import datetime as dt, sys
import openpyxl
sheet = openpyxl.load_workbook(sys.argv[1])["Sheet1"]
header, first, second = sheet.iter_rows()
assert [cell.value for cell in header] == ["i", "f", "b", "t", "d", "at", "big", "n", "dec", "l", "odd"], header
assert all(cell.font.b for cell in header) and not first[0].font.b
assert sheet.freeze_panes == "A2" and sheet.auto_filter.ref == "A1:K3", sheet.auto_filter.ref
values = [cell.value for cell in first][:10]
assert values == [1, 1.5, True, "=1+1", dt.datetime(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30, 15, 250000),
    "9007199254740993", None, 1.5, "[1,2]"], values
assert [cell.data_type for cell in first][:4] == ["n", "n", "b", "s"] or first[3].data_type == "inlineStr", first
assert [cell.number_format for cell in first][4:6] == ["yyyy\\-mm\\-dd", "yyyy\\-mm\\-dd\\ hh:mm:ss.000"]
values = [cell.value for cell in second]
assert values[:3] == [-2, None, False] and not values[3], values
assert values[4:] == [dt.datetime(1900, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59), 1, None, -2, None, "ü"], values
print("well")
"#;

#[test]
fn types_come_back() {
    let place = Place::new();
    assert_eq!(place.run(&["query", TYPES, "-o", "types.xlsx"]).good(), "");
    let run = place.run(&["query", "select * from types order by i desc", "types.xlsx", "-f", "ndjson"]);
    let first = "{\"i\":1,\"f\":1.5,\"b\":true,\"t\":\"=1+1\",\"d\":\"2024-02-29\",\"at\":\"2024-02-29T12:30:15.250\",\
        \"big\":\"9007199254740993\",\"n\":null,\"dec\":1.5,\"l\":\"[1,2]\",\"odd\":\"a\\r\\u0001_x0041_ \"}";
    let second = "{\"i\":-2,\"f\":null,\"b\":false,\"t\":null,\"d\":\"1900-01-01\",\"at\":\"9999-12-31T23:59:59\",\
        \"big\":\"1\",\"n\":null,\"dec\":-2.0,\"l\":null,\"odd\":\"ü\"}";
    assert_eq!(run.good(), format!("{first}\n{second}\n"));
}

#[test]
fn another_program_reads_it() {
    if !Command::new("python3").args(["-c", "import openpyxl"]).output().is_ok_and(|done| done.status.success()) {
        return;
    }
    let place = Place::new();
    assert_eq!(place.run(&["query", TYPES, "-o", "types.xlsx"]).good(), "");
    let done = Command::new("python3").args(["-c", OPENPYXL]).arg(place.path().join("types.xlsx")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "well", "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn what_a_sheet_does_not_hold_leaves_no_file() {
    let place = Place::new();
    for (sql, said) in [
        ("select value from generate_series(1, 1048576)", "a sheet holds 1048575 rows"),
        ("select repeat('x', 32768) as long", "column `long`, row 1: "),
    ] {
        let run = place.run(&["query", sql, "-o", "new.xlsx"]);
        assert!(run.code == Some(1) && run.err.contains(said) && run.err.contains("CSV or Parquet"), "{run:?}");
        assert!(!place.path().join("new.xlsx").exists() && !place.path().join("new.xlsx.part").exists());
    }
}
