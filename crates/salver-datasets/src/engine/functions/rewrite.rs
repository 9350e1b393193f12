//! Puts plans within bounds: functions that were planned past the session, `||` and casts, which are no functions.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Cast, Expr, ExprSchemable, Like, LogicalPlan, Operator, ScalarUDF, TryCast, Volatility, lit, not,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{AnalyzerRule, OptimizerConfig, OptimizerRule};
use salver_model::limits::FIXED_BYTES_MAX;

use super::allowance::{Allowance, shown, too_large};
use super::bounded::Bounded;
use super::growth::{self, Bounds, Growth};
use super::operators::{Concatenate, dated_before_cast, narrow, same};
use crate::engine::own;

/// Puts every expression of a plan within bounds, when the types of all of them are known.
#[derive(Debug)]
pub(super) struct BoundExpressions(pub(super) Arc<Allowance>);

impl AnalyzerRule for BoundExpressions {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let bounded = plan.transform_up_with_subqueries(|node| {
            let mut schema = merge_schema(&node.inputs());
            if let LogicalPlan::TableScan(scan) = &node {
                schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
            }
            let names = NamePreserver::new(&node);
            node.map_expressions(|expr| {
                let type_of = |part: &Expr| part.get_type(&schema);
                let name = names.save(&expr);
                let expr = expr.transform_up(|part| bound_expr(part, &type_of, &self.0))?;
                Ok(if expr.transformed { expr.update_data(|expr| name.restore(expr)) } else { expr })
            })
        })?;
        Ok(bounded.data)
    }

    fn name(&self) -> &'static str {
        "bound_expressions"
    }
}

/// Puts matches with patterns that are written out within bounds. It is the last rule, because others make simpler
/// conditions of some.
#[derive(Debug)]
pub(super) struct BoundMatches(pub(super) Arc<Allowance>);

impl OptimizerRule for BoundMatches {
    fn name(&self) -> &'static str {
        "bound_matches"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let names = NamePreserver::new(&plan);
        let bound = |part: Expr| match part {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_match(op) => {
                Ok(Transformed::yes(matched(*left, op, *right, &self.0)))
            }
            other => Ok(Transformed::no(other)),
        };
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_up(bound)?;
            Ok(if expr.transformed { expr.update_data(|expr| name.restore(expr)) } else { expr })
        })
    }
}

/// What a function was simplified to, within bounds.
fn within(expr: Expr, info: &SimplifyContext, allowance: &Arc<Allowance>) -> Result<Expr> {
    let type_of = |part: &Expr| info.get_data_type(part);
    Ok(expr.transform_up(|part| bound_expr(part, &type_of, allowance))?.data)
}

/// One expression within bounds; those below it are already.
fn bound_expr(
    expr: Expr,
    type_of: &dyn Fn(&Expr) -> Result<DataType>,
    allowance: &Arc<Allowance>,
) -> Result<Transformed<Expr>> {
    match expr {
        Expr::ScalarFunction(ScalarFunction { func, args }) => Ok(match bound(&func, allowance) {
            Some(func) => Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args })),
            None => Transformed::no(Expr::ScalarFunction(ScalarFunction { func, args })),
        }),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::StringConcat, right }) => {
            let mut args = chained(*left);
            args.push(*right);
            let inner = ScalarUDF::new_from_impl(Concatenate::of(args.len()));
            Ok(Transformed::yes(call(inner, growth::sum, args, allowance)))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_match(op) && varies(&right) => {
            Ok(Transformed::yes(matched(*left, op, *right, allowance)))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if like_of(op).is_some() && varies(&right) => {
            let (negated, folds) = like_of(op).unwrap_or_default();
            Ok(Transformed::yes(liked(Like::new(negated, left, right, None, folds), allowance)))
        }
        Expr::Like(like) if !is_simple(&like) => Ok(Transformed::yes(liked(like, allowance))),
        Expr::Cast(Cast { expr, field }) => {
            let (expr, changed) = bound_cast(*expr, field.data_type(), false, type_of, allowance)?;
            let cast = Expr::Cast(Cast { expr: Box::new(expr), field });
            Ok(if changed { Transformed::yes(cast) } else { Transformed::no(cast) })
        }
        Expr::TryCast(TryCast { expr, field }) => {
            let (expr, changed) = bound_cast(*expr, field.data_type(), true, type_of, allowance)?;
            let cast = Expr::TryCast(TryCast { expr: Box::new(expr), field });
            Ok(if changed { Transformed::yes(cast) } else { Transformed::no(cast) })
        }
        // It is one value that will stand in every row.
        Expr::ScalarSubquery(subquery) => {
            let expr = Expr::ScalarSubquery(subquery);
            if type_of(&expr).is_ok_and(|own| own.primitive_width().is_none()) {
                return Ok(Transformed::yes(call(same(), growth::sum, vec![expr], allowance)));
            }
            Ok(Transformed::no(expr))
        }
        other => Ok(Transformed::no(other)),
    }
}

