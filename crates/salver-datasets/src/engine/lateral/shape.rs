//! What a subquery does with the columns of the outer rows, and whether the engine can decorrelate that.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, JoinType, Result};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Distinct, Expr, ExprSchemable, Join, LogicalPlan, Operator};

use super::super::outer_references::{free, names_outer, query_of};
use super::is_aggregated;

/// The shape of a subquery.
#[derive(Default)]
pub(super) struct Shape {
    /// Whether it is an aggregate over all rows, which returns a row even for no input.
    pub(super) aggregated: bool,
    limited: bool,
    windowed: bool,
    reads_nothing: bool,
    has_having: bool,
    /// Whether it has groups, or distinct rows.
    groups: bool,
    /// Whether it computes aggregates.
    computes: bool,
    /// Number of aggregates over all rows.
    totals: usize,
    /// Whether it compares an outer column by other means than an equality of one type.
    compares: bool,
    /// Whether a condition names columns of the outer rows only.
    tests_outer: bool,
    /// Whether the outer rows are named elsewhere than in conditions of its own, or where these can't be pulled out.
    is_hard: bool,
    /// Whether rows that depend on the outer rows are limited or numbered.
    picks: bool,
}

impl Shape {
    pub(super) fn of(query: &LogicalPlan) -> Result<Self> {
        let mut shape = Self { aggregated: is_total(query), ..Self::default() };
        query.apply(|node| {
            shape.see(node)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(shape)
    }

    fn see(&mut self, node: &LogicalPlan) -> Result<()> {
        match node {
            LogicalPlan::Limit(_) => {
                self.limited = true;
                self.picks |= names_outer(node)?;
            }
            LogicalPlan::Window(_) => {
                self.windowed = true;
                self.picks |= names_outer(node)?;
                self.is_hard |= node.contains_outer_reference();
            }
            LogicalPlan::EmptyRelation(_) => self.reads_nothing = true,
            LogicalPlan::Aggregate(aggregate) => {
                self.groups |= !aggregate.group_expr.is_empty();
                self.totals += usize::from(aggregate.group_expr.is_empty());
                self.computes |= !aggregate.aggr_expr.is_empty();
                self.is_hard |= node.contains_outer_reference();
            }
            LogicalPlan::Distinct(Distinct::All(_)) => self.groups = true,
            LogicalPlan::Distinct(_) | LogicalPlan::Sort(_) | LogicalPlan::Union(_) => {
                self.is_hard |= names_outer(node)?;
            }
            LogicalPlan::Filter(filter) => {
                self.has_having |= is_aggregated(&filter.input);
                for term in split_conjunction(&filter.predicate) {
                    self.compares |= term.contains_outer() && !is_equality(term, filter.input.schema());
                    self.tests_outer |= term.contains_outer() && !term.any_column_refs();
                }
            }
            LogicalPlan::Join(join) => self.is_hard |= node.contains_outer_reference() || fills_up(join)?,
            other => self.is_hard |= other.contains_outer_reference(),
        }
        self.is_hard |= reaches_further(node)?;
        Ok(())
    }

    /// Returns whether the engine can't decorrelate a scalar subquery or a lateral join of this shape.
    pub(super) fn is_beyond_the_engine(&self) -> bool {
        let is_grouped = self.aggregated || self.groups || self.totals > 0;
        self.limited
            || self.windowed
            || self.reads_nothing
            || self.is_hard
            || self.tests_outer
            || self.totals > 1
            || is_grouped && self.compares
            || self.aggregated && self.has_having
    }

    /// Returns whether the engine can't decorrelate `in` or `exists` of a query of this shape.
    pub(super) fn is_no_condition(&self) -> bool {
        self.is_hard || self.picks || self.computes && self.compares || self.totals > 1
    }

    /// Returns whether the engine can't decorrelate an aggregate over a query of this shape.
    pub(super) fn is_no_total(&self) -> bool {
        self.is_beyond_the_engine() || self.compares || self.totals > 0
    }

    /// Returns whether the outer rows must be numbered.
    pub(super) fn numbers_rows(&self) -> bool {
        self.limited || self.windowed || self.aggregated || self.groups || self.totals > 0
    }
}

/// Returns whether a query is an aggregate over all rows, of which the rest is computed.
fn is_total(query: &LogicalPlan) -> bool {
    match query {
        LogicalPlan::Limit(limit) => is_total(&limit.input),
        LogicalPlan::Sort(sort) => is_total(&sort.input),
        LogicalPlan::Distinct(Distinct::All(input)) => is_total(input),
        LogicalPlan::Projection(projection) => is_total(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => is_total(&alias.input),
        LogicalPlan::Filter(filter) => is_total(&filter.input),
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}

/// Returns whether an outer join names the outer rows in the side that it fills up with nulls: a condition there can't
/// be pulled out.
fn fills_up(join: &Join) -> Result<bool> {
    Ok(match join.join_type {
        JoinType::Inner => false,
        JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => names_outer(&join.right)?,
        JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => names_outer(&join.left)?,
        JoinType::Full => names_outer(&join.left)? || names_outer(&join.right)?,
    })
}

/// Returns whether a subquery within the node names columns that the node does not have.
fn reaches_further(node: &LogicalPlan) -> Result<bool> {
    let own = datafusion::logical_expr::utils::merge_schema(&node.inputs());
    let mut found = false;
    node.apply_expressions(|expr| {
        expr.apply(|part| {
            if let Some(query) = query_of(part) {
                found |= free(&query.subquery)?.iter().any(|(_, column)| !own.has_column(column));
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

/// Returns whether a condition is an equality of a column and a value of the outer row that needs no conversion.
fn is_equality(term: &Expr, own: &DFSchema) -> bool {
    let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = term else { return false };
    let (column, other) = match (&**left, &**right) {
        (Expr::Column(column), other) | (other, Expr::Column(column)) => (column, other),
        _ => return false,
    };
    if other.any_column_refs() {
        return false;
    }
    let (Ok((_, field)), Ok(other)) = (own.qualified_field_from_column(column), other.get_type(own)) else {
        return false;
    };
    let one = field.data_type();
    let is_plain = |own: &DataType| !own.is_floating() && !own.is_nested() && !matches!(own, DataType::Interval(_));
    one == &other && is_plain(one) || one.is_integer() && other.is_integer()
}
