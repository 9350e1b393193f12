//! Batches to encode, and short ways to encode them.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use salver_formats::{Format, Nulls, Style, encode};

/// A batch of these columns, all nullable.
pub(crate) fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let rows = columns.first().map_or(0, |(_, array)| array.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let columns = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    RecordBatch::try_new_with_options(schema, columns, &options).unwrap()
}

/// A batch of one column `v`.
pub(crate) fn column(array: ArrayRef) -> RecordBatch {
    batch(&[("v", array)])
}

pub(crate) fn text_of(format: Format, nulls: Nulls, batches: &[RecordBatch]) -> String {
    let schema: SchemaRef = batches[0].schema();
    let style = Style { nulls, title: "A <title>".to_owned(), ..Style::default() };
    String::from_utf8(encode(format, &schema, batches, &style).unwrap()).unwrap()
}

pub(crate) fn json(batch: &RecordBatch) -> String {
    text_of(Format::Json, Nulls::Write, std::slice::from_ref(batch))
}

pub(crate) fn json_without_nulls(batch: &RecordBatch) -> String {
    text_of(Format::Json, Nulls::Omit, std::slice::from_ref(batch))
}

pub(crate) fn csv(batch: &RecordBatch) -> String {
    text_of(Format::Csv, Nulls::Write, std::slice::from_ref(batch))
}
