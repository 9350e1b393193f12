//! Rows as an aligned table, for people.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::FormatOptions;
use arrow::util::pretty::pretty_format_batches_with_options;
use salver_model::{Code, Error, Result};

/// Draws `batches`. A null is shown as such, since an empty text looks the same otherwise.
pub(crate) fn draw(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<String> {
    let options = FormatOptions::new().with_null("null").with_display_error(true);
    let empty = [RecordBatch::new_empty(SchemaRef::clone(schema))];
    let batches = if batches.is_empty() { &empty } else { batches };
    let drawn = pretty_format_batches_with_options(batches, &options).map_err(|error| {
        Error::new(Code::Execution, "these rows can't be drawn as a table")
            .with_hint("choose another format, like `--format json`")
            .with_source(error)
    })?;
    Ok(format!("{}\n", tamed(&drawn.to_string())))
}

/// Without what a terminal would obey: a value must not move its cursor or name its window. The pictures of control
/// characters are as wide as one character.
fn tamed(drawn: &str) -> String {
    let picture = |sign: char| match u32::from(sign) {
        0x0a => '\n',
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        0x80..=0x9f => '\u{fffd}',
        _ => sign,
    };
    drawn.chars().map(picture).collect()
}
