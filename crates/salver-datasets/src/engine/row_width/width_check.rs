//! Operator that checks the width of rows before another operator.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use arrow::array::{Array, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, Statistics};
use futures::{Stream, StreamExt};

use super::{NARROW_ROWS, is_wide};
use crate::engine::function_bounds::{Allowance, held_bytes, shown, span, too_large, widest};

/// Size from which a column is accounted to the memory of queries between operators, in bytes.
const LARGE_BYTES: u64 = 4 * 1024 * 1024;

/// Consumer of the rows.
#[derive(Clone, Debug)]
pub(super) enum RowConsumer {
    /// Any operator, with a few rows at a time.
    Anything,
    /// Any operator; the rows come from one that releases its reservation for them.
    Reader,
    /// A join, which may repeat every row for a whole batch.
    Join,
    /// `unnest` of the lists in these columns, which repeats the other columns for every element.
    Unnest(Vec<usize>),
    /// Window functions: the number of those that may return the widest value of their frame for each row, and of those
    /// that may return all values for each.
    Window { whole: bool, picks: u64, collects: u64, given: Arc<BufferedRows> },
    /// Consumer of the rows that windows returned.
    WindowReader(Arc<BufferedRows>),
}

/// Number of rows that windows have returned in each partition: the difference to the rows they have read is buffered.
#[derive(Debug)]
pub(super) struct BufferedRows(Vec<AtomicU64>);

impl BufferedRows {
    pub(super) fn new(partitions: usize) -> Self {
        Self((0..partitions).map(|_| AtomicU64::new(0)).collect())
    }

    fn begin(&self, partition: usize) {
        if let Some(rows) = self.0.get(partition) {
            rows.store(0, Ordering::Relaxed);
        }
    }

    fn add(&self, partition: usize, given: usize) {
        if let Some(rows) = self.0.get(partition) {
            rows.fetch_add(given as u64, Ordering::Relaxed);
        }
    }

    fn rows(&self, partition: usize) -> u64 {
        self.0.get(partition).map_or(0, |rows| rows.load(Ordering::Relaxed))
    }
}

/// Operator that checks the width of rows.
#[derive(Debug)]
pub(super) struct WideRowsExec {
    input: Arc<dyn ExecutionPlan>,
    next: RowConsumer,
    allowance: Arc<Allowance>,
}

impl WideRowsExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, next: RowConsumer, allowance: &Arc<Allowance>) -> Self {
        Self { input, next, allowance: Arc::clone(allowance) }
    }
}

impl DisplayAs for WideRowsExec {
    fn fmt_as(&self, _: DisplayFormatType, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "WideRowsExec")
    }
}

impl ExecutionPlan for WideRowsExec {
    fn name(&self) -> &'static str {
        "WideRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.into_iter().next().unwrap_or_else(|| Arc::clone(&self.input));
        Ok(Arc::new(Self::new(input, self.next.clone(), &self.allowance)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if let RowConsumer::Window { given, .. } = &self.next {
            given.begin(partition);
        }
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let fields = input.schema();
        let wide =
            |(column, field): (usize, &Arc<arrow::datatypes::Field>)| is_wide(field.data_type()).then_some(column);
        let columns: Vec<usize> = fields.fields().iter().enumerate().filter_map(wide).collect();
        let batch_rows = context.session_config().batch_size();
        if columns.is_empty() && matches!(self.next, RowConsumer::Join | RowConsumer::Reader) {
            return Ok(input);
        }
        Ok(Box::pin(WideRows {
            input,
            next: self.next.clone(),
            columns,
            batch_rows,
            reserved: self.allowance.reserve("rows of a window", 0)?,
            allowance: Arc::clone(&self.allowance),
            seen: WidthStatistics::default(),
            partition,
            rest: None,
        }))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(Arc::clone(&inputs[0]))
    }
}

/// Statistics of the rows so far.
#[derive(Clone, Copy, Debug, Default)]
struct WidthStatistics {
    rows: u64,
    bytes: u64,
    widest: u64,
}

struct WideRows {
    input: SendableRecordBatchStream,
    next: RowConsumer,
    /// Columns whose values may have any size.
    columns: Vec<usize>,
    batch_rows: usize,
    reserved: MemoryReservation,
    allowance: Arc<Allowance>,
    seen: WidthStatistics,
    partition: usize,
    rest: Option<RecordBatch>,
}

impl WideRows {
    fn check(&mut self, batch: &RecordBatch) -> Result<()> {
        match &self.next {
            RowConsumer::Anything | RowConsumer::Reader | RowConsumer::WindowReader(_) => Ok(()),
            RowConsumer::Join => self.check_join(batch),
            RowConsumer::Unnest(lists) => self.check_unnest(batch, lists),
            RowConsumer::Window { whole, picks, collects, given } => {
                let given = (!whole).then(|| given.rows(self.partition));
                let (picks, collects) = (*picks, *collects);
                self.check_window(batch, given, picks, collects)
            }
        }
    }

