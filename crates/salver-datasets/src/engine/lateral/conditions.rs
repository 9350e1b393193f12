//! Conditions of a subquery that belongs to each outer row.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, LogicalPlanBuilder, ident, lit, when};

use super::super::outer_references::{counted, has_query, names_outer};
use super::super::subquery_hoisting::in_numbers;
use super::{Before, FOUND};

/// Rewrites the subqueries of an expression over rows of these columns so that it can be a column of a projection.
pub(super) fn as_values(expr: Expr, rows: &DFSchema) -> Result<Expr> {
    if !has_query(&expr) {
        return Ok(expr);
    }
    let made = expr.transform_up(|part| match part {
        Expr::Exists(exists) => counted(exists).map(Transformed::yes),
        Expr::InSubquery(look_up) => in_numbers(look_up, rows).map(Transformed::yes),
        part => Ok(Transformed::no(part)),
    })?;
    Ok(made.data)
}

impl Before<'_> {
    /// Rebuilds a filter on top of the outer rows.
    pub(super) fn filtered(&self, filter: &Filter) -> Result<Option<LogicalPlan>> {
        let Some(condition) = self.freed(&filter.predicate, filter.input.schema())? else { return Ok(None) };
        let (input, terms) = if names_outer(&filter.input)? {
            let Some(input) = self.through(&filter.input)? else { return Ok(None) };
            (input, vec![condition])
        } else {
            // A join takes no subqueries.
            let terms = split_conjunction_owned(condition).into_iter();
            let (queries, plain): (Vec<Expr>, Vec<Expr>) = terms.partition(has_query);
            (self.with(&filter.input, conjunction(plain).unwrap_or_else(|| lit(true)))?, queries)
        };
        let Some(condition) = conjunction(terms) else { return Ok(Some(input)) };
        if !self.goes_on() {
            return LogicalPlanBuilder::from(input).filter(condition)?.build().map(Some);
        }
        // Only an aggregate leaves out rows that stand for none.
        if !self.aggregated {
            return Ok(None);
        }
        let condition = as_values(condition, input.schema())?;
        self.marked(LogicalPlanBuilder::from(input), condition)?.build().map(Some)
    }

    /// Keeps all rows, and marks those for which a condition does not hold as rows that stand for none.
    pub(super) fn marked(&self, input: LogicalPlanBuilder, condition: Expr) -> Result<LogicalPlanBuilder> {
        let before = self.columns.iter().map(|column| match column {
            column if *column == ident(FOUND) => ident(FOUND).and(condition.clone().is_true()).alias(FOUND),
            column => column.clone(),
        });
        let own = input.schema().iter().skip(self.columns.len()).map(Expr::from);
        let columns: Vec<Expr> = before.chain(own).collect();
        let marked = input.project(columns)?;
        let own = marked.schema().iter().skip(self.columns.len()).map(|(table, field)| {
            let value = when(ident(FOUND), Expr::from((table, field))).end()?;
            Ok(value.alias_qualified(table.cloned(), field.name()))
        });
        let columns = self.columns.iter().cloned().map(Ok).chain(own).collect::<Result<Vec<Expr>>>()?;
        marked.project(columns)
    }
}
