//! Comparisons of an expression with a client's value.

use salver_model::limits::FILTER_TERMS_MAX;
use salver_model::records::{ColumnInfo, ColumnKind, Operator};
use salver_model::spec::DatabaseKind;
use salver_model::{Code, Error, Result};

use super::ConditionContext;
use super::convert::{bind_for, place};
use super::equal;
use super::operand::Operand;
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::dialect::like::escaped;
use crate::dialect::spatial::is_unary;
use crate::geometry;
use crate::json::base64;
use crate::statement::Bind;

/// Appends `column = value`; returns `false`, and appends nothing, when the column can't have the value.
pub(crate) fn equals(column: &ColumnInfo, alias: &str, value: &str, sql: &mut Sql) -> bool {
    let operand = Operand::column_by_text(sql.dialect, column, alias);
    let binds = key_binds(sql.dialect, &operand, value);
    if binds.is_empty() {
        return false;
    }
    equal::push_key(&operand, binds, sql);
    true
}

/// Returns the values that match a part of a key: only one, even if others are shown alike, since a key identifies one
/// row. Only bytes in SQLite may also be stored as their base64 text, as PHP-CRUD-API writes it.
pub(super) fn key_binds(dialect: Dialect, operand: &Operand<'_>, value: &str) -> Vec<Bind> {
    let main = bind_for(dialect, operand, value);
    if dialect == Dialect::Sqlite
        && operand.column.kind.is_binary()
        && let Some(bytes) = base64::decode(value)
    {
        let number = main.filter(|bind| matches!(bind, Bind::Int(_)));
        return [Bind::Bytes(bytes), Bind::Text(value.to_owned())].into_iter().chain(number).collect();
    }
    main.into_iter().collect()
}

/// Appends one comparison.
pub(crate) fn test(
    ground: &ConditionContext<'_>,
    operand: &Operand<'_>,
    (operator, negated, value): (Operator, bool, &str),
    sql: &mut Sql,
) -> Result<()> {
    if negated {
        sql.push("(NOT ");
    }
    match operator {
        Operator::IsNull => {
            let [is_null, _] = sql.dialect.null_tests(operand.column);
            sql.push("(").push(&operand.bare).push(is_null).push(")");
        }
        Operator::Contains => like(operand, ["%", "%"], value, sql),
        Operator::StartsWith => like(operand, ["", "%"], value, sql),
        Operator::EndsWith => like(operand, ["%", ""], value, sql),
        Operator::Equal => simple(ground, operand, " = ", value, sql)?,
        Operator::Less => simple(ground, operand, " < ", value, sql)?,
        Operator::LessOrEqual => simple(ground, operand, " <= ", value, sql)?,
        Operator::GreaterOrEqual => simple(ground, operand, " >= ", value, sql)?,
        Operator::Greater => simple(ground, operand, " > ", value, sql)?,
        Operator::Between => between(ground, operand, value, sql)?,
        Operator::In => list(ground, operand, value, sql)?,
        Operator::Spatial(_) => spatial(ground, operand, operator, value, sql)?,
    }
    if negated {
        sql.push(")");
    }
    Ok(())
}

fn like(operand: &Operand<'_>, [before, behind]: [&str; 2], value: &str, sql: &mut Sql) {
    // No text of PostgreSQL contains NUL, and none may be sent.
    if operand.column.kind.is_binary() || (sql.dialect == Dialect::Postgres && value.contains('\0')) {
        return operand.nothing(sql);
    }
    let pattern = format!("{before}{}{behind}", escaped(value));
    let escape = sql.dialect.like_escape();
    sql.push(&operand.like(sql.dialect)).push(" LIKE ").bind(Bind::Text(pattern)).push(escape);
}

