//! Numbers as PostgreSQL's users expect them: literals are decimals, integers don't wrap around, casts round, and
//! floats have one order everywhere, in which NaN is greater than everything and equals itself, and `-0.0` equals
//! `0.0`.
//!
//! Two analyzer rules do this, one before and one after type coercion; sums and averages are aggregates of our own.

mod checked_integers;
mod datetime_operators;
mod decimal_avg;
mod decimal_comparison;
mod decimal_division;
mod decimal_to_float;
mod decimal_with_float;
mod distinct_lists;
mod equal_types;
mod equalities;
mod exact_totals;
mod float32_comparison;
mod float_min_max;
mod float_normalization;
mod float_order;
mod guards;
mod in_subquery;
mod intervals;
mod list_functions;
mod list_operators;
mod list_order;
mod multiset_operators;
mod nested_min_max;
mod operands;
mod operations;
mod pairs;
mod range_frames;
mod rounding_casts;
mod set_operations;
mod sliding_window_floats;
mod sum;
mod text_casts;
mod time_unit_comparison;
mod typed_literals;
mod union_columns;
#[cfg(feature = "ballista")]
mod unnamed_functions;
mod untyped_literals;
mod window_arguments;

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::config::ConfigOptions;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, Operator, ScalarUDF, TryCast};
use datafusion::optimizer::AnalyzerRule;

use super::function_bounds;

#[cfg(feature = "ballista")]
pub(super) use checked_integers::{chain, chained};
pub(super) use checked_integers::{operator as checked, plus_or_minus};
pub(crate) use decimal_avg::avg;
pub(super) use decimal_avg::of_sum as average;
#[cfg(feature = "ballista")]
pub(super) use decimal_avg::{averaged, of_sum_to};
pub(super) use decimal_with_float::Mixed;
pub(super) use exact_totals::passes;
use float_min_max::{max, min};
#[cfg(feature = "ballista")]
pub(super) use sliding_window_floats::{over_windows, slid};
#[cfg(feature = "ballista")]
pub(super) use unnamed_functions::{unnamed, unnamed_aggregates};

/// Function that returns the type of an expression; `None` if that is unknown.
type TypeOf<'a> = &'a dyn Fn(&Expr) -> Option<DataType>;
pub(crate) use float_normalization::one_of_each;
pub(crate) use float_order::unordered;
pub(crate) use operations::{DISTINCT, NOT_DISTINCT};
pub(crate) use sum::sum;

/// Returns the planner of operators, which comes before those of the engine.
pub(super) fn operations() -> Arc<dyn ExprPlanner> {
    Arc::new(operations::Operations)
}

/// Replaces the session's aggregates with those for exact numbers.
///
/// # Errors
/// A session that takes no functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for aggregate in [sum(), avg()] {
        state.register_udaf(aggregate)?;
    }
    Ok(())
}

/// Returns the columns that the expressions of a node may reference.
fn inputs(node: &LogicalPlan) -> Result<DFSchema> {
    let mut schema = merge_schema(&node.inputs());
    if let LogicalPlan::TableScan(scan) = node {
        schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
    }
    Ok(schema)
}

/// Rewrites every expression of a plan bottom-up. Columns keep their names.
fn rewritten(
    plan: LogicalPlan,
    each: &dyn Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
    node: &dyn Fn(LogicalPlan, &DFSchema) -> Result<LogicalPlan>,
) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|plan| {
        let schema = inputs(&plan)?;
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_up(|part| each(part, &schema))?;
            Ok(if expr.transformed { expr.update_data(|expr| name.restore(expr)) } else { expr })
        })?
        .map_data(|plan| node(plan, &schema))?
        .map_data(LogicalPlan::recompute_schema)
    })?;
    Ok(plan.data)
}

pub(super) fn is_comparison(op: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn call(function: ScalarUDF, args: Vec<Expr>) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args))
}

/// Analyzer rule that runs after type coercion.
#[derive(Debug)]
pub(super) struct Exact;

impl AnalyzerRule for Exact {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        if union_columns::are_read(&plan)? {
            union_columns::check(&plan)?;
        }
        rewritten(plan, &exact, &float_order::node)
    }

    fn name(&self) -> &'static str {
        "exact"
    }
}

fn exact(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let type_of = |part: &Expr| part.get_type(schema).ok();
    guards::expression(expr, &type_of)?.transform_data(|expr| operation(expr, &type_of))
}

