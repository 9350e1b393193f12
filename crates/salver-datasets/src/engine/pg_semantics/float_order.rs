//! One order of floats for comparisons, sorts, groups and joins: NaN is greater than everything and equals NaN, and
//! `-0.0` equals `0.0`. The engine's kernels use the total order of IEEE 754, which distinguishes two zeros and two
//! NaNs, and the minimum and maximum in a Parquet file leave NaN out.
//!
//! Comparisons with a constant are written so that the kernels evaluate them correctly and row groups are skipped where
//! that is safe. Everything else goes through `ordered`, which maps both zeros to one and both NaNs to one.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions_aggregate::min_max::{Max, Min};
use datafusion::logical_expr::expr::{
    AggregateFunction, Case, InList, InSubquery, ScalarFunction, Sort, WindowFunction,
};
use datafusion::logical_expr::{
    Aggregate, Between, BinaryExpr, Distinct, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Operator,
    WindowFunctionDefinition, binary_expr, lit, not,
};

use super::super::row_function::{RowFunction, same_type};
use super::float_normalization::{holds_floats, one_of_each};
use super::{TypeOf, call, intervals, is_comparison, list_order, max, min, range_frames, sliding_window_floats};

/// Functions that compare their arguments.
const COMPARING: [&str; 3] = ["greatest", "least", "nullif"];

/// Aggregates that list their values.
const LISTS: [&str; 2] = ["array_agg", "string_agg"];

/// Name of the function that gives floats their order.
const ORDERED: &str = "ordered";

/// Calls the function, which returns `x` with one NaN and one zero.
pub(super) fn ordered(expr: Expr) -> Expr {
    call(RowFunction::of_one(ORDERED, same_type, |arrays, _| Ok(one_of_each(&arrays[0]))), vec![expr])
}

fn is_float(expr: &Expr, type_of: TypeOf<'_>) -> bool {
    type_of(expr).is_some_and(|own| own.is_floating())
}

fn has_floats(expr: &Expr, type_of: TypeOf<'_>) -> bool {
    type_of(expr).as_ref().is_some_and(holds_floats)
}

/// Returns the constant of a literal, if it is an ordinary float.
fn constant(expr: &Expr) -> Option<f64> {
    let x = match expr {
        Expr::Literal(ScalarValue::Float64(Some(x)), _) => *x,
        Expr::Literal(ScalarValue::Float32(Some(x)), _) => f64::from(*x),
        _ => return None,
    };
    (!x.is_nan()).then_some(x)
}

/// Returns `x` as a literal of the type of `like`.
fn literal(x: f64, like: &Expr) -> Expr {
    match like {
        Expr::Literal(ScalarValue::Float32(_), _) => lit(x as f32),
        _ => lit(x),
    }
}

/// Returns `values op constant`, written so that the kernels evaluate it correctly.
fn with_constant(values: Expr, op: Operator, value: Expr, x: f64) -> Expr {
    let compare = |op: Operator, bound: Expr| binary_expr(values.clone(), op, bound);
    // The kernels order a negative NaN below everything.
    let no_nan = || compare(Operator::GtEq, literal(f64::NEG_INFINITY, &value));
    let is_zero = x == 0.0;
    match op {
        Operator::Eq if is_zero => {
            compare(Operator::GtEq, literal(-0.0, &value)).and(compare(Operator::LtEq, literal(0.0, &value)))
        }
        Operator::Eq => compare(op, value),
        Operator::Lt if is_zero => compare(op, literal(-0.0, &value)).and(no_nan()),
        Operator::LtEq if is_zero => compare(op, literal(0.0, &value)).and(no_nan()),
        Operator::Lt | Operator::LtEq => compare(op, value.clone()).and(no_nan()),
        // The other comparisons are true for NaN, which the statistics of files leave out.
        _ => binary_expr(ordered(values), op, literal(x + 0.0, &value)),
    }
}

/// Returns whether an expression is known to be neither NaN nor `-0.0`.
fn is_ordinary(expr: &Expr) -> bool {
    match expr {
        Expr::ScalarFunction(call) => call.func.name() == "date_part",
        // A numeric literal of any type.
        Expr::Cast(cast) => matches!(&*cast.expr, Expr::Literal(value, _) if !value.data_type().is_floating()),
        literal => constant(literal).is_some_and(|x| x != 0.0),
    }
}

fn compared(left: Expr, op: Operator, right: Expr) -> Expr {
    if is_ordinary(&left) && is_ordinary(&right) {
        return binary_expr(left, op, right);
    }
    match (constant(&left), constant(&right)) {
        (None, Some(x)) => with_constant(left, op, right, x),
        (Some(x), None) => match op.swap() {
            Some(op) => with_constant(right, op, left, x),
            None => binary_expr(ordered(left), op, ordered(right)),
        },
        _ => binary_expr(ordered(left), op, ordered(right)),
    }
}

