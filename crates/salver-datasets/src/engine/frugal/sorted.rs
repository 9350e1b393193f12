//! Groups that are gathered from sorted rows, one after the other, and the first rows of an order that are cut off a
//! sort, in the place of tables of all groups and of heaps.

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

/// Most rows of an order that are found without sorting all, which keeps them in memory.
const FIRST_ROWS_MAX: usize = 100;

/// Puts sorts before what would hold all it reads.
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

/// The first rows of an order, sorted with all the others.
fn first_rows(sort: &SortExec) -> Option<Arc<dyn ExecutionPlan>> {
    let rows = sort.fetch().filter(|rows| *rows > FIRST_ROWS_MAX)?;
    let whole: Arc<dyn ExecutionPlan> = Arc::new(sort.with_fetch(None));
    Some(if sort.preserve_partitioning() {
        Arc::new(LocalLimitExec::new(whole, rows))
    } else {
        Arc::new(GlobalLimitExec::new(whole, 0, Some(rows)))
    })
}

/// An aggregate over rows that are sorted by its groups.
fn grouped(aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let groups = aggregate.group_expr();
    if groups.is_empty() || *aggregate.input_order_mode() != InputOrderMode::Linear {
        return Ok(None);
    }
    // So few groups need little.
    if aggregate.limit_options().is_some_and(|limit| limit.limit() <= FIRST_ROWS_MAX) {
        return Ok(None);
    }
    let first = match aggregate.mode() {
        AggregateMode::Final | AggregateMode::FinalPartitioned => None,
        // The order that its rows have is one that its aggregates need.
        AggregateMode::Single | AggregateMode::SinglePartitioned
            if aggregate.aggr_expr().iter().all(|own| own.order_bys().is_empty()) =>
        {
            // A row of several groupings has another place in the order of each.
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

/// The rows of each grouping, gathered as far as memory goes.
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
