//! Filters of the model to SQL: what rules and tenancy demand, and what other doors ask of a table.

use salver_model::records::{ColumnKind, TableInfo};
use salver_model::{Code, ColumnPath, Comparison, Error, Filter, Result, Value};

use super::compare::Operand;
use super::convert::{bind_for, place};
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::dialect::like::glob;
use crate::statement::Bind;

/// Appends the condition `filter` on the rows of `table`, which the statement calls `alias`.
///
/// # Errors
/// `Config` when it names a column that the table does not have: what can't be checked must not be passed over.
pub(crate) fn filter(table: &TableInfo, alias: &str, filter: &Filter, sql: &mut Sql) -> Result<()> {
    match filter {
        Filter::And(parts) => several(table, alias, parts, (" AND ", "1=1"), sql),
        Filter::Or(parts) => several(table, alias, parts, (" OR ", "1=0"), sql),
        Filter::Not(inner) => {
            sql.push("(NOT ");
            self::filter(table, alias, inner, sql)?;
            sql.push(")");
            Ok(())
        }
        Filter::Compare { column, op, value } => {
            compare(&operand(table, alias, column, sql)?, *op, value, sql);
            Ok(())
        }
        Filter::In { column, values } => {
            let operand = operand(table, alias, column, sql)?;
            let mut first = true;
            for value in values {
                sql.push(if first { "(" } else { " OR " });
                first = false;
                compare(&operand, Comparison::Eq, value, sql);
            }
            sql.push(if first { "1=0" } else { ")" });
            Ok(())
        }
        Filter::Like { column, pattern, ignore_case } => {
            like(&operand(table, alias, column, sql)?, pattern, *ignore_case, sql);
            Ok(())
        }
        Filter::IsNull { column } => {
            let operand = operand(table, alias, column, sql)?;
            sql.push("(").push(operand.text()).push(" IS NULL)");
            Ok(())
        }
    }
}

fn several(table: &TableInfo, alias: &str, parts: &[Filter], (word, empty): (&str, &str), sql: &mut Sql) -> Result<()> {
    let mut first = true;
    for part in parts {
        sql.push(if first { "(" } else { word });
        first = false;
        filter(table, alias, part, sql)?;
    }
    sql.push(if first { empty } else { ")" });
    Ok(())
}

fn operand<'t>(table: &'t TableInfo, alias: &str, path: &ColumnPath, sql: &Sql) -> Result<Operand<'t>> {
    let found = table.column(&path.column).filter(|_| path.fields.is_empty());
    let index = found.ok_or_else(|| {
        Error::new(Code::Config, format!("a rule for table `{}` names column `{path}`, which is not there", table.name))
            .with_hint("name the tables the rule is for in its `tables`")
    })?;
    Ok(Operand::column(sql.dialect, &table.columns[index], alias))
}

fn compare(operand: &Operand<'_>, op: Comparison, value: &Value, sql: &mut Sql) {
    let bind = match value {
        Value::Null => {
            sql.push("(NULL)");
            return;
        }
        Value::Text(text) | Value::Bare(text) => bind_for(sql.dialect, operand, text),
        // Every kind but text reads it: as a truth, or as the number SQL takes it for.
        Value::Bool(truth) => bind_for(sql.dialect, operand, if *truth { "1" } else { "0" }),
        other => bind_for(sql.dialect, operand, &other.to_string()),
    };
    let sign = match op {
        Comparison::Eq => " = ",
        Comparison::NotEq => " <> ",
        Comparison::Lt => " < ",
        Comparison::LtEq => " <= ",
        Comparison::Gt => " > ",
        Comparison::GtEq => " >= ",
    };
    let Some(bind) = bind else {
        // No row has the value: only "another than it" holds, of what is not null.
        let holds = if op == Comparison::NotEq { " IS NOT NULL OR NULL)" } else { " IS NULL AND NULL)" };
        sql.push("(").push(operand.text()).push(holds);
        return;
    };
    sql.push(operand.text()).push(sign);
    place(operand, bind, sql);
}

/// `LIKE` that tells upper from lower case as asked, whatever the system's own does.
fn like(operand: &Operand<'_>, pattern: &str, ignore_case: bool, sql: &mut Sql) {
    let text = operand.text();
    let plain = operand.as_text || operand.column.kind.is_text();
    match (sql.dialect, ignore_case) {
        (Dialect::Sqlite, false) => {
            sql.push(text).push(" GLOB ").bind(Bind::Text(glob(pattern)));
        }
        (Dialect::Sqlite, true) => {
            sql.push(text).push(" LIKE ").bind(Bind::Text(pattern.to_owned())).push(" ESCAPE '\\'");
        }
        (Dialect::Mysql, false) => {
            sql.push("CONVERT(").push(text).push(" USING utf8mb4) COLLATE utf8mb4_bin LIKE ");
            sql.bind(Bind::Text(pattern.to_owned()));
        }
        (Dialect::Mysql, true) => {
            sql.push("LOWER(CONVERT(").push(text).push(" USING utf8mb4)) LIKE LOWER(");
            sql.bind(Bind::Text(pattern.to_owned())).push(")");
        }
        (Dialect::Postgres, _) => {
            let cast = if plain || operand.column.kind == ColumnKind::Json { "" } else { "::text" };
            sql.push(text).push(cast).push(if ignore_case { " ILIKE " } else { " LIKE " });
            sql.bind(Bind::Text(pattern.to_owned()));
        }
    }
}
