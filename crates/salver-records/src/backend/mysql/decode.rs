//! Decodes rows of the driver into cells.
//!
//! Rows come in the binary protocol, typed, or as text when several reads were merged into one statement; both yield
//! the same cells.

use mysql_async::consts::ColumnType;
use mysql_async::{Column, Row, Value};
use salver_model::Result;
use salver_model::records::ColumnKind;

use crate::cell::{Cell, OwnedCell, RowSink};

/// Scratch memory for passing on rows, reused from row to row.
#[derive(Debug, Default)]
pub(super) struct RowBuffer {
    /// The text of values that come as numbers, like dates.
    text: String,
    /// End offset of each value's text.
    ends: Vec<usize>,
    cells: Vec<Cell<'static>>,
}

/// The representations that a column's kind requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MysqlForm {
    Int,
    Bool,
    Single,
    Double,
    Bytes,
    Text,
}

impl MysqlForm {
    fn of(kind: Option<&ColumnKind>) -> Self {
        match kind {
            Some(ColumnKind::Integer | ColumnKind::BigInt) => Self::Int,
            Some(ColumnKind::Boolean) => Self::Bool,
            Some(ColumnKind::Float) => Self::Single,
            Some(ColumnKind::Double) => Self::Double,
            Some(ColumnKind::Varbinary | ColumnKind::Blob) => Self::Bytes,
            _ => Self::Text,
        }
    }
}

impl RowBuffer {
    /// Passes a row of the binary protocol to `sink`.
    pub(super) fn hand_over<S: RowSink>(
        &mut self,
        row: &Row,
        kinds: &[ColumnKind],
        read: usize,
        sink: &mut S,
    ) -> Result<()> {
        // Cells borrow from the text, so they can't be built while the text grows.
        self.text.clear();
        self.ends.clear();
        for (index, column) in row.columns_ref().iter().enumerate() {
            if let Some(value) = row.as_ref(index) {
                spell(value, column, MysqlForm::of(kinds.get(index)), &mut self.text);
            }
            self.ends.push(self.text.len());
        }
        let mut cells = recycled(std::mem::take(&mut self.cells));
        let mut start = 0;
        for (index, column) in row.columns_ref().iter().enumerate() {
            let text = &self.text[start..self.ends[index]];
            start = self.ends[index];
            let value = row.as_ref(index).unwrap_or(&Value::NULL);
            cells.push(cell(value, column, MysqlForm::of(kinds.get(index)), text));
        }
        let taken = sink.row(read, &cells);
        self.cells = recycled(cells);
        taken
    }

    /// Passes on a row of a merged statement, which has the read's index first and then every value as text.
    pub(super) fn hand_over_merged<S: RowSink>(
        &mut self,
        row: &Row,
        kinds: &[ColumnKind],
        read: usize,
        sink: &mut S,
    ) -> Result<()> {
        let mut cells = recycled(std::mem::take(&mut self.cells));
        for (index, kind) in kinds.iter().enumerate() {
            cells.push(match row.as_ref(index + 1) {
                Some(Value::Bytes(bytes)) => spelled(bytes, MysqlForm::of(Some(kind))),
                _ => Cell::Null,
            });
        }
        let taken = sink.row(read, &cells);
        self.cells = recycled(cells);
        taken
    }

    /// Decodes a row into owned cells.
    pub(super) fn keep(&mut self, row: &Row, kinds: &[ColumnKind]) -> Result<Vec<OwnedCell>> {
        /// A sink for one row.
        struct One(Vec<OwnedCell>);
        impl RowSink for One {
            type Piece = ();
            fn row(&mut self, _: usize, cells: &[Cell<'_>]) -> Result<()> {
                self.0 = cells.iter().map(|cell| cell.owned()).collect();
                Ok(())
            }
        }
        let mut one = One(Vec::new());
        self.hand_over(row, kinds, 0, &mut one)?;
        Ok(one.0)
    }
}

/// Reuses the memory for cells of another lifetime: collecting a vector's own elements works in place.
fn recycled<'to>(mut cells: Vec<Cell<'_>>) -> Vec<Cell<'to>> {
    cells.clear();
    cells.into_iter().map(|_| Cell::Null).collect()
}

