//! Limits on the width of rows. Joins repeat a row for every match, `unnest` for every element, window functions for
//! every row of the frame, and a constant is repeated in every row. None of these operators accounts for that memory,
//! so the width of their input is checked before.
//!
//! A refused query is retried with a few rows at a time (see `plan::answer`).

mod width_check;

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, InListExpr, LikeExpr, Literal};
use datafusion::physical_expr::window::{
    PlainAggregateWindowExpr, SlidingAggregateWindowExpr, StandardWindowExpr, WindowExpr,
};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};

use salver_model::limits::PATTERN_CHARS_MAX;

use self::width_check::{BufferedRows, RowConsumer, WideRowsExec};
use crate::engine::QueryWork;
use crate::engine::function_bounds::{Allowance, pattern_chars, scalar_bytes, shown, too_large};

/// Rows of a batch for queries with wide rows.
pub(crate) const NARROW_ROWS: usize = 16;
/// Size below which constants are not counted, in bytes.
const SMALL_CONSTANT_BYTES: u64 = 64;

/// Optimizer rule that checks the width of rows before operators that may repeat them. It runs last, when the plan is
/// final.
#[derive(Debug)]
pub(crate) struct BoundRows {
    allowance: Arc<Allowance>,
    /// Whether rows are checked while the plan runs, too.
    watches: bool,
}

impl BoundRows {
    pub(crate) fn new(allowance: &Arc<Allowance>) -> Self {
        Self { allowance: Arc::clone(allowance), watches: true }
    }

    /// Returns the rule for plans that run elsewhere: it checks what can be checked of the plan.
    #[cfg(feature = "ballista")]
    pub(crate) fn of_plans(allowance: &Arc<Allowance>) -> Self {
        Self { allowance: Arc::clone(allowance), watches: false }
    }

    /// Refuses constants that are too large to be repeated in every row of a batch.
    fn check_constants(&self, node: &Arc<dyn ExecutionPlan>, batch_rows: usize) -> Result<()> {
        let mut bytes = 0;
        node.apply_expressions(&mut |expr| {
            bytes += constants(expr);
            check_patterns(expr)?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        if bytes <= SMALL_CONSTANT_BYTES {
            return Ok(());
        }
        let is_one = node.children().first().is_some_and(|child| child.is::<PlaceholderRowExec>());
        let rows = if is_one { 1 } else { batch_rows };
        let all = bytes.saturating_mul(rows as u64);
        let most = self.allowance.column_bytes_max();
        if all > most {
            let message = format!(
                "constants of {} for each row make {} of a batch, and {} is the most",
                shown(bytes),
                shown(all),
                shown(most)
            );
            return Err(too_large(message));
        }
        Ok(())
    }

    fn before(&self, child: &Arc<dyn ExecutionPlan>, next: RowConsumer) -> Arc<dyn ExecutionPlan> {
        Arc::new(WideRowsExec::new(Arc::clone(child), next, &self.allowance))
    }

    fn bound(&self, node: Arc<dyn ExecutionPlan>, batch_rows: usize) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
        self.check_constants(&node, batch_rows)?;
        if !self.watches {
            return Ok(Transformed::no(node));
        }
        let children: Vec<_> = node.children().into_iter().cloned().collect();
        if children.is_empty() {
            if batch_rows > NARROW_ROWS {
                return Ok(Transformed::no(node));
            }
            return Ok(Transformed::yes(self.before(&node, RowConsumer::Anything)));
        }
        let next = if let Some(unnest) = node.downcast_ref::<UnnestExec>() {
            RowConsumer::Unnest(unnest.list_column_indices().iter().map(|list| list.index_in_input_schema).collect())
        } else if let Some(window) = node.downcast_ref::<WindowAggExec>() {
            Self::windows(window.window_expr(), true, &children)?
        } else if let Some(window) = node.downcast_ref::<BoundedWindowAggExec>() {
            Self::windows(window.window_expr(), false, &children)?
        } else if node.name().contains("Join") {
            RowConsumer::Join
        } else if node.is::<AggregateExec>() {
            return Ok(Transformed::yes(self.before(&node, RowConsumer::Reader)));
        } else {
            return Ok(Transformed::no(node));
        };
        let reader = match &next {
            RowConsumer::Window { given, .. } => RowConsumer::WindowReader(Arc::clone(given)),
            _ => RowConsumer::Reader,
        };
        let children = children.iter().map(|child| self.before(child, next.clone())).collect();
        #[expect(deprecated)]
        let node = node.with_new_children(children)?;
        Ok(Transformed::yes(self.before(&node, reader)))
    }

    /// Describes the input of windows; `whole` if all rows wait for the last one.
    fn windows(exprs: &[Arc<dyn WindowExpr>], whole: bool, inputs: &[Arc<dyn ExecutionPlan>]) -> Result<RowConsumer> {
        let (picks, collects) = made_by(exprs)?;
        let partitions = inputs.first().map_or(0, |input| input.properties().output_partitioning().partition_count());
        Ok(RowConsumer::Window { whole, picks, collects, given: Arc::new(BufferedRows::new(partitions)) })
    }
}

impl PhysicalOptimizerRule for BoundRows {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        QueryWork::of(config).mark_planned();
        plan.transform_up(|node| self.bound(node, config.execution.batch_size.into())).data()
    }

