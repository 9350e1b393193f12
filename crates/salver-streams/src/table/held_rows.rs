//! Snapshot of the rows of a log.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::RecordBatchOptions;
use arrow::record_batch::RecordBatch;
use futures::{StreamExt, stream};
use salver_model::entry::{Description, EntryKind};
use salver_model::ports::Held;
use salver_model::reply::BatchStream;
use salver_model::{Error, Filter, Name};

use super::BATCH_ROWS;
use super::generation::RowGeneration;
use super::layout::{Layout, OFFSET, Wanted};
use super::part_reader::{PartReader, Sidecars};
use super::part_stream::stream_of;
use super::sidecar::{GROUP_ROWS, offsets_of};
use crate::log::HeldLog;

/// Fewest rows of a part.
const PART_ROWS: u64 = 16 * 1024;

/// Number of cores, cached because the system reads it from files.
static CORES: LazyLock<u64> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from) as u64);

/// Rows of a log at one moment.
#[derive(Debug)]
pub(super) struct HeldEvents {
    description: Description,
    layout: Arc<Layout>,
    log: Arc<HeldLog>,
    /// End of each part.
    ends: Vec<u64>,
    sidecars: Arc<Sidecars>,
}

impl HeldEvents {
    /// Creates a snapshot of the rows of `log` before `end`.
    pub(super) fn new(name: &Name, log: HeldLog, era: &RowGeneration, end: u64, sidecars: &Arc<Sidecars>) -> Self {
        let description = Description {
            name: name.clone(),
            kind: EntryKind::Stream,
            schema: Arc::clone(&era.layout.schema),
            key: Vec::new(),
            relations: Vec::new(),
            rows: Some(log.events(&(log.ends.first.min(end)..end))),
            version: era.version(end),
            source: "a log on local disk".to_owned(),
            memory_bytes: 0,
        };
        let ends = part_ends(&log, end);
        let layout = Arc::clone(&era.layout);
        Self { description, layout, log: Arc::new(log), ends, sidecars: Arc::clone(sidecars) }
    }

    fn offsets(&self, part: usize) -> Range<u64> {
        let start =
            part.checked_sub(1).map_or(self.log.ends.first, |before| self.ends.get(before).copied().unwrap_or(0));
        start..self.ends.get(part).copied().unwrap_or(start)
    }

    /// Without a filter, a limit shortens the range directly.
    fn shorten(&self, offsets: &mut Range<u64>, limit: Option<u64>) {
        if let Some(limit) = limit {
            offsets.end = offsets.end.min(self.log.behind(offsets.start, limit));
        }
    }

    fn stream(&self, offsets: Range<u64>, columns: &[usize], filter: Option<&Filter>) -> BatchStream {
        let wanted = Wanted::new(Arc::clone(&self.layout), columns);
        if columns.is_empty() {
            return counted(&wanted, self.log.events(&offsets));
        }
        let part = PartReader::new(Arc::clone(&self.log), offsets, wanted, filter.cloned(), Arc::clone(&self.sidecars));
        stream_of(part)
    }
}

/// Returns the ends of parts of about equal length. There are somewhat more parts than cores, because rows differ in
/// cost. In closed segments they end at row groups.
fn part_ends(log: &HeldLog, end: u64) -> Vec<u64> {
    let first = log.ends.first.min(end);
    let parts = ((end - first) / PART_ROWS).clamp(1, *CORES * 4);
    let length = (end - first).div_ceil(parts);
    let mut ends = Vec::with_capacity(parts as usize);
    for part in 1..parts {
        let wish = first + part * length;
        let segment = log.closed.get(log.closed.partition_point(|segment| segment.end() <= wish));
        let at = segment.filter(|segment| segment.base() <= wish).map_or(wish, |segment| {
            let rows = wish - segment.base();
            segment.base() + rows - rows % GROUP_ROWS as u64
        });
        if at > ends.last().copied().unwrap_or(first) && at < end {
            ends.push(at);
        }
    }
    ends.push(end);
    ends
}

impl Held for HeldEvents {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn parts(&self) -> usize {
        self.ends.len()
    }

    fn read(&self, part: usize, columns: &[usize], filter: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        let mut offsets = self.offsets(part);
        match filter {
            Some(filter) => offsets = offsets_of(filter, offsets),
            None => self.shorten(&mut offsets, limit),
        }
        self.stream(offsets, columns, filter)
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        Some(self.log.events(&self.offsets(part)))
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        let mut offsets = self.offsets(part);
        offsets.start = offsets.end.min(self.log.behind(offsets.start, skip));
        self.shorten(&mut offsets, limit);
        Some(self.stream(offsets, columns, None))
    }

    fn ascending(&self) -> Option<usize> {
        Some(OFFSET)
    }
}

/// Returns rows without columns, which need not be read.
fn counted(wanted: &Wanted, rows: u64) -> BatchStream {
    let schema = Arc::clone(&wanted.schema);
    let full = std::iter::repeat_n(BATCH_ROWS, (rows / BATCH_ROWS as u64) as usize);
    let rest = (rows % BATCH_ROWS as u64) as usize;
    let counts = full.chain((rest > 0).then_some(rest));
    let batches = counts.map(move |rows| {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&schema), Vec::new(), &options)
            .map_err(|error| Error::internal("rows can't be counted").with_source(error))
    });
    stream::iter(batches).boxed()
}
