//! Arrow's IPC formats: a stream of batches, or a file with a footer. Batches are written directly to the output.

use std::mem::swap;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::{FileWriter, StreamWriter};
use salver_model::{Code, Error, Result};

use crate::portable::{Portable, PortableFormat};

/// Writes one stream or file.
#[derive(Debug)]
pub(crate) struct IpcEncoder {
    portable: Portable,
    writer: Writer,
}

enum Writer {
    Stream(StreamWriter<Vec<u8>>),
    File(FileWriter<Vec<u8>>),
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stream(_) => "Stream",
            Self::File(_) => "File",
        })
    }
}

impl IpcEncoder {
    pub(crate) fn new(schema: &SchemaRef, target: PortableFormat) -> Result<Self> {
        let portable = Portable::new(schema, target);
        let writer = match target {
            PortableFormat::ArrowFile => FileWriter::try_new(Vec::new(), portable.schema()).map(Writer::File),
            PortableFormat::ArrowStream | PortableFormat::Parquet => {
                StreamWriter::try_new(Vec::new(), portable.schema()).map(Writer::Stream)
            }
        };
        Ok(Self { portable, writer: writer.map_err(failed)? })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let batch = self.portable.batch(batch)?;
        self.with_output(out, |writer| match writer {
            Writer::Stream(writer) => writer.write(&batch),
            Writer::File(writer) => writer.write(&batch),
        })
    }

    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.with_output(out, |writer| match writer {
            Writer::Stream(writer) => writer.finish(),
            Writer::File(writer) => writer.finish(),
        })
    }

    /// Lends the output to the writer, which owns its buffer, so that no byte is copied twice.
    fn with_output(
        &mut self,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Writer) -> Result<(), ArrowError>,
    ) -> Result<()> {
        // Bytes written before any output was lent: the schema.
        let head = std::mem::take(self.writer.buffer());
        out.extend_from_slice(&head);
        swap(self.writer.buffer(), out);
        let written = write(&mut self.writer);
        swap(self.writer.buffer(), out);
        written.map_err(failed)
    }
}

impl Writer {
    fn buffer(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Stream(writer) => writer.get_mut(),
            Self::File(writer) => writer.get_mut(),
        }
    }
}

fn failed(cause: ArrowError) -> Error {
    Error::new(Code::Execution, format!("the rows can't be written as Arrow: {cause}"))
        .with_hint("ask for another format, for example `?format=json`")
        .with_source(cause)
}
