//! The text formats: JSON, NDJSON, CSV, TSV and HTML.

mod page;
mod rows;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use salver_model::{Error, Result};

use crate::column::{Column, Dialect, FieldKeys};
use crate::escape;
use crate::format::Format;
use crate::in_place::Spare;
use crate::slice_write;
use crate::style::Style;
use page::Page;

/// Encodes rows as text. It has no state: batches may be encoded in parallel, each into its own buffer, and
/// concatenated in order.
#[derive(Debug)]
pub struct TextEncoder {
    schema: SchemaRef,
    shape: TextLayout,
}

#[derive(Debug)]
enum TextLayout {
    /// A JSON array of objects.
    Array(FieldKeys),
    /// A JSON object per line.
    Lines(FieldKeys),
    /// Delimited fields, one row per line.
    Delimited(u8),
    Page(Page),
}

impl TextEncoder {
    /// Returns an encoder for rows of one schema. For a format that is not text ([`Format::is_text`]) it writes JSON.
    #[must_use]
    pub fn new(format: Format, schema: &SchemaRef, style: &Style) -> Self {
        let keys = || FieldKeys::new(schema.fields(), style.nulls);
        let shape = match format {
            Format::NdJson => TextLayout::Lines(keys()),
            Format::Csv => TextLayout::Delimited(b','),
            Format::Tsv => TextLayout::Delimited(b'\t'),
            Format::Html => TextLayout::Page(Page::new(style)),
            Format::Json | Format::ArrowStream | Format::ArrowFile | Format::Parquet | Format::Xlsx => {
                TextLayout::Array(keys())
            }
        };
        Self { schema: SchemaRef::clone(schema), shape }
    }

    /// Writes the bytes before the first row.
    pub fn begin(&self, out: &mut Vec<u8>) {
        match &self.shape {
            TextLayout::Array(_) => out.push(b'['),
            TextLayout::Lines(_) => {}
            TextLayout::Delimited(delimiter) => {
                for (i, field) in self.schema.fields().iter().enumerate() {
                    if i > 0 {
                        out.push(*delimiter);
                    }
                    escape::delimited(field.name().as_bytes(), *delimiter, out);
                }
                out.push(b'\n');
            }
            TextLayout::Page(page) => page.begin(&self.schema, out),
        }
    }

    /// Writes the rows of a batch. `first` tells that no row was written before.
    ///
    /// # Errors
    /// `Execution` if a timestamp's zone does not exist, `Internal` if the batch has other columns than the schema.
    /// Nothing is written then.
    pub fn rows(&self, batch: &RecordBatch, first: bool, out: &mut Vec<u8>) -> Result<()> {
        if batch.num_columns() != self.schema.fields().len() {
            let (has, wants) = (batch.num_columns(), self.schema.fields().len());
            return Err(Error::internal(format!("a batch has {has} columns, its schema {wants}")));
        }
        let rows = batch.num_rows();
        let dialect = self.dialect();
        let columns = batch.columns().iter().map(|array| Column::resolve(array.as_ref(), dialect, rows));
        let columns: Vec<Column<'_>> = columns.collect::<Result<_>>()?;
        let cells: usize = columns.iter().map(|column| column.bytes(rows)).sum();
        let bytes = cells + rows * self.row_bytes();
        // Rows are written into a window that extends beyond the last of them.
        out.reserve(bytes + bytes.min(rows::WINDOW_BYTES));
        match &self.shape {
            TextLayout::Array(keys) => array(keys, &columns, rows, first, out),
            TextLayout::Lines(keys) => lines(keys, &columns, rows, out),
            TextLayout::Delimited(delimiter) => delimited(*delimiter, &columns, rows, out),
            TextLayout::Page(page) => page.rows(&columns, rows, out),
        }
        Ok(())
    }

    /// Writes the bytes after the last row.
    pub fn end(&self, out: &mut Vec<u8>) {
        match &self.shape {
            TextLayout::Array(_) => out.push(b']'),
            TextLayout::Lines(_) | TextLayout::Delimited(_) => {}
            TextLayout::Page(_) => Page::end(out),
        }
    }

    fn dialect(&self) -> Dialect {
        match &self.shape {
            TextLayout::Array(keys) | TextLayout::Lines(keys) => Dialect::Json(keys.nulls()),
            TextLayout::Delimited(delimiter) => Dialect::Delimited(*delimiter),
            TextLayout::Page(_) => Dialect::Html,
        }
    }

    /// Returns the number of bytes of a row in addition to its cells.
    fn row_bytes(&self) -> usize {
        let columns = self.schema.fields().len();
        match &self.shape {
            TextLayout::Array(keys) | TextLayout::Lines(keys) => keys.row_bytes() + 1,
            TextLayout::Delimited(_) => columns + 1,
            TextLayout::Page(_) => 10 + 20 * columns,
        }
    }
}

fn array(keys: &FieldKeys, columns: &[Column<'_>], rows: usize, first: bool, out: &mut Vec<u8>) {
    let mut spare = Spare::default();
    let row_bytes = row_bytes(columns, rows) + keys.row_bytes() + 1;
    let has_comma = |row| row > 0 || !first;
    rows::write(
        rows,
        row_bytes,
        out,
        |row, bytes, at| {
            // Overwritten if no comma is needed.
            slice_write::byte(bytes, at, b',')?;
            keys.place_object(columns, row, bytes, at + usize::from(has_comma(row)), &mut spare)
        },
        |row, out| {
            if has_comma(row) {
                out.push(b',');
            }
            keys.object(columns, row, out);
        },
    );
}

fn lines(keys: &FieldKeys, columns: &[Column<'_>], rows: usize, out: &mut Vec<u8>) {
    let mut spare = Spare::default();
    rows::write(
        rows,
        row_bytes(columns, rows) + keys.row_bytes() + 1,
        out,
        |row, bytes, at| {
            let at = keys.place_object(columns, row, bytes, at, &mut spare)?;
            slice_write::byte(bytes, at, b'\n')
        },
        |row, out| {
            keys.object(columns, row, out);
            out.push(b'\n');
        },
    );
}

fn delimited(delimiter: u8, columns: &[Column<'_>], rows: usize, out: &mut Vec<u8>) {
    let mut spare = Spare::default();
    rows::write(
        rows,
        row_bytes(columns, rows) + columns.len() + 1,
        out,
        |row, bytes, mut at| {
            for column in columns {
                at = column.place_delimited(row, delimiter, bytes, at, &mut spare)?;
                at = slice_write::byte(bytes, at, delimiter)?;
            }
            // The last delimiter becomes the end of the row; a row without columns is an empty line.
            let end = at - usize::from(!columns.is_empty());
            slice_write::byte(bytes, end, b'\n')
        },
        |row, out| {
            for (i, column) in columns.iter().enumerate() {
                if i > 0 {
                    out.push(delimiter);
                }
                column.delimited(row, delimiter, out);
            }
            out.push(b'\n');
        },
    );
}

/// Estimates the size of a row's cells in bytes.
fn row_bytes(columns: &[Column<'_>], rows: usize) -> usize {
    columns.iter().map(|column| column.bytes(rows)).sum::<usize>() / rows.max(1)
}
