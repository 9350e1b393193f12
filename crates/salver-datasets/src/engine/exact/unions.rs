//! Values of a column that holds several types (a union of Arrow, of Avro) are shown, and known to be null or not. The
//! engine's kernels compare and cast nothing of them, and say so by nulls: here that is an error.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, LogicalPlan};
use salver_model::{Code, Error};

type TypeOf<'a> = &'a dyn Fn(&Expr) -> Option<DataType>;

/// Refuses what is computed from a union.
///
/// # Errors
/// `InvalidSql`, which names it.
pub(super) fn check(expr: &Expr, type_of: TypeOf<'_>) -> Result<()> {
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
    expr.apply_children(|child| refused(child, type_of).map(|()| TreeNodeRecursion::Continue)).map(|_| ())
}

/// Refuses a step that compares whole rows with a union among them.
///
/// # Errors
/// `InvalidSql`, which names it.
pub(super) fn check_node(plan: &LogicalPlan, type_of: TypeOf<'_>) -> Result<()> {
    match plan {
        LogicalPlan::Sort(sort) => sort.expr.iter().try_for_each(|key| refused(&key.expr, type_of)),
        LogicalPlan::Aggregate(groups) => groups.group_expr.iter().try_for_each(|key| refused(key, type_of)),
        LogicalPlan::Join(join) => {
            join.on.iter().flat_map(|(left, right)| [left, right]).try_for_each(|key| refused(key, type_of))
        }
        LogicalPlan::Distinct(distinct) => {
            let union = distinct.input().schema().fields().iter().find(|field| is_union(field.data_type()));
            union.map_or(Ok(()), |field| Err(error(field.name())))
        }
        _ => Ok(()),
    }
}

fn refused(expr: &Expr, type_of: TypeOf<'_>) -> Result<()> {
    match type_of(expr) {
        Some(own) if is_union(&own) => Err(error(&expr.to_string())),
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
