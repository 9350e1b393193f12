//! Decides which chunks a scan skips, because no value in them can meet its conditions. Conditions of joins, and of
//! sorts with a limit, become known or stricter while the plan runs.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, ScalarValue};
use datafusion::physical_expr::{DynamicFilterTracking, PhysicalExpr, conjunction};
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;

use super::scanned_columns::ScannedColumns;

/// The chunks that one partition of a scan reads.
pub(super) struct ChunkPruning {
    condition: Arc<dyn PhysicalExpr>,
    tracking: DynamicFilterTracking,
    /// Whether each chunk may have a row; `None` before the first look.
    may_pass: Option<Vec<bool>>,
}

impl ChunkPruning {
    /// Returns what a scan with `conditions` skips; `None` if it has none.
    pub(super) fn new(conditions: &[Arc<dyn PhysicalExpr>]) -> Option<Self> {
        if conditions.is_empty() {
            return None;
        }
        let condition = conjunction(conditions.iter().map(Arc::clone));
        Some(Self { tracking: DynamicFilterTracking::classify(&condition), condition, may_pass: None })
    }

    /// Returns whether any row of a chunk may meet the conditions, as far as they are known by now.
    pub(super) fn may_pass(&mut self, columns: &ScannedColumns, chunk: usize) -> bool {
        let has_changed = self.tracking.watcher().is_some_and(|watched| watched.changed());
        if self.may_pass.is_none() || has_changed {
            self.may_pass = Some(self.pruned(columns));
        }
        self.may_pass.as_ref().and_then(|chunks| chunks.get(chunk)).copied().unwrap_or(true)
    }

    fn pruned(&self, columns: &ScannedColumns) -> Vec<bool> {
        // A condition that can't be decided by ranges skips nothing.
        let builder = PruningPredicateBuilder::new().with_file_schema(Arc::clone(&columns.schema));
        let Some(predicate) = builder.build(Arc::clone(&self.condition)) else { return Vec::new() };
        predicate.prune(&Ranges(columns)).unwrap_or_default()
    }
}

/// The ranges of a scan's columns in each chunk.
struct Ranges<'s>(&'s ScannedColumns);

impl PruningStatistics for Ranges<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.0.in_memory(&column.name)?.ranges().map(|(least, _)| Arc::clone(least))
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.0.in_memory(&column.name)?.ranges().map(|(_, greatest)| Arc::clone(greatest))
    }

    fn num_containers(&self) -> usize {
        self.0.chunks()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        self.0.in_memory(&column.name).map(|column| Arc::clone(column.nulls()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        let rows = (0..self.0.chunks()).map(|chunk| Some(self.0.chunk_rows(chunk) as u64));
        Some(Arc::new(rows.collect::<UInt64Array>()))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
