//! Joins within a subquery that belongs to each outer row.

use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, ident, lit};

use super::super::outer_references::{has_query, names_outer};
use super::{Before, FOUND, of_each_row};

/// Column that is true for a row that has a match in a join.
const HIT: &str = "__salver_hit";

impl Before<'_> {
    /// Rebuilds a join of which one side or the condition names the outer rows.
    pub(super) fn joined(&self, query: &LogicalPlan, join: &Join) -> Result<Option<LogicalPlan>> {
        let (left, right) = (names_outer(&join.left)?, names_outer(&join.right)?);
        let fits = match join.join_type {
            JoinType::Inner => !(left && right),
            JoinType::Left => !right,
            JoinType::Right => !left,
            _ => false,
        };
        if !fits || of_each_row(&join.right).is_some() || join.null_equality == NullEquality::NullEqualsNull {
            return Ok(None);
        }
        let keeps_rows = join.join_type != JoinType::Inner;
        // Rows that stand for none could not be told from those without a match.
        if self.goes_on() && !self.aggregated && !keeps_rows {
            return Ok(None);
        }
        let (base, other) = match right || join.join_type == JoinType::Right {
            true => (&join.right, &join.left),
            false => (&join.left, &join.right),
        };
        let mut terms = Vec::new();
        for (one, two) in &join.on {
            terms.push(one.clone().eq(two.clone()));
        }
        terms.extend(join.filter.clone());
        let condition = terms.into_iter().reduce(Expr::and).unwrap_or_else(|| lit(true));
        let Some(mut condition) = self.freed(&condition, &join.schema)? else { return Ok(None) };
        if has_query(&condition) {
            return Ok(None);
        }
        let Some(input) = self.through(base)? else { return Ok(None) };
        if self.goes_on() {
            condition = ident(FOUND).and(condition);
        }
        let input = LogicalPlanBuilder::from(input);
        let own: Vec<Expr> = query.schema().iter().map(Expr::from).collect();
        if !self.goes_on() || keeps_rows {
            let kind = if keeps_rows { JoinType::Left } else { JoinType::Inner };
            let rows = input.join_on(other.as_ref().clone(), kind, [condition])?;
            return rows.project(self.columns.iter().cloned().chain(own))?.build().map(Some);
        }
        let mut hits = vec![lit(true).alias(HIT)];
        hits.extend(other.schema().iter().map(Expr::from));
        let other = LogicalPlanBuilder::from(other.as_ref().clone()).project(hits)?.build()?;
        let rows = input.join_on(other, JoinType::Left, [condition])?;
        let before = self.columns.iter().map(|column| match column {
            column if *column == ident(FOUND) => ident(FOUND).and(ident(HIT).is_true()).alias(FOUND),
            column => column.clone(),
        });
        let columns: Vec<Expr> = before.chain(own).collect();
        rows.project(columns)?.build().map(Some)
    }
}
