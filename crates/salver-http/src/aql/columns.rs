//! Resolves the fields of a document to the columns of an entry.

use arrow::datatypes::{DataType, Schema};
use salver_model::ColumnPath;

use super::kind::ValueKind;
use super::syntax::Path;

/// The columns of a document.
#[derive(Clone, Copy)]
pub(super) struct Columns<'s> {
    schema: &'s Schema,
}

impl<'s> Columns<'s> {
    /// Returns the columns of `schema`.
    pub(super) fn of(schema: &'s Schema) -> Self {
        Self { schema }
    }

    /// Returns the column of a field. `d["a.b"]` is the column of that name if it exists.
    pub(super) fn path(self, path: &Path) -> ColumnPath {
        let mut parts = path.iter().cloned();
        ColumnPath { column: parts.next().unwrap_or_default(), fields: parts.collect() }
    }

    /// Returns the kind of a field's values; `None` when there is no such field, or when the kind varies from row to
    /// row.
    pub(super) fn kind(self, path: &Path) -> Option<ValueKind> {
        let (first, below) = path.split_first()?;
        let field = self.schema.field_with_name(first).ok()?;
        let found = below.iter().try_fold(field.data_type(), |data_type, name| match data_type {
            DataType::Struct(fields) => fields.find(name).map(|(_, field)| field.data_type()),
            _ => None,
        });
        found.and_then(ValueKind::of_column)
    }

    /// Returns the names of all columns.
    pub(super) fn names(self) -> impl Iterator<Item = &'s str> {
        self.schema.fields().iter().map(|field| field.name().as_str())
    }
}
