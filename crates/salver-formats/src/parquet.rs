//! Encodes Parquet. A row group is buffered until it is complete, so its size is bounded; then it is written to the
//! output.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, IntervalUnit, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use salver_model::{Code, Error, Result};

use crate::portable::{Portable, Target};

/// Limits of a row group, which ends at the first one reached.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 64 << 20;

/// Rows of a batch that are written between checks of the row group's size.
const STEP_ROWS: usize = 1 << 14;

/// Writes one file.
pub(crate) struct ParquetEncoder {
    portable: Portable,
    writer: ArrowWriter<Vec<u8>>,
}

impl std::fmt::Debug for ParquetEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetEncoder").field("portable", &self.portable).finish_non_exhaustive()
    }
}

impl ParquetEncoder {
    pub(crate) fn new(schema: &SchemaRef) -> Result<Self> {
        let portable = Portable::new(schema, Target::Parquet);
        check(portable.schema())?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_created_by(concat!("salver ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let schema = SchemaRef::clone(portable.schema());
        let writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).map_err(failed)?;
        Ok(Self { portable, writer })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = STEP_ROWS.min(batch.num_rows() - start);
            let step = self.portable.batch(&batch.slice(start, rows))?;
            self.writer.write(&step).map_err(failed)?;
            if self.writer.in_progress_size() >= GROUP_BYTES {
                self.writer.flush().map_err(failed)?;
            }
            start += rows;
        }
        self.drain(out)
    }

    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.writer.finish().map_err(failed)?;
        self.drain(out)
    }

    /// Moves complete bytes to the output. The writer tracks its offsets itself and never seeks.
    fn drain(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.writer.sync().map_err(|cause| failed(cause.into()))?;
        let done = std::mem::take(self.writer.inner_mut());
        if out.is_empty() {
            *out = done;
        } else {
            out.extend_from_slice(&done);
        }
        Ok(())
    }
}

/// Refuses columns of types that Parquet does not have; the error names the column.
fn check(schema: &Schema) -> Result<()> {
    if schema.fields().is_empty() {
        return Err(Error::new(Code::UnknownFormat, "Parquet can't hold rows without columns")
            .with_hint("ask for at least one column, or for another format"));
    }
    for field in schema.fields() {
        if let Some(part) = not_in_parquet(field.data_type()) {
            let (name, whole) = (field.name(), field.data_type());
            let within = if part == whole { String::new() } else { format!(" within {whole}") };
            let message = format!("Parquet has no type for column `{name}`, which is {part}{within}");
            return Err(Error::new(Code::UnknownFormat, message)
                .with_hint(format!("leave `{name}` out, cast it, or ask for another format, such as Arrow")));
        }
    }
    Ok(())
}

/// Returns the part of a type for which Parquet, or its writer, has no counterpart. The writer would store durations
/// and dates in milliseconds as plain numbers, whose unit only Arrow readers recognize.
fn not_in_parquet(data_type: &DataType) -> Option<&DataType> {
    use DataType as D;
    match data_type {
        D::Union(..) | D::Interval(IntervalUnit::MonthDayNano) | D::RunEndEncoded(..) => Some(data_type),
        D::Duration(_) | D::Date64 => Some(data_type),
        D::Decimal32(_, scale) | D::Decimal64(_, scale) | D::Decimal128(_, scale) | D::Decimal256(_, scale)
            if *scale < 0 =>
        {
            Some(data_type)
        }
        D::FixedSizeBinary(0) | D::FixedSizeList(_, 0) => Some(data_type),
        D::Struct(fields) if fields.is_empty() => Some(data_type),
        D::Struct(fields) => fields.iter().find_map(|field| not_in_parquet(field.data_type())),
        D::List(item) | D::LargeList(item) | D::ListView(item) | D::LargeListView(item) => {
            not_in_parquet(item.data_type())
        }
        D::FixedSizeList(item, _) | D::Map(item, _) => not_in_parquet(item.data_type()),
        // Dictionaries that can be written as their values were replaced before.
        D::Dictionary(..) => Some(data_type),
        _ => None,
    }
}

fn failed(cause: ParquetError) -> Error {
    Error::new(Code::Execution, format!("the rows can't be written as Parquet: {cause}"))
        .with_hint("ask for another format, for example `?format=arrow`")
        .with_source(cause)
}
