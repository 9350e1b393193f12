//! Writes cells as JSON, like PHP's `json_encode` with `JSON_UNESCAPED_UNICODE`: straight into the output buffer, with
//! names escaped once per shape and no intermediate values.

pub(crate) mod base64;
mod embedded;
mod number;

use std::sync::Arc;

use salver_model::records::{ColumnInfo, ColumnKind, TableInfo};
use salver_model::spec::{DatabaseKind, DatabaseSpec, matches_pattern};

use crate::cell::Cell;
use crate::dialect::is_untyped;

pub(crate) use embedded::embedded;
pub(crate) use number::{decimal, double, integer, single, unsigned};
pub(crate) use salver_text::json::write_php_string as string;

/// The JSON form of a column's cells, where their own type does not determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// By the cell's own type.
    Plain,
    /// Text with so many decimal places, also where the database stores a number.
    Decimal(Option<u32>),
    /// Text that is an object or array is written as one.
    Json,
    /// An integral float is written with a point: in a SQLite column without a type this distinguishes it from an
    /// integer.
    Untyped,
    /// Text that is a number is written as one (sums, which may exceed any integer type).
    Digits,
}

impl Form {
    /// Returns the form of a column of a table.
    pub(crate) fn of(spec: &DatabaseSpec, table: &TableInfo, column: &ColumnInfo) -> Self {
        match column.kind {
            ColumnKind::Decimal => Self::Decimal(column.scale),
            _ if is_json(spec, table, column) => Self::Json,
            _ if spec.kind == DatabaseKind::Sqlite && is_untyped(&column.native) => Self::Untyped,
            _ => Self::Plain,
        }
    }
}

/// Returns whether the entry declares the column's text to be JSON.
fn is_json(spec: &DatabaseSpec, table: &TableInfo, column: &ColumnInfo) -> bool {
    let path = || format!("{}.{}", table.name, column.name);
    !spec.json_columns.is_empty() && spec.json_columns.iter().any(|pattern| matches_pattern(pattern, &path()))
}

/// One member of an object: its escaped name, and the form of its value.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// `{"name":` or `,"name":`.
    pub(crate) lead: Box<[u8]>,
    pub(crate) form: Form,
}

impl Member {
    pub(crate) fn new(first: bool, name: &str, form: Form) -> Self {
        Self { lead: lead(first, name), form }
    }
}

/// Returns the text before a member's value.
pub(crate) fn lead(first: bool, name: &str) -> Box<[u8]> {
    let mut lead = Vec::with_capacity(name.len() + 4);
    lead.push(if first { b'{' } else { b',' });
    string(name, &mut lead);
    lead.push(b':');
    lead.into_boxed_slice()
}

/// Writes rows of one shape: one object per row, whose members are the cells in order.
#[derive(Clone, Debug)]
pub(crate) struct JsonRow {
    members: Box<[Member]>,
}

impl JsonRow {
    /// Creates the writer for these columns of the table.
    pub(crate) fn new(spec: &DatabaseSpec, table: &TableInfo, columns: &[usize]) -> Self {
        Self::named(columns.iter().map(|index| {
            let column = &table.columns[*index];
            (column.name.as_str(), Form::of(spec, table, column))
        }))
    }

    /// Creates the writer for members of these names.
    pub(crate) fn named<'n>(members: impl Iterator<Item = (&'n str, Form)>) -> Self {
        Self { members: members.enumerate().map(|(at, (name, form))| Member::new(at == 0, name, form)).collect() }
    }

    /// Appends one row. Cells after the last member are not written.
    pub(crate) fn write(&self, cells: &[Cell<'_>], out: &mut Vec<u8>) {
        if self.members.is_empty() {
            out.push(b'{');
        }
        for (member, cell) in self.members.iter().zip(cells) {
            out.extend_from_slice(&member.lead);
            value(*cell, member.form, out);
        }
        out.push(b'}');
    }
}

