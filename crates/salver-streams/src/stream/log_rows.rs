//! The rows of a log: the persisted shape of its events, and the scan that reads them by it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use salver_model::ports::Scan;
use salver_model::spec::PublishedTable;
use salver_model::{Code, Error, Name, Result};
use serde::{Deserialize, Serialize};

use crate::event::{Checker, Checks, EventShape, Rule};
use crate::log::Log;
use crate::private_files;
use crate::table::{EventScan, Publication};

/// File name of the shape.
const FILE: &str = "shape.json";

/// Rows of a log.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    name: Name,
    log: Arc<Log>,
    checks: Arc<Checks>,
    scan: Arc<EventScan>,
    path: PathBuf,
}

/// Serialized form of the shape.
#[derive(Serialize, Deserialize)]
struct Saved {
    /// Offset below which all events are included.
    end: u64,
    /// Output of [`EventShape::to_json`].
    shape: String,
}

impl Rows {
    /// Opens the rows of `log`, with the shape stored in `dir`; later events are read to complete it. They are
    /// published as the table `delta`. Blocks.
    pub(super) fn open(
        name: &Name,
        log: &Arc<Log>,
        dir: &Path,
        rule: Option<Rule>,
        delta: Option<&PublishedTable>,
    ) -> Result<Self> {
        let path = dir.join(FILE);
        let (shape, end) = load(&path).unwrap_or_default();
        // Events in the log were validated on arrival; the schema may have changed since.
        let mut checks = Checks::new(shape);
        follow(log, end, &checks)?;
        checks.rule = rule;
        let checks = Arc::new(checks);
        let publication = delta.map(|table| Publication::new(table.clone(), dir));
        let scan = EventScan::open(name.clone(), Arc::clone(log), Arc::clone(&checks.shape), publication)?;
        Ok(Self { name: name.clone(), log: Arc::clone(log), checks, scan, path })
    }

    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    /// Returns the checks for new events.
    pub(super) fn checks(&self) -> &Checks {
        &self.checks
    }

    pub(super) fn scan(&self) -> Arc<dyn Scan> {
        Arc::<EventScan>::clone(&self.scan)
    }

    /// Stores the shape whenever a segment is full, so that a start after a crash reads at most the last one.
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

    /// Stops writing Parquet, and stores the shape. Blocks.
    pub(super) fn close(&self) -> Result<()> {
        self.scan.close();
        self.save()
    }

    /// Stores the shape, so that the next start need not read every event. Blocks.
    fn save(&self) -> Result<()> {
        // Read the end first: an event in between is then read twice, and not never. Use the durable end, because after
        // a crash later offsets are reused by events that would not be read.
        let end = self.log.durable_end();
        let saved = Saved { end, shape: self.checks.shape.newest().to_json() };
        let text = serde_json::to_vec(&saved).unwrap_or_default();
        let new = self.path.with_extension("new");
        let write = || {
            let mut file = private_files::create(&new)?;
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

/// Loads the shape and its end; `None` when there is no readable one, and it has to be rebuilt from the events.
fn load(path: &Path) -> Option<(EventShape, u64)> {
    let text = fs::read(path).ok()?;
    let saved: Saved = serde_json::from_slice(&text).ok()?;
    Some((EventShape::from_json(&saved.shape).ok()?, saved.end))
}

/// Widens the shape by the events from `from` on. Blocks.
fn follow(log: &Log, from: u64, checks: &Checks) -> Result<()> {
    let mut checker = Checker::new(checks);
    log.walk(
        from,
        |_, _| {},
        |frame| {
            for placed in frame.records() {
                // Some streams carry values that are not JSON objects and have no columns.
                let _ = checker.check(placed.record.value);
            }
        },
    )
}