    fn name(&self) -> &'static str {
        "bound_rows"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns the size of the constants that an expression may repeat for each row, in bytes. A comparison repeats none.
fn constants(expr: &Arc<dyn PhysicalExpr>) -> u64 {
    if let Some(literal) = expr.downcast_ref::<Literal>() {
        let bytes = scalar_bytes(literal.value());
        return if bytes > SMALL_CONSTANT_BYTES { bytes } else { 0 };
    }
    let compares = expr.is::<BinaryExpr>() || expr.is::<LikeExpr>() || expr.is::<InListExpr>();
    let children = expr.children().into_iter().filter(|child| !(compares && child.is::<Literal>()));
    children.map(constants).sum()
}

/// Refuses patterns that take too long to match, because no operator can be cancelled in the middle of a text.
fn check_patterns(expr: &Arc<dyn PhysicalExpr>) -> Result<()> {
    let matches = expr.is::<LikeExpr>() || expr.downcast_ref::<BinaryExpr>().is_some_and(|own| is_match(*own.op()));
    for child in expr.children() {
        if let Some(literal) = child.downcast_ref::<Literal>().filter(|_| matches) {
            let chars = pattern_chars(literal.value());
            if chars > PATTERN_CHARS_MAX {
                return Err(too_large(format!(
                    "a pattern may have {PATTERN_CHARS_MAX} characters, repetitions written out, and this has {chars}"
                )));
            }
        }
        check_patterns(child)?;
    }
    Ok(())
}

fn is_match(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::RegexMatch | Operator::RegexIMatch | Operator::RegexNotMatch | Operator::RegexNotIMatch
    )
}

/// Returns how many window functions may return the widest value of their frame for each row, and how many all values.
fn made_by(exprs: &[Arc<dyn WindowExpr>]) -> Result<(u64, u64)> {
    let (mut picks, mut collects) = (0, 0);
    for expr in exprs {
        if !is_wide(expr.field()?.data_type()) {
            continue;
        }
        let any = expr.as_any();
        let aggregate = any
            .downcast_ref::<PlainAggregateWindowExpr>()
            .map(PlainAggregateWindowExpr::get_aggregate_expr)
            .or_else(|| any.downcast_ref::<SlidingAggregateWindowExpr>().map(|own| own.get_aggregate_expr()));
        match aggregate {
            Some(aggregate) if ["array_agg", "string_agg"].contains(&aggregate.fun().name()) => collects += 1,
            None if any.is::<StandardWindowExpr>()
                && ["lag", "lead"].iter().any(|name| expr.name().starts_with(name)) => {}
            _ => picks += 1,
        }
    }
    Ok((picks, collects))
}

/// Returns whether values of the type may have any size.
fn is_wide(data_type: &DataType) -> bool {
    data_type.primitive_width().is_none() && !matches!(data_type, DataType::Boolean | DataType::Null)
}