/// Appends the text of a value that must become text but does not come as such.
fn spell(value: &Value, column: &Column, form: MysqlForm, text: &mut String) {
    match value {
        Value::Date(year, month, day, hour, minute, second, micros) => {
            digits(u32::from(*year), 4, text);
            text.push('-');
            digits(u32::from(*month), 2, text);
            text.push('-');
            digits(u32::from(*day), 2, text);
            if column.column_type() != ColumnType::MYSQL_TYPE_DATE {
                text.push(' ');
                clock(u32::from(*hour), *minute, *second, text);
                fraction(*micros, column.decimals(), text);
            }
        }
        Value::Time(negative, days, hours, minutes, seconds, micros) => {
            if *negative {
                text.push('-');
            }
            clock(days * 24 + u32::from(*hours), *minutes, *seconds, text);
            fraction(*micros, column.decimals(), text);
        }
        Value::Int(value) if form == MysqlForm::Text => text.push_str(itoa::Buffer::new().format(*value)),
        Value::UInt(value) if form == MysqlForm::Text => text.push_str(itoa::Buffer::new().format(*value)),
        Value::Float(value) if form == MysqlForm::Text => text.push_str(zmij::Buffer::new().format(*value)),
        Value::Double(value) if form == MysqlForm::Text => text.push_str(zmij::Buffer::new().format(*value)),
        _ => {}
    }
}

/// Appends a time. Hours may exceed 24: a `TIME` is a span.
fn clock(hours: u32, minutes: u8, seconds: u8, text: &mut String) {
    digits(hours, 2, text);
    text.push(':');
    digits(u32::from(minutes), 2, text);
    text.push(':');
    digits(u32::from(seconds), 2, text);
}

/// Appends as many fractional digits as the column has, as the server itself writes them.
fn fraction(micros: u32, decimals: u8, text: &mut String) {
    let width = match decimals {
        0 => return,
        1..=6 => usize::from(decimals),
        // The number of digits is unknown, as for expressions.
        _ if micros == 0 => return,
        _ => 6,
    };
    text.push('.');
    let start = text.len();
    digits(micros, 6, text);
    text.truncate(start + width);
}

fn digits(number: u32, width: usize, text: &mut String) {
    let mut buffer = itoa::Buffer::new();
    let number = buffer.format(number);
    for _ in number.len()..width {
        text.push('0');
    }
    text.push_str(number);
}

fn cell<'a>(value: &'a Value, column: &Column, form: MysqlForm, text: &'a str) -> Cell<'a> {
    match (value, form) {
        (Value::NULL, _) => Cell::Null,
        (Value::Bytes(bytes), MysqlForm::Int | MysqlForm::Bool)
            if column.column_type() == ColumnType::MYSQL_TYPE_BIT =>
        {
            bits(bytes, form)
        }
        (Value::Bytes(bytes), _) => spelled(bytes, form),
        (Value::Date(..) | Value::Time(..), _) | (_, MysqlForm::Text) => Cell::Text(text),
        (Value::Int(value), MysqlForm::Bool) => Cell::Bool(*value != 0),
        (Value::UInt(value), MysqlForm::Bool) => Cell::Bool(*value != 0),
        (Value::Int(value), MysqlForm::Single | MysqlForm::Double) => Cell::Float(*value as f64),
        (Value::UInt(value), MysqlForm::Single | MysqlForm::Double) => Cell::Float(*value as f64),
        (Value::Int(value), _) => Cell::Int(*value),
        (Value::UInt(value), _) => unsigned(*value),
        (Value::Float(value), MysqlForm::Bool) => Cell::Bool(*value != 0.0),
        (Value::Double(value), MysqlForm::Bool) => Cell::Bool(*value != 0.0),
        (Value::Float(value), _) => Cell::Single(*value),
        // The column has no more precision than this.
        (Value::Double(value), MysqlForm::Single) => Cell::Single(*value as f32),
        (Value::Double(value), _) => Cell::Float(*value),
    }
}

/// Decodes a `BIT` column, whose bytes come most significant first.
fn bits<'a>(bytes: &[u8], form: MysqlForm) -> Cell<'a> {
    let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    if form == MysqlForm::Bool { Cell::Bool(number != 0) } else { unsigned(number) }
}

fn unsigned<'a>(value: u64) -> Cell<'a> {
    i64::try_from(value).map_or(Cell::UInt(value), Cell::Int)
}

/// Decodes a value that comes as text, or as bytes.
fn spelled(bytes: &[u8], form: MysqlForm) -> Cell<'_> {
    if form == MysqlForm::Bytes {
        return Cell::Bytes(bytes);
    }
    // All text comes as UTF-8, so a value that is not UTF-8 is not text.
    let Ok(text) = std::str::from_utf8(bytes) else { return Cell::Bytes(bytes) };
    let number = match form {
        MysqlForm::Text | MysqlForm::Bytes => None,
        MysqlForm::Int => whole(text).or_else(|| text.parse().ok().map(Cell::Float)),
        MysqlForm::Bool => text.parse::<f64>().ok().map(|number| Cell::Bool(number != 0.0)),
        MysqlForm::Single => text.parse().ok().map(Cell::Single),
        MysqlForm::Double => text.parse().ok().map(Cell::Float),
    };
    number.unwrap_or(Cell::Text(text))
}

fn whole<'a>(text: &str) -> Option<Cell<'a>> {
    text.parse().ok().map(Cell::Int).or_else(|| text.parse().ok().map(Cell::UInt))
}
