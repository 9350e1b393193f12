//! Encodes rows in the text format of `COPY ... FROM STDIN`.

use bytes::{BufMut, BytesMut};
use salver_model::records::ColumnKind;

use crate::backend::postgres::bind::float_text;
use crate::dialect::Dialect;
use crate::statement::{Bind, BulkLoad};

/// The format of one load's rows.
#[derive(Debug)]
pub(super) struct Copy {
    /// The statement.
    pub(super) sql: String,
    /// Prefix of a line of the error context in which the server says at which row it stopped.
    context: String,
    /// Prefixes of each column's values.
    prefixes: Vec<Option<String>>,
}

impl Copy {
    pub(super) fn of(load: &BulkLoad, geometry_srid: u32) -> Self {
        let mut sql = "COPY ".to_owned();
        Dialect::Postgres.name(&load.table, &mut sql);
        for (index, (column, _)) in load.columns.iter().enumerate() {
            sql.push_str(if index == 0 { " (" } else { ", " });
            Dialect::Postgres.name(column, &mut sql);
        }
        sql.push_str(if load.columns.is_empty() { " FROM STDIN" } else { ") FROM STDIN" });
        // A statement uses a function for the SRID; here it is part of the text.
        let prefix = |kind| (kind == ColumnKind::Geometry).then(|| format!("SRID={geometry_srid};"));
        let prefixes = load.columns.iter().map(|(_, kind)| prefix(*kind)).collect();
        Self { sql, context: format!("COPY {}, ", load.table), prefixes }
    }

    /// Appends one row.
    pub(super) fn row(&self, row: &[Bind], out: &mut BytesMut) {
        for (index, bind) in row.iter().enumerate() {
            if index > 0 {
                out.put_u8(b'\t');
            }
            if let (Some(Some(prefix)), Bind::Text(text)) = (self.prefixes.get(index), bind)
                && !text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("SRID="))
            {
                out.put_slice(prefix.as_bytes());
            }
            value(bind, out);
        }
        out.put_u8(b'\n');
    }

    /// Returns the row, from 0, at which the server says it stopped. The context may be in another language, or
    /// missing; a wrong number costs time and nothing else.
    pub(super) fn stopped_at(&self, context: &str) -> Option<usize> {
        let line = context.lines().find_map(|line| line.strip_prefix(self.context.as_str()))?;
        let digits = line.trim_start_matches(|c: char| !c.is_ascii_digit());
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse::<usize>().ok()?.checked_sub(1)
    }
}

fn value(bind: &Bind, out: &mut BytesMut) {
    match bind {
        // References belong to programs; a load has none.
        Bind::Null | Bind::Back { .. } | Bind::BackKey { .. } | Bind::BackOr { .. } => out.put_slice(b"\\N"),
        Bind::Bool(value) => out.put_u8(if *value { b't' } else { b'f' }),
        Bind::Int(value) => out.put_slice(itoa::Buffer::new().format(*value).as_bytes()),
        Bind::Float(value) => out.put_slice(float_text(*value, &mut zmij::Buffer::new()).as_bytes()),
        Bind::Text(text) => escaped(text.as_bytes(), out),
        Bind::Bytes(bytes) => hex(bytes, out),
    }
}

fn escaped(text: &[u8], out: &mut BytesMut) {
    let mut from = 0;
    for (at, byte) in text.iter().enumerate() {
        let escape = match byte {
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => continue,
        };
        out.put_slice(&text[from..at]);
        out.put_slice(&[b'\\', escape]);
        from = at + 1;
    }
    out.put_slice(&text[from..]);
}

fn hex(bytes: &[u8], out: &mut BytesMut) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.put_slice(b"\\\\x");
    for byte in bytes {
        out.put_u8(DIGITS[usize::from(byte >> 4)]);
        out.put_u8(DIGITS[usize::from(byte & 15)]);
    }
}
