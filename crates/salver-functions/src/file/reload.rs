//! Keeps a file loaded: initially, after changes, and after the end of its processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use salver_model::limits::{FUNCTION_IDLE_MS_MAX, FUNCTION_RETRY_MS_MAX};
use salver_model::ports::Functions;
use salver_model::{Error, Result};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};

use super::file_stamp::Stamp;
use super::{FunctionFile, errors};
use crate::process::Zygote;
use crate::supervisor::{self, Start};

/// Interval at which the file is checked.
const LOOK: Duration = Duration::from_millis(500);
/// Half of the delay before the second attempt; it doubles with each further one.
const RETRY_BASE: Duration = Duration::from_millis(250);
const LONGEST_RETRY: Duration = Duration::from_millis(FUNCTION_RETRY_MS_MAX);
/// Lifetime from which on the end of a zygote is not attributed to the file.
const STEADY: Duration = Duration::from_secs(60);
const IDLE: Duration = Duration::from_millis(FUNCTION_IDLE_MS_MAX);

impl FunctionFile {
    /// Loads the file, reloads it whenever it changes, and keeps the minimum number of workers. Runs forever; dropping
    /// the future kills all processes.
    pub async fn keep(self: Arc<Self>) {
        let mut keeper = Keeper {
            file: Arc::clone(&self),
            zygotes: JoinSet::new(),
            loading: None,
            seen: None,
            beside: Vec::new(),
            is_again: false,
            number: 0,
            failures: 0,
            retry: None,
            loaded: Instant::now(),
            told: None,
        };
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let retry = keeper.retry;
            tokio::select! {
                _ = looks.tick() => keeper.look().await,
                result = result(&mut keeper.loading) => keeper.settle(result),
                () = self.pool.fallen() => keeper.fell(),
                () = tokio::time::sleep_until(retry.unwrap_or_else(Instant::now)), if retry.is_some() => keeper.load(),
                Some(_) = keeper.zygotes.join_next() => {}
            }
        }
    }
}

struct Keeper {
    file: Arc<FunctionFile>,
    zygotes: JoinSet<()>,
    loading: Option<PendingZygote>,
    /// Stamp of the file when last checked; `None` while it is unreadable.
    seen: Option<Stamp>,
    /// Further files of the loaded code.
    beside: Vec<FileBeside>,
    /// Whether the load is one again because a file changed during the last: a file that is written by every load would
    /// otherwise be loaded for ever.
    is_again: bool,
    number: u64,
    /// Number of consecutive failures to load, or early ends of the zygote.
    failures: u32,
    /// Time of the next attempt.
    retry: Option<Instant>,
    /// Time of the last load.
    loaded: Instant,
    /// The failure that was logged last, with its causes; `None` after a success.
    told: Option<String>,
}

/// File that the loaded code was read from, besides its own.
struct FileBeside {
    path: PathBuf,
    /// Stamp of the file when last checked; `None` while it is unreadable.
    seen: Option<Stamp>,
    /// Whether it was checked since the load.
    is_seen: bool,
    /// Begin of the load that read it, where a change since then counts.
    loaded: Option<SystemTime>,
}

impl FileBeside {
    /// Returns whether it has changed since it was read, and keeps what it is now.
    fn changes(&mut self, now: Option<Stamp>) -> bool {
        let before = std::mem::replace(&mut self.seen, now);
        match std::mem::replace(&mut self.is_seen, true) {
            true => before != now,
            // One that is not there never was a file.
            false => now.zip(self.loaded).is_some_and(|(now, loaded)| now.is_since(loaded)),
        }
    }
}

/// Zygote that has not loaded the file yet.
struct PendingZygote {
    result: oneshot::Receiver<Result<Arc<Zygote>>>,
    task: AbortHandle,
    began: Instant,
    began_at: SystemTime,
}

/// Waits for the result of loading. Never ready while there is no load.
async fn result(loading: &mut Option<PendingZygote>) -> Result<Arc<Zygote>> {
    let Some(loading) = loading else { return std::future::pending().await };
    (&mut loading.result)
        .await
        .unwrap_or_else(|gone| Err(Error::internal("what loads the file broke down").with_source(gone)))
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.file.set_fault(Some(errors::ending(&self.file.spec)));
        self.file.pool.close();
    }
}

