//! Conditions that a join finds out while it runs, as long as they are worth it. They are not needed for the answer:
//! the join looks up each key itself. One that leaves most rows costs more than it saves.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::snapshot_generation;

/// Rows after which it is decided.
const TRIAL_ROWS: u64 = 64 * 1024;
/// Rows of a hundred up to which a condition is worth its cost.
const PASSING_PERCENT: u64 = 70;

/// A condition that need not be applied.
#[derive(Debug)]
pub(super) struct Adaptive {
    condition: Arc<dyn PhysicalExpr>,
    /// Shared by the readers of all files.
    seen: Arc<Seen>,
}

/// What came of the condition so far.
#[derive(Debug, Default)]
struct Seen {
    /// The state of the condition that was counted: what it asks for becomes known later, and changes.
    generation: AtomicU64,
    rows: AtomicU64,
    passed: AtomicU64,
}

impl Adaptive {
    pub(super) fn new(condition: Arc<dyn PhysicalExpr>) -> Self {
        Self { condition, seen: Arc::default() }
    }
}

impl Seen {
    fn is_in_vain(&self) -> bool {
        let rows = self.rows.load(Relaxed);
        rows >= TRIAL_ROWS && self.passed.load(Relaxed) * 100 > rows * PASSING_PERCENT
    }

    fn count(&self, rows: usize, passed: usize) {
        self.rows.fetch_add(rows as u64, Relaxed);
        self.passed.fetch_add(passed as u64, Relaxed);
    }
}

impl PartialEq for Adaptive {
    fn eq(&self, other: &Self) -> bool {
        self.condition.eq(&other.condition)
    }
}

impl Eq for Adaptive {}

impl Hash for Adaptive {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.condition.hash(state);
    }
}

impl fmt::Display for Adaptive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}

impl PhysicalExpr for Adaptive {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.condition.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let generation = snapshot_generation(&self.condition);
        if self.seen.generation.swap(generation, Relaxed) != generation {
            self.seen.rows.store(0, Relaxed);
            self.seen.passed.store(0, Relaxed);
        }
        if self.seen.is_in_vain() {
            return Ok(ColumnarValue::Scalar(true.into()));
        }
        let value = self.condition.evaluate(batch)?.into_array(batch.num_rows())?;
        self.seen.count(value.len(), value.as_boolean().true_count());
        Ok(ColumnarValue::Array(value))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.condition]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        let condition = children.pop().unwrap_or_else(|| Arc::clone(&self.condition));
        Ok(Arc::new(Self { condition, seen: Arc::clone(&self.seen) }))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt_sql(f)
    }

    /// Shows the condition to whoever compares it with the statistics of a file.
    fn snapshot(&self) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        Ok(Some(self.condition.snapshot()?.unwrap_or_else(|| Arc::clone(&self.condition))))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
    use datafusion::logical_expr::{ColumnarValue, Operator};
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    use super::{Adaptive, TRIAL_ROWS};

    fn rows(count: u64) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count as i64));
        RecordBatch::try_from_iter([("n", numbers)]).expect("rows")
    }

    fn below(most: i64) -> Adaptive {
        let schema = rows(1).schema();
        let column = col("n", &schema).expect("a column");
        Adaptive::new(binary(column, Operator::Lt, lit(most), &schema).expect("a comparison"))
    }

    #[test]
    fn a_condition_that_leaves_most_rows_is_given_up() {
        let rows = rows(TRIAL_ROWS);
        for (most, is_kept) in [(TRIAL_ROWS as i64 / 2, true), (TRIAL_ROWS as i64 * 9 / 10, false)] {
            let condition = below(most);
            let first = condition.evaluate(&rows).expect("a value").into_array(rows.num_rows()).expect("an array");
            assert_eq!(first.as_boolean().true_count() as i64, most);
            let second = condition.evaluate(&rows).expect("a value");
            assert_eq!(matches!(second, ColumnarValue::Array(_)), is_kept);
        }
    }
}
