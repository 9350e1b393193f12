//! Shows rows to people, as a table or in a text format, in bounded memory.

use std::io::Write;

use arrow::array::RecordBatch;
use futures::StreamExt;
use salver_formats::{Encoder, Format, Style};
use salver_model::limits::DRAWN_ROWS_MAX;
use salver_model::reply::BatchStream;
use salver_model::{Batches, Rows};

use crate::failure::CommandFailure;
use crate::grouped_digits::thousands;
use crate::result_table::{Cut, ResultTable};

/// Encoded bytes to begin with, of which more come as they are needed.
const ENCODED_BYTES: usize = 256 * 1024;

/// Where rows go.
pub(crate) struct Target<'a, W> {
    /// What is written to, and its name.
    pub(crate) out: W,
    pub(crate) name: &'a str,
    /// The width of the terminal, if it is one.
    pub(crate) width: Option<usize>,
}

/// Returns the batches of rows, as they come.
fn batches(batches: Batches) -> BatchStream {
    match batches {
        Batches::Ready(batches) => futures::stream::iter(batches.into_iter().map(Ok)).boxed(),
        Batches::Stream(stream) => stream,
    }
}

/// Draws a table, of the first rows alone where that is a terminal. Returns what was written to, and what to tell of
/// the rows.
pub(crate) async fn table<W: Write>(rows: Rows, target: Target<'_, W>) -> Result<(W, String), CommandFailure> {
    let most = target.width.map(|_| DRAWN_ROWS_MAX);
    let mut table = ResultTable::new(target.out, target.name, &rows.schema, target.width);
    let mut batches = batches(rows.batches);
    let mut count = 0_u64;
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        // Rows that are always ready would leave no time for Ctrl-C.
        tokio::task::yield_now().await;
        let drawn: RecordBatch = match most.map(|most| most.saturating_sub(count)) {
            Some(0) => batch.slice(0, 0),
            Some(left) if left < batch.num_rows() as u64 => batch.slice(0, usize::try_from(left).unwrap_or(0)),
            _ => batch.clone(),
        };
        count += batch.num_rows() as u64;
        table.rows(&drawn)?;
    }
    let (out, cut) = table.finish()?;
    Ok((out, told(count, most, cut)))
}

/// Writes rows in a format.
pub(crate) async fn encoded<W: Write>(
    rows: Rows,
    format: Format,
    mut target: Target<'_, W>,
) -> Result<W, CommandFailure> {
    let writing = |error| CommandFailure::writing(target.name, error);
    let mut encoder = Encoder::new(format, &rows.schema, &Style::default())?;
    let mut batches = batches(rows.batches);
    let mut bytes = Vec::with_capacity(ENCODED_BYTES);
    while let Some(batch) = batches.next().await {
        tokio::task::yield_now().await;
        encoder.write(&batch?, &mut bytes)?;
        target.out.write_all(&bytes).map_err(writing)?;
        bytes.clear();
    }
    encoder.finish(&mut bytes)?;
    if format == Format::Json {
        bytes.push(b'\n');
    }
    target.out.write_all(&bytes).map_err(writing)?;
    Ok(target.out)
}

/// Says how many rows there are, and what of them is not shown.
fn told(count: u64, most: Option<u64>, cut: Cut) -> String {
    let mut text = format!("{} row{}", thousands(count), if count == 1 { "" } else { "s" });
    let mut left_out = Vec::new();
    if let Some(most) = most.filter(|most| *most < count) {
        left_out.push(format!("the first {} are shown", thousands(most)));
    }
    if let Some((shown, all)) = cut.columns {
        left_out.push(format!("{shown} of {all} columns are shown"));
    }
    if cut.has_text {
        left_out.push("text is cut where it ends in `…`".to_owned());
    }
    if !left_out.is_empty() {
        text.push_str(&format!(" ({}; other formats, like csv, have everything)", left_out.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Cut, told};

    #[test]
    fn what_is_left_out_is_told() {
        let cut = |columns, has_text| Cut { columns, has_text };
        assert_eq!(told(1, Some(1_000), cut(None, false)), "1 row");
        assert_eq!(told(2_000, None, cut(None, false)), "2 000 rows");
        assert_eq!(
            told(2_000, Some(1_000), cut(Some((3, 20)), true)),
            "2 000 rows (the first 1 000 are shown, 3 of 20 columns are shown, text is cut where it ends in `…`; other \
            formats, like csv, have everything)"
        );
    }
}
