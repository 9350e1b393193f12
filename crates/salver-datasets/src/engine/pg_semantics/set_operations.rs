//! The columns of `union`, `intersect` and `except` have the types that those of the inputs have in common, and a
//! quoted literal among them is a value of that type. The engine takes such a literal for a text, and keeps the types
//! of the left side of an `intersect` or `except`, which it plans as joins.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, JoinType, NullEquality, Result};
use datafusion::logical_expr::{Distinct, Expr, Join, LogicalPlan, Projection, Union, cast};

use super::super::common_type;
use super::{intervals, typed_literals};

/// Returns whether a join is an `intersect` or `except`: no other joins nulls with nulls.
pub(super) fn is_one(join: &Join) -> bool {
    matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && join.filter.is_none()
}

/// Gives the inputs of a set operation columns of the types that they have in common.
pub(super) fn in_common_types(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Union(Union { inputs, schema }) => Ok(LogicalPlan::Union(match converted(&inputs)? {
            Some(inputs) => Union::try_new_with_loose_types(inputs)?,
            // Types that were found in the inputs only now.
            None if has_other_types(&inputs, &schema) => Union::try_new_with_loose_types(inputs)?,
            None => Union { inputs, schema },
        })),
        LogicalPlan::Join(join) if is_one(&join) => {
            let sides = [Arc::clone(&join.left), Arc::clone(&join.right)];
            let Some(sides) = converted(&sides)? else { return Ok(LogicalPlan::Join(join)) };
            let Ok([left, right]) = <[_; 2]>::try_from(sides) else { return Ok(LogicalPlan::Join(join)) };
            let columns = left.schema().iter().zip(right.schema().iter());
            let on = columns.map(|(one, other)| (Expr::from(one), Expr::from(other))).collect();
            let Join { join_type, join_constraint, null_equality, null_aware, .. } = join;
            let join = Join::try_new(left, right, on, None, join_type, join_constraint, null_equality, null_aware)?;
            Ok(LogicalPlan::Join(join))
        }
        other => Ok(other),
    }
}

/// Returns whether all inputs have another type for a column than the union.
fn has_other_types(inputs: &[Arc<LogicalPlan>], schema: &DFSchema) -> bool {
    schema.fields().iter().enumerate().any(|(column, field)| {
        let is_other = |input: &Arc<LogicalPlan>| {
            input.schema().fields().get(column).is_some_and(|own| own.data_type() != field.data_type())
        };
        inputs.iter().all(is_other)
    })
}

/// Returns the inputs with converted columns; `None` if none is to be converted.
fn converted(inputs: &[Arc<LogicalPlan>]) -> Result<Option<Vec<Arc<LogicalPlan>>>> {
    let width = inputs.first().map_or(0, |input| input.schema().fields().len());
    let types: Vec<Option<DataType>> = (0..width).map(|column| common(inputs, column)).collect();
    if types.iter().all(Option::is_none) {
        return Ok(None);
    }
    inputs.iter().map(|input| with_types(input, &types)).collect::<Result<_>>().map(Some)
}

/// Returns the type of a column; `None` if all inputs have it, or if there is none.
fn common(inputs: &[Arc<LogicalPlan>], column: usize) -> Option<DataType> {
    let own = |input: &Arc<LogicalPlan>| Some(input.schema().fields().get(column)?.data_type().clone());
    let others = inputs.iter().filter(|input| literal(input, column).is_none());
    let types = others.map(own).collect::<Option<Vec<_>>>()?;
    let common = common_type::resolved(&types);
    if types.len() == inputs.len() {
        return common;
    }
    let to = common.or_else(|| types.iter().find(|own| !own.is_null()).cloned())?;
    let is_read = |own: &DataType| own.is_numeric() || typed_literals::is_read(own);
    (is_read(&to) && types.iter().all(|own| own.is_null() || is_read(own))).then_some(to)
}

/// Returns the text of a column that is a quoted literal.
fn literal(input: &LogicalPlan, column: usize) -> Option<&str> {
    match input {
        LogicalPlan::Distinct(Distinct::All(input)) => literal(input, column),
        // Where both sides have columns of one name, they are given names of tables.
        LogicalPlan::SubqueryAlias(alias) => literal(&alias.input, column),
        LogicalPlan::Projection(projection) => match projection.expr.get(column)? {
            Expr::Alias(alias) => typed_literals::written(&alias.expr),
            expr => typed_literals::written(expr),
        },
        _ => None,
    }
}

/// Converts the columns of an input, before equal rows are merged.
fn with_types(input: &Arc<LogicalPlan>, types: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    if let LogicalPlan::Distinct(Distinct::All(rows)) = &**input {
        return Ok(Arc::new(LogicalPlan::Distinct(Distinct::All(with_types(rows, types)?))));
    }
    let columns = input.schema().iter().zip(types).enumerate().map(|(number, ((table, field), to))| {
        let column = Expr::from((table, field));
        let converted = match (literal(input, number), to) {
            // A decimal has the digits of both.
            (Some(text), Some(to)) if typed_literals::is_read(to) => typed_literals::read_as(text, to)?,
            (Some(_), Some(to)) => Some(cast(column.clone(), to.clone())),
            (None, Some(to)) if to != field.data_type() => {
                Some(intervals::converted(column.clone(), field.data_type(), to))
            }
            _ => None,
        };
        Ok(converted.map_or(column, |converted| converted.alias_qualified(table.cloned(), field.name())))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    if columns.iter().all(|column| matches!(column, Expr::Column(_))) {
        return Ok(Arc::clone(input));
    }
    Ok(Arc::new(LogicalPlan::Projection(Projection::try_new(columns, Arc::clone(input))?)))
}
