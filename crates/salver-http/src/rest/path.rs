//! Resolves names of columns and nested fields in a request against the schema.

use arrow::datatypes::{DataType, Field, Fields};
use salver_model::{Code, ColumnPath, Description, Error, Result};

/// The columns that a request may name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'a> {
    entry: &'a str,
    fields: &'a Fields,
    /// Whether rows may have columns that are not in the schema.
    is_open: bool,
}

impl<'a> Columns<'a> {
    pub(super) fn of(description: &'a Description) -> Self {
        Self { entry: description.name.as_str(), fields: description.schema.fields(), is_open: false }
    }

    /// Returns columns that accept any name.
    pub(super) fn any(none: &'a Fields) -> Self {
        Self { entry: "", fields: none, is_open: true }
    }

    /// Returns the names, in the schema's order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        self.fields.iter().map(|field| field.name().as_str())
    }

    /// Returns whether a column has exactly this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name() == name)
    }

    /// Resolves `text` to a column or nested field: a column of exactly that name, else a struct column and fields
    /// below it, separated by dots.
    ///
    /// # Errors
    /// `code`, with the nearest name as a hint.
    pub(super) fn resolve(&self, text: &str, code: Code) -> Result<ColumnPath> {
        if self.is_open || self.has(text) {
            return Ok(ColumnPath::column(text));
        }
        for (at, _) in text.match_indices('.') {
            let (head, tail) = (&text[..at], &text[at + 1..]);
            if let Some(field) = self.fields.iter().find(|field| field.name() == head) {
                let fields = below(field, tail, code)?;
                return Ok(ColumnPath { column: head.to_owned(), fields });
            }
        }
        Err(Error::unknown_column(code, text, self.entry, self.names()))
    }
}

/// Resolves `text` to the names of nested fields of the struct `field`.
fn below(field: &Field, text: &str, code: Code) -> Result<Vec<String>> {
    let DataType::Struct(inner) = field.data_type() else {
        return Err(Error::new(
            code,
            format!("column `{}` has no fields, so there is no `{text}` in it", field.name()),
        ));
    };
    if inner.iter().any(|field| field.name() == text) {
        return Ok(vec![text.to_owned()]);
    }
    for (at, _) in text.match_indices('.') {
        if let Some(next) = inner.iter().find(|field| *field.name() == text[..at]) {
            let mut fields = vec![text[..at].to_owned()];
            fields.extend(below(next, &text[at + 1..], code)?);
            return Ok(fields);
        }
    }
    Err(Error::unknown_column(code, text, field.name(), inner.iter().map(|field| field.name().as_str())))
}
