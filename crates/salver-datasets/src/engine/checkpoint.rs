//! Checkpoints in plans. Each operator's output passes one, and so does the filter of each join, because a join can
//! examine billions of pairs before it produces a row. At a checkpoint a cancelled query ends, and a task that has
//! computed for long yields its thread.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::expressions::lit;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder, SortMergeJoinExec,
};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};
use futures::Stream;

use super::again;
use super::through::{Passage, Through};
use super::turn;
use super::work::Work;

/// Number of groupings, times the aggregates that allocate an object per group, from which on batches are split.
const GROUPINGS_MANY: usize = 8;
/// Number of aggregates with one state for all groups that cost as much as one aggregate with an object per group.
const LIGHT_AGGREGATES: usize = 16;
/// Rows grouped between two checkpoints, each counted once per grouping: a few milliseconds of work.
const GROUPED_ROWS: usize = 64 * 1024;
/// Minimum rows of a batch: below that, the cost per batch exceeds the cost of its rows.
const LEAST_GROUPED_ROWS: usize = 64;

/// Inserts checkpoints into the plan.
pub(crate) fn place(plan: Arc<dyn ExecutionPlan>, work: &Work) -> Result<Arc<dyn ExecutionPlan>> {
    let place = |node: Arc<dyn ExecutionPlan>| {
        // This operator only forwards the rows of its input.
        if node.is::<CooperativeExec>() {
            return Ok(Transformed::no(node));
        }
        let input = slowed(checked_join(node, work)?)?;
        Ok(Transformed::yes(Through::over(input, Watch { rows_max: usize::MAX })))
    };
    Ok(plan.transform_up(place)?.data)
}

/// Limits the batches of an aggregate with many groupings or aggregates to a few rows. The operator processes each
/// batch for all of them at once, without a checkpoint, and accounts for its memory only afterwards.
fn slowed(node: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(aggregate) = node.downcast_ref::<AggregateExec>() else { return Ok(node) };
    let aggregates = aggregate.aggr_expr();
    let heavy = aggregates.iter().filter(|own| !own.groups_accumulator_supported()).count();
    let light = (aggregates.len() - heavy).div_ceil(LIGHT_AGGREGATES);
    let groupings = aggregate.group_expr().groups().len().max(1) * (heavy + light).max(1);
    if groupings < GROUPINGS_MANY {
        return Ok(node);
    }
    let rows_max = (GROUPED_ROWS / groupings).max(LEAST_GROUPED_ROWS);
    let children = node.children().into_iter().map(|child| Through::over(Arc::clone(child), Watch { rows_max }));
    let children = children.collect();
    #[expect(deprecated)]
    node.with_new_children(children)
}

/// Adds a checkpoint to the filter if the operator is a join.
fn checked_join(node: Arc<dyn ExecutionPlan>, work: &Work) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        let filter = checked(join.filter(), gives_no_pairs(join.join_type()), work);
        let children = vec![again::runnable(join.left()), Arc::clone(join.right())];
        let join = Arc::new(NestedLoopJoinExecBuilder::from(join).with_filter(filter).build()?);
        #[expect(deprecated)]
        return join.with_new_children(children);
    }
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        let filter = checked(join.filter(), gives_no_pairs(join.join_type()), work);
        return match filter {
            Some(filter) => join.builder().with_filter(Some(filter)).build_exec(),
            None => Ok(node),
        };
    }
    if let Some(join) = node.downcast_ref::<SortMergeJoinExec>() {
        let Some(filter) = checked(join.filter().as_ref(), false, work) else { return Ok(node) };
        let (left, right) = (Arc::clone(join.left()), Arc::clone(join.right()));
        let (on, options) = (join.on().to_vec(), join.sort_options().to_vec());
        let (kind, nulls) = (join.join_type(), join.null_equality());
        return Ok(Arc::new(SortMergeJoinExec::try_new(left, right, on, Some(filter), kind, options, nulls)?));
    }
    Ok(node)
}

/// Returns whether a join of this kind may examine many pairs without producing any of them.
fn gives_no_pairs(kind: &JoinType) -> bool {
    use JoinType::{LeftAnti, LeftMark, LeftSemi, RightAnti, RightMark, RightSemi};
    matches!(kind, LeftAnti | LeftMark | LeftSemi | RightAnti | RightMark | RightSemi)
}

/// Returns the filter with a checkpoint. Without a filter, returns one that accepts every pair if one is `needed`.
fn checked(filter: Option<&JoinFilter>, needed: bool, work: &Work) -> Option<JoinFilter> {
    let check = |inner| Arc::new(Checked { inner, work: work.clone() });
    match filter {
        Some(filter) => {
            let (columns, schema) = (filter.column_indices().to_vec(), Arc::clone(filter.schema()));
            Some(JoinFilter::new(check(Arc::clone(filter.expression())), columns, schema))
        }
        None => needed.then(|| JoinFilter::new(check(lit(true)), Vec::new(), Arc::new(Schema::empty()))),
    }
}

/// Forwards rows until the query is cancelled.
#[derive(Clone, Debug)]
struct Watch {
    /// Maximum rows of a batch.
    rows_max: usize,
}

impl Passage for Watch {
    const NAME: &'static str = "CheckpointExec";
    const LETS_CONDITIONS_DOWN: bool = false;

    fn rows(
        &self,
        input: &Arc<dyn ExecutionPlan>,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let work = Work::of_task(&context);
        work.check()?;
        let inner = input.execute(partition, context)?;
        Ok(Box::pin(Checkpoint { inner, work, rows_max: self.rows_max, rest: None, ended: false }))
    }
}

struct Checkpoint {
    inner: SendableRecordBatchStream,
    work: Work,
    rows_max: usize,
    /// Remainder of a batch that was split.
    rest: Option<RecordBatch>,
    ended: bool,
}

impl Checkpoint {
    /// Returns the batch, or its first rows; the remainder is kept for the next poll.
    fn cut(&mut self, batch: RecordBatch) -> RecordBatch {
        if batch.num_rows() <= self.rows_max {
            return batch;
        }
        self.rest = Some(batch.slice(self.rows_max, batch.num_rows() - self.rows_max));
        batch.slice(0, self.rows_max)
    }
}

impl Stream for Checkpoint {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if self.work.is_cancelled() {
            self.ended = true;
            return Poll::Ready(Some(Err(self.work.stopped())));
        }
        if turn::is_long() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some(rest) = self.rest.take() {
            return Poll::Ready(Some(Ok(self.cut(rest))));
        }
        match self.inner.as_mut().poll_next(context) {
            Poll::Ready(Some(Ok(batch))) => Poll::Ready(Some(Ok(self.cut(batch)))),
            other => other,
        }
    }
}

impl RecordBatchStream for Checkpoint {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }
}

/// Expression that is evaluated only while the query is not cancelled.
#[derive(Debug)]
struct Checked {
    inner: Arc<dyn PhysicalExpr>,
    work: Work,
}

impl PartialEq for Checked {
    fn eq(&self, other: &Self) -> bool {
        self.inner.eq(&other.inner)
    }
}

impl Eq for Checked {}

impl Hash for Checked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl PhysicalExpr for Checked {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.inner.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.inner.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.work.check()?;
        self.inner.evaluate(batch)
    }

    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.inner.return_field(schema)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        match children.pop() {
            Some(inner) => Ok(Arc::new(Self { inner, work: self.work.clone() })),
            None => Ok(self),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
