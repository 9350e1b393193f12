//! Parquet files: the footer and the rows.

mod nesting;

use std::fs::File;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::Type as Physical;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::{Input, Sink, Stop, damaged, io_error, renamed};
use salver_model::Result;
use salver_model::limits::PARQUET_DEPTH_MAX;

const BATCH_ROWS: usize = 16_384;
/// Values with more bytes are wide.
const WIDE_BYTES: u64 = 1024;

/// Metadata from a footer.
#[derive(Clone, Debug)]
pub(crate) struct Footer {
    /// The columns, with the types they were written from.
    pub(crate) schema: SchemaRef,
    /// Number of rows.
    pub(crate) rows: u64,
    /// Uncompressed size of all pages in bytes.
    pub(crate) unpacked_bytes: u64,
    /// Columns whose values are wide.
    pub(crate) wide: Vec<WideColumn>,
}

/// A column whose values are so wide that a batch of the usual number of rows would be too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideColumn {
    /// Its name in the file.
    pub name: String,
    /// Average size of a value in memory in bytes, in the row group where it is largest.
    pub value_bytes: u64,
}

/// Estimates the size of a column's values in memory, in bytes: encoded, they may take almost none.
pub(crate) fn unpacked_bytes(column: &ColumnChunkMetaData) -> u64 {
    let positive = |number: i64| u64::try_from(number).unwrap_or(0);
    // Dictionaries store repeated text once, and run-length encoding repeated numbers.
    let value_bytes = match column.column_type() {
        Physical::BOOLEAN | Physical::BYTE_ARRAY => 0,
        Physical::INT32 | Physical::FLOAT => 4,
        Physical::INT64 | Physical::DOUBLE => 8,
        Physical::INT96 => 12,
        Physical::FIXED_LEN_BYTE_ARRAY => positive(column.column_descr().type_length().into()),
    };
    let texts = positive(column.unencoded_byte_array_data_bytes().unwrap_or(0));
    positive(column.uncompressed_size()).max(texts).max(positive(column.num_values()).saturating_mul(value_bytes))
}

/// Returns the columns of `schema` with wide values, according to the file's footer.
pub(crate) fn wide_columns(footer: &ParquetMetaData, schema: &Schema) -> Vec<WideColumn> {
    let positive = |number: i64| u64::try_from(number).unwrap_or(0);
    let mut value_bytes = vec![0; schema.fields().len()];
    for group in footer.row_groups() {
        let mut bytes = vec![0; value_bytes.len()];
        for (leaf, column) in group.columns().iter().enumerate() {
            if let Some(bytes) = bytes.get_mut(group.schema_descr().get_column_root_idx(leaf)) {
                *bytes += unpacked_bytes(column);
            }
        }
        for (most, bytes) in value_bytes.iter_mut().zip(bytes) {
            *most = (*most).max(bytes / positive(group.num_rows()).max(1));
        }
    }
    let all = schema.fields().iter().zip(value_bytes);
    all.filter(|(_, value_bytes)| *value_bytes > WIDE_BYTES)
        .map(|(field, value_bytes)| WideColumn { name: field.name().clone(), value_bytes })
        .collect()
}

/// Reads the footer.
pub(crate) fn footer(input: &Input) -> Result<Footer> {
    let metadata = load(input)?;
    let footer = metadata.metadata();
    let positive = |number: i64| u64::try_from(number).unwrap_or(0);
    Ok(Footer {
        schema: SchemaRef::clone(metadata.schema()),
        rows: positive(footer.file_metadata().num_rows()),
        unpacked_bytes: footer.row_groups().iter().map(|group| positive(group.total_byte_size())).sum(),
        wide: wide_columns(footer, metadata.schema()),
    })
}

/// Reads the footer, and refuses one that contradicts itself or its file.
pub(crate) fn load(input: &Input) -> Result<ArrowReaderMetadata> {
    let file = File::open(&input.path).map_err(|cause| io_error(input, cause))?;
    let file_bytes = file.metadata().map_err(|cause| io_error(input, cause))?.len();
    if nesting::is_too_deep(&file) {
        return Err(damaged(input, format!("its columns are nested deeper than {PARQUET_DEPTH_MAX} levels")));
    }
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
        .and_then(readable)
        .map_err(|cause| damaged(input, &cause).with_source(cause))?;
    // A damaged footer may have any offset and length; the reader would allocate that much memory.
    for column in metadata.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        let (start, bytes) = column.byte_range();
        if start.checked_add(bytes).is_none_or(|end| end > file_bytes) {
            let name = column.column_path().string();
            return Err(damaged(input, format!("column `{name}` lies behind the end of the file")));
        }
    }
    check_rows(input, metadata.metadata())?;
    Ok(metadata)
}

