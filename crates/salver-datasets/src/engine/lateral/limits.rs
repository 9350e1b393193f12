//! Limits of a subquery that belongs to each outer row, as row numbers per outer row.

use datafusion::common::{Column, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::expr::Sort as Key;
use datafusion::logical_expr::{
    Expr, ExprFunctionExt, FetchType, Limit, LogicalPlan, LogicalPlanBuilder, SkipType, ident, lit,
};

use super::{Before, FOUND, PLACE, ROW};

impl Before<'_> {
    /// Limits the rows per outer row.
    pub(super) fn limited(&self, limit: &Limit, of: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = (limit.get_skip_type()?, limit.get_fetch_type()?)
        else {
            return Ok(None);
        };
        // The null row of an outer row without a match must not be skipped.
        if self.goes_on() && !self.aggregated && (skip > 0 || fetch == Some(0)) {
            return Ok(None);
        }
        match of {
            LogicalPlan::Projection(projection) => {
                let Some(input) = self.limited(limit, &projection.input)? else { return Ok(None) };
                self.projected(of, input)
            }
            LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
                let mut keys = Vec::with_capacity(sort.expr.len());
                for key in &sort.expr {
                    let Some(expr) = self.freed(&key.expr, sort.input.schema())? else { return Ok(None) };
                    keys.push(Key { expr, ..key.clone() });
                }
                let Some(input) = self.through(&sort.input)? else { return Ok(None) };
                self.places(input, keys, skip, fetch).map(Some)
            }
            other => {
                let Some(input) = self.through(other)? else { return Ok(None) };
                self.places(input, Vec::new(), skip, fetch).map(Some)
            }
        }
    }

    /// Keeps the rows whose number in the order of the keys is within a limit.
    fn places(&self, input: LogicalPlan, mut keys: Vec<Key>, skip: usize, fetch: Option<usize>) -> Result<LogicalPlan> {
        if self.aggregated {
            // Rows that stand for none come last.
            keys.insert(0, ident(FOUND).is_true().sort(false, false));
        }
        let number = row_number().partition_by(vec![ident(ROW)]);
        let number = if keys.is_empty() { number } else { number.order_by(keys) }.build()?;
        let made = Column::from_name(number.schema_name().to_string());
        let columns: Vec<Expr> = input.schema().iter().map(Expr::from).collect();
        let mut all = columns.clone();
        all.push(Expr::Column(made).alias(PLACE));
        let rows = LogicalPlanBuilder::from(input).window(vec![number])?.project(all)?;
        let count = |count: usize| lit(u64::try_from(count).unwrap_or(u64::MAX));
        let after = (skip > 0).then(|| ident(PLACE).gt(count(skip)));
        let until = fetch.map(|fetch| ident(PLACE).lt_eq(count(skip.saturating_add(fetch))));
        let rows = match after.into_iter().chain(until).reduce(Expr::and) {
            None => rows,
            Some(within) if self.aggregated => self.marked(rows, within)?,
            Some(within) => rows.filter(within)?,
        };
        rows.project(columns)?.build()
    }
}
