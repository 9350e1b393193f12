//! Keeps entries in step with their sources: loads each once, then probes it at an interval and reloads it when its
//! version changed. A failing entry is reported and retried; it never delays another.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::limits::{DOWNLOADS_MAX, LOADS_MAX};
use salver_model::observation::{Observation, Observer};
use salver_model::ports::{Loader, Table, WaitsFor};
use salver_model::{Code, Error, Name, Result, Version};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinHandle;

use crate::catalog::Catalog;

/// Delay before a failed first load is retried when the entry has no interval of its own.
const RETRY: Duration = Duration::from_secs(30);
/// Shortest time, and fewest looks in a row, for which a source that is found being written is left alone. Then it is
/// loaded all the same: something may append to it without pause.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOKS: u32 = 3;
/// Interval of progress reports of a load.
const TELLING: Duration = Duration::from_secs(5);

/// The tasks that keep entries fresh, one each. Dropping it stops them.
#[derive(Debug)]
pub struct Keepers {
    catalog: Arc<Catalog>,
    observer: Arc<dyn Observer>,
    turns: Arc<Turns>,
    tasks: BTreeMap<Name, JoinHandle<()>>,
}

impl Keepers {
    /// Starts to keep `loaders` fresh. Call it inside the runtime.
    #[must_use]
    pub fn start(catalog: &Arc<Catalog>, loaders: Vec<Arc<dyn Loader>>, observer: &Arc<dyn Observer>) -> Self {
        let turns = Arc::new(Turns { disk: Semaphore::new(LOADS_MAX), network: Semaphore::new(DOWNLOADS_MAX) });
        let (catalog, observer) = (Arc::clone(catalog), Arc::clone(observer));
        let mut keepers = Self { catalog, observer, turns, tasks: BTreeMap::new() };
        loaders.into_iter().for_each(|loader| keepers.begin(loader));
        keepers
    }

    /// Keeps an entry fresh, in place of what kept the one of its name so far.
    pub async fn keep(&mut self, loader: Arc<dyn Loader>) {
        self.stop(loader.name()).await;
        self.begin(loader);
    }

    fn begin(&mut self, loader: Arc<dyn Loader>) {
        let name = loader.name().clone();
        let keeper = Keeper {
            catalog: Arc::clone(&self.catalog),
            observer: Arc::clone(&self.observer),
            turns: Arc::clone(&self.turns),
            loader,
            served: None,
            unsettled: 0,
        };
        self.tasks.insert(name, tokio::spawn(keeper.keep()));
    }

    /// Keeps the entry called `name` fresh no more. When this returns, nothing publishes it any more.
    pub async fn stop(&mut self, name: &Name) {
        if let Some(task) = self.tasks.remove(name) {
            task.abort();
            let _ = task.await;
        }
    }
}

impl Drop for Keepers {
    fn drop(&mut self) {
        self.tasks.values().for_each(JoinHandle::abort);
    }
}

/// Semaphores for loads, by the resource a load waits for.
#[derive(Debug)]
struct Turns {
    disk: Semaphore,
    network: Semaphore,
}

impl Turns {
    /// Waits for a permit. A pipe takes none: its end may never come, and there is only one.
    async fn take(&self, waits_for: WaitsFor) -> Option<SemaphorePermit<'_>> {
        match waits_for {
            WaitsFor::Disk => self.disk.acquire().await.ok(),
            WaitsFor::Network => self.network.acquire().await.ok(),
            WaitsFor::Pipe => None,
        }
    }
}

/// Returns how many looks, each of which takes `time` with the pause before it, a source may be found being written.
fn looks(time: Duration) -> u32 {
    let looks = PATIENCE.as_millis().div_ceil(time.as_millis().max(1));
    u32::try_from(looks).unwrap_or(u32::MAX).max(LOOKS)
}

struct Keeper {
    catalog: Arc<Catalog>,
    observer: Arc<dyn Observer>,
    turns: Arc<Turns>,
    loader: Arc<dyn Loader>,
    served: Option<Version>,
    /// Looks in a row at which the source was being written.
    unsettled: u32,
}

impl Keeper {
    async fn keep(mut self) {
        if let Some(entry) = self.catalog.snapshot().entry(self.loader.name().as_str()) {
            self.loader.follow(&entry.progress);
        }
        loop {
            self.refresh().await;
            match (self.loader.interval(), self.served) {
                (Some(interval), _) => tokio::time::sleep(interval).await,
                (None, None) => tokio::time::sleep(RETRY).await,
                (None, Some(_)) => return,
            }
        }
    }

