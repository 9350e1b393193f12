//! Restores the ids of recent events after a restart, for deduplication.

use std::sync::Arc;

use salver_model::spec::StreamSpec;
use salver_model::{Error, Result};

use super::dedup::{RecentId, RecentIds};
use crate::clock::now_ms;
use crate::log::Log;

/// Adds the ids of the events that the log keeps and that are in the deduplication window. Blocks.
pub(super) fn add_ids(seen: &mut RecentIds, log: &Arc<Log>, spec: &StreamSpec) -> Result<()> {
    if !seen.remembers() {
        return Ok(());
    }
    let hasher = seen.hasher();
    let window_ms = i64::try_from(spec.dedupe.as_millis()).unwrap_or(i64::MAX);
    let from = log.offset_at(now_ms().saturating_sub(window_ms))?;
    // Ids in a damaged part are lost.
    let skipped = |error: &Error, next| tracing::warn!("{}: {error}; goes on at offset {next}", spec.name);
    log.walk(from, skipped, |frame| {
        for placed in frame.records() {
            if let Some(id) = placed.record.id {
                let (hash, time_ms) = (hasher.hash(id), frame.head.time_ms);
                seen.insert(RecentId { hash, offset: placed.offset, time_ms });
            }
        }
    })
}
