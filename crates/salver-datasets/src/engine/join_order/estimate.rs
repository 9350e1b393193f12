//! Guesses of the number of rows of a plan.

use datafusion::common::stats::Precision;
use datafusion::datasource::DefaultTableSource;
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Distinct, Expr, Join, JoinType, LogicalPlan, Operator, TableScan,
};

/// Share of the rows that a comparison leaves, by what it compares with. Nothing is known of the values.
const OF_EQUALITY: f64 = 0.05;
const OF_RANGE: f64 = 0.33;
const OF_PATTERN: f64 = 0.1;
const OF_OTHER: f64 = 0.33;
/// Share of the rows that are left by a semi-join, or by its opposite.
const OF_SEMI_JOIN: f64 = 0.3;
/// Share of the rows that are groups.
const OF_GROUPS: f64 = 0.2;

/// Number of rows, guessed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    /// Rows of the table itself.
    pub(super) base: f64,
    /// Rows that its filters leave.
    pub(super) rows: f64,
}

impl Estimate {
    fn new(rows: f64) -> Self {
        Self { base: rows.max(1.0), rows: rows.max(1.0) }
    }

    pub(super) fn share(self, share: f64) -> Self {
        Self { rows: (self.rows * share).max(1.0), ..self }
    }

    fn most(self, fetch: Option<usize>) -> Self {
        fetch.map_or(self, |fetch| Self { rows: self.rows.min(fetch as f64).max(1.0), ..self })
    }
}

/// Guesses the rows of a plan; `None` if a table does not know how many it has.
pub(super) fn estimate(plan: &LogicalPlan) -> Option<Estimate> {
    Some(match plan {
        LogicalPlan::TableScan(scan) => Estimate::new(rows_of(scan)?).most(scan.fetch),
        LogicalPlan::Filter(filter) => estimate(&filter.input)?.share(share(&filter.predicate)),
        LogicalPlan::Projection(projection) => estimate(&projection.input)?,
        LogicalPlan::SubqueryAlias(alias) => estimate(&alias.input)?,
        LogicalPlan::Sort(sort) => estimate(&sort.input)?.most(sort.fetch),
        LogicalPlan::Window(window) => estimate(&window.input)?,
        LogicalPlan::Limit(limit) => {
            let fetch = match limit.fetch.as_deref() {
                Some(Expr::Literal(value, _)) => value.to_string().parse().ok(),
                _ => None,
            };
            estimate(&limit.input)?.most(fetch)
        }
        LogicalPlan::Aggregate(Aggregate { input, group_expr, .. }) => match group_expr.is_empty() {
            true => Estimate::new(1.0),
            false => Estimate::new(estimate(input)?.rows * OF_GROUPS),
        },
        LogicalPlan::Distinct(Distinct::All(input)) => Estimate::new(estimate(input)?.rows * OF_GROUPS),
        LogicalPlan::Union(union) => {
            let rows = union.inputs.iter().map(|input| estimate(input).map(|of| of.rows));
            Estimate::new(rows.sum::<Option<f64>>()?)
        }
        LogicalPlan::Values(values) => Estimate::new(values.values.len() as f64),
        LogicalPlan::EmptyRelation(_) => Estimate::new(1.0),
        LogicalPlan::Join(join) => of_join(join)?,
        _ => return None,
    })
}

fn of_join(join: &Join) -> Option<Estimate> {
    let (left, right) = (estimate(&join.left)?, estimate(&join.right)?);
    Some(match join.join_type {
        JoinType::LeftSemi | JoinType::LeftAnti => left.share(OF_SEMI_JOIN),
        JoinType::RightSemi | JoinType::RightAnti => right.share(OF_SEMI_JOIN),
        JoinType::LeftMark => left,
        JoinType::RightMark => right,
        JoinType::Full => Estimate::new(left.rows + right.rows),
        JoinType::Inner if join.on.is_empty() => Estimate::new(left.rows * right.rows),
        // As many as the side that refers to the other's key.
        JoinType::Inner => Estimate::new(left.rows * right.rows / left.base.min(right.base)),
        JoinType::Left | JoinType::Right => Estimate::new(left.rows.max(right.rows)),
    })
}

fn rows_of(scan: &TableScan) -> Option<f64> {
    let source = scan.source.downcast_ref::<DefaultTableSource>()?;
    match source.table_provider.statistics()?.num_rows {
        Precision::Exact(rows) | Precision::Inexact(rows) => Some(rows as f64),
        Precision::Absent => None,
    }
}

/// Guesses the share of the rows that a condition leaves.
pub(super) fn share(condition: &Expr) -> f64 {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
            Operator::And => share(left) * share(right),
            Operator::Or => (share(left) + share(right)).min(1.0),
            Operator::Eq | Operator::IsNotDistinctFrom => OF_EQUALITY,
            Operator::NotEq | Operator::IsDistinctFrom => 1.0 - OF_EQUALITY,
            Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq => OF_RANGE,
            _ => OF_OTHER,
        },
        Expr::Not(inner) => 1.0 - share(inner),
        Expr::Like(like) if like.negated => 1.0 - OF_PATTERN,
        Expr::Like(_) => OF_PATTERN,
        Expr::InList(list) => {
            let share = (OF_EQUALITY * list.list.len() as f64).min(0.5);
            if list.negated { 1.0 - share } else { share }
        }
        Expr::IsNull(_) => OF_EQUALITY,
        Expr::IsNotNull(_) => 1.0,
        Expr::Alias(alias) => share(&alias.expr),
        _ => OF_OTHER,
    }
}
