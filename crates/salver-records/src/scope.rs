//! What one request works with from start to end: one schema, one caller.

use std::sync::Arc;

use salver_model::records::{DatabaseSchema, Operation, TableInfo};
use salver_model::spec::DatabaseSpec;
use salver_model::{Code, Error, Result, suggest};

use crate::access::Access;
use crate::backend::Backend;
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::prepared::Prepared;

/// The ground of one request.
#[derive(Clone, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) backend: &'a Arc<Backend>,
    pub(crate) dialect: Dialect,
    pub(crate) schema: Arc<DatabaseSchema>,
    pub(crate) access: Access<'a>,
    /// Statements that were prepared next to a schema.
    pub(crate) prepared: &'a Prepared,
    /// Whether the schema was looked at since the request came. What it does not know may be there else.
    pub(crate) sure: bool,
}

impl<'a> Scope<'a> {
    pub(crate) fn spec(&self) -> &'a DatabaseSpec {
        self.access.spec
    }

    pub(crate) fn sql(&self) -> Sql {
        Sql::new(self.dialect)
    }

    /// The table, when it is there for this operation.
    ///
    /// # Errors
    /// `UnknownTable`, in PHP-CRUD-API's words, with the nearest name as hint.
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

    /// The column, when it is there for this operation.
    pub(crate) fn column(&self, operation: Operation, table: &TableInfo, name: &str) -> Option<usize> {
        table.column(name).filter(|_| self.access.column(operation, &table.name, name))
    }

    /// "Column 'agee' not found", with the nearest column as hint.
    pub(crate) fn unknown_column(&self, operation: Operation, table: &TableInfo, name: &str) -> Error {
        let names = table.columns.iter().map(|column| column.name.as_str());
        let visible: Vec<&str> = names.filter(|own| self.access.column(operation, &table.name, own)).collect();
        Error::new(Code::UnknownColumn, format!("Column '{name}' not found"))
            .with_hint_if(suggest::hint(name, visible.iter().copied()))
    }
}
