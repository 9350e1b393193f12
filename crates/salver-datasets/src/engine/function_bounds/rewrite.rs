//! Rewrites plans to bound functions that were planned past the session, and `||` and casts, which are not functions.

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

use super::bounded_function::Bounded;
use super::growth_table::{self, FunctionBounds, Growth};
use super::operators::{Concatenate, dated_before_cast, narrow, same};
use super::result_memory::{Allowance, shown, too_large};
use crate::engine::pg_functions;

/// Analyzer rule that bounds every expression of a plan once all types are known.
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

/// Optimizer rule that bounds matches with literal patterns. It is the last rule, because others simplify some of them.
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

/// Bounds the expression that a function was simplified to.
fn within(expr: Expr, info: &SimplifyContext, allowance: &Arc<Allowance>) -> Result<Expr> {
    let type_of = |part: &Expr| info.get_data_type(part);
    Ok(expr.transform_up(|part| bound_expr(part, &type_of, allowance))?.data)
}

/// Bounds one expression, whose children are bounded already.
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
            Ok(Transformed::yes(call(inner, growth_table::sum, args, allowance)))
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
        // The value will be repeated in every row.
        Expr::ScalarSubquery(subquery) => {
            let expr = Expr::ScalarSubquery(subquery);
            if type_of(&expr).is_ok_and(|own| own.primitive_width().is_none()) {
                return Ok(Transformed::yes(call(same(), growth_table::sum, vec![expr], allowance)));
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

/// Returns whether a `~~` operator is negated, and whether it ignores case.
fn like_of(op: Operator) -> Option<(bool, bool)> {
    match op {
        Operator::LikeMatch => Some((false, false)),
        Operator::ILikeMatch => Some((false, true)),
        Operator::NotLikeMatch => Some((true, false)),
        Operator::NotILikeMatch => Some((true, true)),
        _ => None,
    }
}

/// Returns whether an expression may differ per row. Subqueries become columns of joins, and volatile functions may
/// return another value at each call.
fn varies(expr: &Expr) -> bool {
    let is_the_same = |part: &Expr| match part {
        Expr::ScalarFunction(call) => call.func.signature().volatility != Volatility::Volatile,
        Expr::Literal(..) | Expr::Alias(_) | Expr::BinaryExpr(_) | Expr::Cast(_) | Expr::TryCast(_) => true,
        _ => false,
    };
    // The closure never fails.
    expr.exists(|part| Ok(!is_the_same(part))).unwrap_or(true)
}

/// Returns whether the engine matches a pattern in linear time: a literal that is a whole text, a prefix, a suffix or a
/// substring.
fn is_simple(like: &Like) -> bool {
    let Expr::Literal(pattern, _) = &*like.pattern else { return false };
    let Some(Some(pattern)) = pattern.try_as_str() else { return pattern.is_null() };
    let within = pattern.strip_prefix('%').unwrap_or(pattern);
    let within = within.strip_suffix('%').unwrap_or(within);
    let is_folded_by_byte = !like.case_insensitive || within.is_ascii();
    is_folded_by_byte && !within.contains(['%', '_', '\\']) && like.escape_char.is_none_or(|c| c == '\\')
}

/// Returns a call for `like` or `ilike` with any other pattern, or with an escape that the engine does not support.
fn liked(like: Like, allowance: &Arc<Allowance>) -> Expr {
    let Like { negated, expr, pattern, escape_char, case_insensitive } = like;
    let function = Arc::new(if case_insensitive { pg_functions::ilike() } else { pg_functions::like() });
    let function = bound(&function, allowance).unwrap_or(function);
    let args = vec![*expr, *pattern, lit(escape_char.unwrap_or('\\').to_string())];
    // The prefix of the pattern lets row groups be skipped.
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

/// Returns a call for a match with a pattern that may differ per row.
fn matched(text: Expr, op: Operator, pattern: Expr, allowance: &Arc<Allowance>) -> Expr {
    let mut args = vec![text, pattern];
    if matches!(op, Operator::RegexIMatch | Operator::RegexNotIMatch) {
        args.push(lit("i"));
    }
    let function = Arc::new(pg_functions::regexp_like());
    let function = bound(&function, allowance).unwrap_or(function);
    let found = Expr::ScalarFunction(ScalarFunction { func: function, args });
    if matches!(op, Operator::RegexNotMatch | Operator::RegexNotIMatch) { not(found) } else { found }
}

/// Returns the operands of a chain of `||`, or the expression itself.
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

/// Wraps a function; returns `None` if it has no bounds or is already wrapped.
pub(super) fn bound(function: &Arc<ScalarUDF>, allowance: &Arc<Allowance>) -> Option<Arc<ScalarUDF>> {
    if function.inner().is::<Bounded>() {
        return None;
    }
    let bounds = growth_table::bounds(function.name())?;
    if matches!(bounds.growth, Growth::None) && bounds.steps.is_none() {
        return None;
    }
    Some(Arc::new(ScalarUDF::new_from_impl(Bounded::new(Arc::clone(function), bounds, allowance, within))))
}

/// Wraps the operand of a cast that can enlarge it.
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
    // Primitive values are no larger than their source.
    if to.primitive_width().is_some() {
        return Ok((expr, false));
    }
    // The planner reports unknown types where they matter.
    let Ok(from) = type_of(&expr) else { return Ok((expr, false)) };
    let is_text = matches!(to, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let shares = matches!(to, DataType::Utf8View | DataType::BinaryView | DataType::Dictionary(_, _));
    if matches!(to, DataType::ListView(_) | DataType::LargeListView(_) | DataType::RunEndEncoded(_, _)) {
        return Err(too_large("a cast to a type that repeats values without end is not supported".to_owned()));
    }
    if is_text && (from.is_nested() || super::bounded_function::shares_values(&from)) {
        return Ok((call(same(), growth_table::text, vec![expr], allowance), true));
    }
    if shares || super::bounded_function::shares_values(&from) {
        return Ok((Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(narrow()), vec![expr])), true));
    }
    Ok((expr, false))
}

fn call(
    inner: ScalarUDF,
    most: fn(&[super::value_size::ArgumentSize]) -> u64,
    args: Vec<Expr>,
    allowance: &Arc<Allowance>,
) -> Expr {
    let bounds = FunctionBounds { growth: Growth::Grows(most), steps: None };
    let bounded = bound_by(Arc::new(inner), bounds, allowance);
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(bounded), args))
}

/// Wraps a function with bounds that are not those of the table.
pub(super) fn bound_by(inner: Arc<ScalarUDF>, bounds: FunctionBounds, allowance: &Arc<Allowance>) -> ScalarUDF {
    ScalarUDF::new_from_impl(Bounded::new(inner, bounds, allowance, within))
}

/// Returns the size that every value of a type has, nulls included, in bytes.
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
