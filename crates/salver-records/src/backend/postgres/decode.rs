//! Decodes rows of the driver into cells, borrowed from the row. The decoder of each column is chosen once per
//! statement.
//!
//! Results come in binary. Numbers, booleans, bytes and every type whose binary form is its text are decoded here;
//! other types must be selected as text (`column::text`), as the statements of this crate do.

use salver_model::records::ColumnKind;
use salver_model::{Code, Error, Result};
use tokio_postgres::types::{FromSql, Kind, Type};
use tokio_postgres::{Row, Statement};

use crate::cell::Cell;

/// The binary form of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PostgresForm {
    Bool,
    Int2,
    Int4,
    Int8,
    Oid,
    Float4,
    Float8,
    Text,
    /// JSON, with a version byte before the text.
    Jsonb,
    Bytes,
    /// Comes as a number, decoded as a boolean.
    IntAsBool,
}

/// Returns the forms of the columns of a statement whose result should have these kinds.
pub(super) fn forms(statement: &Statement, kinds: &[ColumnKind]) -> Result<Vec<PostgresForm>> {
    let columns = statement.columns();
    if columns.len() != kinds.len() {
        return Err(Error::internal(format!("{} columns came where {} were expected", columns.len(), kinds.len())));
    }
    columns.iter().zip(kinds).map(|(column, kind)| form(column.name(), column.type_(), *kind)).collect()
}

/// Returns the form of the first column, when it is an integer.
pub(super) fn key_form(statement: &Statement) -> Option<PostgresForm> {
    match *statement.columns().first()?.type_() {
        Type::INT2 => Some(PostgresForm::Int2),
        Type::INT4 => Some(PostgresForm::Int4),
        Type::INT8 => Some(PostgresForm::Int8),
        _ => None,
    }
}

fn form(name: &str, native: &Type, kind: ColumnKind) -> Result<PostgresForm> {
    Ok(match *native {
        Type::BOOL => PostgresForm::Bool,
        Type::INT2 | Type::INT4 | Type::INT8 if kind == ColumnKind::Boolean => PostgresForm::IntAsBool,
        Type::INT2 => PostgresForm::Int2,
        Type::INT4 => PostgresForm::Int4,
        Type::INT8 => PostgresForm::Int8,
        Type::OID => PostgresForm::Oid,
        Type::FLOAT4 => PostgresForm::Float4,
        Type::FLOAT8 => PostgresForm::Float8,
        Type::BYTEA => PostgresForm::Bytes,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN | Type::JSON | Type::XML => {
            PostgresForm::Text
        }
        Type::JSONB => PostgresForm::Jsonb,
        _ if matches!(native.kind(), Kind::Enum(_)) || native.name() == "citext" => PostgresForm::Text,
        _ => {
            return Err(Error::new(
                Code::Unsupported,
                format!("the column `{name}` has the type `{native}`, which can only be read as text"),
            ));
        }
    })
}

/// The bytes of one value.
struct Raw<'a>(Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Fills `cells` with the values of `row`.
pub(super) fn cells<'r>(row: &'r Row, forms: &[PostgresForm], cells: &mut Vec<Cell<'r>>) -> Result<()> {
    cells.clear();
    for (index, form) in forms.iter().enumerate() {
        let Raw(raw) = row.try_get(index).map_err(damaged)?;
        cells.push(match raw {
            None => Cell::Null,
            Some(raw) => cell(*form, raw)?,
        });
    }
    Ok(())
}

/// Empties the vector for another row and keeps its allocation.
pub(super) fn recycle<'b>(mut cells: Vec<Cell<'_>>) -> Vec<Cell<'b>> {
    cells.clear();
    // Collected in place, since source and target have the same layout.
    cells.into_iter().map(|_| Cell::Null).collect()
}

fn cell(form: PostgresForm, raw: &[u8]) -> Result<Cell<'_>> {
    Ok(match form {
        PostgresForm::Bool => Cell::Bool(raw != [0]),
        PostgresForm::Int2 => Cell::Int(i64::from(i16::from_be_bytes(exact(raw)?))),
        PostgresForm::Int4 => Cell::Int(i64::from(i32::from_be_bytes(exact(raw)?))),
        PostgresForm::Int8 => Cell::Int(i64::from_be_bytes(exact(raw)?)),
        PostgresForm::Oid => Cell::Int(i64::from(u32::from_be_bytes(exact(raw)?))),
        PostgresForm::Float4 => Cell::Single(f32::from_be_bytes(exact(raw)?)),
        PostgresForm::Float8 => Cell::Float(f64::from_be_bytes(exact(raw)?)),
        PostgresForm::Text => Cell::Text(std::str::from_utf8(raw).map_err(damaged)?),
        PostgresForm::Jsonb => Cell::Text(std::str::from_utf8(raw.get(1..).unwrap_or_default()).map_err(damaged)?),
        PostgresForm::Bytes => Cell::Bytes(raw),
        PostgresForm::IntAsBool => Cell::Bool(raw.iter().any(|byte| *byte != 0)),
    })
}

fn exact<const N: usize>(raw: &[u8]) -> Result<[u8; N]> {
    raw.try_into().map_err(damaged)
}

fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(Code::Execution, "the answer of the database can't be read").with_source(error)
}
