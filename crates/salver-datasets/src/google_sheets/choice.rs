//! Picks the sheet of a spreadsheet that a dataset is read from.

use salver_model::spec::{DatasetSpec, GoogleSheetSource};
use salver_model::{Code, Error, Result};
use serde::Deserialize;

use crate::cell_area::Area;

/// Fields of the list of sheets.
pub(super) const LIST_FIELDS: &str =
    "sheets(properties(sheetId,title,index,hidden,sheetType,gridProperties(rowCount,columnCount)))";

/// Most titles that a message lists.
const NAMED_TITLES: usize = 20;

/// The list of sheets, as the API answers it.
#[derive(Debug, Deserialize)]
pub(super) struct SheetList {
    #[serde(default)]
    sheets: Vec<ListedSheet>,
}

#[derive(Debug, Deserialize)]
struct ListedSheet {
    properties: Properties,
}

/// What is known of a sheet before its cells; what is 0, false or empty is left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Properties {
    #[serde(default)]
    sheet_id: i64,
    #[serde(default)]
    title: String,
    #[serde(default)]
    index: u32,
    #[serde(default)]
    hidden: bool,
    sheet_type: Option<String>,
    grid_properties: Option<GridProperties>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GridProperties {
    #[serde(default)]
    row_count: u32,
    #[serde(default)]
    column_count: u32,
}

impl Properties {
    fn is_grid(&self) -> bool {
        self.sheet_type.as_deref().is_none_or(|kind| kind == "GRID")
    }

    /// Returns the part of the sheet that is to be read, in A1 notation: `'It''s'!B3:F100`. What the sheet does not
    /// have of the range is left out, because the API refuses a range that goes beyond; `None` if it has nothing of
    /// it.
    pub(super) fn range(&self, area: Option<&Area>) -> Option<String> {
        let title = format!("'{}'", self.title.replace('\'', "''"));
        match (area, &self.grid_properties) {
            (Some(area), Some(grid)) => Some(format!("{title}!{}", area.within(grid.row_count, grid.column_count)?)),
            _ => Some(title),
        }
    }
}

/// The sheets that may be meant.
#[derive(Debug)]
pub(super) enum Choice {
    /// This one, empty or not.
    One(Properties),
    /// The first of these that has cells.
    FirstFilled(Vec<Properties>),
}

impl SheetList {
    /// Returns the sheet that `spec` names, else the one of the source, else those that are not hidden, in their order.
    pub(super) fn choice(&self, spec: &DatasetSpec, source: &GoogleSheetSource) -> Result<Choice> {
        let mut sheets: Vec<&Properties> = self.sheets.iter().map(|sheet| &sheet.properties).collect();
        sheets.sort_by_key(|sheet| sheet.index);
        let grids = || sheets.iter().filter(|sheet| sheet.is_grid());
        let titles: Vec<&str> = grids().map(|sheet| sheet.title.as_str()).collect();
        let wanted = match (&spec.sheet.sheet, source.sheet_id) {
            (Some(title), _) => (format!("`{title}`"), sheets.iter().find(|sheet| sheet.title == *title)),
            (None, Some(id)) => (format!("with the gid {id}"), sheets.iter().find(|sheet| sheet.sheet_id == id)),
            (None, None) => {
                let mut shown: Vec<Properties> = grids().filter(|sheet| !sheet.hidden).map(|s| (*s).clone()).collect();
                return match shown.len() {
                    0 => Err(Error::new(Code::Source, format!("`{source}` has no visible sheet with cells"))
                        .with_hint(format!("name one with `sheet`: {}", there_are(&titles)))),
                    1 => Ok(Choice::One(shown.remove(0))),
                    _ => Ok(Choice::FirstFilled(shown)),
                };
            }
        };
        match wanted {
            (_, Some(sheet)) if sheet.is_grid() => Ok(Choice::One((*sheet).clone())),
            (name, Some(_)) => Err(Error::new(Code::Source, format!("the sheet {name} of `{source}` has no cells"))
                .with_hint(format!("charts are no rows; with cells {}", there_are(&titles)))),
            (name, None) => {
                Err(Error::new(Code::Source, format!("`{source}` has no sheet {name}")).with_hint(there_are(&titles)))
            }
        }
    }
}

/// Returns "there are `a`, `b`".
fn there_are(titles: &[&str]) -> String {
    if titles.is_empty() {
        return "a spreadsheet has a sheet: check `store_endpoint`, and proxies on the way".to_owned();
    }
    let named: Vec<String> = titles.iter().take(NAMED_TITLES).map(|title| format!("`{title}`")).collect();
    let more = if titles.len() > NAMED_TITLES { ", ..." } else { "" };
    format!("there are {}{more}", named.join(", "))
}
