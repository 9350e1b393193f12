//! Text search: a row is found when one of its text columns contains the text.

use salver_model::records::{Operation, TableInfo};
use salver_model::{ColumnPath, Filter, Result};

use super::reading::{self, Reading};
use crate::dialect::Sql;
use crate::dialect::like::escaped;
use crate::scope::Scope;

/// Appends the condition. A table without text columns has no matching row.
pub(crate) fn search(
    scope: &Scope<'_>,
    operation: Operation,
    table: &TableInfo,
    alias: &str,
    text: &str,
    sql: &mut Sql,
) -> Result<()> {
    let pattern = format!("%{}%", escaped(text));
    let columns = table.columns.iter().map(|column| (column.kind, column.name.as_str()));
    let searched = columns.filter(|(kind, name)| kind.is_text() && scope.access.column(operation, &table.name, name));
    let like = |name| Filter::Like { column: ColumnPath::column(name), pattern: pattern.clone(), ignore_case: false };
    let any = Filter::Or(searched.map(|(_, name)| like(name)).collect());
    reading::push(table, alias, Reading::Client { strict: false }, &any, sql)
}
