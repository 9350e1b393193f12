//! Tests of TreeQL. Each is a filter of the model, as a client of records means it; only geometries have SQL of their
//! own.

use salver_model::limits::FILTER_TERMS_MAX;
use salver_model::records::{ColumnKind, Operator, Spatial};
use salver_model::spec::DatabaseKind;
use salver_model::{Code, ColumnPath, Comparison, Error, Filter, Result, Value};

use super::ConditionContext;
use super::convert::bind_for;
use super::operand::Operand;
use super::predicate::{self, Comparand, constant};
use super::reading::{ReadOperand, Reading};
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::dialect::like::escaped;
use crate::dialect::spatial::is_unary;
use crate::geometry;
use crate::statement::Bind;

/// Appends one comparison.
pub(crate) fn test(
    ground: &ConditionContext<'_>,
    operand: Operand<'_>,
    (operator, negated, value): (Operator, bool, &str),
    sql: &mut Sql,
) -> Result<()> {
    let read = ReadOperand { operand, reading: Reading::Client { strict: ground.strict } };
    sql.push(if negated { "(NOT " } else { "" });
    if let Operator::Spatial(relation) = operator {
        spatial(ground, &read, (operator, relation), value, sql)?;
    } else if let Some(filter) = filter(&read, operator, value, sql.dialect)? {
        predicate::push(&filter, &|_| Ok(read.clone()), sql)?;
    } else {
        constant(&read.side(sql.dialect), false, sql);
    }
    sql.push(if negated { ")" } else { "" });
    Ok(())
}

/// Returns the test as a filter; `None` where no row passes.
fn filter(read: &ReadOperand<'_>, operator: Operator, value: &str, dialect: Dialect) -> Result<Option<Filter>> {
    let column = || ColumnPath::column(read.operand.column.name.as_str());
    let text = |text: &str| Value::Text(text.to_owned());
    let compare = |op, value: &str| Filter::compare(column(), op, text(value));
    let like = |before, behind| Filter::Like {
        column: column(),
        pattern: format!("{before}{}{behind}", escaped(value)),
        ignore_case: false,
    };
    Ok(Some(match operator {
        Operator::IsNull => Filter::IsNull { column: column() },
        Operator::Contains => like("%", "%"),
        Operator::StartsWith => like("", "%"),
        Operator::EndsWith => like("%", ""),
        Operator::Equal => compare(Comparison::Eq, value),
        Operator::Less => compare(Comparison::Lt, value),
        Operator::LessOrEqual => compare(Comparison::LtEq, value),
        Operator::GreaterOrEqual => compare(Comparison::GtEq, value),
        Operator::Greater => compare(Comparison::Gt, value),
        Operator::Between => {
            let is_value = |text: &str| bind_for(dialect, read.operand.compared(), text).is_some();
            let Some((low, high)) = value.split_once(',').filter(|(low, high)| is_value(low) && is_value(high)) else {
                read.refuse(value)?;
                return Ok(None);
            };
            Filter::And(vec![compare(Comparison::GtEq, low), compare(Comparison::LtEq, high)])
        }
        Operator::In => {
            let values: Vec<Value> = value.split(',').take(FILTER_TERMS_MAX + 1).map(text).collect();
            if values.len() > FILTER_TERMS_MAX {
                return Err(Error::new(Code::InvalidFilter, "a list has too many values")
                    .with_hint(format!("list at most {FILTER_TERMS_MAX}")));
            }
            Filter::In { column: column(), values }
        }
        Operator::Spatial(_) => return Ok(None),
    }))
}

fn spatial(
    ground: &ConditionContext<'_>,
    read: &ReadOperand<'_>,
    (operator, relation): (Operator, Spatial),
    value: &str,
    sql: &mut Sql,
) -> Result<()> {
    let operand = &read.operand;
    let word = Operator::ALL.iter().find(|(_, own)| *own == operator).map_or("", |(word, _)| word);
    if operand.column.kind != ColumnKind::Geometry {
        if ground.strict {
            return Err(Error::new(
                Code::InvalidFilter,
                format!("`{word}` is for geometries, and `{}` is none", operand.column.name),
            ));
        }
        constant(&read.side(sql.dialect), false, sql);
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
