//! The rows of a batch while they are written to the result, in several steps, and charged to the budget as they are.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use salver_model::Result;

use crate::graphql::budget::DocumentBudget;
use crate::graphql::plan::Selection;
use crate::graphql::run::Joined;
use crate::graphql::write::Objects;
use crate::offload::{self, INLINE_BYTES, INLINE_ROWS};

/// Bytes that are written between two checks of the budget.
const UNCOUNTED_BYTES: usize = 16 * 1_024;

/// A batch and the position of the writer.
#[derive(Debug)]
pub(crate) struct WrittenBatch {
    pub(crate) selection: Arc<Selection>,
    pub(crate) batch: RecordBatch,
    /// Rows of the selection's relations.
    pub(crate) joined: Vec<Result<Joined>>,
    pub(crate) budget: Arc<DocumentBudget>,
    /// Row to continue with.
    pub(crate) next: usize,
    /// Whether the next row is the first of its list.
    pub(crate) first: bool,
}

impl WrittenBatch {
    /// Appends the rows to `out`, separated by commas: few of them on this thread, many on another.
    pub(crate) async fn write(mut self, mut out: Vec<u8>) -> Result<Vec<u8>> {
        let rows = self.batch.num_rows();
        let all_rows = rows + self.joined.iter().flatten().map(Joined::rows).sum::<usize>();
        if all_rows <= INLINE_ROWS {
            self.go_on(INLINE_BYTES, &mut out)?;
            offload::breathe(all_rows).await;
        }
        if self.next == rows {
            return Ok(out);
        }
        offload::elsewhere(move || {
            self.go_on(usize::MAX, &mut out)?;
            Ok(out)
        })
        .await
    }

    /// Writes rows until there are none left or `bytes_max` is exceeded.
    fn go_on(&mut self, bytes_max: usize, out: &mut Vec<u8>) -> Result<()> {
        let Self { selection, batch, joined, budget, next, first } = self;
        let objects = Objects::of(&selection.fields, batch.columns(), &selection.relations, joined)?;
        let start = out.len();
        let mut counted = start;
        while *next < batch.num_rows() && out.len() - start <= bytes_max {
            if !std::mem::take(first) {
                out.push(b',');
            }
            objects.write(*next, out);
            *next += 1;
            if out.len() - counted > UNCOUNTED_BYTES {
                budget.take_bytes(out.len() - counted)?;
                counted = out.len();
            }
        }
        budget.take_bytes(out.len() - counted)
    }
}
