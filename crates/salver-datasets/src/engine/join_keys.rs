//! Keys of a join that the engine takes for one. The planner puts keys that are computed beside the columns of a side,
//! by a name that leaves casts out: `ordered(y)` and `ordered(cast(y as double))` have the same (DataFusion 55). Such a
//! key is a condition of the join instead.

use std::collections::HashMap;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Operator, binary_expr};

/// Moves keys with the name of another one into the condition, in all joins of a plan.
pub(super) fn apart(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up(|node| match node {
        LogicalPlan::Join(join) if !join.null_aware && join.on.len() > 1 => Ok(moved(join)),
        node => Ok(Transformed::no(node)),
    })?;
    Ok(plan.data)
}

fn moved(join: Join) -> Transformed<LogicalPlan> {
    let (mut one, mut other) = (Names::default(), Names::default());
    let (mut kept, mut terms) = (Vec::new(), Vec::new());
    let is_equal = match join.null_equality {
        NullEquality::NullEqualsNull => Operator::IsNotDistinctFrom,
        NullEquality::NullEqualsNothing => Operator::Eq,
    };
    for (left, right) in &join.on {
        if one.takes(left) && other.takes(right) {
            kept.push((left.clone(), right.clone()));
        } else {
            terms.push(binary_expr(left.clone(), is_equal, right.clone()));
        }
    }
    if terms.is_empty() {
        return Transformed::no(LogicalPlan::Join(join));
    }
    let filter = conjunction(join.filter.clone().into_iter().chain(terms));
    Transformed::yes(LogicalPlan::Join(Join { on: kept, filter, ..join }))
}

/// The names of computed keys of one side.
#[derive(Default)]
struct Names(HashMap<String, Expr>);

impl Names {
    /// Returns whether a key has a name of its own.
    fn takes(&mut self, key: &Expr) -> bool {
        let name = match key {
            Expr::Column(_) => return true,
            // The planner gives these a name with the type.
            Expr::Cast(_) | Expr::TryCast(_) => key.to_string(),
            key => key.schema_name().to_string(),
        };
        self.0.entry(name).or_insert_with(|| key.clone()) == key
    }
}
