//! A spreadsheet and what `spreadsheets.get` answers of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The fields of a spreadsheet that the stand-in knows, as the reference has them.
pub(super) const FIELDS: &str = "spreadsheetId,properties(title,locale,timeZone),sheets(properties(sheetId,title,index,\
    sheetType,hidden,gridProperties(rowCount,columnCount)),data(startRow,startColumn,rowData(values(\
    userEnteredValue(numberValue,stringValue,boolValue,formulaValue),effectiveValue(numberValue,stringValue,boolValue,\
    formulaValue,errorValue(type,message)),formattedValue,effectiveFormat(numberFormat(type,pattern),\
    horizontalAlignment))),rowMetadata(pixelSize),columnMetadata(pixelSize))),spreadsheetUrl";

/// The first and the last cell of an area, each as row and column from 0.
type Corners = ((u32, u32), (u32, u32));

/// A cell with a value.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A number without a format.
    Number(f64),
    /// A number of a format: its type, such as `DATE`, and its pattern.
    Formatted(f64, &'static str, &'static str),
    /// A text.
    Text(&'static str),
    /// A truth value.
    Bool(bool),
    /// An error, by its type.
    Error(&'static str),
    /// A cell without a value that was formatted.
    Blank,
}

impl Cell {
    fn json(&self) -> Value {
        let plain = |value: Value| {
            json!({
                "userEnteredValue": value,
                "effectiveValue": value,
                "formattedValue": "as it is shown",
                "effectiveFormat": { "horizontalAlignment": "LEFT" },
            })
        };
        match self {
            Self::Number(number) => plain(json!({ "numberValue": number })),
            Self::Formatted(number, kind, pattern) => {
                let mut cell = plain(json!({ "numberValue": number }));
                cell["effectiveFormat"]["numberFormat"] = json!({ "type": kind, "pattern": pattern });
                cell
            }
            Self::Text(text) => plain(json!({ "stringValue": text })),
            Self::Bool(value) => plain(json!({ "boolValue": value })),
            Self::Error(kind) => json!({
                "userEnteredValue": { "formulaValue": "=1/0" },
                "effectiveValue": { "errorValue": { "type": kind, "message": "it went wrong" } },
                "formattedValue": "#DIV/0!",
            }),
            Self::Blank => json!({ "effectiveFormat": { "numberFormat": { "type": "DATE", "pattern": "yyyy" } } }),
        }
    }
}

/// A sheet.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Its id.
    pub id: i64,
    /// Its title.
    pub title: String,
    /// Whether it is hidden.
    pub hidden: bool,
    /// Whether it is a chart and not cells.
    pub is_chart: bool,
    /// The size of its grid.
    pub size: (u32, u32),
    /// Its cells by row and column, from 0.
    pub cells: BTreeMap<(u32, u32), Cell>,
}

impl Sheet {
    /// Returns a sheet of rows of cells, the first of which is at `at`.
    #[must_use]
    pub fn new(id: i64, title: &str, at: (u32, u32), rows: &[&[Option<Cell>]]) -> Self {
        let mut cells = BTreeMap::new();
        for (row, values) in (at.0..).zip(rows) {
            let filled = (at.1..).zip(values.iter()).filter_map(|(column, cell)| Some((column, cell.clone()?)));
            cells.extend(filled.map(|(column, cell)| ((row, column), cell)));
        }
        Self { id, title: title.to_owned(), hidden: false, is_chart: false, size: (1_000, 26), cells }
    }

    /// Returns an empty sheet.
    #[must_use]
    pub fn empty(id: i64, title: &str) -> Self {
        Self::new(id, title, (0, 0), &[])
    }

    fn properties(&self, index: usize) -> Value {
        let mut properties = json!({ "sheetId": self.id, "title": self.title, "index": index });
        match self.is_chart {
            true => properties["sheetType"] = json!("OBJECT"),
            false => {
                properties["sheetType"] = json!("GRID");
                properties["gridProperties"] = json!({ "rowCount": self.size.0, "columnCount": self.size.1 });
            }
        }
        if self.hidden {
            properties["hidden"] = json!(true);
        }
        properties
    }

