//! The columns of the rows of a statement, as clients are told them.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, SchemaRef};
use salver_model::pg_type::{PG_NAME, PgType};

/// A column of the rows of a statement.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) pg_type: PgType,
    pub(super) data_type: DataType,
}

/// Returns the columns of a schema.
pub(super) fn columns(schema: &SchemaRef) -> Arc<[Column]> {
    let column = |field: &Arc<Field>| Column {
        name: field.metadata().get(PG_NAME).unwrap_or(field.name()).clone(),
        pg_type: PgType::of_field(field),
        data_type: field.data_type().clone(),
    };
    schema.fields().iter().map(column).collect()
}
