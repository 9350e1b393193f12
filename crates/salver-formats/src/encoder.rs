//! Encodes a body in any format, batch by batch.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use salver_model::{Code, Error, Result};

use crate::calendar::Zone;
use crate::format::Format;
use crate::ipc::IpcEncoder;
use crate::parquet::ParquetEncoder;
use crate::portable::PortableFormat;
use crate::style::Style;
use crate::text::TextEncoder;
use crate::workbook::{self, WorkbookEncoder};

/// Room for a row or two, so that the smallest bodies are not reallocated while they grow.
const BODY_BYTES_USUAL: usize = 512;

/// Encodes one body: `write` is called for each batch, then `finish` once. Each appends the bytes that are ready to the
/// given buffer; between calls the caller may send and empty it. A body without rows is complete and valid, too.
#[derive(Debug)]
pub struct Encoder(Inner);

#[derive(Debug)]
enum Inner {
    Text { text: TextEncoder, state: EncoderState },
    Ipc(Box<IpcEncoder>),
    Parquet(Box<ParquetEncoder>),
    Workbook(Box<WorkbookEncoder>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EncoderState {
    New,
    Begun,
    HasRows,
}

impl Encoder {
    /// Returns an encoder for one body of rows of one schema.
    ///
    /// # Errors
    /// `UnknownFormat`, with the column, if the format has no type for it, which only Parquet may not; `AnswerTooLarge`
    /// if it can't have as many columns, which are bounded in workbooks alone.
    pub fn new(format: Format, schema: &SchemaRef, style: &Style) -> Result<Self> {
        Ok(Self(match format {
            Format::ArrowStream => Inner::Ipc(Box::new(IpcEncoder::new(schema, PortableFormat::ArrowStream)?)),
            Format::ArrowFile => Inner::Ipc(Box::new(IpcEncoder::new(schema, PortableFormat::ArrowFile)?)),
            Format::Parquet => Inner::Parquet(Box::new(ParquetEncoder::new(schema)?)),
            Format::Xlsx => Inner::Workbook(Box::new(WorkbookEncoder::new(schema)?)),
            Format::Json | Format::NdJson | Format::Csv | Format::Tsv | Format::Html => {
                Inner::Text { text: TextEncoder::new(format, schema, style), state: EncoderState::New }
            }
        }))
    }

    /// Checks that rows of `schema` can be written in `format`, before a body begins.
    ///
    /// # Errors
    /// As [`Encoder::new`], and `Execution`, with the column, if its time zone does not exist and the format writes
    /// times in it.
    pub fn check(format: Format, schema: &SchemaRef) -> Result<()> {
        if format.is_text() || format == Format::Xlsx {
            check_zones(schema)?;
        }
        Self::new(format, schema, &Style::default()).map(drop)
    }

    /// Checks that `format` can hold as many rows, before a body begins.
    ///
    /// # Errors
    /// `AnswerTooLarge` if it can't; only workbooks have a limit.
    pub fn check_rows(format: Format, rows: u64) -> Result<()> {
        if format == Format::Xlsx { workbook::check_rows(rows) } else { Ok(()) }
    }

    /// Encodes a batch.
    ///
    /// # Errors
    /// `Execution` if a value can't be represented in the format, `AnswerTooLarge` if the rows, or the text of a cell,
    /// are more than a workbook holds, `Internal` if the batch has other columns than the
    /// schema. The body can't be completed then.
    pub fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        match &mut self.0 {
            Inner::Ipc(ipc) => ipc.write(batch, out),
            Inner::Parquet(parquet) => parquet.write(batch, out),
            Inner::Workbook(workbook) => workbook.write(batch, out),
            Inner::Text { text, state } => {
                if *state == EncoderState::New {
                    text.begin(out);
                    *state = EncoderState::Begun;
                }
                text.rows(batch, *state == EncoderState::Begun, out)?;
                if batch.num_rows() > 0 {
                    *state = EncoderState::HasRows;
                }
                Ok(())
            }
        }
    }

    /// Completes the body.
    ///
    /// # Errors
    /// `Execution` if the body can't be completed, including after an earlier error.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        match &mut self.0 {
            Inner::Ipc(ipc) => ipc.finish(out),
            Inner::Parquet(parquet) => parquet.finish(out),
            Inner::Workbook(workbook) => workbook.finish(out),
            Inner::Text { text, state } => {
                if *state == EncoderState::New {
                    text.begin(out);
                    *state = EncoderState::Begun;
                }
                text.end(out);
                Ok(())
            }
        }
    }
}

/// Refuses time zones that do not exist, at any depth.
fn check_zones(schema: &SchemaRef) -> Result<()> {
    for column in schema.fields() {
        let own = Schema::new(vec![Arc::clone(column)]);
        for field in own.flattened_fields() {
            let DataType::Timestamp(_, Some(zone)) = field.data_type() else { continue };
            Zone::parse(Some(zone)).map_err(|cause| {
                let message = format!("column `{}`: there is no time zone `{zone}`", column.name());
                Error::new(Code::Execution, message)
                    .with_hint("cast the column to another zone, or ask for Arrow or Parquet")
                    .with_source(cause)
            })?;
        }
    }
    Ok(())
}

/// Encodes batches as one body.
///
/// # Errors
/// As [`Encoder`].
pub fn encode(format: Format, schema: &SchemaRef, batches: &[RecordBatch], style: &Style) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(BODY_BYTES_USUAL);
    let mut encoder = Encoder::new(format, schema, style)?;
    for batch in batches {
        encoder.write(batch, &mut out)?;
    }
    encoder.finish(&mut out)?;
    Ok(out)
}
