//! Comparisons of a column of dates with a moment, as `day < date '1994-01-01' + interval '1 year'` has it: a date and
//! an interval make a timestamp. Each date would be converted, and no file could be asked for less. The bound becomes a
//! date instead.

use std::sync::Arc;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, ExprSchema, Result, ScalarValue};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, binary_expr, lit};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Rewrites such comparisons in filters and joins, once their constants are folded.
#[derive(Debug)]
pub(super) struct DateBounds;

impl OptimizerRule for DateBounds {
    fn name(&self) -> &'static str {
        "date_bounds"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if !matches!(plan, LogicalPlan::Filter(_) | LogicalPlan::Join(_)) {
            return Ok(Transformed::no(plan));
        }
        let schemas: Vec<_> = plan.inputs().into_iter().map(|input| Arc::clone(input.schema())).collect();
        let is_date = |column: &Column| {
            let of = |schema: &DFSchema| schema.field_from_column(column).map(|field| field.data_type().clone());
            schemas.iter().any(|schema| matches!(of(schema), Ok(DataType::Date32)))
        };
        plan.map_expressions(|expr| expr.transform_up(|expr| Ok(compared(expr, &is_date))))
    }
}

fn compared(expr: Expr, is_date: &dyn Fn(&Column) -> bool) -> Transformed<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = &expr else { return Transformed::no(expr) };
    let sides = match (date_of(left, is_date), date_of(right, is_date)) {
        (Some((date, unit)), None) => Some((date, unit, *op, right)),
        (None, Some((date, unit))) => op.swap().map(|op| (date, unit, op, left)),
        _ => None,
    };
    let rewritten = sides.and_then(|(date, unit, op, bound)| {
        let (day, is_midnight) = day_of(bound, unit)?;
        let op = if is_midnight { op } else { within(op)? };
        is_comparison(op).then(|| binary_expr(date.clone(), op, lit(ScalarValue::Date32(Some(day)))))
    });
    rewritten.map_or_else(|| Transformed::no(expr), Transformed::yes)
}

fn is_comparison(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Lt | LtEq | Gt | GtEq | Eq | NotEq)
}

/// Returns the comparison with a day that says the same as one with a moment within it. No date equals such a moment.
fn within(op: Operator) -> Option<Operator> {
    match op {
        Operator::Lt | Operator::LtEq => Some(Operator::LtEq),
        Operator::Gt | Operator::GtEq => Some(Operator::Gt),
        _ => None,
    }
}

/// Returns the column of dates that is cast to a timestamp, and the timestamp's unit.
fn date_of<'a>(expr: &'a Expr, is_date: &dyn Fn(&Column) -> bool) -> Option<(&'a Expr, TimeUnit)> {
    let Expr::Cast(cast) = expr else { return None };
    match (&*cast.expr, cast.field.data_type()) {
        (Expr::Column(column), DataType::Timestamp(unit, None)) if is_date(column) => Some((&cast.expr, *unit)),
        _ => None,
    }
}

/// Returns the day of a literal moment, and whether it is its beginning.
fn day_of(bound: &Expr, unit: TimeUnit) -> Option<(i32, bool)> {
    const DAY_SECONDS: i64 = 86_400;
    let Expr::Literal(bound, _) = bound else { return None };
    let (value, per_second) = match (bound, unit) {
        (ScalarValue::TimestampSecond(Some(value), None), TimeUnit::Second) => (*value, 1),
        (ScalarValue::TimestampMillisecond(Some(value), None), TimeUnit::Millisecond) => (*value, 1_000),
        (ScalarValue::TimestampMicrosecond(Some(value), None), TimeUnit::Microsecond) => (*value, 1_000_000),
        (ScalarValue::TimestampNanosecond(Some(value), None), TimeUnit::Nanosecond) => (*value, 1_000_000_000),
        _ => return None,
    };
    let per_day = DAY_SECONDS * per_second;
    Some((i32::try_from(value.div_euclid(per_day)).ok()?, value.rem_euclid(per_day) == 0))
}
