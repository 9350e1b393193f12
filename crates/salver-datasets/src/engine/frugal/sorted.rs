//! Groups that are aggregated from sorted rows one after the other, instead of in a hash table, and top-k queries as a
//! limit over a full sort, instead of a heap.

use std::sync::Arc;

use arrow::compute::SortOptions;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

/// Maximum rows of a top-k that keeps its rows in memory instead of sorting all.
const FIRST_ROWS: usize = 100;

/// Optimizer rule that replaces operators that hold all their input in memory by sorts.
#[derive(Debug)]
pub(super) struct Sorted;

impl PhysicalOptimizerRule for Sorted {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let sorted = if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
                grouped(aggregate)?
            } else {
                node.downcast_ref::<SortExec>().and_then(first_rows)
            };
            Ok(sorted.map_or_else(|| Transformed::no(node), Transformed::yes))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "sorted"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Replaces a top-k by a limit over a full sort.
fn first_rows(sort: &SortExec) -> Option<Arc<dyn ExecutionPlan>> {
    let rows = sort.fetch().filter(|rows| *rows > FIRST_ROWS)?;
    let whole: Arc<dyn ExecutionPlan> = Arc::new(sort.with_fetch(None));
    Some(if sort.preserve_partitioning() {
        Arc::new(LocalLimitExec::new(whole, rows))
    } else {
        Arc::new(GlobalLimitExec::new(whole, 0, Some(rows)))
    })
}

/// Puts a sort by the groups below an aggregate.
fn grouped(aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let groups = aggregate.group_expr();
    if groups.is_empty() || *aggregate.input_order_mode() != InputOrderMode::Linear {
        return Ok(None);
    }
    // So few groups need little memory.
    if aggregate.limit_options().is_some_and(|limit| limit.limit() <= FIRST_ROWS) {
        return Ok(None);
    }
    let first = match aggregate.mode() {
        AggregateMode::Final | AggregateMode::FinalPartitioned => None,
        // An aggregate with an order of its own needs the rows in that order.
        AggregateMode::Single | AggregateMode::SinglePartitioned
            if aggregate.aggr_expr().iter().all(|own| own.order_bys().is_empty()) =>
        {
            // A row has another position in the order of each grouping set.
            groups.has_grouping_set().then(|| of_each_grouping(aggregate)).transpose()?
        }
        _ => return Ok(None),
    };
    let (mode, groups, input) = match first {
        None => (*aggregate.mode(), groups.clone(), Arc::clone(aggregate.input())),
        Some(first) if *aggregate.mode() == AggregateMode::Single => (AggregateMode::Final, groups.as_final(), first),
        Some(first) => (AggregateMode::FinalPartitioned, groups.as_final(), first),
    };
    let key = |expr| PhysicalSortExpr::new(expr, SortOptions::default());
    let Some(order) = LexOrdering::new(groups.input_exprs().into_iter().map(key)) else { return Ok(None) };
    let sort = SortExec::new(order, input).with_preserve_partitioning(true);
    let sorted = AggregateExec::try_new(
        mode,
        groups,
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        Arc::new(sort),
        aggregate.input_schema(),
    )?;
    Ok((*sorted.input_order_mode() == InputOrderMode::Sorted).then(|| Arc::new(sorted) as _))
}

/// Expands the rows into their grouping sets, and aggregates them as far as memory allows.
fn of_each_grouping(aggregate: &AggregateExec) -> Result<Arc<dyn ExecutionPlan>> {
    Ok(Arc::new(AggregateExec::try_new(
        AggregateMode::Partial,
        aggregate.group_expr().clone(),
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        Arc::clone(aggregate.input()),
        aggregate.input_schema(),
    )?))
}
