//! A snapshot in partitions of equal size, as many as are wanted. A log's own partitions depend on the machine and on
//! which segments were compacted meanwhile, but a position in a partition must refer to the same row later on.

use std::ops::Range;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use salver_model::Filter;
use salver_model::entry::Description;
use salver_model::ports::Held;
use salver_model::reply::BatchStream;

use crate::partitioning::Cuts;

/// A snapshot in partitions of equal size.
#[derive(Debug)]
pub(super) struct Recut {
    held: Arc<dyn Held>,
    /// The first row of each partition of `held`, followed by the number of rows.
    starts: Arc<[u64]>,
    cuts: Cuts,
}

/// Divides `held` into `parts` partitions of equal size; keeps its own partitions if their sizes are unknown.
pub(super) fn recut(held: Arc<dyn Held>, parts: usize) -> Arc<dyn Held> {
    let mut starts = vec![0];
    let mut rows = 0;
    for part in 0..held.parts() {
        let Some(own) = held.part_rows(part) else { return Arc::new(Unmeasured(held)) };
        rows += own;
        starts.push(rows);
    }
    Arc::new(Recut { held, starts: starts.into(), cuts: Cuts::new(rows, parts) })
}

impl Recut {
    /// Reads a range of rows, from the partitions that contain it.
    fn stream(&self, rows: Range<u64>, columns: &[usize], filter: Option<&Filter>) -> BatchStream {
        let first = self.starts.partition_point(|start| *start <= rows.start).saturating_sub(1);
        let parts = if rows.is_empty() { 0..0 } else { first..self.starts.len() - 1 };
        let (held, starts) = (Arc::clone(&self.held), Arc::clone(&self.starts));
        let (columns, filter) = (columns.to_vec(), filter.cloned());
        let streams = parts.map_while(move |part| {
            let (start, end) = (starts[part], starts[part + 1]);
            let wanted = rows.start.max(start)..rows.end.min(end);
            if start >= rows.end {
                return None;
            }
            Some(if wanted == (start..end) {
                held.read(part, &columns, filter.as_ref(), None)
            } else {
                some(&*held, part, wanted.start - start..wanted.end - start, &columns)
            })
        });
        stream::iter(streams).flatten().boxed()
    }
}

/// Reads exactly these rows of a partition.
fn some(held: &dyn Held, part: usize, rows: Range<u64>, columns: &[usize]) -> BatchStream {
    let count = rows.end - rows.start;
    match held.read_behind(part, rows.start, columns, Some(count)) {
        Some(behind) => cut_out(behind, 0, Some(count)),
        None => cut_out(held.read(part, columns, None, Some(rows.end)), rows.start, Some(count)),
    }
}

/// Returns the rows after the first `skip`, and at most `limit` of them.
fn cut_out(rows: BatchStream, skip: u64, limit: Option<u64>) -> BatchStream {
    let (mut skip, mut left) = (skip, limit.unwrap_or(u64::MAX));
    let pieces = rows.map_ok(move |batch| {
        let size = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
        let from = size(skip).min(batch.num_rows());
        let count = size(left).min(batch.num_rows() - from);
        skip -= from as u64;
        left -= count as u64;
        (batch.slice(from, count), left)
    });
    // Nothing is polled after the last row that is wanted.
    let mut is_over = limit == Some(0);
    let pieces = pieces.take_while(move |piece| {
        let goes_on = !is_over;
        is_over |= matches!(piece, Ok((_, 0)) | Err(_));
        std::future::ready(goes_on)
    });
    pieces.map_ok(|(batch, _)| batch).try_filter(|batch| std::future::ready(batch.num_rows() > 0)).boxed()
}

impl Held for Recut {
    fn describe(&self) -> &Description {
        self.held.describe()
    }

    fn parts(&self) -> usize {
        self.cuts.parts()
    }

    fn read(&self, part: usize, columns: &[usize], filter: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        // With a filter, the number of rows to read for the limit is unknown.
        let limit = limit.filter(|_| filter.is_none());
        self.stream(self.cuts.behind(part, 0, limit), columns, filter)
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        Some(self.cuts.count(part))
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        Some(self.stream(self.cuts.behind(part, skip, limit), columns, None))
    }

    fn finds_again(&self) -> bool {
        self.held.finds_again()
    }

    fn ascending(&self) -> Option<usize> {
        self.held.ascending()
    }
}

/// A snapshot whose partitions are of unknown size: skipped rows are read and dropped.
#[derive(Debug)]
struct Unmeasured(Arc<dyn Held>);

impl Held for Unmeasured {
    fn describe(&self) -> &Description {
        self.0.describe()
    }

    fn parts(&self) -> usize {
        self.0.parts()
    }

    fn read(&self, part: usize, columns: &[usize], filter: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        self.0.read(part, columns, filter, limit)
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        self.0.part_rows(part)
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        let behind = self.0.read_behind(part, skip, columns, limit);
        Some(behind.unwrap_or_else(|| {
            let end = limit.map(|limit| skip.saturating_add(limit));
            cut_out(self.0.read(part, columns, None, end), skip, limit)
        }))
    }

    fn finds_again(&self) -> bool {
        self.0.finds_again()
    }

    fn ascending(&self) -> Option<usize> {
        self.0.ascending()
    }
}
