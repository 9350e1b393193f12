//! Converts batches of a file to the schema of the dataset: columns by name, in order, with the dataset's types.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, ListArray, RecordBatch, RecordBatchOptions, StringArray, StringBuilder, StructArray,
    new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, Fields, SchemaRef};
use arrow::error::ArrowError;
use arrow::json::writer::{EncoderOptions, make_encoder};
use arrow::util::display::array_value_to_string;
use salver_model::{Code, Error, Result};

use super::cast_loss;
use crate::source::declared_type::from_text;

/// Returns the columns of `schema`, from a batch of the file called `label` whose first row is the file's `first_row`.
///
/// # Errors
/// [`Code::Source`] with file, row, column and value if a value can't be converted to the dataset's type.
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

/// Makes a batch of these columns.
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
    let column = &shaped(column, wanted);
    let misfit = |row: usize| {
        let value = array_value_to_string(column, row).unwrap_or_default();
        let shown: String = value.chars().take(60).collect();
        let row = first_row + row as u64 + 1;
        Error::new(Code::Source, format!("`{label}` row {row}: column `{name}`: `{shown}` is not {wanted}"))
            .with_hint(format!("declare `{name}` with a wider type in `schema`, or correct the value"))
    };
    if let Some(texts) = column.as_string_opt::<i32>().filter(|_| !wanted.is_string()) {
        return from_text(texts, wanted).map_err(misfit);
    }
    if column.data_type().is_floating() && wanted.is_decimal() {
        // The digits of a float's shortest text count; arrow multiplies the float, which gives others.
        let unwritten = |cause| Error::internal("floats can't be written").with_source(cause);
        let texts = cast_with_options(column, &DataType::Utf8, &CastOptions::default()).map_err(unwritten)?;
        return from_text(texts.as_string(), wanted).map_err(misfit);
    }
    if wanted.is_nested() && !column.data_type().is_nested() {
        // Arrow casts any value to a list of one item.
        let first = (0..column.len()).find(|row| !column.is_null(*row));
        return first.map_or_else(|| Ok(new_null_array(wanted, column.len())), |row| Err(misfit(row)));
    }
    if wanted.is_string() && column.data_type().is_nested() {
        let texts = written(column).map_err(|cause| unmade(column, field, label).with_source(cause))?;
        return cast_with_options(&texts, wanted, &CastOptions::default())
            .map_err(|cause| unmade(column, field, label).with_source(cause));
    }
    let options = CastOptions { safe: true, ..CastOptions::default() };
    // Arrow casts a number to its bytes in memory.
    let is_number_as_bytes = column.data_type().is_numeric() && wanted.is_binary();
    if is_number_as_bytes && let Some(row) = (0..column.len()).find(|row| !column.is_null(*row)) {
        return Err(misfit(row));
    }
    let cast =
        cast_with_options(column, wanted, &options).map_err(|cause| unmade(column, field, label).with_source(cause))?;
    let unfit = |cause| Error::internal("a column can't be compared with what it was cast to").with_source(cause);
    match cast_loss::first(column, &cast).map_err(unfit)? {
        Some(row) => Err(misfit(row)),
        None => Ok(cast),
    }
}

fn unmade(column: &ArrayRef, field: &Field, label: &str) -> Error {
    let (name, own, wanted) = (field.name(), column.data_type(), field.data_type());
    Error::new(Code::Source, format!("`{label}`: column `{name}` is {own} and can't be made {wanted}"))
        .with_hint(format!("declare `{name}` in `schema` with another type"))
}

/// Formats lists and structs as JSON, as they are read from JSON files.
fn written(column: &ArrayRef) -> Result<StringArray, ArrowError> {
    let options = EncoderOptions::default().with_explicit_nulls(true);
    let field = Arc::new(Field::new("", column.data_type().clone(), true));
    let mut encoder = make_encoder(&field, column, &options)?;
    let mut texts = StringBuilder::with_capacity(column.len(), 0);
    let mut text = Vec::new();
    for row in 0..column.len() {
        if column.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        encoder.encode(row, &mut text);
        texts.append_value(str::from_utf8(&text).map_err(|cause| ArrowError::ExternalError(Box::new(cause)))?);
    }
    Ok(texts.finish())
}

/// Returns a column whose structs have the wanted fields, by name: when files are merged, some may lack fields.
fn shaped(column: &ArrayRef, wanted: &DataType) -> ArrayRef {
    match (column.data_type(), wanted) {
        (own, wanted) if own == wanted => Arc::clone(column),
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let own = column.as_struct();
            let member = |field: &Arc<Field>| match own.column_by_name(field.name()) {
                Some(member) => shaped(member, field.data_type()),
                None => new_null_array(field.data_type(), own.len()),
            };
            let members: Vec<ArrayRef> = fields.iter().map(member).collect();
            let types = fields.iter().zip(&members);
            let fields: Fields =
                types.map(|(field, member)| Field::new(field.name(), member.data_type().clone(), true)).collect();
            StructArray::try_new(fields, members, own.nulls().cloned())
                .map_or_else(|_| Arc::clone(column), |made| Arc::new(made))
        }
        (DataType::List(item), DataType::List(wanted)) => {
            let (_, offsets, values, nulls) = column.as_list::<i32>().clone().into_parts();
            let values = shaped(&values, wanted.data_type());
            let item = Arc::new(Field::new(item.name(), values.data_type().clone(), true));
            ListArray::try_new(item, offsets, values, nulls).map_or_else(|_| Arc::clone(column), |made| Arc::new(made))
        }
        _ => Arc::clone(column),
    }
}
