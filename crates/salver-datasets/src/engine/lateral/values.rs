//! Lists of values that name columns of the outer rows: `(values (t.a), (t.b))`.

use datafusion::common::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Values, cast, ident, lit, when};

use super::{Before, PLACE};

impl Before<'_> {
    /// Joins the outer rows with the numbers of the list's rows, and computes each by its number.
    pub(super) fn listed(&self, values: &Values) -> Result<Option<LogicalPlan>> {
        let numbers: Vec<Vec<Expr>> = (0..values.values.len()).map(|row| vec![lit(row as u64)]).collect();
        let numbers = LogicalPlanBuilder::values(numbers)?;
        let column = Expr::from(numbers.schema().qualified_field(0));
        let numbers = numbers.project(vec![column.alias(PLACE)])?.build()?;
        let rows = self.with(&numbers, lit(true))?;
        let mut columns = self.columns.clone();
        for (at, (table, field)) in values.schema.iter().enumerate() {
            let mut made: Option<Expr> = None;
            for (number, row) in values.values.iter().enumerate().rev() {
                let Some(expr) = row.get(at) else { return Ok(None) };
                // Values belong to no rows of their own.
                let Some(freed) = self.freed(expr, &values.schema)? else { return Ok(None) };
                let value = cast(freed, field.data_type().clone());
                made = Some(match made {
                    None => value,
                    Some(later) => when(ident(PLACE).eq(lit(number as u64)), value).otherwise(later)?,
                });
            }
            let Some(made) = made else { return Ok(None) };
            columns.push(made.alias_qualified(table.cloned(), field.name()));
        }
        Ok(Some(LogicalPlanBuilder::from(rows).project(columns)?.build()?))
    }
}
