//! Rows of one batch on their way into the answer, written in as many goes as it takes and counted as they are.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use salver_model::Result;

use crate::graphql::budget::Budget;
use crate::graphql::offload::{self, INLINE_BYTES_MAX, INLINE_ROWS_MAX};
use crate::graphql::plan::Level;
use crate::graphql::run::Joined;
use crate::graphql::write::Objects;

/// Bytes written between two looks at the budget.
const UNCOUNTED_BYTES_MAX: usize = 16 * 1_024;

/// A batch and how far it is written.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) level: Arc<Level>,
    pub(crate) batch: RecordBatch,
    /// The rows of the level's relations.
    pub(crate) joined: Vec<Result<Joined>>,
    pub(crate) budget: Arc<Budget>,
    /// The row to go on with.
    pub(crate) next: usize,
    /// Whether these rows begin their list.
    pub(crate) first: bool,
}

impl Piece {
    /// Appends the rows to `out`, a comma between each two: few of them here, many on another thread.
    pub(crate) async fn write(mut self, mut out: Vec<u8>) -> Result<Vec<u8>> {
        let rows = self.batch.num_rows();
        let all_rows = rows + self.joined.iter().flatten().map(Joined::rows).sum::<usize>();
        if all_rows <= INLINE_ROWS_MAX {
            self.go_on(INLINE_BYTES_MAX, &mut out)?;
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

    /// Writes rows until there are none left or `bytes_max` are exceeded.
    fn go_on(&mut self, bytes_max: usize, out: &mut Vec<u8>) -> Result<()> {
        let Self { level, batch, joined, budget, next, first } = self;
        let objects = Objects::of(&level.fields, batch.columns(), &level.relations, joined)?;
        let start = out.len();
        let mut counted = start;
        while *next < batch.num_rows() && out.len() - start <= bytes_max {
            if !std::mem::take(first) {
                out.push(b',');
            }
            objects.write(*next, out);
            *next += 1;
            if out.len() - counted > UNCOUNTED_BYTES_MAX {
                budget.take_bytes(out.len() - counted)?;
                counted = out.len();
            }
        }
        budget.take_bytes(out.len() - counted)
    }
}