fn simple(ground: &ConditionContext<'_>, operand: &Operand<'_>, sign: &str, value: &str, sql: &mut Sql) -> Result<()> {
    let Some(bind) = bind_for(sql.dialect, operand, value) else {
        refuse(ground, operand, value)?;
        if sign == " = " && !equal::shown_as(sql.dialect, operand, value).is_empty() {
            equal::push(operand, equal::shown_as(sql.dialect, operand, value), sql);
        } else {
            operand.nothing(sql);
        }
        return Ok(());
    };
    if sign == " = " {
        equal::push(operand, equal::shown_as(sql.dialect, operand, value), sql);
        return Ok(());
    }
    // Bytes compare with bytes, and base64 stored as text compares with the text.
    let bytes =
        if sql.dialect == Dialect::Sqlite && operand.column.kind.is_binary() { base64::decode(value) } else { None };
    let Some(bytes) = bytes else {
        sql.push(operand.text()).push(sign);
        place(operand, bind, sql);
        return Ok(());
    };
    sql.push("(").push(operand.text()).push(sign).bind(Bind::Bytes(bytes)).push(" AND typeof(").push(operand.text());
    // For null it must not be false, whose negation would be true.
    sql.push(") IN ('blob', 'null') OR ").push(operand.text()).push(sign).bind(Bind::Text(value.to_owned()));
    sql.push(" AND typeof(").push(operand.text()).push(") IN ('text', 'null'))");
    Ok(())
}

fn between(ground: &ConditionContext<'_>, operand: &Operand<'_>, value: &str, sql: &mut Sql) -> Result<()> {
    let binds = value
        .split_once(',')
        .map(|(low, high)| (bind_for(sql.dialect, operand, low), bind_for(sql.dialect, operand, high)));
    let Some((Some(low), Some(high))) = binds else {
        refuse(ground, operand, value)?;
        operand.nothing(sql);
        return Ok(());
    };
    sql.push("(").push(operand.text()).push(" >= ");
    place(operand, low, sql);
    sql.push(" AND ").push(operand.text()).push(" <= ");
    place(operand, high, sql);
    sql.push(")");
    Ok(())
}

fn list(ground: &ConditionContext<'_>, operand: &Operand<'_>, value: &str, sql: &mut Sql) -> Result<()> {
    let (mut all, mut count) = (Vec::new(), 0);
    for part in value.split(',') {
        count += 1;
        if count > FILTER_TERMS_MAX {
            return Err(Error::new(Code::InvalidFilter, "a list has too many values")
                .with_hint(format!("list at most {FILTER_TERMS_MAX}")));
        }
        if bind_for(sql.dialect, operand, part).is_none() {
            refuse(ground, operand, part)?;
        }
        all.extend(equal::shown_as(sql.dialect, operand, part));
    }
    if all.is_empty() {
        operand.nothing(sql);
    } else {
        equal::push(operand, all, sql);
    }
    Ok(())
}

fn spatial(
    ground: &ConditionContext<'_>,
    operand: &Operand<'_>,
    operator: Operator,
    value: &str,
    sql: &mut Sql,
) -> Result<()> {
    let word = Operator::ALL.iter().find(|(_, own)| *own == operator).map_or("", |(word, _)| word);
    let Operator::Spatial(relation) = operator else { return Ok(()) };
    if operand.column.kind != ColumnKind::Geometry {
        if ground.strict {
            return Err(Error::new(
                Code::InvalidFilter,
                format!("`{word}` is for geometries, and `{}` is none", operand.column.name),
            ));
        }
        operand.nothing(sql);
        return Ok(());
    }
    let Some(function) = sql.dialect.spatial(relation) else {
        return Err(Error::new(Code::Unsupported, format!("Operation '{word}' not supported"))
            .with_hint("SQLite has no functions for geometries"));
    };
    let srid = ground.scope.spec().geometry_srid;
    let truth = if ground.scope.spec().kind == DatabaseKind::Postgres { "=TRUE" } else { "=1" };
    if is_unary(relation) {
        sql.push(function).push("(").push(&operand.bare).push(")").push(truth);
        return Ok(());
    }
    if !geometry::is_wkt(value) {
        return Err(Error::new(Code::InvalidValue, format!("`{value}` is not a geometry"))
            .with_hint("geometries are well-known text, like `POINT(30 10)`"));
    }
    sql.push(function).push("(").push(&operand.bare).push(",ST_GeomFromText(");
    sql.bind(Bind::Text(value.to_owned()));
    sql.push(",").push(itoa::Buffer::new().format(srid)).push("))").push(truth);
    Ok(())
}

/// Returns an error to a strict client if the column can't have the value.
fn refuse(ground: &ConditionContext<'_>, operand: &Operand<'_>, value: &str) -> Result<()> {
    if !ground.strict {
        return Ok(());
    }
    let (name, kind) = (&operand.column.name, operand.column.kind.word());
    Err(Error::new(Code::InvalidValue, format!("`{value}` can't be compared with `{name}`, which is of type {kind}")))
}
