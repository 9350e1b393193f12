//! Translates a filter of a query to SQL.

use arrow::datatypes::DataType;
use salver_model::limits::{FILTER_DEPTH_MAX, FILTER_TERMS_MAX, PATTERN_BYTES_MAX};
use salver_model::{Code, ColumnPath, Comparison, Error, Filter, Result, Value};

use super::compare::{Literal, Operand, literal, push_literal};
use crate::dialect::like::{ILIKE, glob};
use crate::dialect::{Dialect, Sql, chain, sign};
use crate::statement::Bind;

/// Resolves a path to its operand.
pub(super) type Locate<'a> = dyn Fn(&ColumnPath) -> Result<Operand> + 'a;

/// Appends the filter.
///
/// # Errors
/// Those of `locate`; `InvalidValue`; `InvalidFilter` when it is too large, or `like` is applied to an operand that is
/// not text.
pub(super) fn push(filter: &Filter, locate: &Locate<'_>, sql: &mut Sql) -> Result<()> {
    walk(filter, locate, 0, &mut 0, sql)
}

fn walk(filter: &Filter, locate: &Locate<'_>, depth: usize, terms: &mut usize, sql: &mut Sql) -> Result<()> {
    *terms += 1;
    if depth > 4 * FILTER_DEPTH_MAX || *terms > FILTER_TERMS_MAX {
        return Err(Error::new(Code::InvalidFilter, "the filter is too large")
            .with_hint("nest less, or put many values of one column into an `in` list"));
    }
    match filter {
        Filter::And(all) | Filter::Or(all) => {
            let and = matches!(filter, Filter::And(_));
            if all.is_empty() {
                sql.push(if and { "1=1" } else { "1=0" });
                return Ok(());
            }
            chain(all, if and { " AND " } else { " OR " }, sql, &mut |inner, sql| {
                walk(inner, locate, depth + 1, terms, sql).map(|()| true)
            })?;
        }
        Filter::Not(inner) => {
            sql.push("NOT (");
            walk(inner, locate, depth + 1, terms, sql)?;
            sql.push(")");
        }
        Filter::IsNull { column } => {
            let operand = locate(column)?;
            let [is_null, _] = operand.null_tests(sql.dialect);
            sql.push("(").push(&operand.sql).push(is_null).push(")");
        }
        Filter::Compare { column, op, value } => {
            let operand = locate(column)?;
            compare(&operand, *op, &literal(sql.dialect, &operand, value)?, sql);
        }
        Filter::In { column, values } => one_of(&locate(column)?, values, sql)?,
        Filter::Like { column, pattern, ignore_case } => {
            let operand = locate(column)?;
            if operand.data_type != DataType::Utf8 {
                let message = format!("`{column}` is {}, and `like` compares text", operand.data_type);
                return Err(Error::new(Code::InvalidFilter, message).with_hint("compare it with `=`, `<` or `>`"));
            }
            if pattern.len() > PATTERN_BYTES_MAX {
                let message = format!("a pattern of `like` has at most {PATTERN_BYTES_MAX} bytes");
                return Err(Error::new(Code::InvalidFilter, message));
            }
            like(&operand, pattern, *ignore_case, sql);
        }
    }
    Ok(())
}

/// Appends one comparison.
pub(super) fn compare(operand: &Operand, op: Comparison, literal: &Literal, sql: &mut Sql) {
    let mut op = op;
    let bind = match literal {
        Literal::Is(bind) => bind,
        Literal::Past(bind) => {
            op = match op {
                Comparison::Eq | Comparison::NotEq => {
                    sql.push("(").push(&operand.sql).push(if op == Comparison::Eq { " <> " } else { " = " });
                    sql.push(&operand.sql).push(")");
                    return;
                }
                Comparison::Lt | Comparison::LtEq => Comparison::LtEq,
                Comparison::Gt | Comparison::GtEq => Comparison::Gt,
            };
            bind
        }
        Literal::Null => {
            // Null, and not false, so that its negation is not true either.
            sql.push(if sql.dialect == Dialect::Postgres { "(NULL::boolean)" } else { "(NULL)" });
            return;
        }
        Literal::Below | Literal::Above => {
            let above = *literal == Literal::Above;
            let holds = match op {
                Comparison::Eq => false,
                Comparison::NotEq => true,
                Comparison::Lt | Comparison::LtEq => above,
                Comparison::Gt | Comparison::GtEq => !above,
            };
            // Null stays null.
            sql.push("(").push(&operand.sql).push(if holds { " = " } else { " <> " }).push(&operand.sql).push(")");
            return;
        }
    };
    let sign = sign(op);
    let mixed = operand.is_mixed(sql.dialect);
    sql.push("(");
    if op == Comparison::Eq && operand.plain_text && !operand.beginning {
        // Compared first with the column's own collation, for which there may be an index; the byte comparison then
        // checks few rows.
        sql.push(&operand.sql);
        if mixed {
            push_shown(bind, sql.push(" IN ("));
            sql.push(")");
        } else {
            sql.push(" = ").bind(bind.clone());
        }
        sql.push(" AND ");
    }
    operand.push_ordered(sql);
    if mixed && matches!(op, Comparison::Eq | Comparison::NotEq) {
        sql.push(if op == Comparison::Eq { " IN (" } else { " NOT IN (" });
        push_shown(bind, sql);
        sql.push("))");
        return;
    }
    sql.push(sign);
    push_literal(operand, bind, sql);
    sql.push(")");
}