    async fn refresh(&mut self) {
        let started = Instant::now();
        match self.load_if_changed().await {
            Ok(None) => self.catalog.clear(self.loader.name()),
            Ok(Some(table)) => {
                let description = table.describe();
                self.served = Some(description.version);
                let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                let (name, version) = (description.name.clone(), description.version);
                let source = description.source.clone();
                self.catalog.publish(table);
                self.observer.observe(&Observation::Loaded { name: &name, version, ms, source: &source });
            }
            Err(error) => {
                if error.code == Code::Forbidden {
                    // A source that is no longer served is reloaded should it be allowed again.
                    self.served = None;
                }
                self.catalog.report(self.loader.name(), &error);
                self.observer.observe(&Observation::LoadFailed { name: self.loader.name(), error: &error });
            }
        }
    }

    /// Reports the progress of a slow load.
    fn tell(&self) {
        let name = self.loader.name();
        let told = self.catalog.snapshot().entry(name.as_str()).and_then(|entry| entry.progress.told());
        if let Some((files, percent)) = told {
            self.observer.observe(&Observation::Loading { name, files, percent });
        }
    }

    /// Returns whether the source is another than `served`, and is not being written: half of a file may well be a
    /// valid file. One that is written goes on being served as it was.
    async fn has_changed(&mut self, served: Version) -> Result<bool> {
        let found = self.loader.probe().await?;
        if found == served {
            return Ok(false);
        }
        let Some(settles) = self.loader.settles() else { return Ok(true) };
        tokio::time::sleep(settles).await;
        let is_settled = self.loader.probe().await? == found;
        self.unsettled = if is_settled { 0 } else { self.unsettled + 1 };
        let looks = looks(self.loader.interval().unwrap_or_default() + settles);
        Ok(is_settled || self.unsettled.is_multiple_of(looks))
    }

    async fn load_if_changed(&mut self) -> Result<Option<Arc<dyn Table>>> {
        if let Some(served) = self.served
            && !self.has_changed(served).await?
        {
            return Ok(None);
        }
        let _turn = self.turns.take(self.loader.waits_for()).await;
        let loader = Arc::clone(&self.loader);
        // A separate task, so that a panic in a reader is this entry's failure and does not stop its refresh.
        let mut load = tokio::spawn(async move { loader.load().await });
        let loaded = loop {
            tokio::select! {
                loaded = &mut load => break loaded,
                () = tokio::time::sleep(TELLING) => self.tell(),
            }
        };
        match loaded {
            Ok(loaded) => loaded.map(Some),
            Err(broken) => {
                Err(Error::internal(format!("the reader of `{}` broke down", self.loader.name())).with_source(broken))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use async_trait::async_trait;
    use salver_model::observation::Silent;

    use super::*;

    /// A source that is written between looks for as long as `writes` says.
    #[derive(Debug)]
    struct Written {
        name: Name,
        looks: AtomicU64,
        writes: u64,
    }

    #[async_trait]
    impl Loader for Written {
        fn name(&self) -> &Name {
            &self.name
        }

        fn interval(&self) -> Option<Duration> {
            Some(Duration::from_secs(10))
        }

        fn settles(&self) -> Option<Duration> {
            Some(Duration::from_millis(1))
        }

        async fn probe(&self) -> Result<Version> {
            Ok(Version::of(&self.looks.fetch_add(1, Ordering::Relaxed).min(self.writes)))
        }

        async fn load(&self) -> Result<Arc<dyn Table>> {
            Err(Error::internal("only looked at"))
        }
    }

    /// Returns the looks at which a source that is written for `writes` looks would be loaded.
    async fn loaded(writes: u64) -> Vec<usize> {
        let loader = Written { name: Name::new("t").expect("a name"), looks: AtomicU64::new(1), writes };
        let mut keeper = Keeper {
            catalog: Arc::new(Catalog::new([], [], Vec::new())),
            observer: Arc::new(Silent),
            turns: Arc::new(Turns { disk: Semaphore::new(1), network: Semaphore::new(1) }),
            loader: Arc::new(loader),
            served: None,
            unsettled: 0,
        };
        let served = Version::of(&0_u64);
        let mut found = Vec::new();
        for look in 1..=25 {
            if keeper.has_changed(served).await.expect("a look") {
                found.push(look);
            }
        }
        found
    }

    #[tokio::test]
    async fn half_of_a_file_is_not_loaded() {
        assert_eq!(loaded(2).await.first(), Some(&2));
        assert_eq!(loaded(1).await.first(), Some(&1));
    }

    #[tokio::test]
    async fn a_file_that_is_always_written_is_loaded_now_and_then() {
        assert_eq!(loaded(u64::MAX).await, [3, 6, 9, 12, 15, 18, 21, 24]);
        let looks = [200, 1_500, 300_000].map(|ms| looks(Duration::from_millis(ms)));
        assert_eq!(looks, [50, 7, 3]);
    }
}
