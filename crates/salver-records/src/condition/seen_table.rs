//! A table as an operation sees it: where columns are masked, it is replaced by a subquery that computes them, over the
//! rows that rules leave. The systems merge such a subquery into the statement around it, so that keys are still looked
//! up by an index; and no condition, order or group ever meets the values behind a mask.

use salver_model::Result;
use salver_model::records::{Operation, TableInfo};

use super::restrict;
use crate::dialect::Sql;
use crate::scope::Scope;

/// Alias of the table inside the subquery.
const WITHIN: &str = "m";

/// Appends the table under its alias, for `FROM`. The rows must then be chosen by [`restrict_seen`].
///
/// # Errors
/// `Config` when a mask or a rule does not fit the table.
pub(crate) fn seen_table(
    scope: &Scope<'_>,
    operation: Operation,
    table: &TableInfo,
    alias: &str,
    sql: &mut Sql,
) -> Result<()> {
    let masks = scope.access.masks(operation, table);
    if masks.is_empty() {
        sql.name(&table.real_name).push(" ").push(alias);
        return Ok(());
    }
    let mut first = true;
    sql.push("(SELECT ");
    for (index, column) in table.columns.iter().enumerate() {
        sql.separate(&mut first, ", ");
        match masks.iter().find(|(own, _)| *own == index) {
            Some((_, mask)) => scope.dialect.masked(column, mask, WITHIN, &mut sql.text)?,
            None => drop(sql.column(WITHIN, table, index)),
        }
        sql.push(" AS ").name(&column.real_name);
    }
    sql.push(" FROM ").name(&table.real_name).push(" ").push(WITHIN);
    // Rules see the values behind masks.
    restrict(scope, operation, table, WITHIN, sql, &mut true)?;
    sql.push(") ").push(alias);
    Ok(())
}

/// Appends the predicates of rules and tenancy on a table from [`seen_table`], unless it has them already.
///
/// # Errors
/// `Config` when a rule names a column that the table does not have.
pub(crate) fn restrict_seen(
    scope: &Scope<'_>,
    operation: Operation,
    table: &TableInfo,
    alias: &str,
    sql: &mut Sql,
    first: &mut bool,
) -> Result<()> {
    if scope.access.is_masked(operation, table) {
        return Ok(());
    }
    restrict(scope, operation, table, alias, sql, first)
}