fn is_match(op: Operator) -> bool {
    use Operator::{RegexIMatch, RegexMatch, RegexNotIMatch, RegexNotMatch};
    matches!(op, RegexMatch | RegexIMatch | RegexNotMatch | RegexNotIMatch)
}

/// Of `~~` and the like, whether it is negated and whether it folds letters.
fn like_of(op: Operator) -> Option<(bool, bool)> {
    match op {
        Operator::LikeMatch => Some((false, false)),
        Operator::ILikeMatch => Some((false, true)),
        Operator::NotLikeMatch => Some((true, false)),
        Operator::NotILikeMatch => Some((true, true)),
        _ => None,
    }
}

/// Whether an expression may have another value in each row. Queries become columns of joins, and what a call gives
/// at another time need not be the same.
fn varies(expr: &Expr) -> bool {
    let is_the_same = |part: &Expr| match part {
        Expr::ScalarFunction(call) => call.func.signature().volatility != Volatility::Volatile,
        Expr::Literal(..) | Expr::Alias(_) | Expr::BinaryExpr(_) | Expr::Cast(_) | Expr::TryCast(_) => true,
        _ => false,
    };
    // The search itself makes no errors.
    expr.exists(|part| Ok(!is_the_same(part))).unwrap_or(true)
}

/// Whether a pattern is one for which the engine looks in linear time: written out, and a text, its beginning, its end
/// or a part of it.
fn is_simple(like: &Like) -> bool {
    let Expr::Literal(pattern, _) = &*like.pattern else { return false };
    let Some(Some(pattern)) = pattern.try_as_str() else { return pattern.is_null() };
    let within = pattern.strip_prefix('%').unwrap_or(pattern);
    let within = within.strip_suffix('%').unwrap_or(within);
    let is_folded_by_byte = !like.case_insensitive || within.is_ascii();
    is_folded_by_byte && !within.contains(['%', '_', '\\']) && like.escape_char.is_none_or(|c| c == '\\')
}

/// `like` or `ilike` with another pattern, or with an escape that the engine does not have.
fn liked(like: Like, allowance: &Arc<Allowance>) -> Expr {
    let Like { negated, expr, pattern, escape_char, case_insensitive } = like;
    let function = Arc::new(if case_insensitive { own::ilike() } else { own::like() });
    let function = bound(&function, allowance).unwrap_or(function);
    let args = vec![*expr, *pattern, lit(escape_char.unwrap_or('\\').to_string())];
    // Its beginning tells what need not be read of a file.
    let begin = match (&args[0], &args[1]) {
        (Expr::Column(_), Expr::Literal(pattern, _)) if !negated && !case_insensitive && escape_char.is_none() => {
            let pattern = pattern.try_as_str().flatten().unwrap_or_default();
            pattern.split(['%', '_', '\\']).next().filter(|begin| !begin.is_empty()).map(|begin| format!("{begin}%"))
        }
        _ => None,
    };
    let begins = begin.map(|begin| args[0].clone().like(lit(begin)));
    let found = Expr::ScalarFunction(ScalarFunction { func: function, args });
    match begins {
        Some(begins) => begins.and(found),
        None if negated => not(found),
        None => found,
    }
}

