//! The scope of one request: one schema, one caller.

use std::sync::Arc;

use salver_model::access::Bound;
use salver_model::records::{DatabaseSchema, Operation, TableInfo};
use salver_model::spec::DatabaseSpec;
use salver_model::{Code, Error, Result, suggest};

use crate::access::Access;
use crate::backend::Backend;
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::prepared_cache::Prepared;

/// The scope of one request.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) backend: &'a Arc<Backend>,
    pub(crate) dialect: Dialect,
    pub(crate) schema: Arc<DatabaseSchema>,
    pub(crate) access: Access<'a>,
    /// Cached statements for the schema.
    pub(crate) prepared: &'a Prepared,
    /// Whether the schema was refreshed since the request arrived. If not, an unknown name may exist all the same.
    pub(crate) sure: bool,
}

impl<'a> Scope<'a> {
    pub(crate) fn spec(&self) -> &'a DatabaseSpec {
        self.access.spec
    }

    /// Returns the bound on the rows of a response.
    pub(crate) fn rows(&self) -> Bound {
        self.access.caller.limits.rows(self.spec().rows_max)
    }

    pub(crate) fn sql(&self) -> Sql {
        Sql::new(self.dialect)
    }

    /// Returns the table, if it is visible to this operation.
    ///
    /// # Errors
    /// `UnknownTable`, with PHP-CRUD-API's message, and the nearest name as hint.
    pub(crate) fn table(&self, operation: Operation, name: &str) -> Result<&TableInfo> {
        let found = self.schema.table(name).filter(|table| self.access.table(operation, &table.name));
        found.ok_or_else(|| {
            let names = self.schema.tables().iter().map(|table| table.name.as_str());
            let visible = names.filter(|name| self.access.table(operation, name));
            let visible: Vec<&str> = visible.collect();
            Error::new(Code::UnknownTable, format!("Table '{name}' not found"))
                .with_hint_if(suggest::hint(name, visible.iter().copied()))
        })
    }

    /// Returns whether the caller's rights keep any table back from this operation.
    pub(crate) fn keeps_tables_back(&self, operation: Operation) -> bool {
        self.schema.tables().iter().any(|table| self.access.keeps_back(operation, &table.name))
    }

    /// Returns the column, if it is visible to this operation.
    pub(crate) fn column(&self, operation: Operation, table: &TableInfo, name: &str) -> Option<usize> {
        table.column(name).filter(|_| self.access.column(operation, &table.name, name))
    }

    /// Returns the error "Column 'agee' not found", with the nearest column as hint.
    pub(crate) fn unknown_column(&self, operation: Operation, table: &TableInfo, name: &str) -> Error {
        let names = table.columns.iter().map(|column| column.name.as_str());
        let visible: Vec<&str> = names.filter(|own| self.access.column(operation, &table.name, own)).collect();
        Error::new(Code::UnknownColumn, format!("Column '{name}' not found"))
            .with_hint_if(suggest::hint(name, visible.iter().copied()))
    }
}
