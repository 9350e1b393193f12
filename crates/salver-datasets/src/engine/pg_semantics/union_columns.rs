//! Columns of several types (an Arrow union, for example from Avro) can be returned and tested for null. The engine's
//! kernels can't compare or cast them and return nulls instead; here that is an error.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use salver_model::{Code, Error};

use super::inputs;

/// Returns whether a plan reads a table with a union column, the only source of unions.
pub(super) fn are_read(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            found |= scan.projected_schema.fields().iter().any(|field| is_union(field.data_type()));
        }
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// Refuses a plan that computes something from a union, or compares rows that contain one.
///
/// # Errors
/// `InvalidSql`, which names the union.
pub(super) fn check(plan: &LogicalPlan) -> Result<()> {
    let check = |node: &LogicalPlan| {
        let schema = inputs(node)?;
        node.apply_expressions(|expr| {
            expr.apply(|part| computed(part, &schema).map(|()| TreeNodeRecursion::Continue))
        })?;
        compared(node, &schema).map(|()| TreeNodeRecursion::Continue)
    };
    plan.apply_with_subqueries(check).map(|_| ())
}

fn computed(expr: &Expr, schema: &DFSchema) -> Result<()> {
    let is_known = match expr {
        Expr::Alias(_) | Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::Column(_) | Expr::OuterReferenceColumn(..) => {
            true
        }
        Expr::AggregateFunction(call) => call.func.name() == "count" && !call.params.distinct,
        _ => false,
    };
    if is_known {
        return Ok(());
    }
    expr.apply_children(|child| refused(child, schema).map(|()| TreeNodeRecursion::Continue)).map(|_| ())
}

fn compared(plan: &LogicalPlan, schema: &DFSchema) -> Result<()> {
    match plan {
        LogicalPlan::Sort(sort) => sort.expr.iter().try_for_each(|key| refused(&key.expr, schema)),
        LogicalPlan::Aggregate(groups) => groups.group_expr.iter().try_for_each(|key| refused(key, schema)),
        LogicalPlan::Join(join) => {
            join.on.iter().flat_map(|(left, right)| [left, right]).try_for_each(|key| refused(key, schema))
        }
        LogicalPlan::Distinct(distinct) => {
            let union = distinct.input().schema().fields().iter().find(|field| is_union(field.data_type()));
            union.map_or(Ok(()), |field| Err(error(field.name())))
        }
        _ => Ok(()),
    }
}

fn refused(expr: &Expr, schema: &DFSchema) -> Result<()> {
    match expr.get_type(schema) {
        Ok(own) if is_union(&own) => Err(error(&expr.to_string())),
        _ => Ok(()),
    }
}

fn is_union(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Union(..))
}

fn error(what: &str) -> DataFusionError {
    let name = what.rsplit('.').next().unwrap_or(what);
    let message = format!("`{name}` holds values of several types, and nothing is computed from it");
    let error = Error::new(Code::InvalidSql, message).with_hint(
        "select it as it is, or ask whether it is null; declare its type in the dataset's `schema` otherwise",
    );
    DataFusionError::External(Box::new(error))
}
