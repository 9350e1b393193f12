//! Reads rows from a statement: binds values, steps, and passes cells to the sink that borrow SQLite's memory.

use std::borrow::Cow;

use rusqlite::types::{Null, ValueRef};
use rusqlite::{Connection, Row, Statement};
use salver_model::records::ColumnKind;
use salver_model::{Code, Error, Result};

use crate::cell::{Cell, OwnedCell, RowSink};
use crate::statement::{Bind, Done, Read};

/// Reason for the end of the rows.
#[derive(Debug)]
pub(super) enum RowsEnd {
    /// A failure of SQLite.
    Sqlite(rusqlite::Error),
    /// A failure on this side.
    Own(Error),
}

impl From<rusqlite::Error> for RowsEnd {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// Steps `read` to its end and passes each row to `sink`; calls `after` after each.
pub(super) fn feed<S: RowSink>(
    (connection, spare): (&Connection, &mut Vec<Cell<'static>>),
    (index, read): (usize, &Read),
    sink: &mut S,
    mut after: impl FnMut(&mut S) -> Result<()>,
) -> Result<(), RowsEnd> {
    feed_until((connection, spare), (index, read), sink, |sink| after(sink).map(|()| true))
}

/// Steps like [`feed`], until `after` returns that no more rows are wanted.
pub(super) fn feed_until<S: RowSink>(
    (connection, spare): (&Connection, &mut Vec<Cell<'static>>),
    (index, read): (usize, &Read),
    sink: &mut S,
    mut after: impl FnMut(&mut S) -> Result<bool>,
) -> Result<(), RowsEnd> {
    let mut statement = connection.prepare_cached(&read.sql)?;
    bind_all(&mut statement, &read.binds, &[])?;
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let mut cells: Vec<Cell<'_>> = std::mem::take(spare);
        if cells_of(row, columns, &read.kinds, &mut cells)? {
            sink.row(index, &cells).map_err(RowsEnd::Own)?;
        } else {
            mended(row, columns, &read.kinds, |cells| sink.row(index, cells))?;
        }
        *spare = emptied(cells);
        if !after(sink).map_err(RowsEnd::Own)? {
            break;
        }
    }
    Ok(())
}

/// Returns the row as owned cells.
pub(super) fn owned(row: &Row<'_>, columns: usize, kinds: &[ColumnKind]) -> Result<Vec<OwnedCell>, RowsEnd> {
    let mut cells = Vec::with_capacity(columns);
    let mut kept = Vec::new();
    let mut keep = |cells: &[Cell<'_>]| {
        kept = cells.iter().map(|cell| cell.owned()).collect();
        Ok(())
    };
    if cells_of(row, columns, kinds, &mut cells)? {
        keep(&cells).map_err(RowsEnd::Own)?;
    } else {
        mended(row, columns, kinds, keep)?;
    }
    Ok(kept)
}

/// Appends the cells of `row`; returns whether all its text is UTF-8.
#[inline]
fn cells_of<'row>(
    row: &'row Row<'_>,
    columns: usize,
    kinds: &[ColumnKind],
    cells: &mut Vec<Cell<'row>>,
) -> rusqlite::Result<bool> {
    for column in 0..columns {
        cells.push(match row.get_ref(column)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(value) => integer(value, kinds.get(column)),
            ValueRef::Real(value) => Cell::Float(value),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Cell::Text(text),
                Err(_) => return Ok(false),
            },
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
        });
    }
    Ok(true)
}

fn integer(value: i64, kind: Option<&ColumnKind>) -> Cell<'static> {
    if kind == Some(&ColumnKind::Boolean) { Cell::Bool(value != 0) } else { Cell::Int(value) }
}

/// Passes on a row with text that is not UTF-8, which SQLite stores unchecked: invalid bytes become U+FFFD.
#[cold]
fn mended(
    row: &Row<'_>,
    columns: usize,
    kinds: &[ColumnKind],
    mut take: impl FnMut(&[Cell<'_>]) -> Result<()>,
) -> Result<(), RowsEnd> {
    let mut texts = Vec::with_capacity(columns);
    for column in 0..columns {
        texts.push(match row.get_ref(column)? {
            ValueRef::Text(text) => String::from_utf8_lossy(text),
            _ => Cow::Borrowed(""),
        });
    }
    let mut cells = Vec::with_capacity(columns);
    for (column, text) in texts.iter().enumerate() {
        cells.push(match row.get_ref(column)? {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(value) => integer(value, kinds.get(column)),
            ValueRef::Real(value) => Cell::Float(value),
            ValueRef::Text(_) => Cell::Text(text),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
        });
    }
    take(&cells).map_err(RowsEnd::Own)
}

/// Reuses the memory of `cells` for the next row: collecting a vector's own elements works in place.
fn emptied<'next>(mut cells: Vec<Cell<'_>>) -> Vec<Cell<'next>> {
    cells.clear();
    cells.into_iter().map(|_| Cell::Null).collect()
}

