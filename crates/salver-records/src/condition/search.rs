//! Text search: a row is found when one of its text columns contains the text.

use salver_model::records::{Operation, TableInfo};

use super::operand::Operand;
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::dialect::like::escaped;
use crate::scope::Scope;
use crate::statement::Bind;

/// Appends the condition. A table without text columns has no matching row.
pub(crate) fn search(
    scope: &Scope<'_>,
    operation: Operation,
    table: &TableInfo,
    alias: &str,
    text: &str,
    sql: &mut Sql,
) {
    let pattern = format!("%{}%", escaped(text));
    let mut first = true;
    if sql.dialect == Dialect::Postgres && text.contains('\0') {
        sql.push("1=0");
        return;
    }
    for column in &table.columns {
        if !column.kind.is_text() || !scope.access.column(operation, &table.name, &column.name) {
            continue;
        }
        sql.push(if first { "(" } else { " OR " });
        first = false;
        let escape = sql.dialect.like_escape();
        let operand = Operand::column(sql.dialect, column, alias);
        sql.push(&operand.like(sql.dialect)).push(" LIKE ").bind(Bind::Text(pattern.clone())).push(escape);
    }
    sql.push(if first { "1=0" } else { ")" });
}
