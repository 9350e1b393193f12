//! The key that is answered for a new row: as a read of the row shows it, by which it is found. The database is asked
//! for it, unless the key is stored as it was sent and shown so, as an integer is.

use salver_model::records::{ColumnInfo, ColumnKind, Field};

use super::context::{Fields, WriteContext};
use super::plan::ChangeResponse;
use super::record::Values;
use crate::condition::bind_of;
use crate::dialect::{Dialect, is_untyped, makes_numbers, type_name};
use crate::json::{self, JsonForm, JsonRow};
use crate::statement::Bind;

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// That of a row which is new, and has what was sent.
    New,
    /// That of a row which may have been there, under a text that only equals the one that was sent.
    Perhaps,
}

/// Returns the key of a new row, before it is looked for: from the values, else from the step that inserts it, which
/// reports the number that the database made if it is `numbered`.
pub(crate) fn key_answer(
    ground: &WriteContext<'_>,
    (fields, values): (&Fields<'_>, &Values),
    numbered: bool,
    step: usize,
) -> ChangeResponse {
    let known = known_key(ground, values, Stored::New);
    if ground.table.has_triggers && ground.tells_key {
        let otherwise = match known.or_else(|| sent_key(ground, fields)) {
            Some(json) => ChangeResponse::Ready(json),
            None if ground.numbered().is_some() => ChangeResponse::Key(step),
            None => ChangeResponse::Ready(b"null".to_vec()),
        };
        let told = Box::new(returned_key(ground, step));
        return ChangeResponse::Either { step, told, otherwise: Box::new(otherwise) };
    }
    match known {
        Some(json) => ChangeResponse::Ready(json),
        None if numbered => ChangeResponse::Key(step),
        None => returned_key(ground, step),
    }
}

/// Returns the key from the first row that a step returned, whose first columns are those of the key.
pub(crate) fn returned_key(ground: &WriteContext<'_>, step: usize) -> ChangeResponse {
    let (spec, table) = (ground.scope.spec(), ground.table);
    match table.single_key() {
        Some(key) => ChangeResponse::Cell { step, form: JsonForm::of(spec, table, &table.columns[key]) },
        None => ChangeResponse::Row { step, of: step, row: JsonRow::new(spec, table, &table.key) },
    }
}

/// Returns the key from the values, one value or an object for a composite key, if it is shown as it was sent. Null
/// where it is hidden.
pub(crate) fn known_key(ground: &WriteContext<'_>, values: &Values, stored: Stored) -> Option<Vec<u8>> {
    if !ground.tells_key {
        return Some(b"null".to_vec());
    }
    let write = |key: usize, out: &mut Vec<u8>| {
        let (_, bind) = values.iter().find(|(own, _)| *own == key)?;
        write_known(ground, &ground.table.columns[key], bind, stored, out)
    };
    object(ground, &write)
}

/// Returns the key as the record has it, where the database does not report another.
fn sent_key(ground: &WriteContext<'_>, fields: &Fields<'_>) -> Option<Vec<u8>> {
    let write = |key: usize, out: &mut Vec<u8>| {
        let (_, field) = fields.iter().find(|(own, _)| *own == key)?;
        write_sent(field, out)
    };
    object(ground, &write)
}

/// Writes one part of a key; `None` where it is not known.
type WritePart<'w> = dyn Fn(usize, &mut Vec<u8>) -> Option<()> + 'w;

fn object(ground: &WriteContext<'_>, write: &WritePart<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    if let Some(key) = ground.table.single_key() {
        write(key, &mut out)?;
        return Some(out);
    }
    for (at, key) in ground.table.key.iter().enumerate() {
        out.extend_from_slice(&json::lead(at == 0, &ground.table.columns[*key].name));
        write(*key, &mut out)?;
    }
    out.push(b'}');
    Some(out)
}

fn write_known(
    ground: &WriteContext<'_>,
    column: &ColumnInfo,
    bind: &Bind,
    stored: Stored,
    out: &mut Vec<u8>,
) -> Option<()> {
    if JsonForm::of(ground.scope.spec(), ground.table, column) != JsonForm::Plain {
        return None;
    }
    match (column.kind, bind) {
        (ColumnKind::Integer | ColumnKind::BigInt, Bind::Int(number)) => json::integer(*number, out),
        // Beyond the integers that are signed.
        (ColumnKind::BigInt, Bind::Text(digits)) => json::unsigned(digits.parse().ok()?, out),
        (ColumnKind::Uuid, Bind::Text(text)) if ground.scope.dialect != Dialect::Sqlite => {
            let Bind::Text(shown) = bind_of(column.kind, false, text)? else { return None };
            json::string(&shown, out);
        }
        (ColumnKind::Varchar | ColumnKind::Clob, Bind::Text(text))
            if stored == Stored::New && keeps_text(ground.scope.dialect, column) =>
        {
            json::string(text, out);
        }
        _ => return None,
    }
    Some(())
}

/// Returns whether a column stores any text as it is, and shows it so.
fn keeps_text(dialect: Dialect, column: &ColumnInfo) -> bool {
    match dialect {
        Dialect::Sqlite => !is_untyped(&column.native) && !makes_numbers(&column.native),
        Dialect::Postgres => matches!(type_name(column.own_type()), "text" | "character varying"),
        Dialect::Mysql => !column.native.to_ascii_lowercase().starts_with("inet"),
    }
}

fn write_sent(field: &Field, out: &mut Vec<u8>) -> Option<()> {
    match field {
        Field::Null | Field::Back { .. } => return None,
        Field::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Field::Number(text) | Field::Json(text) => out.extend_from_slice(text.as_bytes()),
        Field::Text(text) => json::string(text, out),
    }
    Some(())
}