/// Binds the values of a statement; `earlier` has the results of the steps before it.
pub(super) fn bind_all(statement: &mut Statement<'_>, binds: &[Bind], earlier: &[Result<Done>]) -> Result<(), RowsEnd> {
    if statement.parameter_count() != binds.len() {
        return Err(RowsEnd::Own(Error::internal("a statement and its values don't match in number")));
    }
    for (index, bind) in binds.iter().enumerate() {
        bind_one(statement, index + 1, bind, earlier)?;
    }
    Ok(())
}

fn bind_one(statement: &mut Statement<'_>, at: usize, bind: &Bind, earlier: &[Result<Done>]) -> Result<(), RowsEnd> {
    let cell = |step: usize, column: usize| {
        let row = earlier_of(earlier, step)?.rows.first();
        Ok::<_, RowsEnd>(row.and_then(|row| row.get(column)))
    };
    match bind {
        Bind::Null => statement.raw_bind_parameter(at, Null)?,
        Bind::Bool(value) => statement.raw_bind_parameter(at, *value)?,
        Bind::Int(value) => statement.raw_bind_parameter(at, *value)?,
        Bind::Float(value) => statement.raw_bind_parameter(at, *value)?,
        Bind::Text(text) => statement.raw_bind_parameter(at, text.as_str())?,
        Bind::Bytes(bytes) => statement.raw_bind_parameter(at, bytes.as_slice())?,
        Bind::Back { step, column } => {
            bind_cell(statement, at, cell(*step, *column)?.ok_or_else(|| nothing_there(*step))?)?;
        }
        Bind::BackKey { step } => {
            let key = earlier_of(earlier, *step)?.key.ok_or_else(|| nothing_there(*step))?;
            statement.raw_bind_parameter(at, key)?;
        }
        Bind::BackOr { step, column, otherwise } => match cell(*step, *column)? {
            Some(cell) => bind_cell(statement, at, cell)?,
            None => bind_one(statement, at, otherwise, earlier)?,
        },
    }
    Ok(())
}

fn bind_cell(statement: &mut Statement<'_>, at: usize, cell: &OwnedCell) -> Result<(), RowsEnd> {
    match cell {
        OwnedCell::Null => statement.raw_bind_parameter(at, Null)?,
        OwnedCell::Bool(value) => statement.raw_bind_parameter(at, *value)?,
        OwnedCell::Int(value) => statement.raw_bind_parameter(at, *value)?,
        OwnedCell::UInt(value) => {
            let value = i64::try_from(*value).map_err(|_| {
                RowsEnd::Own(Error::new(Code::Invalid, format!("{value} is too large for the database")))
            })?;
            statement.raw_bind_parameter(at, value)?;
        }
        OwnedCell::Float(value) => statement.raw_bind_parameter(at, *value)?,
        OwnedCell::Single(value) => statement.raw_bind_parameter(at, f64::from(*value))?,
        OwnedCell::Text(text) => statement.raw_bind_parameter(at, text.as_str())?,
        OwnedCell::Bytes(bytes) => statement.raw_bind_parameter(at, bytes.as_slice())?,
    }
    Ok(())
}

fn earlier_of(earlier: &[Result<Done>], step: usize) -> Result<&Done, RowsEnd> {
    match earlier.get(step) {
        Some(Ok(done)) => Ok(done),
        Some(Err(_)) => Err(RowsEnd::Own(Error::new(
            Code::Execution,
            format!("change {step}, whose answer this one needs, failed"),
        ))),
        None => Err(RowsEnd::Own(Error::internal("a step refers to one that is not before it"))),
    }
}

fn nothing_there(step: usize) -> RowsEnd {
    RowsEnd::Own(Error::new(Code::Execution, format!("change {step}, whose answer this one needs, made no row")))
}
