//! The one catalog that there is, with its one schema, and the columns of texts that tell of it.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

/// Names of the one catalog and of its schema, as the system catalog of PostgreSQL's clients has them.
pub(super) const CATALOG: &str = "salver";
pub(super) const SCHEMA: &str = "public";

/// Returns whether a filter on the catalog lets the one there is through.
pub(super) fn is_catalog(filter: Option<&str>) -> bool {
    filter.is_none_or(|name| name == CATALOG)
}

/// Returns columns of texts, with whether they have nulls.
pub(super) fn texts(columns: &[(&str, bool)]) -> SchemaRef {
    let fields = columns.iter().map(|(name, nullable)| Field::new(*name, DataType::Utf8, *nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Returns a column of texts.
pub(super) fn text<'a>(values: impl IntoIterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// Returns a text as often as there are rows.
pub(super) fn repeated(text: &'static str, count: usize) -> impl Iterator<Item = &'static str> {
    std::iter::repeat_n(text, count)
}
