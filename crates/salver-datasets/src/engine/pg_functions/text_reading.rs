//! Analyzer rule about texts, just before the one that finds types: a literal that has the type of what it stands
//! beside is a literal again, and texts of rows that are cast to timestamps and times are brought into the form that
//! the engine's kernels read, and those that are cast to intervals are read here.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Cast, Expr, ExprSchemable, LogicalPlan, TryCast};
use datafusion::optimizer::AnalyzerRule;

use super::{as_beside, read_moment};

/// The rule.
#[derive(Debug)]
pub(in crate::engine) struct TextReading;

impl AnalyzerRule for TextReading {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        if !concerns(&plan)? {
            return Ok(plan);
        }
        let plan = plan.transform_up_with_subqueries(|plan| {
            let schema = merge_schema(&plan.inputs());
            let names = NamePreserver::new(&plan);
            // The schemas stay: what has a type of its own from here on gets it from the next rule.
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let expr = expr.transform_up(|part| read(part, &schema))?;
                Ok(if expr.transformed { expr.update_data(|expr| name.restore(expr)) } else { expr })
            })
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &'static str {
        "text_reading"
    }
}

/// Returns whether a plan has anything for this rule.
fn concerns(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            found = found || expr.exists(|part| Ok(is_literal_beside(part) || operand(part).is_some()))?;
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

fn is_literal_beside(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if call.func.name() == as_beside::NAME && call.args.len() == 2)
}

/// What a text is read as.
#[derive(Clone, Copy)]
enum Moment {
    Timestamp { zoned: bool },
    Time,
    Interval,
}

/// Returns what a cast to a timestamp, a time of day or an interval takes, unless it is a literal.
fn operand(expr: &Expr) -> Option<(&Expr, Moment)> {
    let (value, moment) = match expr {
        Expr::ScalarFunction(ScalarFunction { func, args })
            if matches!(func.name(), "arrow_cast" | "arrow_try_cast") =>
        {
            let [value, Expr::Literal(to, _)] = args.as_slice() else { return None };
            let to = to.try_as_str().flatten().filter(|to| to.starts_with("Timestamp("))?;
            (value, Moment::Timestamp { zoned: !to.ends_with("None)") && to.contains(',') })
        }
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })
            if matches!(field.data_type(), DataType::Time32(_) | DataType::Time64(_)) =>
        {
            (&**expr, Moment::Time)
        }
        Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })
            if matches!(field.data_type(), DataType::Interval(_)) =>
        {
            (&**expr, Moment::Interval)
        }
        _ => return None,
    };
    (!matches!(value, Expr::Literal(..))).then_some((value, moment))
}

fn read(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    if is_literal_beside(&expr)
        && let Expr::ScalarFunction(call) = expr
    {
        return Ok(call.args.into_iter().next().map_or_else(|| Transformed::no(Expr::default()), Transformed::yes));
    }
    let Some(moment) = operand(&expr)
        .filter(|(value, _)| value.get_type(schema).is_ok_and(|own| own.is_string()))
        .map(|(_, moment)| moment)
    else {
        return Ok(Transformed::no(expr));
    };
    let written = |value: Expr| match moment {
        Moment::Timestamp { zoned } => read_moment::timestamp_text(zoned).call(vec![value]),
        Moment::Time => read_moment::time_text().call(vec![value]),
        // It is read as a whole.
        Moment::Interval => value,
    };
    if matches!(moment, Moment::Interval) {
        return Ok(Transformed::yes(match expr {
            Expr::Cast(Cast { expr, .. }) => read_moment::read_interval().call(vec![*expr]),
            Expr::TryCast(TryCast { expr, .. }) => read_moment::try_read_interval().call(vec![*expr]),
            other => other,
        }));
    }
    Ok(Transformed::yes(match expr {
        Expr::ScalarFunction(ScalarFunction { func, mut args }) => {
            if let Some(value) = args.first_mut() {
                *value = written(std::mem::take(value));
            }
            Expr::ScalarFunction(ScalarFunction { func, args })
        }
        Expr::Cast(Cast { expr, field }) => Expr::Cast(Cast { expr: Box::new(written(*expr)), field }),
        Expr::TryCast(TryCast { expr, field }) => Expr::TryCast(TryCast { expr: Box::new(written(*expr)), field }),
        other => other,
    }))
}
