//! Groups that a statement asks for more than once, which are computed once. A `with` that two places read is written
//! out in both, so that each can ask for less of it; what is still the same after that is shared:
//!
//! ```sql
//! with r as (select k, sum(v) as s from t group by k)
//! select k from r where s = (select max(s) from r)
//! ```
//!
//! Only aggregates are shared: their rows are few beside those that they are made of, and each of them is complete
//! before its first row is read.

mod shared_rows;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result, internal_err};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_plan::ExecutionPlan;

use shared_rows::SharedRows;

/// Marks equal aggregates of a statement as one that is computed once.
#[derive(Debug)]
pub(super) struct CommonSubplans;

impl OptimizerRule for CommonSubplans {
    fn name(&self) -> &'static str {
        "common_subplans"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let mut times: HashMap<LogicalPlan, Vec<LogicalPlan>> = HashMap::new();
        plan.apply_with_subqueries(|node| {
            match node {
                LogicalPlan::Extension(own) if own.node.as_any().is::<Shared>() => return Ok(TreeNodeRecursion::Jump),
                LogicalPlan::Aggregate(_) => times.entry(node.clone()).or_default().push(node.clone()),
                _ => {}
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        times.retain(|_, found| found.len() > 1 && is_shareable(found));
        if times.is_empty() {
            return Ok(Transformed::no(plan));
        }
        plan.transform_down_with_subqueries(|node| {
            if matches!(&node, LogicalPlan::Extension(own) if own.node.as_any().is::<Shared>()) {
                return Ok(Transformed::new(node, false, TreeNodeRecursion::Jump));
            }
            if !times.contains_key(&node) {
                return Ok(Transformed::no(node));
            }
            let shared = LogicalPlan::Extension(Extension { node: Arc::new(Shared { input: node }) });
            Ok(Transformed::new(shared, true, TreeNodeRecursion::Jump))
        })
    }
}

/// Returns whether plans that are written alike give the same rows: they read the same tables, and nothing in them
/// changes from one call to the next. Plans with subqueries are left: their values belong to a place in the statement.
fn is_shareable(plans: &[LogicalPlan]) -> bool {
    let Some((first, others)) = plans.split_first() else { return false };
    let is_steady = |node: &LogicalPlan| {
        let is_odd = |expr: &Expr| match expr {
            Expr::ScalarSubquery(_) | Expr::Exists(_) | Expr::InSubquery(_) | Expr::OuterReferenceColumn(..) => true,
            expr => expr.is_volatile_node(),
        };
        node.expressions().iter().all(|expr| !expr.exists(|expr| Ok(is_odd(expr))).unwrap_or(true))
    };
    let is_odd = |node: &LogicalPlan| Ok(!is_steady(node) || matches!(node, LogicalPlan::RecursiveQuery(_)));
    if first.exists(is_odd).unwrap_or(true) {
        return false;
    }
    let tables = tables(first);
    others.iter().all(|other| tables.is_some() && self::tables(other) == tables)
}

/// Returns the addresses of a plan's tables, in the order in which they stand there: the names of two calls of a
/// function do not tell them apart.
fn tables(plan: &LogicalPlan) -> Option<Vec<usize>> {
    let mut tables = Vec::new();
    plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let provider = source_as_provider(&scan.source)?;
            tables.push(Arc::as_ptr(&provider).cast::<()>().addr());
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .ok()?;
    Some(tables)
}

/// A plan whose rows are computed once for all places of the statement in which it stands.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd)]
struct Shared {
    input: LogicalPlan,
}

impl UserDefinedLogicalNodeCore for Shared {
    fn name(&self) -> &'static str {
        "Shared"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, mut inputs: Vec<LogicalPlan>) -> Result<Self> {
        match inputs.pop() {
            Some(input) => Ok(Self { input }),
            None => internal_err!("shared rows without a plan"),
        }
    }
}

/// The shared rows of one statement.
#[derive(Debug, Default)]
pub(super) struct SharedByStatement(Mutex<HashMap<LogicalPlan, SharedRows>>);

impl SharedByStatement {
    /// Returns the operator of a plan's node, over the operator of its input; `None` if the node is another one.
    pub(super) fn operator(
        &self,
        node: &dyn UserDefinedLogicalNode,
        inputs: &[Arc<dyn ExecutionPlan>],
    ) -> Option<Arc<dyn ExecutionPlan>> {
        let (Some(shared), [input]) = (node.as_any().downcast_ref::<Shared>(), inputs) else { return None };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = known.entry(shared.input.clone()).or_default();
        Some(rows.over(Arc::clone(input)))
    }
}
