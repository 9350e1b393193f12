//! Reads of events: by offset, by time, page by page.

use std::sync::Arc;
use std::time::Duration;

use salver_model::limits::STREAM_READS_MAX;
use salver_model::streams::Event;
use salver_model::{Error, Result};
use tokio::sync::Semaphore;

use crate::id;
use crate::log::Log;
use crate::log::frame::{Frame, Placed};

/// Returns events from offset `from` on; waits for the first until `patience` is over.
pub(super) async fn events(
    log: &Arc<Log>,
    from: u64,
    count_max: usize,
    bytes_max: usize,
    patience: Duration,
) -> Result<Vec<Event>> {
    let count_max = count_max.max(1);
    if log.shown().next <= from && tokio::time::timeout(patience, log.appears(from)).await.is_err() {
        return Ok(Vec::new());
    }
    let end = log.shown().next;
    let frames = match log.recent(from, bytes_max) {
        Some(frames) => frames,
        None => {
            let log = Arc::clone(log);
            let _turn = READS.acquire().await.map_err(|error| Error::internal("reads ended").with_source(error))?;
            blocking(move || log.read(from, bytes_max)).await?
        }
    };
    let mut events = Vec::new();
    let mut bytes = 0;
    for frame in &frames {
        // The first frame may start far before the requested offset.
        for placed in frame.records().skip_while(|placed| placed.offset < from) {
            if placed.offset >= end {
                return Ok(events);
            }
            let size = placed.record.value.len();
            if !events.is_empty() && (events.len() >= count_max || bytes + size > bytes_max) {
                return Ok(events);
            }
            bytes += size;
            events.push(event(frame, &placed));
        }
    }
    Ok(events)
}

/// Converts a record to an event, without copying it.
fn event(frame: &Frame, placed: &Placed<'_>) -> Event {
    let record = &placed.record;
    Event {
        offset: placed.offset,
        time_ms: placed.time_ms,
        id: match record.id {
            Some(id) => String::from_utf8_lossy(id).into_owned(),
            None => id::text(placed.made_id),
        },
        key: record.key.map(|key| frame.share(key)),
        partition: record.partition,
        headers: record
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.map(|own| frame.share(own))))
            .collect(),
        value: frame.share(record.value),
        is_tombstone: record.is_null,
    }
}

/// Permits for file reads. Each read holds a frame of a megabyte or more in memory, so a thousand concurrent readers
/// must not read at the same time.
static READS: Semaphore = Semaphore::const_new(STREAM_READS_MAX);

/// Runs work that may wait for the disk.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Error::internal("a read of the log was cut off").with_source(error))?
}
