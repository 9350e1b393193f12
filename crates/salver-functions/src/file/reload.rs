//! Keeps a file loaded: initially, after changes, and after the end of its processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use salver_model::limits::{FUNCTION_IDLE_MS_MAX, FUNCTION_RETRY_MS_MAX};
use salver_model::{Error, Result};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};

use super::file_stamp::Stamp;
use super::guards::Guards;
use super::{FunctionFile, errors};
use crate::process::Zygote;
use crate::supervisor::{self, LoadFailure, Start};

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
            guards: Guards::default(),
            told: None,
        };
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let retry = keeper.retry;
            tokio::select! {
                _ = looks.tick() => keeper.look().await,
                result = result(&mut keeper.loading) => keeper.settle(result).await,
                () = self.pool.fallen() => keeper.fell(),
                () = tokio::time::sleep_until(retry.unwrap_or_else(Instant::now)), if retry.is_some() => {
                    keeper.load().await;
                }
                Some(_) = keeper.zygotes.join_next() => {}
            }
        }
    }
}

/// What is told where the version in use has ended with the load of a newer one.
const WITHDRAWN: &str = "the server's log has the error; the version before is not served, since it may let in more";

struct Keeper {
    file: Arc<FunctionFile>,
    zygotes: JoinSet<()>,
    loading: Option<PendingZygote>,
    /// Stamp of the file when last checked; `None` while it is unreadable.
    seen: Option<Stamp>,
    /// Further files of the loaded code, with their stamps; `None` for those that can't be read.
    beside: Vec<(PathBuf, Option<Stamp>)>,
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
    /// What the version in use says of who may call it.
    guards: Guards,
    /// The failure that was logged last, with its causes; `None` after a success.
    told: Option<String>,
}

/// Zygote that has not loaded the file yet.
struct PendingZygote {
    result: oneshot::Receiver<Result<Arc<Zygote>, LoadFailure>>,
    guards: Guards,
    task: AbortHandle,
    began: Instant,
    began_at: SystemTime,
}

/// Waits for the result of loading. Never ready while there is no load.
async fn result(loading: &mut Option<PendingZygote>) -> Result<Arc<Zygote>, LoadFailure> {
    let Some(loading) = loading else { return std::future::pending().await };
    (&mut loading.result)
        .await
        .unwrap_or_else(|gone| Err(Error::internal("what loads the file broke down").with_source(gone).into()))
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
                if let Some(changed) = self.changed_beside().await {
                    // A file that is gone is not waited for.
                    drop(Stamp::settled(&changed).await);
                    self.failures = 0;
                    self.load().await;
                }
            }
            Ok(stamp) => {
                self.seen = Some(stamp);
                self.failures = 0;
                self.load().await;
            }
            Err(error) => {
                self.seen = None;
                // Another attempt would fail for the same reason, in other words, which would be told again.
                self.retry = None;
                self.failed(errors::unreadable(&self.file.spec, error));
            }
        }
    }

    /// Returns one of the further files that has changed.
    async fn changed_beside(&mut self) -> Option<PathBuf> {
        if self.beside.is_empty() {
            return None;
        }
        let stamps = Stamp::of_all(self.beside.iter().map(|(path, _)| path.clone()).collect()).await;
        let mut changed = None;
        for ((path, seen), now) in self.beside.iter_mut().zip(stamps) {
            if *seen != now {
                *seen = now;
                changed = Some(path.clone());
            }
        }
        changed
    }

    /// Keeps what the further files of loaded code are. Those that were written during the load, which `began` then,
    /// may have been read before: all is loaded again, once.
    async fn keep_beside(&mut self, files: &[PathBuf], began: SystemTime) {
        let stamps = if files.is_empty() { Vec::new() } else { Stamp::of_all(files.to_vec()).await };
        let is_since = |stamp: &Stamp| stamp.is_since(began);
        let is_again = stamps.iter().flatten().any(is_since) && !self.is_again;
        self.is_again = is_again;
        self.beside = files.iter().cloned().zip(stamps).collect();
        if is_again {
            self.load().await;
        }
    }

    /// Counts the words of modules, too, that were not known to be parts of the file when its words were counted.
    async fn with_new_modules(&self, guards: Guards, files: &[PathBuf]) -> Guards {
        let is_known = |file: &PathBuf| self.beside.iter().any(|(known, _)| known == file);
        if files.iter().all(is_known) {
            return guards;
        }
        Guards::of(&self.file.spec.file, files.iter().cloned()).await
    }

    /// Starts loading the current file, and aborts a load in progress.
    async fn load(&mut self) {
        self.retry = None;
        // A version that is written before the process reads it is loaded again, and its words are counted then.
        let beside = self.beside.iter().map(|(path, _)| path.clone());
        let guards = Guards::of(&self.file.spec.file, beside).await;
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
        let (began, began_at) = (Instant::now(), SystemTime::now());
        if let Some(before) = self.loading.replace(PendingZygote { result, guards, task, began, began_at }) {
            before.task.abort();
        }
    }

    async fn settle(&mut self, result: Result<Arc<Zygote>, LoadFailure>) {
        let Some(PendingZygote { guards, began, began_at, .. }) = self.loading.take() else { return };
        match result {
            Ok(zygote) => {
                let ms = began.elapsed().as_millis();
                let (entry, endpoints) = (&self.file.spec.name, zygote.interface.endpoints.len());
                tracing::info!(target: "function", %entry, endpoints, ms, "loaded");
                self.loaded = Instant::now();
                let interface = Arc::clone(&zygote.interface);
                self.guards = self.with_new_modules(guards, &interface.files).await;
                // Before a caller sees the new interface, so that what changes later is noticed.
                self.keep_beside(&interface.files, began_at).await;
                // In this order, so that a caller that knows the new interface never gets an older worker.
                self.file.pool.adopt(zygote);
                self.file.interface.store(Some(interface));
                self.file.set_fault(None);
                self.told = None;
            }
            Err(LoadFailure { mut error, withdraws }) => {
                let word = guards.beyond(&self.guards).or(withdraws.then_some("a part that is not honoured"));
                if let (Some(word), Some(_)) = (word, self.file.interface.load_full()) {
                    self.withdraw(word);
                    error = error.with_hint(WITHDRAWN);
                }
                self.failed(error);
                self.failures += 1;
                self.retry = Some(Instant::now() + self.wait());
            }
        }
    }

    /// Ends the version in use: the newer one, which can't be loaded, may let fewer callers in.
    fn withdraw(&self, word: &str) {
        let entry = &self.file.spec.name;
        tracing::warn!(
            target: "function", %entry, word,
            "the version in use is not served any more: the newer one says more of who may call it, and can't be loaded"
        );
        self.file.interface.store(None);
        self.file.pool.withdraw();
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
