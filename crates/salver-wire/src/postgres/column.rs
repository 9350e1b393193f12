//! The columns of the rows of a statement, as clients are told them.

use std::sync::Arc;

use arrow::datatypes::{DataType, SchemaRef};
use salver_model::pg_type::PgType;

/// A column of the rows of a statement.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) pg_type: PgType,
    pub(super) data_type: DataType,
}

/// Returns the columns of a schema.
pub(super) fn columns(schema: &SchemaRef) -> Arc<[Column]> {
    let column = |(name, data_type): (&String, &DataType)| Column {
        name: name.clone(),
        pg_type: PgType::of(data_type),
        data_type: data_type.clone(),
    };
    schema.fields().iter().map(|field| column((field.name(), field.data_type()))).collect()
}
