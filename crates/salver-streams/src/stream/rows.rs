//! A log as rows: what shape its events have, kept beside them, and the scan that reads them by it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use salver_model::ports::Scan;
use salver_model::{Code, Error, Name, Result};
use serde::{Deserialize, Serialize};

use crate::event::{Checker, Checks, Rule, Shape};
use crate::log::Log;
use crate::private;
use crate::table::EventScan;

/// The file of the shape.
const FILE: &str = "shape.json";
/// Bytes of the log that are looked at in one go.
const PIECE_BYTES: usize = 4 * 1024 * 1024;

/// The rows of a log.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    name: Name,
    log: Arc<Log>,
    checks: Arc<Checks>,
    scan: Arc<EventScan>,
    path: PathBuf,
}

/// The shape as it is written down.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// Events below this offset are in it.
    end: u64,
    /// What [`Shape::to_json`] wrote.
    shape: String,
}

impl Rows {
    /// The rows of `log`, whose shape is in `dir` as far as it was written down; what came later is looked at. Blocks.
    pub(super) fn open(name: &Name, log: &Arc<Log>, dir: &Path, rule: Option<Rule>) -> Result<Self> {
        let path = dir.join(FILE);
        let (shape, end) = load(&path).unwrap_or_default();
        // What is in the log was checked when it came; the rule may be another now.
        let mut checks = Checks::new(shape);
        follow(log, end, &checks)?;
        checks.rule = rule;
        let checks = Arc::new(checks);
        let scan = EventScan::open(name.clone(), Arc::clone(log), Arc::clone(&checks.shape))?;
        Ok(Self { name: name.clone(), log: Arc::clone(log), checks, scan, path })
    }

    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    /// What events are checked by.
    pub(super) fn checks(&self) -> &Checks {
        &self.checks
    }

    pub(super) fn scan(&self) -> Arc<dyn Scan> {
        Arc::<EventScan>::clone(&self.scan)
    }

    /// Writes the shape down whenever a file of the log is full, so that a start after a crash looks at no more than
    /// the last one.
    pub(super) async fn keep(self) {
        let mut last = self.log.segments().last().map(|segment| segment.base());
        loop {
            last = Some(self.log.closed_segment(last).await.base());
            let rows = self.clone();
            if let Ok(Err(error)) = tokio::task::spawn_blocking(move || rows.save()).await {
                tracing::warn!("{error}");
            }
        }
    }

    /// Ends the writing of Parquet, and writes the shape down. Blocks.
    pub(super) fn close(&self) -> Result<()> {
        self.scan.close();
        self.save()
    }

    /// Writes the shape down, so that the next start need not look at every event. Blocks.
    fn save(&self) -> Result<()> {
        // The end first: an event that comes between is looked at twice, and not never. No further than the disk has
        // it, or after a crash others would have these offsets and not be looked at.
        let end = self.log.durable_end();
        let saved = Saved { end, shape: self.checks.shape.newest().to_json() };
        let text = serde_json::to_vec(&saved).unwrap_or_default();
        let new = self.path.with_extension("new");
        let write = || {
            let mut file = private::create(&new)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&new, &self.path)
        };
        write().map_err(|error| {
            Error::new(Code::StreamUnavailable, format!("can't write `{}`: {error}", self.path.display()))
                .with_hint("see whether the disk is full")
                .with_source(error)
        })
    }
}

/// The shape and how far it goes; `None` when there is none that can be read: it is found again from the events.
fn load(path: &Path) -> Option<(Shape, u64)> {
    let text = fs::read(path).ok()?;
    let saved: Saved = serde_json::from_slice(&text).ok()?;
    Some((Shape::from_json(&saved.shape).ok()?, saved.end))
}

/// Looks at the events from `from` on. Blocks.
fn follow(log: &Arc<Log>, mut from: u64, checks: &Checks) -> Result<()> {
    let mut checker = Checker::new(checks);
    loop {
        let frames = match log.read(from, PIECE_BYTES) {
            Ok(frames) => frames,
            Err(error) => match log.good_from(from)? {
                next if next > from => {
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
                // Some streams carry more than JSON objects, which have no columns.
                let _ = checker.check(placed.record.value);
            }
        }
    }
}