/// A match with a pattern that may be another in each row.
fn matched(text: Expr, op: Operator, pattern: Expr, allowance: &Arc<Allowance>) -> Expr {
    let mut args = vec![text, pattern];
    if matches!(op, Operator::RegexIMatch | Operator::RegexNotIMatch) {
        args.push(lit("i"));
    }
    let function = Arc::new(own::regexp_like());
    let function = bound(&function, allowance).unwrap_or(function);
    let found = Expr::ScalarFunction(ScalarFunction { func: function, args });
    if matches!(op, Operator::RegexNotMatch | Operator::RegexNotIMatch) { not(found) } else { found }
}

/// What a chain of `||` puts together; of anything else, that alone.
fn chained(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::ScalarFunction(ScalarFunction { func, args })
            if func.inner().downcast_ref::<Bounded>().is_some_and(|bounded| bounded.holds::<Concatenate>()) =>
        {
            args
        }
        other => vec![other],
    }
}

/// The function within its bounds; `None` where it has none, or is within them.
pub(super) fn bound(function: &Arc<ScalarUDF>, allowance: &Arc<Allowance>) -> Option<Arc<ScalarUDF>> {
    if function.inner().is::<Bounded>() {
        return None;
    }
    let bounds = growth::bounds(function.name())?;
    if matches!(bounds.growth, Growth::None) && bounds.steps.is_none() {
        return None;
    }
    Some(Arc::new(ScalarUDF::new_from_impl(Bounded::new(Arc::clone(function), bounds, allowance, within))))
}

/// What is cast, where the cast can make more of it.
fn bound_cast(
    expr: Expr,
    to: &DataType,
    tries: bool,
    type_of: &dyn Fn(&Expr) -> Result<DataType>,
    allowance: &Arc<Allowance>,
) -> Result<(Expr, bool)> {
    let fixed = fixed_bytes(to);
    if fixed > FIXED_BYTES_MAX {
        let message =
            format!("a value of this type always has {}, and {} is the most", shown(fixed), shown(FIXED_BYTES_MAX));
        return Err(too_large(message));
    }
    if *to == DataType::Date64
        && let Ok(from) = type_of(&expr)
    {
        return Ok(dated_before_cast(expr, &from, to, tries));
    }
    // Numbers and the like are no larger than what they are made of.
    if to.primitive_width().is_some() {
        return Ok((expr, false));
    }
    // What can't be told is said by the planner, where it matters.
    let Ok(from) = type_of(&expr) else { return Ok((expr, false)) };
    let is_text = matches!(to, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let shares = matches!(to, DataType::Utf8View | DataType::BinaryView | DataType::Dictionary(_, _));
    if matches!(to, DataType::ListView(_) | DataType::LargeListView(_) | DataType::RunEndEncoded(_, _)) {
        return Err(too_large("a cast to a type that repeats values without end is not supported".to_owned()));
    }
    if is_text && (from.is_nested() || super::bounded::shares_values(&from)) {
        return Ok((call(same(), growth::text, vec![expr], allowance), true));
    }
    if shares || super::bounded::shares_values(&from) {
        return Ok((Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(narrow()), vec![expr])), true));
    }
    Ok((expr, false))
}

fn call(
    inner: ScalarUDF,
    most: fn(&[super::measure::Cell]) -> u64,
    args: Vec<Expr>,
    allowance: &Arc<Allowance>,
) -> Expr {
    let bounds = Bounds { growth: Growth::Grows(most), steps: None };
    let bounded = ScalarUDF::new_from_impl(Bounded::new(Arc::new(inner), bounds, allowance, within));
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(bounded), args))
}

/// The bytes that each value of a type has, also a null.
fn fixed_bytes(data_type: &DataType) -> u64 {
    match data_type {
        DataType::FixedSizeBinary(size) => u64::try_from(*size).unwrap_or(0),
        DataType::FixedSizeList(field, size) => {
            u64::try_from(*size).unwrap_or(0).saturating_mul(fixed_bytes(field.data_type()).max(1))
        }
        DataType::Struct(fields) => {
            fields.iter().fold(0, |sum: u64, field| sum.saturating_add(fixed_bytes(field.data_type())))
        }
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::Map(field, _) => fixed_bytes(field.data_type()),
        DataType::Dictionary(_, values) => fixed_bytes(values),
        DataType::RunEndEncoded(_, values) => fixed_bytes(values.data_type()),
        other => other.primitive_width().unwrap_or(8) as u64,
    }
}
