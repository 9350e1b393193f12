//! Conversion of a table to a data frame. Guarded: the table is borrowed, and owned by the caller.

use arrow::array::{Array, BooleanArray, Float64Array, Int32Array, LargeBinaryArray, LargeStringArray};

use super::arrow_reader::{ArrowTable, ArrowValues};
use crate::host::value::{Attribute, Inside, MISSING, RValueKind, Value};

/// Returns the data frame.
pub(in crate::host) fn data_frame<'x>(inside: &'x Inside<'_>, table: &ArrowTable) -> Value<'x> {
    let list = inside.vector(RValueKind::List, table.columns.len());
    for (index, column) in table.columns.iter().enumerate() {
        inside.set(list, index, |inside| vector(inside, table.rows.cast_unsigned() as usize, &column.values));
    }
    inside.set_names(list, inside.texts(table.columns.len(), table.columns.iter().map(|column| &column.name)));
    // R's representation of automatic row names.
    let rows = inside.integers(RValueKind::Integer, 2, [MISSING, -table.rows].into_iter());
    inside.set_attribute(list, Attribute::RowNames, rows);
    set_class(inside, list, &["data.frame"]);
    list
}

fn vector<'x>(inside: &'x Inside<'_>, rows: usize, values: &ArrowValues) -> Value<'x> {
    match values {
        ArrowValues::Logicals(parts) => inside.integers(RValueKind::Logical, rows, parts.iter().flat_map(logicals)),
        ArrowValues::Integers(parts) => inside.integers(RValueKind::Integer, rows, parts.iter().flat_map(integers)),
        ArrowValues::Doubles(parts) => inside.doubles(rows, parts.iter().flat_map(doubles)),
        ArrowValues::Texts(parts) => texts(inside, rows, parts),
        ArrowValues::Factor(parts, levels, is_ordered) => {
            let vector = inside.integers(RValueKind::Integer, rows, parts.iter().flat_map(integers));
            inside.set_attribute(vector, Attribute::Levels, inside.texts(levels.len(), levels.iter()));
            set_class(inside, vector, if *is_ordered { &["ordered", "factor"] } else { &["factor"] });
            vector
        }
        ArrowValues::Dates(parts) => {
            let vector = inside.doubles(rows, parts.iter().flat_map(doubles));
            set_class(inside, vector, &["Date"]);
            vector
        }
        ArrowValues::Times(parts, zone) => {
            let vector = inside.doubles(rows, parts.iter().flat_map(doubles));
            inside.set_attribute(vector, Attribute::Zone, inside.text(zone));
            set_class(inside, vector, &["POSIXct", "POSIXt"]);
            vector
        }
        ArrowValues::Bytes(parts) => raws(inside, rows, parts),
    }
}

fn set_class(inside: &Inside<'_>, value: Value<'_>, classes: &[&str]) {
    inside.set_attribute(value, Attribute::Class, inside.texts(classes.len(), classes.iter()));
}

// Iterate by index: Arrow's own iterators hold references to the memory, which a jump out of them would leak.

fn logicals(part: &BooleanArray) -> impl Iterator<Item = i32> {
    (0..part.len()).map(|row| if part.is_null(row) { MISSING } else { i32::from(part.value(row)) })
}

fn integers(part: &Int32Array) -> impl Iterator<Item = i32> {
    (0..part.len()).map(|row| if part.is_null(row) { MISSING } else { part.value(row) })
}

fn doubles(part: &Float64Array) -> impl Iterator<Item = f64> {
    (0..part.len()).map(|row| if part.is_null(row) { Inside::missing_double() } else { part.value(row) })
}

fn texts<'x>(inside: &'x Inside<'_>, rows: usize, parts: &[LargeStringArray]) -> Value<'x> {
    let vector = inside.vector(RValueKind::Text, rows);
    let cells = parts.iter().flat_map(|part| (0..part.len()).map(move |row| (part, row)));
    for (index, (part, row)) in cells.enumerate() {
        inside.set_text(vector, index, (!part.is_null(row)).then(|| part.value(row)));
    }
    vector
}

/// Returns a list of raw vectors, in which `NULL` is a missing value.
fn raws<'x>(inside: &'x Inside<'_>, rows: usize, parts: &[LargeBinaryArray]) -> Value<'x> {
    let list = inside.vector(RValueKind::List, rows);
    let cells = parts.iter().flat_map(|part| (0..part.len()).map(move |row| (part, row)));
    for (index, (part, row)) in cells.enumerate().filter(|(_, (part, row))| !part.is_null(*row)) {
        inside.set(list, index, |inside| inside.raw(part.value(row)));
    }
    list
}
