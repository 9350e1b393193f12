//! The columns of an entry, as a document's fields name them.

use arrow::datatypes::{DataType, Schema};
use salver_model::ColumnPath;

use super::kind::Kind;
use super::syntax::Path;

/// The columns a document has.
#[derive(Clone, Copy)]
pub(super) struct Columns<'s> {
    schema: &'s Schema,
}

impl<'s> Columns<'s> {
    /// Those of `schema`.
    pub(super) fn of(schema: &'s Schema) -> Self {
        Self { schema }
    }

    /// The column of a field. `d["a.b"]` is the column of that name where there is one.
    pub(super) fn path(self, path: &Path) -> ColumnPath {
        let mut parts = path.iter().cloned();
        ColumnPath { column: parts.next().unwrap_or_default(), fields: parts.collect() }
    }

    /// What a field holds; `None` when there is no such field, or when it is not always the same.
    pub(super) fn kind(self, path: &Path) -> Option<Kind> {
        let (first, below) = path.split_first()?;
        let field = self.schema.field_with_name(first).ok()?;
        let found = below.iter().try_fold(field.data_type(), |data_type, name| match data_type {
            DataType::Struct(fields) => fields.find(name).map(|(_, field)| field.data_type()),
            _ => None,
        });
        found.and_then(Kind::of_column)
    }

    /// The names of all columns.
    pub(super) fn names(self) -> impl Iterator<Item = &'s str> {
        self.schema.fields().iter().map(|field| field.name().as_str())
    }
}