    /// Returns the cells of an area; empty rows and cells at its end are left out, and so is what is 0.
    fn grid(&self, (first, last): Corners) -> Value {
        let is_in =
            |(row, column): (u32, u32)| row >= first.0 && row <= last.0 && column >= first.1 && column <= last.1;
        let found: BTreeMap<(u32, u32), &Cell> =
            self.cells.iter().filter(|(at, _)| is_in(**at)).map(|(at, cell)| (*at, cell)).collect();
        let mut grid = json!({ "rowMetadata": [{ "pixelSize": 21 }], "columnMetadata": [{ "pixelSize": 100 }] });
        if first.0 > 0 {
            grid["startRow"] = json!(first.0);
        }
        if first.1 > 0 {
            grid["startColumn"] = json!(first.1);
        }
        let Some(last_row) = found.keys().map(|at| at.0).max() else { return grid };
        let row = |row: u32| {
            let Some(end) = found.keys().filter(|at| at.0 == row).map(|at| at.1).max() else { return json!({}) };
            let cell = |column: u32| found.get(&(row, column)).map_or_else(|| json!({}), |cell| cell.json());
            json!({ "values": (first.1..=end).map(cell).collect::<Vec<Value>>() })
        };
        grid["rowData"] = (first.0..=last_row).map(row).collect();
        grid
    }
}

/// Returns a whole spreadsheet, with the cells of `ranges` or of everything.
pub(super) fn answer(sheets: &[Sheet], ranges: &[&str]) -> Result<Value, String> {
    let mut areas: BTreeMap<usize, Vec<Corners>> = BTreeMap::new();
    for range in ranges {
        let (index, area) = parsed(sheets, range)?;
        areas.entry(index).or_default().push(area);
    }
    let mut listed = Vec::new();
    for (index, sheet) in sheets.iter().enumerate() {
        let whole = vec![((0, 0), (sheet.size.0 - 1, sheet.size.1 - 1))];
        let areas = match ranges.is_empty() {
            true => Some(&whole),
            false => areas.get(&index),
        };
        let Some(areas) = areas else { continue };
        let mut answer = json!({ "properties": sheet.properties(index) });
        if !sheet.is_chart {
            answer["data"] = areas.iter().map(|area| sheet.grid(*area)).collect();
        }
        listed.push(answer);
    }
    Ok(json!({
        "spreadsheetId": super::ID,
        "properties": { "title": "Of a test", "locale": "en_GB", "timeZone": "Europe/London" },
        "sheets": listed,
        "spreadsheetUrl": format!("https://docs.google.com/spreadsheets/d/{}/edit", super::ID),
    }))
}

/// Parses a range in A1 notation, with the title of the sheet in quotes.
fn parsed(sheets: &[Sheet], range: &str) -> Result<(usize, Corners), String> {
    let unknown = || format!("Unable to parse range: {range}");
    let quoted = range.strip_prefix('\'').ok_or_else(unknown)?;
    // The last quote ends the title; those in it are doubled.
    let (title, cells) = quoted.rsplit_once('\'').ok_or_else(unknown)?;
    let plain = title.replace("''", "\u{0}");
    if plain.contains('\'') {
        return Err(unknown());
    }
    let title = plain.replace('\u{0}', "'");
    let found = sheets.iter().enumerate().find(|(_, sheet)| sheet.title == title && !sheet.is_chart);
    let (index, sheet) = found.ok_or_else(unknown)?;
    if cells.is_empty() {
        return Ok((index, ((0, 0), (sheet.size.0 - 1, sheet.size.1 - 1))));
    }
    let cells = cells.strip_prefix('!').ok_or_else(unknown)?;
    let (first, last) = cells.split_once(':').unwrap_or((cells, cells));
    let (first, last) = (cell(first).ok_or_else(unknown)?, cell(last).ok_or_else(unknown)?);
    if last.0 >= sheet.size.0 || last.1 >= sheet.size.1 {
        let (rows, columns) = sheet.size;
        return Err(format!("Range ({range}) exceeds grid limits. Max rows: {rows}, max columns: {columns}"));
    }
    Ok((index, (first, last)))
}

fn cell(text: &str) -> Option<(u32, u32)> {
    let split = text.find(|c: char| !c.is_ascii_uppercase())?;
    let (letters, digits) = text.split_at(split);
    let column = letters.bytes().fold(0, |sum, b| sum * 26 + u32::from(b - b'A') + 1);
    Some((digits.parse::<u32>().ok()?.checked_sub(1)?, column.checked_sub(1)?))
}
