//! Windows of a lateral subquery: each is over the rows of one outer row.

use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Window, ident, when};

use super::{Before, FOUND, ROW};

impl Before<'_> {
    /// Computes the windows of a subquery per outer row.
    pub(super) fn windowed(&self, window: &Window, input: LogicalPlan) -> Result<Option<LogicalPlan>> {
        let has_found = self.columns.contains(&ident(FOUND));
        let mut columns: Vec<Expr> = input.schema().iter().map(Expr::from).collect();
        let own = window.schema.iter().skip(window.input.schema().fields().len());
        let mut windows = Vec::with_capacity(window.window_expr.len());
        for (expr, (table, field)) in window.window_expr.iter().zip(own) {
            let Some(freed) = self.freed(expr, window.input.schema())? else { return Ok(None) };
            let Expr::WindowFunction(mut call) = freed.unalias() else { return Ok(None) };
            call.params.partition_by.insert(0, ident(ROW));
            if has_found {
                // Rows that stand for none are not beside the others.
                call.params.partition_by.insert(1, ident(FOUND));
            }
            let call = Expr::WindowFunction(call);
            let made = Expr::Column(Column::from_name(call.schema_name().to_string()));
            // The row that stands for none has no window.
            let made = if has_found { when(ident(FOUND), made).end()? } else { made };
            columns.push(made.alias_qualified(table.cloned(), field.name()));
            windows.push(call);
        }
        Ok(Some(LogicalPlanBuilder::from(input).window(windows)?.project(columns)?.build()?))
    }
}
