//! Writes what was fetched in the format that is wanted.

use std::io::{Cursor, Read, Write};

use arrow::error::ArrowError;
use arrow::ipc::reader::StreamReader;
use salver_formats::{Encoder, Style};
use salver_model::{Code, Error};

use super::batch::Layout;
use crate::failure::Failure;

/// Where rows are written.
pub(super) struct Sink<W> {
    out: W,
    /// What it is, for messages.
    name: String,
    layout: Layout,
    /// Made with the first rows, which bring their columns along.
    encoder: Option<Encoder>,
    /// Rows that were decoded; of text nobody counts them here.
    pub(super) rows: u64,
}

/// That the output has types for the columns that were fetched, before all of their rows are.
pub(super) fn fits(layout: Layout, fetched: &[u8]) -> Result<(), Failure> {
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
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self.layout {
            Layout::Text(_) => self.write(bytes),
            Layout::Rows(_) => self.rows(Cursor::new(bytes)),
        }
    }

    /// Writes the rows of one Arrow stream.
    pub(super) fn rows(&mut self, stream: impl Read) -> Result<(), Failure> {
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

    /// Writes what stands behind the last row.
    pub(super) fn finish(mut self) -> Result<W, Failure> {
        if let Some(mut encoder) = self.encoder.take() {
            let mut bytes = Vec::new();
            encoder.finish(&mut bytes)?;
            self.write(&bytes)?;
        }
        self.out.flush().map_err(|error| Failure::writing(&self.name, error))?;
        Ok(self.out)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.out.write_all(bytes).map_err(|error| Failure::writing(&self.name, error))
    }
}
