//! The two sides of equalities that are not written as such: the keys of a join with `using`, and of `x in (select y
//! ...)`. They are compared in the types in which `x = y` compares them. The engine would cast one of them to the
//! type of the other, so that the `real` 0.1 equals the decimal 0.1, and would compare intervals by their parts.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{Expr, ExprSchemable, Join, LogicalPlan, Projection, Subquery, cast};

use super::super::common_type;
use super::decimal_to_float::floated;
use super::{TypeOf, intervals, set_operations, typed_literals};

/// Converts both sides of an equality; returns `None` where the engine compares them correctly.
fn sides(left: &Expr, right: &Expr, one: &DataType, other: &DataType) -> Option<(Expr, Expr)> {
    let number = |own: &DataType| own.is_integer() || own.is_decimal() || own.is_floating();
    if one == other {
        return None;
    }
    if number(one) && number(other) {
        let double = |side: &Expr, own: &DataType| match own {
            DataType::Float64 => side.clone(),
            own if own.is_decimal() => floated(side.clone()),
            _ => cast(side.clone(), DataType::Float64),
        };
        return (one.is_floating() || other.is_floating()).then(|| (double(left, one), double(right, other)));
    }
    let to = common_type::of(&[one.clone(), other.clone()])?;
    let converted = |side: &Expr, own: &DataType| intervals::converted(side.clone(), own, &to);
    Some((converted(left, one), converted(right, other)))
}

/// Converts the two sides of `x in (select y ...)`.
///
/// # Errors
/// A quoted literal that is no value of the type of `y`.
pub(super) fn member(expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    let Expr::InSubquery(one) = expr else { return Ok(Transformed::no(expr)) };
    let InSubquery { mut expr, subquery: Subquery { subquery: values, outer_ref_columns, spans }, negated } = one;
    let (table, field) = values.schema().qualified_field(0);
    let mut column = Expr::from((table, field));
    let mut changed = false;
    if let Some(text) = typed_literals::written(&expr)
        && typed_literals::is_read(field.data_type())
        && let Some(read) = typed_literals::read_as(text, field.data_type())?
    {
        *expr = read;
        changed = true;
    }
    if let Some(own) = type_of(&expr) {
        let converted = sides(&expr, &column, &own, field.data_type());
        let are_intervals = converted.is_none() && intervals::are_held(&own) && own == *field.data_type();
        let lengths = || (intervals::length(expr.as_ref().clone()), intervals::length(column.clone()));
        if let Some((left, right)) = converted.or_else(|| are_intervals.then(lengths)) {
            *expr = left;
            column = right;
            changed = true;
        }
    }
    let values = match column {
        Expr::Column(_) => values,
        column => {
            let column = column.alias_qualified(table.cloned(), field.name());
            Arc::new(LogicalPlan::Projection(Projection::try_new(vec![column], Arc::clone(&values))?))
        }
    };
    let subquery = Subquery { subquery: values, outer_ref_columns, spans };
    let expr = Expr::InSubquery(InSubquery { expr, subquery, negated });
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// Converts the keys of a join.
pub(super) fn joined(plan: LogicalPlan) -> LogicalPlan {
    let LogicalPlan::Join(join) = plan else { return plan };
    if set_operations::is_one(&join) {
        return LogicalPlan::Join(join);
    }
    let keys = join.on.iter().map(|(left, right)| {
        let types = left.get_type(join.left.schema()).ok().zip(right.get_type(join.right.schema()).ok());
        types.and_then(|(one, other)| sides(left, right, &one, &other)).unwrap_or_else(|| (left.clone(), right.clone()))
    });
    let on = keys.collect();
    LogicalPlan::Join(Join { on, ..join })
}