    fn widest(&self, batch: &RecordBatch) -> u64 {
        self.columns.iter().map(|column| widest(batch.column(*column))).sum()
    }

    fn check_join(&self, batch: &RecordBatch) -> Result<()> {
        let widest = self.widest(batch);
        self.check_bytes(widest.saturating_mul(self.batch_rows as u64), || {
            format!("a row of {} may stand in every row of a join", shown(widest))
        })
    }

    fn check_unnest(&self, batch: &RecordBatch, lists: &[usize]) -> Result<()> {
        let others = || (0..batch.num_columns()).filter(|column| !lists.contains(column));
        let width = |row: usize| others().map(|column| span(batch.column(column), row, row + 1)).sum::<u64>();
        let most: u64 = others().map(|column| widest(batch.column(column))).sum();
        self.check_bytes(most.saturating_mul(self.batch_rows as u64), || {
            format!("a row of {} may stand beside every element of a list", shown(most))
        })?;
        for row in 0..batch.num_rows() {
            let list = lists.iter().map(|column| span(batch.column(*column), row, row + 1)).sum::<u64>();
            // An element has at least a byte, unless it is null or empty.
            let all = list.saturating_mul(width(row)).max(list.saturating_mul(8));
            if all > self.allowance.column_bytes_max() {
                let elements = lists.iter().map(|column| elements(batch.column(*column), row)).max().unwrap_or(0);
                let all = elements.saturating_mul(width(row)).saturating_add(list);
                self.check_bytes(all, || format!("`unnest` makes {elements} rows of {} of one", shown(width(row))))?;
            }
        }
        Ok(())
    }

    fn check_window(&mut self, batch: &RecordBatch, given: Option<u64>, picks: u64, collects: u64) -> Result<()> {
        let rows = batch.num_rows();
        let bytes: u64 = batch.columns().iter().map(|column| span(column, 0, rows)).sum();
        let widest = if picks > 0 { self.widest(batch) } else { 0 };
        let seen = &mut self.seen;
        *seen = WidthStatistics {
            rows: seen.rows + rows as u64,
            bytes: seen.bytes.saturating_add(bytes),
            widest: seen.widest.max(widest),
        };
        let at_once = if given.is_none() { seen.rows } else { rows as u64 };
        let made = seen.widest.saturating_mul(picks).saturating_add(seen.bytes.saturating_mul(collects));
        let made = made.saturating_mul(at_once);
        let seen = *seen;
        // The buffered rows are concatenated again with every batch.
        let waiting = seen.rows.saturating_sub(given.unwrap_or(0));
        let waiting = (seen.bytes / seen.rows.max(1)).saturating_mul(waiting).saturating_mul(2);
        let all = if given.is_none() { waiting.saturating_add(made) } else { waiting };
        if all >= LARGE_BYTES || self.reserved.size() > 0 {
            self.allowance.resize(&self.reserved, all)?;
        }
        self.check_bytes(made, || format!("a window function may give {} for its rows", shown(made)))
    }

    fn check_bytes(&self, bytes: u64, what: impl Fn() -> String) -> Result<()> {
        let most = self.allowance.column_bytes_max();
        if bytes > most {
            return Err(too_large(format!(
                "{}, which makes {}, and {} is the most",
                what(),
                shown(bytes),
                shown(most)
            )));
        }
        Ok(())
    }

    /// Accounts the large columns of a batch to the memory of queries.
    fn hold(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let large = |column: &usize| held_bytes(batch.column(*column)) >= LARGE_BYTES;
        let large: Vec<usize> = self.columns.iter().copied().filter(large).collect();
        if large.is_empty() {
            return Ok(batch);
        }
        let (schema, mut columns, rows) = batch.into_parts();
        for column in large {
            columns[column] = self.allowance.account("rows of an answer", Arc::clone(&columns[column]))?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
    }

    /// Returns the first rows of a batch; the others are kept.
    fn cut(&mut self, batch: RecordBatch) -> RecordBatch {
        if self.batch_rows > NARROW_ROWS || batch.num_rows() <= self.batch_rows {
            return batch;
        }
        self.rest = Some(batch.slice(self.batch_rows, batch.num_rows() - self.batch_rows));
        batch.slice(0, self.batch_rows)
    }
}

/// Returns the number of elements of a row's list, including those of nested lists.
fn elements(list: &dyn Array, row: usize) -> u64 {
    crate::engine::function_bounds::leaves(list, row, row + 1)
}

impl Stream for WideRows {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(rest) = self.rest.take() {
            let part = self.cut(rest);
            return Poll::Ready(Some(Ok(part)));
        }
        self.input.poll_next_unpin(context).map(|received| {
            let batch = match received? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            };
            let batch = match self.next {
                RowConsumer::Reader => self.hold(batch),
                RowConsumer::WindowReader(ref given) => {
                    given.add(self.partition, batch.num_rows());
                    self.hold(batch)
                }
                _ => self.check(&batch).map(|()| batch),
            };
            Some(batch.map(|batch| self.cut(batch)))
        })
    }
}

impl RecordBatchStream for WideRows {
    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }
}