fn operation(expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })
            if type_of(&expr).is_some_and(|from| decimal_to_float::rounds_twice(&from, field.data_type())) =>
        {
            Ok(Transformed::yes(decimal_to_float::float(*expr, field.data_type())))
        }
        // Adding months can't be undone: the last days of several months map to the same day.
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right })
            if type_of(&right).is_some_and(|own| matches!(own, DataType::Interval(_))) && has_columns(&left) =>
        {
            Ok(Transformed::yes(kept(Expr::BinaryExpr(BinaryExpr { left, op, right }))))
        }
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: op @ (Operator::Plus | Operator::Minus | Operator::Multiply | Operator::Divide),
            right,
        }) => {
            let whole = |part: &Expr| type_of(part).filter(DataType::is_integer);
            match (whole(&left), whole(&right)) {
                (Some(a), Some(b)) if a == b => Ok(Transformed::yes(checked_integers::operator(*left, op, *right))),
                _ => Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))),
            }
        }
        Expr::BinaryExpr(compared) if intervals::are_compared(&compared, type_of) => {
            let compared = operands::each(Expr::BinaryExpr(compared), &intervals::length);
            let is_order = list_order::is_order(&compared, type_of);
            Ok(Transformed::yes(if is_order { list_order::compared(compared) } else { compared }))
        }
        expr if list_order::is_order(&expr, type_of) => Ok(Transformed::yes(list_order::compared(expr))),
        Expr::Negative(inner) if type_of(&inner).is_some_and(|own| own.is_signed_integer()) => match *inner {
            Expr::Literal(..) => Ok(Transformed::no(Expr::Negative(inner))),
            inner => Ok(Transformed::yes(call(checked_integers::negative(), vec![inner]))),
        },
        Expr::Cast(Cast { expr, field }) => {
            let (expr, changed) = before_cast(*expr, field.data_type(), type_of);
            let cuts = type_of(&expr).is_some_and(|from| cuts_times(&from, field.data_type()));
            let cast = Expr::Cast(Cast { expr: Box::new(expr), field });
            // Times that are truncated can't be restored either.
            let cast = if cuts { kept(cast) } else { cast };
            Ok(if changed || cuts { Transformed::yes(cast) } else { Transformed::no(cast) })
        }
        Expr::TryCast(TryCast { expr, field }) => {
            let (expr, changed) = before_cast(*expr, field.data_type(), type_of);
            let cast = Expr::TryCast(TryCast { expr: Box::new(expr), field });
            Ok(if changed { Transformed::yes(cast) } else { Transformed::no(cast) })
        }
        Expr::InList(list) => in_subquery::listed(list, &|list| {
            intervals::expression(list, type_of).transform_data(|list| float_order::expression(list, type_of))
        }),
        // The engine simplifies `x # x` to 0, even where `x` is null.
        Expr::BinaryExpr(BinaryExpr { left, op: op @ Operator::BitwiseXor, right }) if has_columns(&left) => {
            Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr { left: Box::new(kept(*left)), op, right })))
        }
        // Floats round half to even.
        Expr::ScalarFunction(ScalarFunction { func, args })
            if func.name() == "round" && args.len() == 1 && args.iter().all(|arg| is_float(arg, type_of)) =>
        {
            Ok(Transformed::yes(rounding_casts::function(args)))
        }
        Expr::ScalarFunction(call) => {
            intervals::check(&call, type_of)?;
            let expr = list_functions::expression(call, type_of)
                .transform_data(|expr| Ok(intervals::expression(expr, type_of)))?;
            expr.transform_data(|expr| float_order::expression(expr, type_of))
        }
        other => {
            nested_min_max::check(&other, type_of)?;
            let other = distinct_lists::insensitive(other);
            intervals::expression(other, type_of).transform_data(|other| float_order::expression(other, type_of))
        }
    }
}

/// Prepares the operand of a cast; returns whether that changed it.
fn before_cast(expr: Expr, to: &DataType, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> (Expr, bool) {
    let (expr, rounds) = rounding_casts::before_cast(expr, to, type_of);
    let (expr, writes) = text_casts::before_cast(expr, to, type_of);
    let (expr, converts) = datetime_operators::before_cast(expr, to, type_of);
    let (expr, shortens) = rounding_casts::shortened(expr, to, type_of);
    (expr, rounds || writes || converts || shortens)
}

/// Wraps a value in an identity function that the engine does not look into. A filter derives the possible values of a
/// column from its condition (`FilterExec` of DataFusion 55), even through a cast to a date (and an integer division,
/// which is `checked`), as if these were invertible: with `t::date = '2024-02-29'` it treated `t` as a constant and
/// dropped the order by it.
fn kept(expr: Expr) -> Expr {
    call(function_bounds::same(), vec![expr])
}

fn has_columns(expr: &Expr) -> bool {
    !expr.column_refs().is_empty()
}

/// Returns whether the cast maps several times to one.
fn cuts_times(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Timestamp(..), DataType::Date32 | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_)) => {
            true
        }
        (DataType::Date64, DataType::Date32) => true,
        (DataType::Timestamp(from, _), DataType::Timestamp(to, _)) => from > to,
        _ => false,
    }
}

fn is_float(expr: &Expr, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> bool {
    type_of(expr).is_some_and(|own| own.is_floating())
}
