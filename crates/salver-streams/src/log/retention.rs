//! Retention: deletes the oldest segments by age and by bytes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::LogOptions;
use super::lock::lock;
use super::writer::Writer;
use crate::clock::now_ms;

/// Longest interval between two checks of the age of events.
const LONGEST_INTERVAL: Duration = Duration::from_secs(60);
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

impl LogOptions {
    /// Returns the interval at which the age of events is checked.
    pub(super) fn look_every(&self) -> Option<Duration> {
        self.retain.map(|retain| (retain / 8).clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL))
    }

    /// Limits the segment size relative to the retained bytes, since only whole segments can be deleted.
    pub(super) fn balanced(mut self) -> Self {
        let most = [self.retain_bytes, self.refuse_bytes].into_iter().flatten().min().unwrap_or(u64::MAX);
        self.segment_bytes = self.segment_bytes.min(most / 4).max(1);
        self
    }

    /// Returns the bytes on disk above which the oldest segment is deleted.
    fn keep_bytes(&self) -> u64 {
        // Leaves room for one more segment before appends are refused.
        let before_refusal = self.refuse_bytes.map(|most| most.saturating_sub(self.segment_bytes));
        [self.retain_bytes, before_refusal].into_iter().flatten().min().unwrap_or(u64::MAX)
    }
}

impl Writer {
    /// Applies retention periodically, and when less is needed than before.
    pub(super) fn keep_house(&mut self) {
        let is_time = self.shared.options.look_every().is_some_and(|every| self.looked.elapsed() >= every);
        let is_due = self.shared.is_retention_due.swap(false, Ordering::SeqCst);
        if !is_time && !is_due {
            return;
        }
        self.looked = Instant::now();
        let retain_ms = self.shared.options.retain.map(|retain| i64::try_from(retain.as_millis()).unwrap_or(i64::MAX));
        let first_time_ms = lock(&self.shared.active).segment.first_time_ms();
        // Only closed segments can be deleted, so an active one with little traffic is closed for that.
        if retain_ms.is_some_and(|retain_ms| first_time_ms < now_ms().saturating_sub(retain_ms / 4))
            && let Err(error) = self.roll()
        {
            tracing::warn!(%error, dir = %self.shared.options.dir.display(), "no new log file could be begun");
        }
        self.retain();
    }

    /// Removes the segments that need not be kept.
    pub(super) fn retain(&self) {
        let listener = self.shared.removal.get();
        if self.shared.options.has_listener && listener.is_none() {
            return;
        }
        let options = &self.shared.options;
        let retain_ms = options.retain.map(|retain| i64::try_from(retain.as_millis()).unwrap_or(i64::MAX));
        let oldest_ms = retain_ms.map_or(i64::MIN, |retain_ms| now_ms().saturating_sub(retain_ms));
        let needed_from = self.shared.needed_from.load(Ordering::SeqCst);
        let retired = {
            let mut tail = lock(&self.shared.tail);
            let (mut count, mut bytes) = (0, tail.disk_bytes);
            for segment in tail.closed.iter() {
                let is_wanted = segment.last_time_ms() >= oldest_ms && bytes <= options.keep_bytes();
                if is_wanted || segment.end() > needed_from {
                    break;
                }
                count += 1;
                bytes -= segment.bytes();
            }
            tail.disk_bytes = bytes;
            let retired = tail.closed.get(..count).unwrap_or_default().to_vec();
            if count > 0 {
                tail.closed = Arc::new(tail.closed.get(count..).unwrap_or_default().to_vec());
            }
            retired
        };
        if let (Some(listener), Some(last)) = (listener, retired.last()) {
            (listener.0)(last.end());
        }
        for segment in retired {
            segment.retire();
        }
    }
}
