//! Reads held rows part by part.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::{Stream, StreamExt};
use salver_model::ports::Held;
use salver_model::reply::BatchStream;
use salver_model::{Filter, Result};

/// What is read of held rows.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    /// The rows.
    pub(super) held: Arc<dyn Held>,
    /// The columns.
    pub(super) columns: Vec<usize>,
    /// Which rows, at least.
    pub(super) filter: Option<Filter>,
    /// How many rows are enough.
    pub(super) limit: Option<u64>,
}

/// Where a reader is.
struct Progress {
    reader: Reader,
    parts: VecDeque<usize>,
    open: Option<(usize, BatchStream)>,
}

impl Reader {
    /// The rows of `parts`, one part after the other, each batch with the number of its part; before them those of
    /// `begun`, a part that is being read. At least `limit` rows where there are so many, and not many more.
    pub(super) fn read(
        self,
        begun: Option<(usize, BatchStream)>,
        parts: impl IntoIterator<Item = usize>,
    ) -> impl Stream<Item = Result<(usize, RecordBatch)>> {
        let progress = Progress { reader: self, parts: parts.into_iter().collect(), open: begun };
        futures::stream::unfold(progress, async |mut progress| {
            let next = progress.next().await?;
            Some((next, progress))
        })
    }
}

impl Progress {
    async fn next(&mut self) -> Option<Result<(usize, RecordBatch)>> {
        loop {
            if let Some((part, open)) = &mut self.open {
                match open.next().await {
                    Some(Ok(batch)) => {
                        let rows = batch.num_rows() as u64;
                        self.reader.limit = self.reader.limit.map(|left| left.saturating_sub(rows));
                        return Some(Ok((*part, batch)));
                    }
                    Some(Err(error)) => {
                        self.parts.clear();
                        self.open = None;
                        return Some(Err(error));
                    }
                    None => self.open = None,
                }
            }
            if self.reader.limit == Some(0) {
                return None;
            }
            let Reader { held, columns, filter, limit } = &self.reader;
            let part = self.parts.pop_front()?;
            self.open = Some((part, held.read(part, columns, filter.as_ref(), *limit)));
        }
    }
}
