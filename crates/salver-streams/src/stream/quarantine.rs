//! Quarantine: rejected events of a stream with the reasons, in a separate log beside its own.

use std::sync::Arc;

use bytes::Bytes;
use salver_model::limits::{QUARANTINE_BYTES_MAX, SEGMENT_BYTES};
use salver_model::ports::Scan;
use salver_model::spec::StreamSpec;
use salver_model::{Name, Result};

use super::log_rows::Rows;
use crate::aside::Aside;
use crate::clock::now_ms;
use crate::event::Checker;
use crate::log::frame::FrameBuilder;
use crate::log::{Log, LogOptions};

/// Directory of its log within the stream's.
const FOLDER: &str = "quarantine";

/// Quarantine of a stream.
#[derive(Clone, Debug)]
pub(super) struct Quarantine {
    log: Arc<Log>,
    /// Rows; `None` when the stream's name is too long to derive a name for the quarantine's table.
    rows: Option<Rows>,
}

impl Quarantine {
    pub(super) fn open(spec: &StreamSpec) -> Result<Self> {
        let dir = spec.dir.join(FOLDER);
        let log = Log::open(LogOptions {
            dir: dir.clone(),
            segment_bytes: SEGMENT_BYTES,
            retain: spec.retain,
            retain_bytes: Some(spec.disk_bytes_max.map_or(QUARANTINE_BYTES_MAX, |most| most.min(QUARANTINE_BYTES_MAX))),
            refuse_bytes: None,
            has_listener: false,
        })?;
        let name = Name::new(&format!("{}_quarantine", spec.name)).ok();
        let rows = name.map(|name| Rows::open(&name, &log, &dir, None, None)).transpose()?;
        Ok(Self { log, rows })
    }

    /// Appends events, and returns the end of the quarantine behind them.
    pub(super) fn put(&self, events: &[(String, &[u8])]) -> Result<u64> {
        let bytes = events.iter().map(|(reason, raw)| reason.len() + raw.len() + 32).sum();
        let mut frame = FrameBuilder::new(now_ms(), bytes);
        let mut checker = self.rows.as_ref().map(|rows| Checker::new(rows.checks()));
        for (reason, raw) in events {
            let event = serde_json::json!({ "reason": reason, "event": String::from_utf8_lossy(raw) }).to_string();
            if let Some(checker) = &mut checker {
                // This only widens the columns: an event too long for the check is kept all the same.
                let _ = checker.check(event.as_bytes());
            }
            frame.push_plain(event.as_bytes());
        }
        let count = u64::from(frame.count());
        let placed = self.log.append(frame.seal())?;
        Ok(placed.first + count)
    }

    /// Returns a callback that also stores events rejected by Kafka here.
    pub(super) fn aside(&self) -> Aside {
        let own = self.clone();
        Arc::new(move |raw: Bytes, reason| {
            let own = own.clone();
            Box::pin(async move {
                let end = own.put(&[(reason, &raw)])?;
                own.durable(end).await
            })
        })
    }

    pub(super) async fn room(&self) {
        self.log.room().await;
    }

    pub(super) async fn durable(&self, end: u64) -> Result<()> {
        self.log.durable(end).await
    }

    pub(super) fn scan(&self) -> Option<(Name, Arc<dyn Scan>)> {
        self.rows.as_ref().map(|rows| (rows.name().clone(), rows.scan()))
    }

    /// Closes the log. Blocks.
    pub(super) fn close(&self) -> Result<()> {
        let saved = self.rows.as_ref().map_or(Ok(()), Rows::close);
        self.log.close().and(saved)
    }
}
