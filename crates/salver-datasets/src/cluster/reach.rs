//! Which tables executors can read: Parquet files that lie where they were found, exactly those that were loaded.

use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};

use crate::parquet_table::ParquetProvider;
use crate::resident_provider::ResidentProvider;

/// What a plan reads.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// Size of all its files, each as often as it is read.
    pub(super) bytes: u64,
    /// How many files that are.
    pub(super) files: usize,
    /// Why executors can't read some table.
    pub(super) refusal: Option<String>,
}

/// Returns what a plan reads.
///
/// # Errors
/// For a plan that can't be walked.
pub(super) fn of(plan: &LogicalPlan) -> Result<Reach> {
    let mut reach = Reach::default();
    note(plan, &mut reach)?;
    Ok(reach)
}

fn note(plan: &LogicalPlan, reach: &mut Reach) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let provider = source_as_provider(&scan.source)?;
            if let Some(parquet) = provider.downcast_ref::<ParquetProvider>() {
                let table = parquet.table();
                reach.bytes = reach.bytes.saturating_add(table.bytes());
                reach.files += table.count();
                if let Some(why) = table.is_only_here() {
                    reach.refusal.get_or_insert_with(|| format!("`{}` {why}", scan.table_name.table()));
                }
            } else if let Some(view) = provider.get_logical_plan() {
                note(&view, reach)?;
            } else {
                let why = match provider.is::<ResidentProvider>() {
                    true => "is held in memory",
                    false => "is not read from Parquet files alone",
                };
                reach.refusal.get_or_insert_with(|| format!("`{}` {why}", scan.table_name.table()));
            }
        }
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if may_be_several(part) {
                    let why = "a subquery that is a value may have several rows, which is only found in one process";
                    reach.refusal.get_or_insert_with(|| why.to_owned());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(())
}

/// Returns whether an expression is a subquery of which several rows would have to be refused. They would be joined.
fn may_be_several(part: &Expr) -> bool {
    let Expr::ScalarSubquery(Subquery { subquery, outer_ref_columns, .. }) = part else { return false };
    outer_ref_columns.is_empty() && subquery.max_rows().is_none_or(|most| most > 1)
}
