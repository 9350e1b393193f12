//! Aggregates that follow from others of the same statement, and are not computed from the rows.
//!
//! `sum(x)`, `sum(x + 1)`, `sum(x + 2)` follow from one sum and one count: `sum(x + c)` is `sum(x) + c * count(x)`.
//! Only where no sum of two numbers can be out of range, so that none of the additions that are left out would have
//! failed. `avg(x)` of decimals follows from a `sum(x)` beside it.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, Operator, Projection, lit};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use super::pg_semantics::{average, checked, plus_or_minus};

/// Prefix of the names of the aggregates that are left, followed by a number.
const OWN: &str = "__salver_aggregate_";

/// Largest distance that is left out of a sum: with it, the sum of as many values as a table may have is in range.
const FARTHEST: i64 = i32::MAX as i64;

/// Derives such aggregates.
#[derive(Debug)]
pub(super) struct DerivedAggregates;

impl OptimizerRule for DerivedAggregates {
    fn name(&self) -> &'static str {
        "derived_aggregates"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = &plan else { return Ok(Transformed::no(plan)) };
        match derived(aggregate)? {
            Some(rewritten) => Ok(Transformed::yes(rewritten)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

/// The aggregates that are left.
#[derive(Default)]
struct Left(Vec<Expr>);

impl Left {
    /// Returns the place of an aggregate, which is computed once.
    fn place(&mut self, expr: Expr) -> usize {
        let known = self.0.iter().position(|own| *own == expr);
        known.unwrap_or_else(|| {
            self.0.push(expr);
            self.0.len() - 1
        })
    }
}

/// What an aggregate is made of, by the places of those that are left.
enum Made {
    /// It is one of them.
    Itself(usize),
    /// A sum, a count, and what is added to every value.
    Shifted(usize, usize, i64),
    /// A sum and a count.
    Average(usize, usize),
}

fn derived(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    let input = aggregate.input.schema();
    let functions: Vec<Option<(&AggregateFunction, &Expr)>> = aggregate.aggr_expr.iter().map(plain).collect();
    let shifts: Vec<Option<Shifted<'_>>> =
        functions.iter().map(|function| function.and_then(|(sum, values)| shifted(sum, values, input))).collect();
    let is_shared = |of: &Shifted<'_>| shifts.iter().flatten().filter(|other| other.values == of.values).count() > 1;
    let sum_beside = |of: &Expr| {
        let mut sums = functions.iter().flatten().filter(|(function, _)| function.func.name() == "sum");
        sums.find(|(_, values)| *values == of).map(|(sum, _)| *sum)
    };
    let mut left = Left::default();
    let made = aggregate.aggr_expr.iter().zip(functions.iter().zip(&shifts)).map(|(expr, (function, shift))| {
        if let Some(shift) = shift.as_ref().filter(|shift| is_shared(shift)) {
            let sum = left.place(over(shift.sum, shift.values));
            return Made::Shifted(sum, left.place(count(shift.values.clone())), shift.distance);
        }
        let average = function.filter(|(function, values)| function.func.name() == "avg" && is_averaged(values, input));
        match average.and_then(|(_, values)| Some((sum_beside(values)?, values))) {
            Some((sum, values)) => Made::Average(left.place(over(sum, values)), left.place(count(values.clone()))),
            None => Made::Itself(left.place(unaliased(expr).clone())),
        }
    });
    let made: Vec<Made> = made.collect();
    if made.iter().all(|made| matches!(made, Made::Itself(_))) {
        return Ok(None);
    }
    // Aggregates of one column before and after a cast have the same name.
    let left = left.0.into_iter().enumerate().map(|(place, expr)| expr.alias(format!("{OWN}{place}"))).collect();
    let narrow = Aggregate::try_new(Arc::clone(&aggregate.input), aggregate.group_expr.clone(), left)?;
    let columns = narrow.schema.columns();
    let groups = aggregate.schema.fields().len() - aggregate.aggr_expr.len();
    let column = |place: usize| Expr::Column(columns[groups + place].clone());
    let mut exprs: Vec<Expr> = columns[..groups].iter().cloned().map(Expr::Column).collect();
    for (made, (qualifier, field)) in made.into_iter().zip(aggregate.schema.iter().skip(groups)) {
        let expr = match made {
            Made::Itself(place) => column(place),
            Made::Shifted(sum, counted, distance) => {
                let more = checked(lit(distance), Operator::Multiply, column(counted));
                checked(column(sum), Operator::Plus, more)
            }
            Made::Average(sum, counted) => average(column(sum), column(counted), field.data_type().clone()),
        };
        exprs.push(expr.alias_qualified(qualifier.cloned(), field.name()));
    }
    let narrow = Arc::new(LogicalPlan::Aggregate(narrow));
    Projection::try_new(exprs, narrow).map(|projection| Some(LogicalPlan::Projection(projection)))
}

/// A sum of values that are all moved by the same distance.
struct Shifted<'a> {
    sum: &'a AggregateFunction,
    values: &'a Expr,
    distance: i64,
}

/// Returns the aggregate over other values.
fn over(function: &AggregateFunction, values: &Expr) -> Expr {
    Expr::AggregateFunction(AggregateFunction {
        func: Arc::clone(&function.func),
        params: AggregateFunctionParams { args: vec![values.clone()], ..function.params.clone() },
    })
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => &alias.expr,
        other => other,
    }
}

/// Returns an aggregate of all values of one expression, and the expression.
fn plain(expr: &Expr) -> Option<(&AggregateFunction, &Expr)> {
    let Expr::AggregateFunction(function) = unaliased(expr) else { return None };
    let AggregateFunctionParams { args, distinct, filter, order_by, null_treatment } = &function.params;
    let [values] = args.as_slice() else { return None };
    let is_plain = !distinct && filter.is_none() && order_by.is_empty() && null_treatment.is_none();
    (is_plain && !values.is_volatile()).then_some((function, values))
}

/// Returns whether sums of an expression have the digits that averages are made of.
fn is_averaged(values: &Expr, schema: &DFSchema) -> bool {
    matches!(values.get_type(schema), Ok(DataType::Decimal128(..=28, _)))
}

fn shifted<'a>(sum: &'a AggregateFunction, arg: &'a Expr, schema: &DFSchema) -> Option<Shifted<'a>> {
    if sum.func.name() != "sum" {
        return None;
    }
    if let Some((left, op, right)) = plus_or_minus(arg) {
        let (values, distance) = match (left, op, right) {
            (values, Operator::Plus, Expr::Literal(distance, _)) => (values, i64::try_from(distance.clone()).ok()?),
            (values, Operator::Minus, Expr::Literal(distance, _)) => {
                (values, i64::try_from(distance.clone()).ok()?.checked_neg()?)
            }
            (Expr::Literal(distance, _), Operator::Plus, values) => (values, i64::try_from(distance.clone()).ok()?),
            _ => return None,
        };
        let is_near = (-FARTHEST..=FARTHEST).contains(&distance);
        return (is_near && is_short(values, schema)).then_some(Shifted { sum, values, distance });
    }
    // The sum itself is one of those that follow from it.
    is_short(arg, schema).then_some(Shifted { sum, values: arg, distance: 0 })
}

/// Returns whether an expression gives 64-bit numbers that were shorter before.
fn is_short(expr: &Expr, schema: &DFSchema) -> bool {
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32};
    let Expr::Cast(cast) = expr else { return false };
    let is_short = |from: DataType| matches!(from, Int8 | Int16 | Int32 | UInt8 | UInt16 | UInt32);
    *cast.field.data_type() == Int64 && cast.expr.get_type(schema).is_ok_and(is_short)
}
