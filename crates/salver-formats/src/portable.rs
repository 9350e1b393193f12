//! Converts types to those that every reader of Arrow and Parquet supports.
//!
//! Engines compute with views and list views, which many readers (JavaScript, older Python and R) don't support; and a
//! slice of a view array keeps the whole buffers that it refers to. They are written as plain strings, binaries and
//! lists.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use salver_model::{Code, Error, Result};

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortableFormat {
    /// Supports every type, but is read by clients that don't support views.
    ArrowStream,
    /// Doesn't support dictionaries either: a file has only one per column, and these change from batch to batch.
    ArrowFile,
    /// Supports neither dictionaries nor runs as types, neither times in whole seconds nor dates in milliseconds.
    Parquet,
}

/// The output schema, to which batches are converted.
#[derive(Debug)]
pub struct Portable {
    schema: SchemaRef,
}

impl Portable {
    /// Returns the form of `schema` that readers of `target` support.
    #[must_use]
    pub fn new(schema: &Schema, target: PortableFormat) -> Self {
        let fields: Fields = schema.fields().iter().map(|field| portable_field(field, target)).collect();
        Self { schema: Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())) }
    }

    /// Returns the columns of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Converts the batch to the types and names of the schema.
    ///
    /// # Errors
    /// `Execution` if a column has more than two gigabytes of text, or nulls although its field is not nullable.
    pub fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (column, field) in batch.columns().iter().zip(self.schema.fields()) {
            columns.push(portable_column(column, field)?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), columns, &options).map_err(|cause| {
            Error::new(Code::Execution, format!("the rows don't fit their schema: {cause}")).with_source(cause)
        })
    }
}

fn portable_column(column: &ArrayRef, field: &Field) -> Result<ArrayRef> {
    if column.data_type() == field.data_type() {
        return Ok(Arc::clone(column));
    }
    // The default would turn values that don't fit into null.
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, field.data_type(), &strict).map_err(|cause| {
        let (name, has, wants) = (field.name(), column.data_type(), field.data_type());
        Error::new(Code::Execution, format!("column `{name}` can't go from {has} to {wants}"))
            .with_hint("ask for another format")
            .with_source(cause)
    })
}

fn portable_field(field: &FieldRef, target: PortableFormat) -> FieldRef {
    let data_type = portable_type(field.data_type(), target);
    if &data_type == field.data_type() || !can_cast_types(field.data_type(), &data_type) {
        return Arc::clone(field);
    }
    Arc::new(Field::clone(field).with_data_type(data_type))
}

fn portable_type(data_type: &DataType, target: PortableFormat) -> DataType {
    use DataType as D;
    let portable = |field: &FieldRef| portable_field(field, target);
    let parquet = target == PortableFormat::Parquet;
    match data_type {
        D::Utf8View => D::Utf8,
        D::BinaryView => D::Binary,
        D::ListView(item) | D::List(item) => D::List(portable(item)),
        D::LargeListView(item) | D::LargeList(item) => D::LargeList(portable(item)),
        D::FixedSizeList(item, len) => D::FixedSizeList(portable(item), *len),
        D::Struct(fields) => D::Struct(fields.iter().map(portable).collect()),
        D::Map(entries, sorted) => D::Map(portable(entries), *sorted),
        D::Dictionary(keys, values) if target == PortableFormat::ArrowStream => {
            D::Dictionary(keys.clone(), Box::new(portable_type(values, target)))
        }
        D::Dictionary(_, values) => portable_type(values, target),
        D::RunEndEncoded(_, values) if parquet => portable_type(values.data_type(), target),
        D::Timestamp(TimeUnit::Second, zone) if parquet => D::Timestamp(TimeUnit::Millisecond, zone.clone()),
        D::Time32(TimeUnit::Second) if parquet => D::Time32(TimeUnit::Millisecond),
        // It may have a time of day, as JavaScript's dates do, which Parquet's dates can't hold.
        D::Date64 if parquet => D::Timestamp(TimeUnit::Millisecond, None),
        other => other.clone(),
    }
}
