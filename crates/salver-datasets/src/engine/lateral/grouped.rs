//! Aggregates of a subquery that belongs to each outer row, computed per outer row.

use datafusion::common::Result;
use datafusion::functions_aggregate::expr_fn::first_value;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, ident, lit};

use super::{Before, FOUND, ROW};

impl Before<'_> {
    /// Groups the rows of a subquery per outer row. `own` is the input within the subquery, and `input` the one on top
    /// of the outer rows.
    pub(super) fn grouped(
        &self,
        query: &LogicalPlan,
        groups: &[Expr],
        aggregates: &[Expr],
        own: &LogicalPlan,
        input: LogicalPlan,
    ) -> Result<Option<LogicalPlan>> {
        if !self.columns.contains(&ident(ROW)) {
            return Ok(None);
        }
        let has_found = self.columns.contains(&ident(FOUND));
        let mut keys = vec![ident(ROW)];
        // An outer row without a row keeps one.
        keys.extend((has_found && !groups.is_empty()).then(|| ident(FOUND)));
        let first_group = keys.len();
        for group in groups {
            let Some(freed) = self.freed(group, own.schema())? else { return Ok(None) };
            if matches!(freed, Expr::GroupingSet(_)) {
                return Ok(None);
            }
            keys.push(freed);
        }
        let rest = self.columns.iter().filter(|column| **column != ident(ROW) && **column != ident(FOUND));
        let mut made: Vec<Expr> = rest.clone().map(|column| first_value(column.clone(), Vec::new())).collect();
        let before = made.len();
        for aggregate in aggregates {
            let Some(freed) = self.freed(aggregate, own.schema())? else { return Ok(None) };
            let Expr::AggregateFunction(mut call) = freed.unalias() else { return Ok(None) };
            if has_found {
                let found = ident(FOUND);
                call.params.filter = Some(Box::new(match call.params.filter.take() {
                    Some(filter) => filter.and(found),
                    None => found,
                }));
            }
            made.push(Expr::AggregateFunction(call));
        }
        let grouped = keys.len();
        let rows = LogicalPlanBuilder::from(input).aggregate(keys, made)?;
        let names: Vec<Expr> = rows.schema().iter().map(Expr::from).collect();
        let (keys, values) = names.split_at(grouped);
        let mut columns: Vec<Expr> =
            values.iter().zip(rest).map(|(made, own)| made.clone().alias(own.schema_name().to_string())).collect();
        columns.push(ident(ROW));
        // Of no rows, an aggregate without groups makes one.
        columns.extend(has_found.then(|| if groups.is_empty() { lit(true).alias(FOUND) } else { ident(FOUND) }));
        let own = keys.iter().skip(first_group).chain(values.iter().skip(before)).zip(query.schema().iter());
        columns.extend(own.map(|(made, (table, field))| made.clone().alias_qualified(table.cloned(), field.name())));
        Ok(Some(rows.project(columns)?.build()?))
    }
}
