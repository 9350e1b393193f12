//! Whole rows of one table without joins, as in most lists: the head of the statement and the shape of the rows,
//! prepared once per schema.

use std::sync::Arc;

use salver_model::records::{ColumnKind, Operation, TableInfo};

use super::join::{RowTemplates, Template};
use super::root_rows::ALIAS;
use crate::json::{self, JsonForm};
use crate::prepared_cache::PreparedKind;
use crate::scope::Scope;

/// The prepared parts of a table's lists.
#[derive(Debug)]
pub(crate) struct Flat {
    pub(super) shape: Arc<RowTemplates>,
    pub(super) fetched: Vec<usize>,
    /// `SELECT t."id", ...`.
    pub(super) select: String,
    pub(super) kinds: Arc<[ColumnKind]>,
}

impl Flat {
    /// Returns the prepared parts for the table; `None` for operations other than lists, and when no column is shown.
    pub(super) fn of(scope: &Scope<'_>, operation: Operation, table: &TableInfo) -> Option<Arc<Self>> {
        if operation != Operation::List {
            return None;
        }
        let position = scope.schema.position(&table.name)?;
        if !scope.access.is_uniform() {
            return Self::new(scope, position);
        }
        scope
            .prepared
            .get((&scope.schema, scope.access.class()), position, PreparedKind::List, || Self::new(scope, position))
    }

    /// Prepares it for all callers: the columns that rules hide depend on the caller only where rules have exceptions.
    pub(super) fn new(scope: &Scope<'_>, position: usize) -> Option<Arc<Self>> {
        let table = scope.schema.tables().get(position)?;
        let seen = |index: &usize| scope.access.column(Operation::List, &table.name, &table.columns[*index].name);
        let fetched: Vec<usize> = (0..table.columns.len()).filter(seen).collect();
        if fetched.is_empty() {
            return None;
        }
        let members = fetched.iter().enumerate().map(|(cell, index)| {
            let column = &table.columns[*index];
            (column.name.as_str(), JsonForm::of(scope.spec(), table, column), cell)
        });
        let shape = Arc::new(RowTemplates { root: Template::flat(members), branches: Vec::new() });
        let mut sql = scope.sql();
        let mut first = true;
        sql.push("SELECT ");
        for index in &fetched {
            sql.separate(&mut first, ", ");
            scope.dialect.select(&table.columns[*index], ALIAS, &mut sql);
        }
        Some(Arc::new(Self { shape, select: sql.text, kinds: json::kinds(table, &fetched), fetched }))
    }
}
