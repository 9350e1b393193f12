//! Rows as an aligned table, for people. Only as many rows are held as decide how wide its columns are.

mod layout;

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use salver_model::{Code, Error};

use crate::failure::CommandFailure;
use crate::output;
use layout::{Layout, padded};

/// Rows that decide the widths. Those of later rows that are wider stick out.
const MEASURED_ROWS: usize = 10_000;
/// Bytes of the text of these rows, at most: with wide rows fewer decide.
const MEASURED_BYTES: usize = 32 * 1024 * 1024;

/// What was left out of a table to fit it into its width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Columns that are shown, and all there are, if not all are shown.
    pub(crate) columns: Option<(usize, usize)>,
    /// Whether text was cut.
    pub(crate) has_text: bool,
}

/// Draws one table.
pub(crate) struct ResultTable<W> {
    out: W,
    /// What is written to, for messages.
    name: String,
    schema: SchemaRef,
    /// The width of the terminal, if it is one.
    width: Option<usize>,
    /// Rows that are not drawn yet, and the bytes of their text.
    held: (Vec<Vec<String>>, usize),
    layout: Option<Layout>,
    cut: Cut,
}

impl<W: Write> ResultTable<W> {
    pub(crate) fn new(out: W, name: &str, schema: &SchemaRef, width: Option<usize>) -> Self {
        let schema = SchemaRef::clone(schema);
        Self { out, name: name.to_owned(), schema, width, held: (Vec::new(), 0), layout: None, cut: Cut::default() }
    }

    /// Adds rows.
    pub(crate) fn rows(&mut self, batch: &RecordBatch) -> Result<(), CommandFailure> {
        // Nulls are shown, to tell them from empty text.
        let options = FormatOptions::new().with_null("null").with_display_error(true);
        let formatters = batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
        let formatters = formatters.collect::<Result<Vec<_>, _>>().map_err(|error| {
            Error::new(Code::Execution, "these rows can't be drawn as a table")
                .with_hint("choose another format, like `--format json`")
                .with_source(error)
        })?;
        for row in 0..batch.num_rows() {
            let cells: Vec<String> =
                formatters.iter().map(|formatter| output::tamed(&formatter.value(row).to_string())).collect();
            if self.layout.is_some() {
                self.draw(&cells)?;
                continue;
            }
            self.held.1 += cells.iter().map(String::len).sum::<usize>();
            self.held.0.push(cells);
            if self.held.0.len() >= MEASURED_ROWS || self.held.1 >= MEASURED_BYTES {
                self.measure()?;
            }
        }
        Ok(())
    }

    /// Draws the end, and returns what was left out.
    pub(crate) fn finish(mut self) -> Result<(W, Cut), CommandFailure> {
        self.measure()?;
        if let Some(layout) = &self.layout {
            let rule = layout.rule();
            self.write(&rule)?;
        }
        Ok((self.out, self.cut))
    }

    /// Chooses the widths and draws the head and all rows so far, unless that was done.
    fn measure(&mut self) -> Result<(), CommandFailure> {
        if self.layout.is_some() {
            return Ok(());
        }
        let (held, _) = std::mem::take(&mut self.held);
        let names: Vec<String> = self.schema.fields().iter().map(|field| output::tamed(field.name())).collect();
        let layout = Layout::of(&names, &held, self.width);
        self.cut.columns = layout.is_cut().then(|| (layout.shown(), names.len()));
        let rule = layout.rule();
        self.layout = Some(layout);
        self.write(&rule)?;
        self.draw(&names)?;
        self.write(&rule)?;
        held.iter().try_for_each(|cells| self.draw(cells))
    }

    /// Draws a row, of as many lines as the cell with the most has.
    fn draw(&mut self, cells: &[String]) -> Result<(), CommandFailure> {
        let Some(layout) = &self.layout else { return Ok(()) };
        let may_cut = self.width.is_some();
        let columns: Vec<(usize, Vec<&str>)> = layout
            .columns()
            .map(|(column, width)| {
                (width, column.and_then(|column| cells.get(column)).map_or_else(|| vec!["…"], |cell| lines(cell)))
            })
            .collect();
        let height = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or(1);
        let mut text = String::new();
        for line in 0..height {
            text.push('|');
            for (width, lines) in &columns {
                text.push(' ');
                self.cut.has_text |= padded(lines.get(line).copied().unwrap_or_default(), *width, may_cut, &mut text);
                text.push_str(" |");
            }
            text.push('\n');
        }
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), CommandFailure> {
        self.out.write_all(text.as_bytes()).map_err(|error| CommandFailure::writing(&self.name, error))
    }
}

/// Returns the lines of a cell; an empty one has one.
fn lines(cell: &str) -> Vec<&str> {
    if cell.is_empty() { vec![""] } else { cell.split('\n').collect() }
}
