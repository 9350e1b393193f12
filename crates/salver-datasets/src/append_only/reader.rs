//! Reads a snapshot partition by partition.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::{Stream, StreamExt};
use salver_model::ports::Held;
use salver_model::reply::BatchStream;
use salver_model::{Filter, Result};

/// A read of a snapshot: its columns, filter and limit.
#[derive(Clone, Debug)]
pub(super) struct SnapshotRead {
    /// The rows.
    pub(super) held: Arc<dyn Held>,
    /// The columns.
    pub(super) columns: Vec<usize>,
    /// Filter that may be applied; rows that don't match may be returned, too.
    pub(super) filter: Option<Filter>,
    /// Number of rows after which the read may stop.
    pub(super) limit: Option<u64>,
}

/// State of a read.
struct SnapshotCursor {
    reader: SnapshotRead,
    parts: VecDeque<usize>,
    open: Option<(usize, BatchStream)>,
}

impl SnapshotRead {
    /// Reads the partitions `parts`, one after another, and before them the rest of `begun`, a partition that is
    /// already being read. Each batch comes with the number of its partition. Stops soon after `limit` rows.
    pub(super) fn read(
        self,
        begun: Option<(usize, BatchStream)>,
        parts: impl IntoIterator<Item = usize>,
    ) -> impl Stream<Item = Result<(usize, RecordBatch)>> {
        let progress = SnapshotCursor { reader: self, parts: parts.into_iter().collect(), open: begun };
        futures::stream::unfold(progress, async |mut progress| {
            let next = progress.next().await?;
            Some((next, progress))
        })
    }
}

impl SnapshotCursor {
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
            let SnapshotRead { held, columns, filter, limit } = &self.reader;
            let part = self.parts.pop_front()?;
            self.open = Some((part, held.read(part, columns, filter.as_ref(), *limit)));
        }
    }
}
