//! Reads the cells from an answer of the API: of its `spreadsheets.get`, with the fields that are asked for.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use calamine::Data;
use salver_model::limits::SHEET_FILE_BYTES_MAX;
use salver_model::{Code, Error, Result};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::serial::{NumberKind, value_of};
use crate::cell_area::SheetCell;

#[derive(Deserialize)]
struct Spreadsheet {
    #[serde(default)]
    sheets: Vec<Sheet>,
}

#[derive(Deserialize)]
struct Sheet {
    #[serde(default)]
    data: Vec<Grid>,
}

/// A rectangle of cells; what is 0 is left out.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Grid {
    #[serde(default)]
    start_row: u32,
    #[serde(default)]
    start_column: u32,
    #[serde(default)]
    row_data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    /// The cells with a value, each with its column in the rectangle.
    #[serde(default, deserialize_with = "filled")]
    values: Vec<(u32, Data)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cell {
    effective_value: Option<Value>,
    effective_format: Option<Format>,
}

/// A value of one of these types.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Value {
    /// As text: serde_json's own numbers may be off in their last bit.
    number_value: Option<Box<RawValue>>,
    string_value: Option<String>,
    bool_value: Option<bool>,
    /// What is null, as in workbooks.
    #[allow(dead_code, reason = "an error is a value that is known")]
    error_value: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Format {
    number_format: Option<NumberFormat>,
}

#[derive(Deserialize)]
struct NumberFormat {
    #[serde(rename = "type")]
    kind: Option<NumberKind>,
    pattern: Option<String>,
}

impl Cell {
    /// Returns the value; `None` for an empty cell and for an error.
    fn value(self) -> Option<Data> {
        let value = self.effective_value?;
        if let Some(text) = value.string_value {
            return (!text.is_empty()).then_some(Data::String(text));
        }
        if let Some(value) = value.bool_value {
            return Some(Data::Bool(value));
        }
        let number: f64 = value.number_value?.get().parse().ok()?;
        let format = self.effective_format.and_then(|format| format.number_format);
        let kind = format.as_ref().and_then(|format| format.kind).unwrap_or(NumberKind::Other);
        Some(value_of(number, kind, format.as_ref().and_then(|format| format.pattern.as_deref())))
    }
}

/// Keeps the cells that have a value: most of a sheet may be empty.
fn filled<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(u32, Data)>, D::Error> {
    struct Cells;

    impl<'de> Visitor<'de> for Cells {
        type Value = Vec<(u32, Data)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the cells of a row")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut cells: A) -> Result<Self::Value, A::Error> {
            let (mut found, mut column) = (Vec::new(), 0_u32);
            while let Some(cell) = cells.next_element::<Cell>()? {
                found.extend(cell.value().map(|value| (column, value)));
                column = column.saturating_add(1);
            }
            Ok(found)
        }
    }

    deserializer.deserialize_seq(Cells)
}

/// Reads the cells with a value from the answer at `path`; `label` names the spreadsheet in messages.
///
/// # Errors
/// If it is no answer of the API, or too large.
pub(crate) fn cells(label: &str, path: &Path) -> Result<Vec<SheetCell>> {
    let broken = |cause: &dyn fmt::Display| {
        Error::new(Code::Source, format!("`{label}` can't be read: what came is no sheet of Google ({cause})"))
            .with_hint("check `store_endpoint`, and proxies on the way; the next refresh tries again")
    };
    let file = File::open(path).map_err(|cause| broken(&cause))?;
    if file.metadata().map_err(|cause| broken(&cause))?.len() > SHEET_FILE_BYTES_MAX {
        return Err(broken(&"it is larger than 1 GiB"));
    }
    let answer: Spreadsheet = serde_json::from_reader(BufReader::new(file)).map_err(|cause| broken(&cause))?;
    if answer.sheets.is_empty() {
        return Err(broken(&"it has no sheets"));
    }
    let mut found = Vec::new();
    for grid in answer.sheets.into_iter().flat_map(|sheet| sheet.data) {
        for (row, down) in grid.row_data.into_iter().zip(0_u32..) {
            found.extend(row.values.into_iter().map(|(right, value)| SheetCell {
                row: grid.start_row.saturating_add(down),
                column: grid.start_column.saturating_add(right),
                value,
            }));
        }
    }
    Ok(found)
}