/// Rewrites an expression over floats to use our order.
pub(super) fn expression(expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if is_comparison(op) && is_float(&left, type_of) && is_float(&right, type_of) =>
        {
            Transformed::yes(compared(*left, op, *right))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if is_comparison(op) && has_floats(&left, type_of) && has_floats(&right, type_of) =>
        {
            Transformed::yes(binary_expr(ordered(*left), op, ordered(*right)))
        }
        Expr::Between(Between { expr, negated, low, high }) if is_float(&expr, type_of) => {
            let above = compared((*expr).clone(), Operator::GtEq, *low);
            let within = above.and(compared(*expr, Operator::LtEq, *high));
            Transformed::yes(if negated { not(without_statistics(within, type_of)?.data) } else { within })
        }
        Expr::Not(inner) => match without_statistics(*inner, type_of)? {
            Transformed { data, transformed: true, .. } => Transformed::yes(not(data)),
            Transformed { data, .. } => Transformed::no(not(data)),
        },
        Expr::InList(InList { expr, list, negated }) if has_floats(&expr, type_of) => {
            // Row groups can be skipped for equal values if each has one representation only.
            if !negated && list.iter().all(|value| constant(value).is_some_and(|x| x != 0.0)) {
                return Ok(Transformed::no(Expr::InList(InList { expr, list, negated })));
            }
            let list = list.into_iter().map(ordered).collect();
            Transformed::yes(Expr::InList(InList { expr: Box::new(ordered(*expr)), list, negated }))
        }
        Expr::InSubquery(InSubquery { expr, mut subquery, negated }) if has_floats(&expr, type_of) => {
            let plan = Arc::unwrap_or_clone(subquery.subquery);
            subquery.subquery = Arc::new(all_ordered(plan)?);
            Transformed::yes(Expr::InSubquery(InSubquery { expr: Box::new(ordered(*expr)), subquery, negated }))
        }
        Expr::ScalarFunction(ScalarFunction { func, args })
            if COMPARING.contains(&func.name()) && args.iter().any(|arg| has_floats(arg, type_of)) =>
        {
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args: all(args, type_of) }))
        }
        Expr::Case(Case { expr: Some(base), when_then_expr, else_expr }) if has_floats(&base, type_of) => {
            let when_then_expr = when_then_expr.into_iter().map(|(when, then)| (Box::new(ordered(*when)), then));
            let (expr, when_then_expr) = (Some(Box::new(ordered(*base))), when_then_expr.collect());
            Transformed::yes(Expr::Case(Case { expr, when_then_expr, else_expr }))
        }
        Expr::AggregateFunction(aggregate) => aggregated(aggregate, type_of),
        Expr::WindowFunction(window) => windowed(*window, type_of),
        other => Transformed::no(other),
    })
}

/// Rewrites a condition below a `not`: its negation is true for NaN, which the statistics of files leave out, so it
/// must not be evaluated against them.
fn without_statistics(condition: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    let hidden = |part: Box<Expr>| Box::new(ordered(*part));
    condition.transform_up(|part| {
        Ok(match part {
            Expr::BinaryExpr(BinaryExpr { left, op, right })
                if is_comparison(op) && is_float(&left, type_of) && !is_ordered(&left) =>
            {
                Transformed::yes(Expr::BinaryExpr(BinaryExpr { left: hidden(left), op, right }))
            }
            Expr::InList(InList { expr, list, negated }) if is_float(&expr, type_of) && !is_ordered(&expr) => {
                Transformed::yes(Expr::InList(InList { expr: hidden(expr), list, negated }))
            }
            other => Transformed::no(other),
        })
    })
}

/// Returns the operand of `ordered`, or the expression itself.
pub(crate) fn unordered(expr: &Expr) -> &Expr {
    match expr {
        Expr::ScalarFunction(call) if is_ordered(expr) => call.args.first().unwrap_or(expr),
        other => other,
    }
}

fn is_ordered(expr: &Expr) -> bool {
    // A function of a user may have the same name.
    let own = |call: &ScalarFunction| call.func.inner().downcast_ref::<RowFunction>().map(|own| own.name);
    matches!(expr, Expr::ScalarFunction(call) if own(call) == Some(ORDERED))
}

fn aggregated(aggregate: AggregateFunction, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let AggregateFunction { mut func, mut params } = aggregate;
    let mut changed = false;
    let of_floats = params.args.iter().any(|arg| is_float(arg, type_of));
    if of_floats && func.inner().is::<Min>() {
        (func, changed) = (min(), true);
    } else if of_floats && func.inner().is::<Max>() {
        (func, changed) = (max(), true);
    }
    if changed || params.distinct && params.args.iter().any(|arg| has_floats(arg, type_of)) {
        params.args = all(params.args, type_of);
        changed = true;
    }
    changed |= sorts(&mut params.order_by, type_of);
    // PostgreSQL finds distinct values by sorting them, and gives them in that order.
    if params.distinct && params.order_by.is_empty() && LISTS.contains(&func.name()) {
        params.order_by = params.args.first().map(|value| value.clone().sort(true, false)).into_iter().collect();
        changed = true;
    }
    let aggregate = Expr::AggregateFunction(AggregateFunction { func, params });
    if changed { Transformed::yes(aggregate) } else { Transformed::no(aggregate) }
}

