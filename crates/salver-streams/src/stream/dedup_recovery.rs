//! Restores the ids of recent events after a restart, for deduplication.

use std::sync::Arc;

use salver_model::Result;
use salver_model::spec::StreamSpec;

use super::dedup::{RecentId, RecentIds};
use crate::clock::now_ms;
use crate::log::Log;

/// Bytes of the log read at a time.
const PIECE_BYTES: usize = 4 * 1024 * 1024;

/// Adds the ids of the events that the log keeps and that are in the deduplication window. Blocks.
pub(super) fn add_ids(seen: &mut RecentIds, log: &Arc<Log>, spec: &StreamSpec) -> Result<()> {
    if !seen.remembers() {
        return Ok(());
    }
    let hasher = seen.hasher();
    let window_ms = i64::try_from(spec.dedupe.as_millis()).unwrap_or(i64::MAX);
    let mut from = log.offset_at(now_ms().saturating_sub(window_ms))?;
    loop {
        let frames = match log.read(from, PIECE_BYTES) {
            Ok(frames) => frames,
            // Ids in a damaged part are lost; reading continues behind it.
            Err(error) => match log.good_from(from)? {
                next if next > from => {
                    tracing::warn!("{}: {error}; goes on at offset {next}", spec.name);
                    from = next;
                    continue;
                }
                _ => return Err(error),
            },
        };
        let Some(last) = frames.last() else { return Ok(()) };
        from = last.head.end();
        for frame in &frames {
            for placed in frame.records() {
                if let Some(id) = placed.record.id {
                    let (hash, time_ms) = (hasher.hash(id), frame.head.time_ms);
                    seen.insert(RecentId { hash, offset: placed.offset, time_ms });
                }
            }
        }
    }
}
