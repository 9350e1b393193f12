//! Rows as an aligned table, for people.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::FormatOptions;
use arrow::util::pretty::pretty_format_batches_with_options;
use salver_model::{Code, Error, Result};

use crate::output;

/// Formats `batches`. Nulls are shown explicitly, to distinguish them from empty text.
pub(crate) fn draw(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<String> {
    let options = FormatOptions::new().with_null("null").with_display_error(true);
    let empty = [RecordBatch::new_empty(SchemaRef::clone(schema))];
    let batches = if batches.is_empty() { &empty } else { batches };
    let drawn = pretty_format_batches_with_options(batches, &options).map_err(|error| {
        Error::new(Code::Execution, "these rows can't be drawn as a table")
            .with_hint("choose another format, like `--format json`")
            .with_source(error)
    })?;
    Ok(format!("{}\n", output::tamed(&drawn.to_string())))
}