impl Keeper {
    /// Loads the file if it has changed.
    async fn look(&mut self) {
        self.file.pool.tend(IDLE);
        let path = &self.file.spec.file;
        let mut stamp = Stamp::of(path).await;
        if stamp.as_ref().ok() != self.seen.as_ref() && stamp.is_ok() {
            stamp = Stamp::settled(path).await;
        }
        match stamp {
            Ok(stamp) if self.seen == Some(stamp) => {
                if let Some((changed, was_seen)) = self.changed_beside().await {
                    self.is_again = !was_seen;
                    // A file that is gone is not waited for.
                    drop(Stamp::settled(&changed).await);
                    self.failures = 0;
                    self.load();
                }
            }
            Ok(stamp) => {
                self.seen = Some(stamp);
                self.failures = 0;
                self.load();
            }
            Err(error) => {
                self.seen = None;
                self.failed(errors::unreadable(&self.file.spec, error));
            }
        }
    }

    /// Returns one of the further files that has changed, and whether it was checked before.
    async fn changed_beside(&mut self) -> Option<(PathBuf, bool)> {
        if self.beside.is_empty() {
            return None;
        }
        let stamps = Stamp::of_all(self.beside.iter().map(|file| file.path.clone()).collect()).await;
        let mut changed = None;
        for (file, now) in self.beside.iter_mut().zip(stamps) {
            let was_seen = file.is_seen;
            if file.changes(now) {
                changed = Some((file.path.clone(), was_seen));
            }
        }
        changed
    }

    /// Starts loading the current file, and aborts a load in progress.
    fn load(&mut self) {
        self.retry = None;
        self.number += 1;
        let start = Start {
            number: self.number,
            spec: Arc::clone(&self.file.spec),
            program: self.file.program.clone(),
            directory: self.file.directory.path().to_owned(),
            sandbox: Arc::clone(&self.file.sandbox),
        };
        let (sender, result) = oneshot::channel();
        let task = self.zygotes.spawn(supervisor::run(start, Arc::clone(&self.file.pool), sender));
        if let Some(before) =
            self.loading.replace(PendingZygote { result, task, began: Instant::now(), began_at: SystemTime::now() })
        {
            before.task.abort();
        }
    }

    fn settle(&mut self, result: Result<Arc<Zygote>>) {
        let (began, began_at) = self.loading.take().map(|loading| (loading.began, loading.began_at)).unzip();
        match result {
            Ok(zygote) => {
                let ms = began.map_or(0, |began| began.elapsed().as_millis());
                let (entry, endpoints) = (&self.file.spec.name, zygote.interface.endpoints.len());
                tracing::info!(target: "function", %entry, endpoints, ms, "loaded");
                self.loaded = Instant::now();
                let interface = Arc::clone(&zygote.interface);
                let loaded = began_at.filter(|_| !std::mem::take(&mut self.is_again));
                let files = interface.files.iter().cloned();
                self.beside = files.map(|path| FileBeside { path, seen: None, is_seen: false, loaded }).collect();
                // In this order, so that a caller that knows the new interface never gets an older worker.
                self.file.pool.adopt(zygote);
                self.file.interface.store(Some(interface));
                self.file.set_fault(None);
                self.told = None;
            }
            Err(error) => {
                self.failed(error);
                self.failures += 1;
                self.retry = Some(Instant::now() + self.wait());
            }
        }
    }

    /// Handles a file that cannot be served.
    fn failed(&mut self, error: Error) {
        let chain = error.chain();
        // A repeated failure is not logged again.
        if self.told.as_ref() != Some(&chain) {
            let entry = &self.file.spec.name;
            tracing::warn!(target: "function", %entry, "{chain}");
            self.told = Some(chain);
        }
        self.file.set_fault(Some(error));
        self.file.pool.refuse();
    }

    /// Handles the end of a zygote.
    fn fell(&mut self) {
        let entry = &self.file.spec.name;
        tracing::warn!(target: "function", %entry, "the process that has loaded the file ended; it is started again");
        if self.loaded.elapsed() > STEADY {
            self.failures = 0;
        }
        if self.loading.is_none() {
            self.retry = Some(Instant::now() + self.wait());
        }
        self.failures += 1;
    }

    /// Returns the delay before the next attempt; zero the first time.
    fn wait(&self) -> Duration {
        match self.failures {
            0 => Duration::ZERO,
            failures => RETRY_BASE.saturating_mul(1 << failures.min(16)).min(LONGEST_RETRY),
        }
    }
}
