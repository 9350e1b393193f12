//! Gives batches of a file the columns of the dataset: by name, in order, with the dataset's types.

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{Field, SchemaRef};
use arrow::util::display::array_value_to_string;
use salver_model::{Code, Error, Result};

/// The columns of `schema`, from a batch of the file called `label` whose first row is the file's `first_row`.
///
/// # Errors
/// [`Code::Source`] naming file, row, column and value when a value is not of the dataset's type.
pub(crate) fn conform(batch: &RecordBatch, schema: &SchemaRef, label: &str, first_row: u64) -> Result<Vec<ArrayRef>> {
    let own = batch.schema();
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let column = match own.index_of(field.name()) {
            Ok(index) => convert(batch.column(index), field, label, first_row)?,
            Err(_) => new_null_array(field.data_type(), batch.num_rows()),
        };
        if !field.is_nullable() && column.logical_null_count() > 0 {
            let row = (0..column.len()).find(|row| column.is_null(*row)).unwrap_or(0);
            let (name, row) = (field.name(), first_row + row as u64 + 1);
            let message = format!("`{label}` row {row}: column `{name}` is null but was declared not nullable");
            return Err(Error::new(Code::Source, message).with_hint("declare the column with `nullable = true`"));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// A batch with these columns.
pub(crate) fn batch_of(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    RecordBatch::try_new_with_options(
        SchemaRef::clone(schema),
        columns,
        &RecordBatchOptions::new().with_row_count(Some(rows)),
    )
    .map_err(|cause| Error::internal("columns that were read don't fit together").with_source(cause))
}

fn convert(column: &ArrayRef, field: &Field, label: &str, first_row: u64) -> Result<ArrayRef> {
    if column.data_type() == field.data_type() {
        return Ok(ArrayRef::clone(column));
    }
    let (name, wanted) = (field.name(), field.data_type());
    let options = CastOptions { safe: true, ..CastOptions::default() };
    let cast = cast_with_options(column, wanted, &options).map_err(|cause| {
        let message = format!("`{label}`: column `{name}` is {} and can't be made {wanted}", column.data_type());
        Error::new(Code::Source, message)
            .with_hint(format!("declare `{name}` in `schema` with another type"))
            .with_source(cause)
    })?;
    if cast.logical_null_count() > column.logical_null_count() {
        let is_lost = |row: &usize| cast.is_null(*row) && !column.is_null(*row);
        let row = (0..column.len()).find(is_lost).unwrap_or(0);
        let value = array_value_to_string(column, row).unwrap_or_default();
        let shown: String = value.chars().take(60).collect();
        let row = first_row + row as u64 + 1;
        return Err(Error::new(
            Code::Source,
            format!("`{label}` row {row}: column `{name}`: `{shown}` is not {wanted}"),
        )
        .with_hint(format!("declare `{name}` with a wider type in `schema`, or correct the value")));
    }
    Ok(cast)
}