/// Appends one cell.
pub(crate) fn value(cell: Cell<'_>, form: Form, out: &mut Vec<u8>) {
    match (cell, form) {
        (Cell::Null, _) => out.extend_from_slice(b"null"),
        (Cell::Bool(true), _) => out.extend_from_slice(b"true"),
        (Cell::Bool(false), _) => out.extend_from_slice(b"false"),
        // A SQLite decimal is a float, which may be infinite.
        (Cell::Float(value), Form::Decimal(_)) if !value.is_finite() => out.extend_from_slice(b"null"),
        (Cell::Single(value), Form::Decimal(_)) if !value.is_finite() => out.extend_from_slice(b"null"),
        (Cell::Int(_) | Cell::UInt(_) | Cell::Float(_) | Cell::Single(_), Form::Decimal(scale)) => {
            out.push(b'"');
            decimal(cell, scale, out);
            out.push(b'"');
        }
        (Cell::Int(value), _) => integer(value, out),
        (Cell::UInt(value), _) => unsigned(value, out),
        (Cell::Float(value), Form::Untyped) => pointed(value, out),
        (Cell::Float(value), _) => double(value, out),
        (Cell::Single(value), _) => single(value, out),
        (Cell::Text(text), Form::Json) if embedded(text, out) => {}
        (Cell::Text(text), Form::Digits) if number::is_number(text) => out.extend_from_slice(text.as_bytes()),
        (Cell::Text(text), _) => string(text, out),
        (Cell::Bytes(bytes), _) => {
            out.push(b'"');
            let start = out.len();
            base64::encode(bytes, out);
            escape_slashes(start, out);
            out.push(b'"');
        }
    }
}

/// Appends a float, with a point where it would look like an integer.
fn pointed(value: f64, out: &mut Vec<u8>) {
    let start = out.len();
    double(value, out);
    if out[start..].iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
        out.extend_from_slice(b".0");
    }
}

/// Escapes the slashes after `start`, which base64 may have, as PHP does.
fn escape_slashes(start: usize, out: &mut Vec<u8>) {
    if out[start..].contains(&b'/') {
        let text = out.split_off(start);
        for (at, piece) in text.split(|byte| *byte == b'/').enumerate() {
            out.extend_from_slice(if at == 0 { &b""[..] } else { b"\\/" });
            out.extend_from_slice(piece);
        }
    }
}

/// Returns the kinds of these columns, for a `Read`.
pub(crate) fn kinds(table: &TableInfo, columns: &[usize]) -> Arc<[ColumnKind]> {
    columns.iter().map(|index| table.columns[*index].kind).collect()
}

#[cfg(test)]
mod tests {
    use super::{Form, JsonRow, value};
    use crate::cell::Cell;

    fn written(cell: Cell<'_>, form: Form) -> String {
        let mut out = Vec::new();
        value(cell, form, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows() {
        let row = JsonRow::named([("id", Form::Plain), ("a/\"b\"", Form::Plain)].into_iter());
        let mut out = Vec::new();
        row.write(&[Cell::Int(1), Cell::Text("x/y")], &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"id":1,"a\/\"b\"":"x\/y"}"#);
        let mut out = Vec::new();
        JsonRow::named([].into_iter()).write(&[], &mut out);
        assert_eq!(out, b"{}");
    }

    #[test]
    fn values() {
        assert_eq!(written(Cell::Null, Form::Plain), "null");
        assert_eq!(written(Cell::Bool(true), Form::Plain), "true");
        assert_eq!(written(Cell::UInt(u64::MAX), Form::Plain), "18446744073709551615");
        assert_eq!(written(Cell::Single(1.1), Form::Plain), "1.1");
        assert_eq!(written(Cell::Bytes(b"\x00\xff\x01"), Form::Plain), r#""AP8B""#);
        assert_eq!(written(Cell::Bytes(b"\xff\xff\xff\0"), Form::Plain), r#""\/\/\/\/AA==""#);
        assert_eq!(written(Cell::Float(23.01), Form::Decimal(Some(2))), r#""23.01""#);
        assert_eq!(written(Cell::Int(5), Form::Decimal(Some(2))), r#""5.00""#);
        assert_eq!(written(Cell::Float(f64::INFINITY), Form::Decimal(Some(2))), "null");
        assert_eq!(written(Cell::Text("23.01"), Form::Decimal(Some(2))), r#""23.01""#);
        for (float, shown) in
            [(1.0, "1.0"), (-3.0, "-3.0"), (1e16, "10000000000000000.0"), (1e300, "1.0e+300"), (0.5, "0.5")]
        {
            assert_eq!(written(Cell::Float(float), Form::Untyped), shown);
        }
        assert_eq!(written(Cell::Text("12"), Form::Digits), "12");
        assert_eq!(written(Cell::Text(r#"{"a": [1, "x/y"]}"#), Form::Json), r#"{"a":[1,"x\/y"]}"#);
        assert_eq!(written(Cell::Text("{not json"), Form::Json), r#""{not json""#);
    }
}