fn windowed(mut window: WindowFunction, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let mut changed = false;
    if let WindowFunctionDefinition::AggregateUDF(function) = &mut window.fun
        && window.params.args.iter().any(|arg| is_float(arg, type_of))
    {
        if function.inner().is::<Min>() {
            (*function, changed) = (min(), true);
        } else if function.inner().is::<Max>() {
            (*function, changed) = (max(), true);
        } else if let Some(sliding) = sliding_window_floats::over_windows(function) {
            (*function, changed) = (sliding, true);
        }
    }
    if let Some(frame) = range_frames::roomy(&mut window.params, type_of) {
        window.params.window_frame = frame;
        changed = true;
    }
    let is_unlike = |part: &Expr| has_floats(part, type_of) || matches!(type_of(part), Some(DataType::Interval(_)));
    if window.params.partition_by.iter().any(is_unlike) {
        window.params.partition_by = all(std::mem::take(&mut window.params.partition_by), type_of);
        changed = true;
    }
    changed |= sorts(&mut window.params.order_by, type_of);
    let window = Expr::WindowFunction(Box::new(window));
    if changed { Transformed::yes(window) } else { Transformed::no(window) }
}

/// Wraps the floats among the expressions in `ordered`, and replaces intervals by their length.
fn all(exprs: Vec<Expr>, type_of: TypeOf<'_>) -> Vec<Expr> {
    let one = |expr: Expr| match type_of(&expr) {
        Some(own) if holds_floats(&own) => ordered(expr),
        Some(DataType::Interval(_)) => intervals::length(expr),
        _ => expr,
    };
    exprs.into_iter().map(one).collect()
}

fn sorts(keys: &mut Vec<Sort>, type_of: TypeOf<'_>) -> bool {
    let mut changed = false;
    for key in keys.iter_mut() {
        if has_floats(&key.expr, type_of) {
            key.expr = ordered(std::mem::take(&mut key.expr));
            changed = true;
        } else if matches!(type_of(&key.expr), Some(DataType::Interval(_))) {
            key.expr = intervals::length(std::mem::take(&mut key.expr));
            changed = true;
        }
    }
    changed | list_order::sorts(keys, type_of) | once(keys)
}

/// Leaves out keys that come again, in whatever direction. `first_value` of DataFusion 55 mixes its columns up
/// otherwise (`first_last.rs`), which `distinct on` and the first row of a subquery are made of.
fn once(keys: &mut Vec<Sort>) -> bool {
    let all = keys.len();
    let mut at = 0;
    while at < keys.len() {
        let (before, rest) = keys.split_at(at);
        let again = rest.first().is_some_and(|key| before.iter().any(|own| own.expr == key.expr));
        if again {
            keys.remove(at);
        } else {
            at += 1;
        }
    }
    keys.len() < all
}

/// Projects the rows of a plan so that every float is wrapped in `ordered`.
fn all_ordered(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !plan.schema().fields().iter().any(|field| holds_floats(field.data_type())) {
        return Ok(plan);
    }
    let columns: Vec<Expr> = plan
        .schema()
        .iter()
        .map(|(qualifier, field)| {
            let column = Expr::from((qualifier, field));
            match holds_floats(field.data_type()) {
                true => ordered(column).alias_qualified(qualifier.cloned(), field.name()),
                false => column,
            }
        })
        .collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// Rewrites a node that sorts or compares whole rows.
pub(super) fn node(plan: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    let type_of = |expr: &Expr| expr.get_type(schema).ok();
    let plan = match plan {
        LogicalPlan::Sort(mut sort) => {
            sorts(&mut sort.expr, &type_of);
            LogicalPlan::Sort(sort)
        }
        LogicalPlan::Aggregate(Aggregate { input, group_expr, aggr_expr, .. })
            if group_expr.iter().any(|expr| has_floats(expr, &type_of)) =>
        {
            let group_expr = group_expr.into_iter().map(|expr| {
                if !has_floats(&expr, &type_of) {
                    return expr;
                }
                let (qualifier, name) = expr.qualified_name();
                ordered(expr.unalias()).alias_qualified(qualifier, name)
            });
            LogicalPlan::Aggregate(Aggregate::try_new(input, group_expr.collect(), aggr_expr)?)
        }
        LogicalPlan::Distinct(Distinct::All(input)) => {
            LogicalPlan::Distinct(Distinct::All(Arc::new(all_ordered(Arc::unwrap_or_clone(input))?)))
        }
        LogicalPlan::Distinct(Distinct::On(mut on)) => {
            on.on_expr = all(std::mem::take(&mut on.on_expr), &type_of);
            if let Some(keys) = &mut on.sort_expr {
                sorts(keys, &type_of);
            }
            LogicalPlan::Distinct(Distinct::On(on))
        }
        LogicalPlan::Join(mut join) => {
            for (left, right) in &mut join.on {
                if has_floats(left, &type_of) || has_floats(right, &type_of) {
                    *left = ordered(std::mem::take(left));
                    *right = ordered(std::mem::take(right));
                }
            }
            LogicalPlan::Join(join)
        }
        other => other,
    };
    intervals::node(plan)
}