/// Refuses a footer with contradictory row counts: some readers use one count, some another, so that the file would
/// have two contents.
fn check_rows(input: &Input, footer: &ParquetMetaData) -> Result<()> {
    let said = footer.file_metadata().num_rows();
    let groups = footer.row_groups().iter().try_fold(0_i64, |rows, group| rows.checked_add(group.num_rows()));
    if said < 0 || groups != Some(said) || footer.row_groups().iter().any(|group| group.num_rows() < 0) {
        let groups = groups.map_or("too many".to_owned(), |rows| rows.to_string());
        return Err(damaged(input, format!("its footer says {said} rows, its row groups {groups}")));
    }
    for (number, group) in footer.row_groups().iter().enumerate() {
        for column in group.columns() {
            let is_flat = column.column_descr().max_rep_level() == 0;
            if is_flat && column.num_values() != group.num_rows() {
                let (name, values, rows) = (column.column_path().string(), column.num_values(), group.num_rows());
                let why = format!("column `{name}` has {values} values in row group {number}, which has {rows} rows");
                return Err(damaged(input, why));
            }
        }
    }
    Ok(())
}

/// Adjusts the column types to those that can be read. 96-bit timestamps become microseconds, which cover all usual
/// years (the reader's nanoseconds would wrap around after 2262). Dictionaries of types that the reader does not
/// support become plain values.
pub(crate) fn readable(metadata: ArrowReaderMetadata) -> parquet::errors::Result<ArrowReaderMetadata> {
    let leaves = metadata.metadata().file_metadata().schema_descr();
    let mut far = (0..leaves.num_columns()).map(|leaf| leaves.column(leaf).physical_type() == Physical::INT96);
    let fields: Fields = metadata.schema().fields().iter().map(|field| readable_field(field, &mut far)).collect();
    if fields == *metadata.schema().fields() {
        return Ok(metadata);
    }
    let schema = Arc::new(Schema::new_with_metadata(fields, metadata.schema().metadata().clone()));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), ArrowReaderOptions::new().with_schema(schema))
}

/// Converts the type of a field; `far` returns for each leaf whether it is a 96-bit timestamp.
fn readable_field(field: &FieldRef, far: &mut impl Iterator<Item = bool>) -> FieldRef {
    let mut of = |field: &FieldRef| readable_field(field, far);
    let data_type = match field.data_type() {
        DataType::List(item) => DataType::List(of(item)),
        DataType::LargeList(item) => DataType::LargeList(of(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(of(item), *size),
        DataType::Map(entries, sorted) => DataType::Map(of(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        leaf => match (far.next(), leaf) {
            (Some(true), DataType::Timestamp(_, zone)) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
            (_, DataType::Dictionary(_, value)) if is_stiff(value) => value.as_ref().clone(),
            _ => leaf.clone(),
        },
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// Returns whether the reader does not support dictionaries of such values.
fn is_stiff(value: &DataType) -> bool {
    value.is_decimal() || matches!(value, DataType::FixedSizeBinary(_) | DataType::Float16)
}

pub(super) fn schema(input: &Input) -> Result<Schema> {
    Ok(footer(input)?.schema.as_ref().clone())
}

/// Passes the rows to `sink`.
pub(super) fn read(input: &Input, sink: Sink<'_>) -> Result<(), Stop> {
    let metadata = load(input)?;
    let said = u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0);
    let file = File::open(&input.path).map_err(|cause| io_error(input, cause))?;
    let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|cause| damaged(input, &cause).with_source(cause))?;
    let mut rows = 0_u64;
    for batch in batches {
        let batch =
            batch.and_then(|batch| renamed(&batch)).map_err(|cause| damaged(input, &cause).with_source(cause))?;
        rows += batch.num_rows() as u64;
        sink(batch)?;
    }
    if rows != said {
        return Err(damaged(input, format!("its footer says {said} rows, its pages have {rows}")).into());
    }
    Ok(())
}
