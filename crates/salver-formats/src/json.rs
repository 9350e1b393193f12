//! Writes single JSON values, for responses that are not simply rows.

use arrow::array::Array;
use salver_model::Result;

use crate::column::{Column, Dialect};
use crate::escape;
use crate::style::Nulls;

/// Writes the values of one column.
#[derive(Debug)]
pub struct ColumnWriter<'a> {
    column: Column<'a>,
}

impl<'a> ColumnWriter<'a> {
    /// Prepares a column. This is cheap compared with writing more than a few of its values.
    ///
    /// # Errors
    /// [`salver_model::Code::Execution`] if a timestamp's zone does not exist.
    pub fn new(array: &'a dyn Array) -> Result<Self> {
        Self::with_nulls(array, Nulls::Write)
    }

    /// Like [`ColumnWriter::new`], with a choice of how nulls are written in objects inside the values.
    ///
    /// # Errors
    /// As [`ColumnWriter::new`].
    pub fn with_nulls(array: &'a dyn Array, nulls: Nulls) -> Result<Self> {
        Ok(Self { column: Column::resolve(array, Dialect::Json(nulls), array.len())? })
    }

    /// Returns whether the value is null, directly or through a dictionary, a run or a union.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        self.column.is_null(row)
    }

    /// Writes one JSON value, `null` if it is null.
    ///
    /// # Panics
    /// If `row` is not below the array's length.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) {
        self.column.json(row, out);
    }

    /// Writes the text of one value as in CSV, but without quotes; nothing if it is null.
    ///
    /// # Panics
    /// If `row` is not below the array's length.
    pub fn write_text(&self, row: usize, out: &mut Vec<u8>) {
        if !self.column.is_null(row) {
            self.column.plain(row, out);
        }
    }
}

/// Writes a JSON string, quoted and escaped.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    escape::json_string(text, out);
}
