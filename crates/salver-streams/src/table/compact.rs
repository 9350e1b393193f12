//! Background task that writes closed segments as Parquet.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use salver_model::Result;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::layout::Layout;
use super::part::Sidecars;
use super::sidecar::{self, NEW};
use crate::event::LiveShape;
use crate::log::{Log, Segment};

/// Longest time a busy log is watched before one of its segments is compacted regardless.
const PATIENCE: Duration = Duration::from_secs(10);
/// Duration of one observation.
const LOOK: Duration = Duration::from_millis(250);
/// Number of events in one observation from which on a log counts as busy.
const BUSY_EVENTS: u64 = 25_000;
/// Number of segments that may wait for the log to be idle.
const WAITING_SEGMENTS: usize = 8;

/// Handle of the running task. The task stops when it is dropped, at the latest after the current file.
#[derive(Debug)]
pub(super) struct Compactor {
    sidecars: Arc<Sidecars>,
    stop: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Compactor {
    /// Starts the task with the segments that have no file yet.
    pub(super) fn start(log: &Arc<Log>, shape: &Arc<LiveShape>) -> Self {
        let (orders, ordered) = mpsc::unbounded_channel();
        let sidecars = Arc::new(Sidecars::new(orders));
        let stop = Arc::new(AtomicBool::new(false));
        let work = Work {
            log: Arc::clone(log),
            shape: Arc::clone(shape),
            sidecars: Arc::clone(&sidecars),
            stop: Arc::clone(&stop),
        };
        Self { sidecars, stop, task: tokio::spawn(run(work, ordered)) }
    }

    pub(super) fn sidecars(&self) -> &Arc<Sidecars> {
        &self.sidecars
    }

    /// Stops the task and abandons the current file.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.task.abort();
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        self.stop();
    }
}

/// State of the task.
#[derive(Clone)]
struct Work {
    log: Arc<Log>,
    shape: Arc<LiveShape>,
    sidecars: Arc<Sidecars>,
    stop: Arc<AtomicBool>,
}

async fn run(work: Work, mut ordered: mpsc::UnboundedReceiver<Arc<Segment>>) {
    let mut last = None;
    loop {
        let segment = tokio::select! {
            segment = work.log.closed_segment(last) => {
                if last.is_none() {
                    work.on(&segment, Work::clear).await;
                }
                last = Some(segment.base());
                segment
            }
            Some(segment) = ordered.recv() => segment,
        };
        if work.on(&segment, |work, segment| Ok(work.is_written(segment))).await == Some(true) {
            work.sidecars.done(&segment, true);
            continue;
        }
        quiet(&work.log, last).await;
        let written = work.on(&segment, Work::write).await;
        work.sidecars.done(&segment, written.is_some());
    }
}

/// Waits until the log is not busy, unless too many segments are waiting.
async fn quiet(log: &Log, last: Option<u64>) {
    let until = tokio::time::Instant::now() + PATIENCE;
    while tokio::time::Instant::now() < until {
        let waiting = log.segments().iter().filter(|segment| Some(segment.base()) > last).count();
        let before = log.ends().next;
        if waiting > WAITING_SEGMENTS {
            return;
        }
        tokio::time::sleep(LOOK).await;
        if log.ends().next - before < BUSY_EVENTS {
            return;
        }
    }
}

impl Work {
    /// Runs work on a segment on a thread that may block; `None` when it failed.
    async fn on<T: Send + 'static>(
        &self,
        segment: &Arc<Segment>,
        work: impl FnOnce(&Self, &Arc<Segment>) -> Result<T> + Send + 'static,
    ) -> Option<T> {
        let (own, segment) = (self.clone(), Arc::clone(segment));
        let done = tokio::task::spawn_blocking(move || work(&own, &segment)).await;
        done.ok()?.inspect_err(|error| tracing::warn!("rows are read from the log itself meanwhile: {error:?}")).ok()
    }

    /// Returns whether a file with all columns exists.
    fn is_written(&self, segment: &Segment) -> bool {
        let layout = Layout::new(self.shape.newest());
        segment.base() == segment.end()
            || self.sidecars.footers.open(segment).is_some_and(|(_, footer)| footer.conforms(&layout.schema))
    }

    /// Writes the file of a segment.
    fn write(&self, segment: &Arc<Segment>) -> Result<()> {
        let written = sidecar::write(segment, &Arc::new(Layout::new(self.shape.newest())), &self.stop);
        if written.is_err() {
            let _ = fs::remove_file(segment.parquet_path().with_extension(NEW));
        }
        written
    }

    /// Removes files left unfinished by a crash.
    fn clear(&self, segment: &Arc<Segment>) -> Result<()> {
        let files = segment.path().parent().and_then(|dir| fs::read_dir(dir).ok()).into_iter().flatten();
        for path in files.filter_map(|file| file.ok().map(|file| file.path())) {
            if path.extension().is_some_and(|ending| ending == NEW) {
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }
}
