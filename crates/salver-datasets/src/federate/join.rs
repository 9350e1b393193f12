//! Translates the dynamic filter of a hash join into a filter of a query: after the build side is known, a database is
//! asked only for the rows that can match, not for its whole table.

use std::sync::Arc;

use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, DynamicFilterPhysicalExpr, InListExpr, Literal};
use datafusion::physical_plan::PhysicalExpr;
use salver_model::{ColumnPath, Filter, Value};

use super::condition::{comparison, scalar};

/// Returns whether the filter is filled in while the plan runs.
pub(super) fn is_filled_later(filter: &Arc<dyn PhysicalExpr>) -> bool {
    filter.downcast_ref::<DynamicFilterPhysicalExpr>().is_some()
}

/// Returns the current content of the filter, as far as a query can express it. Terms of a conjunction that it can't
/// express are dropped; the join checks them.
pub(super) fn filter(filter: &Arc<dyn PhysicalExpr>) -> Option<Filter> {
    let current = filter.downcast_ref::<DynamicFilterPhysicalExpr>()?.current().ok()?;
    needed(&current)
}

fn needed(expression: &Arc<dyn PhysicalExpr>) -> Option<Filter> {
    if let Some(binary) = expression.downcast_ref::<BinaryExpr>() {
        return match binary.op() {
            Operator::And => match (needed(binary.left()), needed(binary.right())) {
                (Some(left), Some(right)) => Some(Filter::And(vec![left, right])),
                (left, right) => left.or(right),
            },
            Operator::Or => Some(Filter::Or(vec![needed(binary.left())?, needed(binary.right())?])),
            op => {
                let (column, value) = (column(binary.left())?, literal(binary.right())?);
                Some(Filter::Compare { column, op: comparison(*op)?, value })
            }
        };
    }
    let list = expression.downcast_ref::<InListExpr>().filter(|list| !list.negated())?;
    let values = list.list().iter().map(literal).collect::<Option<Vec<_>>>()?;
    Some(Filter::In { column: column(list.expr())?, values })
}

fn column(expression: &Arc<dyn PhysicalExpr>) -> Option<ColumnPath> {
    expression.downcast_ref::<Column>().map(|column| ColumnPath::column(column.name()))
}

fn literal(expression: &Arc<dyn PhysicalExpr>) -> Option<Value> {
    scalar(expression.downcast_ref::<Literal>()?.value())
}