/// Appends the values that SQLite may store and that are shown as this text: the text, and its bytes.
fn push_shown(bind: &Bind, sql: &mut Sql) {
    sql.bind(bind.clone()).push(", CAST(").bind_again().push(" AS BLOB)");
}

fn one_of(operand: &Operand, values: &[Value], sql: &mut Sql) -> Result<()> {
    if values.len() > FILTER_TERMS_MAX {
        return Err(Error::new(Code::InvalidFilter, format!("more than {FILTER_TERMS_MAX} values in one list")));
    }
    if values.is_empty() {
        sql.push("1=0");
        return Ok(());
    }
    let literals = values.iter().map(|value| literal(sql.dialect, operand, value)).collect::<Result<Vec<_>>>()?;
    if !literals.iter().any(|literal| matches!(literal, Literal::Is(_) | Literal::Null)) {
        // No literal is in range: false for every value, null for null.
        sql.push("(").push(&operand.sql).push(" <> ").push(&operand.sql).push(")");
        return Ok(());
    }
    sql.push("(");
    operand.push_ordered(sql);
    sql.push(" IN (");
    let mut first = true;
    for literal in &literals {
        match literal {
            Literal::Is(bind) if operand.is_mixed(sql.dialect) => push_shown(bind, sql.separate(&mut first, ", ")),
            Literal::Is(bind) => {
                sql.separate(&mut first, ", ");
                push_literal(operand, bind, sql);
            }
            Literal::Null => {
                sql.separate(&mut first, ", ").push("NULL");
            }
            Literal::Past(_) | Literal::Below | Literal::Above => {}
        }
    }
    sql.push("))");
    Ok(())
}

fn like(operand: &Operand, pattern: &str, ignore_case: bool, sql: &mut Sql) {
    let text = |text: String| Bind::Text(text);
    sql.push("(");
    match (sql.dialect, ignore_case) {
        (Dialect::Postgres, _) => {
            // Not every collation of a column supports ignoring case.
            let word = if ignore_case { "::text COLLATE \"default\" ILIKE " } else { "::text LIKE " };
            sql.push("(").push(&operand.sql).push(")").push(word).bind(text(pattern.to_owned())).push("::text");
        }
        // SQLite's LIKE ignores case for ASCII only; GLOB is case-sensitive.
        (Dialect::Sqlite, false) => {
            sql.push(&operand.sql).push(" GLOB ").bind(text(glob(pattern)));
        }
        (Dialect::Sqlite, true) => {
            sql.push(ILIKE)
                .push("(CAST(")
                .push(&operand.sql)
                .push(" AS TEXT), ")
                .bind(text(pattern.to_owned()))
                .push(")");
        }
        (Dialect::Mysql, false) => {
            sql.push("CONVERT(").push(&operand.sql).push(" USING utf8mb4) COLLATE utf8mb4_bin LIKE ");
            sql.bind(text(pattern.to_owned()));
        }
        (Dialect::Mysql, true) => {
            sql.push("LOWER(CONVERT(").push(&operand.sql).push(" USING utf8mb4)) COLLATE utf8mb4_bin LIKE LOWER(");
            sql.bind(text(pattern.to_owned())).push(")");
        }
    }
    sql.push(")");
}
