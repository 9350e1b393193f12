//! Copies a data frame's columns out of R.
//!
//! Guarded: everything allocated is owned by the caller. Where R may jump, nothing here owns memory: an empty column is
//! stored first, and filled in place.

use crate::host::json::{self, Unfit};
use crate::host::value::{Attribute, Inside, MISSING, RValueKind, Value};

/// Data frame copied out of R.
#[derive(Debug, Default)]
pub(in crate::host) struct Leaving {
    pub(super) rows: usize,
    pub(super) columns: Vec<ExportedColumn>,
}

/// Column of the data frame.
#[derive(Debug, Default)]
pub(super) struct ExportedColumn {
    pub(super) name: Vec<u8>,
    pub(super) cells: Cells,
}

/// Cells of a column, as in R: with its representations of missing values, except for texts and bytes.
#[derive(Debug, Default)]
pub(super) enum Cells {
    #[default]
    None,
    Logicals(Vec<i32>),
    Integers(Vec<i32>),
    Doubles(Vec<f64>),
    /// 64-bit integers in the memory of doubles, as in the package bit64.
    Integers64(Vec<f64>),
    Dates(Vec<f64>),
    /// Seconds, and the time zone for display.
    Times(Vec<f64>, Vec<u8>),
    /// Indexes of levels, the levels, and whether these are ordered.
    Factor(Vec<i32>, JoinedBytes, bool),
    Texts(JoinedBytes),
    Bytes(JoinedBytes),
}

/// Concatenated texts or bytes.
#[derive(Debug, Default)]
pub(super) struct JoinedBytes {
    pub(super) bytes: Vec<u8>,
    /// End of each.
    pub(super) ends: Vec<usize>,
    /// Whether each is present.
    pub(super) present: Vec<bool>,
}

impl JoinedBytes {
    /// Ends the current text or bytes.
    fn end(&mut self, is_present: bool) {
        self.ends.push(self.bytes.len());
        self.present.push(is_present);
    }

    /// Appends the texts of a character vector.
    fn add(&mut self, inside: &Inside<'_>, texts: Value<'_>) {
        for index in 0..inside.length(texts) {
            let bytes = &mut self.bytes;
            let is_present = inside.with_string(texts, index, |text| put_text(bytes, text)).is_some();
            self.end(is_present);
        }
    }
}

/// Copies a data frame.
///
/// # Errors
/// Returns an error when it contains something that is not data, or columns of different lengths.
pub(in crate::host) fn gather(inside: &Inside<'_>, frame: Value<'_>, leaving: &mut Leaving) -> Result<(), Unfit> {
    let names = inside.attribute(frame, Attribute::Names);
    let rows = inside.length(inside.attribute(frame, Attribute::RowNames));
    leaving.rows = rows;
    for index in 0..inside.length(frame) {
        leaving.columns.push(ExportedColumn::default());
        let Some(column) = leaving.columns.last_mut() else { continue };
        let name = &mut column.name;
        if inside.kind(names) == RValueKind::Text {
            inside.with_string(names, index, |text| put_text(name, text));
        }
        if name.is_empty() {
            // It gets its index, as in JSON.
            name.extend_from_slice((index + 1).to_string().as_bytes());
        }
        inside.scope(|inside| gather_column(inside, inside.element(frame, index), rows, &mut column.cells))?;
    }
    Ok(())
}

fn gather_column(inside: &Inside<'_>, value: Value<'_>, rows: usize, cells: &mut Cells) -> Result<(), Unfit> {
    let class = |name| inside.has_class(value) && inside.inherits(value, name);
    if inside.length(value) != rows {
        return Err(Unfit::Shape);
    }
    match inside.kind(value) {
        RValueKind::Logical => *cells = Cells::Logicals(inside.numbers(value).to_vec()),
        RValueKind::Integer if class(c"factor") => {
            let (is_ordered, numbers) = (class(c"ordered"), inside.numbers(value));
            *cells = Cells::Factor(numbers.to_vec(), JoinedBytes::default(), is_ordered);
            if let Cells::Factor(_, levels, _) = cells {
                levels.add(inside, inside.attribute(value, Attribute::Levels));
            }
        }
        RValueKind::Integer if class(c"Date") => *cells = Cells::Dates(widened(inside.numbers(value))),
        RValueKind::Integer if class(c"POSIXct") => {
            *cells = Cells::Times(widened(inside.numbers(value)), Vec::new());
            zone(inside, value, cells);
        }
        RValueKind::Integer => *cells = Cells::Integers(inside.numbers(value).to_vec()),
        RValueKind::Double if class(c"Date") => *cells = Cells::Dates(inside.reals(value).to_vec()),
        RValueKind::Double if class(c"POSIXct") => {
            *cells = Cells::Times(inside.reals(value).to_vec(), Vec::new());
            zone(inside, value, cells);
        }
        RValueKind::Double if class(c"integer64") => *cells = Cells::Integers64(inside.reals(value).to_vec()),
        RValueKind::Double => *cells = Cells::Doubles(inside.reals(value).to_vec()),
        RValueKind::Text => {
            *cells = Cells::Texts(JoinedBytes::default());
            if let Cells::Texts(texts) = cells {
                texts.add(inside, value);
            }
        }
        RValueKind::List => return gather_list(inside, value, cells),
        RValueKind::Raw => *cells = Cells::Integers(inside.bytes(value).iter().map(|byte| i32::from(*byte)).collect()),
        RValueKind::Null | RValueKind::Complex | RValueKind::Symbol | RValueKind::Other => return Err(Unfit::Kind),
    }
    Ok(())
}

/// Copies a list: a list of raw vectors as bytes, any other as the JSON texts of its elements. `NULL` is a missing
/// value.
fn gather_list(inside: &Inside<'_>, list: Value<'_>, cells: &mut Cells) -> Result<(), Unfit> {
    let kinds = || (0..inside.length(list)).map(|index| inside.kind(inside.element(list, index)));
    let is_raw = kinds().any(|kind| kind == RValueKind::Raw)
        && kinds().all(|kind| matches!(kind, RValueKind::Raw | RValueKind::Null));
    *cells = if is_raw { Cells::Bytes(JoinedBytes::default()) } else { Cells::Texts(JoinedBytes::default()) };
    let (Cells::Bytes(pieces) | Cells::Texts(pieces)) = cells else { return Ok(()) };
    for index in 0..inside.length(list) {
        let element = inside.element(list, index);
        match inside.kind(element) {
            RValueKind::Null => {}
            RValueKind::Raw if is_raw => pieces.bytes.extend_from_slice(inside.bytes(element)),
            _ => json::write(inside, &mut pieces.bytes, element)?,
        }
        pieces.end(inside.kind(element) != RValueKind::Null);
    }
    Ok(())
}

/// Stores the time zone of times.
fn zone(inside: &Inside<'_>, value: Value<'_>, cells: &mut Cells) {
    let zones = inside.attribute(value, Attribute::Zone);
    if let Cells::Times(_, zone) = cells
        && inside.kind(zones) == RValueKind::Text
        && inside.length(zones) > 0
    {
        inside.with_string(zones, 0, |text| put_text(zone, text));
    }
}

/// Converts R's integers to doubles.
fn widened(numbers: &[i32]) -> Vec<f64> {
    numbers.iter().map(|number| if *number == MISSING { f64::NAN } else { f64::from(*number) }).collect()
}

/// Appends a text, whose encoding user code may have declared wrongly.
fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    match std::str::from_utf8(text) {
        Ok(_) => out.extend_from_slice(text),
        Err(_) => out.extend_from_slice(String::from_utf8_lossy(text).as_bytes()),
    }
}
