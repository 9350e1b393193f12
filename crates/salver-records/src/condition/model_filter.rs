//! Translates filters of the model, from rules and tenancy, to SQL. They have the same semantics in every system and
//! where a rule is evaluated without a database: text is compared by its bytes, and no value is coerced.

use salver_model::records::{ColumnKind, TableInfo};
use salver_model::{Code, ColumnPath, Comparison, Error, Filter, Result, Value};

use super::convert::{bind_for, exact_bind, place};
use super::operand::Operand;
use crate::dialect::Dialect;
use crate::dialect::like::{ILIKE, glob};
use crate::dialect::{Sql, chain, sign};
use crate::json::base64;
use crate::statement::Bind;

/// Appends the condition `filter` on the rows of `table`, with the alias `alias`.
///
/// # Errors
/// `Config` when it names a column that the table does not have: an uncheckable condition must not be ignored.
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
            let any = chain(values, " OR ", sql, &mut |value, sql| {
                compare(&operand, Comparison::Eq, value, sql);
                Ok(true)
            })?;
            sql.push(if any { "" } else { "1=0" });
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
    let any = chain(parts, word, sql, &mut |part, sql| filter(table, alias, part, sql).map(|()| true))?;
    sql.push(if any { "" } else { empty });
    Ok(())
}

fn operand<'t>(table: &'t TableInfo, alias: &str, path: &ColumnPath, sql: &Sql) -> Result<Operand<'t>> {
    let found = table.column(&path.column).filter(|_| path.fields.is_empty());
    let index = found.ok_or_else(|| {
        // Clients learn nothing of the rule.
        Error::new(Code::Config, format!("a rule for table `{}` is wrong", table.name))
            .with_hint("the log of the server has the reason")
            .with_source(format!("it names column `{path}`, which is not there; name only tables that have it"))
    })?;
    Ok(Operand::column_by_text(sql.dialect, &table.columns[index], alias))
}

fn compare(operand: &Operand<'_>, op: Comparison, value: &Value, sql: &mut Sql) {
    let bind = match value {
        Value::Null => {
            sql.push("(NULL)");
            return;
        }
        Value::Text(text) => bind_for(sql.dialect, operand, text),
        // A value of the caller's identity: a text that a client may have chosen.
        Value::Bare(text) => exact_bind(sql.dialect, operand, text),
        // Every kind but text can parse it: as a boolean, or as SQL's number for it.
        Value::Bool(truth) => bind_for(sql.dialect, operand, if *truth { "1" } else { "0" }),
        other => bind_for(sql.dialect, operand, &other.to_string()),
    };
    let sign = sign(op);
    let Some(bind) = bind else {
        // No row has the value: only `<>` holds, for all but null. Less and greater are unknown.
        let holds = match op {
            Comparison::Eq => " IS NULL AND NULL)",
            Comparison::NotEq => " IS NOT NULL OR NULL)",
            _ => {
                sql.push("(NULL)");
                return;
            }
        };
        sql.push("(").push(operand.text()).push(holds);
        return;
    };
    if let (Dialect::Sqlite, true, Bind::Text(text)) = (sql.dialect, operand.column.kind.is_binary(), &bind) {
        return compare_binary(operand, op, sign, text, sql);
    }
    if !is_text(operand, sql.dialect) {
        sql.push(operand.text()).push(sign);
        return place(operand, bind, sql);
    }
    sql.push("(");
    if op == Comparison::Eq {
        // Compared first with the column's own collation, for which there may be an index; the byte comparison then
        // checks few rows.
        sql.push(operand.text()).push(sign);
        place(operand, bind.clone(), sql);
        sql.push(" AND ");
    }
    by_bytes(operand, sign, bind, sql);
    sql.push(")");
}

/// Compares SQLite's bytes with bytes; text among them, as PHP-CRUD-API writes base64, compares unchanged.
fn compare_binary(operand: &Operand<'_>, op: Comparison, sign: &str, text: &str, sql: &mut Sql) {
    let own = operand.text();
    let negated = op == Comparison::NotEq;
    let sign = if negated { " = " } else { sign };
    sql.push(if negated { "(NOT (" } else { "((" });
    by_bytes(operand, sign, Bind::Text(text.to_owned()), sql);
    sql.push(" AND typeof(").push(own).push(") IN ('text', 'null')");
    if base64::is_exact(text)
        && let Some(bytes) = base64::decode(text)
    {
        sql.push(" OR ").push(own).push(sign).bind(Bind::Bytes(bytes));
        sql.push(" AND typeof(").push(own).push(") IN ('blob', 'null')");
    }
    sql.push("))");
}

/// Returns whether texts are compared.
fn is_text(operand: &Operand<'_>, dialect: Dialect) -> bool {
    match operand.column.kind {
        ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Json | ColumnKind::Geometry => true,
        ColumnKind::Varbinary | ColumnKind::Blob | ColumnKind::Uuid => dialect == Dialect::Sqlite,
        _ => false,
    }
}

/// Appends the predicate that a text is equal by bytes; nothing for a column of another kind.
pub(super) fn same_bytes(operand: &Operand<'_>, text: &str, sql: &mut Sql) {
    if operand.column.kind.is_text() {
        sql.push(" AND ");
        by_bytes(operand, " = ", Bind::Text(text.to_owned()), sql);
    }
}

/// Appends a comparison of texts by bytes, whatever the column's collation, type or affinity.
fn by_bytes(operand: &Operand<'_>, sign: &str, bind: Bind, sql: &mut Sql) {
    let text = operand.text();
    match sql.dialect {
        Dialect::Sqlite => {
            sql.push("CAST(").push(text).push(" AS TEXT)").push(sign).bind(bind).push(" COLLATE BINARY");
        }
        Dialect::Postgres => {
            sql.push("(").push(text).push(")::text COLLATE \"C\"").push(sign).bind(bind).push("::text");
        }
        Dialect::Mysql => {
            sql.push("CAST(CONVERT(").push(text).push(" USING utf8mb4) AS BINARY)").push(sign);
            sql.push("CAST(").bind(bind).push(" AS BINARY)");
        }
    }
}

/// Appends `LIKE` with the requested case sensitivity, whatever the system's own is.
fn like(operand: &Operand<'_>, pattern: &str, ignore_case: bool, sql: &mut Sql) {
    let text = operand.text();
    match (sql.dialect, ignore_case) {
        (Dialect::Sqlite, false) => {
            sql.push(text).push(" GLOB ").bind(Bind::Text(glob(pattern)));
        }
        (Dialect::Sqlite, true) => {
            sql.push(ILIKE)
                .push("(CAST(")
                .push(text)
                .push(" AS TEXT), ")
                .bind(Bind::Text(pattern.to_owned()))
                .push(")");
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
            // A case-insensitive type or collation is overridden; the database's collation knows the case of non-ASCII
            // letters.
            let word = if ignore_case { " COLLATE \"default\" ILIKE " } else { " COLLATE \"C\" LIKE " };
            sql.push("(").push(text).push(")::text").push(word);
            sql.bind(Bind::Text(pattern.to_owned()));
        }
    }
}
