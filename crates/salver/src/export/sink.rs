//! Writes fetched rows in the output format.

use std::io::{Cursor, Read, Write};

use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use salver_formats::{Encoder, Style};
use salver_model::{Code, Error};

use super::batch::Layout;
use crate::failure::CommandFailure;

/// Writer of rows.
pub(super) struct Sink<W> {
    out: W,
    /// Name of the output, for messages.
    name: String,
    layout: Layout,
    /// Encoder; created with the first rows, which have the schema.
    encoder: Option<Encoder>,
    /// Number of decoded rows; not counted for text.
    pub(super) rows: u64,
}

/// Checks that the output format supports the types of the fetched columns, before all rows are fetched.
pub(super) fn fits(layout: Layout, fetched: &[u8]) -> Result<(), CommandFailure> {
    if let Layout::Rows(format) = layout {
        let reader = StreamReader::try_new(fetched, None).map_err(damaged)?;
        drop(Encoder::new(format, &reader.schema(), &Style::default())?);
    }
    Ok(())
}

fn damaged(error: ArrowError) -> Error {
    Error::new(Code::Source, "rows that were fetched can't be read as Arrow")
        .with_hint("begin anew with `--restart`")
        .with_source(error)
}

impl<W: Write> Sink<W> {
    pub(super) fn new(layout: Layout, out: W, name: &str) -> Self {
        Self { out, name: name.to_owned(), layout, encoder: None, rows: 0 }
    }

    /// Writes a batch.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), CommandFailure> {
        match self.layout {
            Layout::Text(_) => self.write(bytes),
            Layout::Rows(_) => self.rows(Cursor::new(bytes)),
        }
    }

    /// Writes the rows of one Arrow stream.
    pub(super) fn rows(&mut self, stream: impl Read) -> Result<(), CommandFailure> {
        let reader = StreamReader::try_new(stream, None).map_err(damaged)?;
        if self.encoder.is_none() {
            self.encoder = Some(Encoder::new(self.layout.format(), &reader.schema(), &Style::default())?);
        }
        let mut bytes = Vec::new();
        for batch in reader {
            let batch = batch.map_err(damaged)?;
            self.rows += batch.num_rows() as u64;
            if let Some(encoder) = &mut self.encoder {
                encoder.write(&batch, &mut bytes)?;
            }
            self.write(&bytes)?;
            bytes.clear();
        }
        Ok(())
    }

    /// Writes the end of the format.
    pub(super) fn finish(mut self) -> Result<W, CommandFailure> {
        if let Some(mut encoder) = self.encoder.take() {
            let mut bytes = Vec::new();
            encoder.finish(&mut bytes)?;
            self.write(&bytes)?;
        }
        self.out.flush().map_err(|error| CommandFailure::writing(&self.name, error))?;
        Ok(self.out)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CommandFailure> {
        self.out.write_all(bytes).map_err(|error| CommandFailure::writing(&self.name, error))
    }
}
