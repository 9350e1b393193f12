//! Implements the port through which the catalog loads datasets.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use salver_model::ports::{Loader, Progress, Table, WaitsFor};
use salver_model::spec::{DatasetSpec, GoogleSheetSource};
use salver_model::{Name, Result, Version};

use crate::buckets::Buckets;
use crate::dataset::Dataset;
use crate::delta_source::DeltaSource;
use crate::engine::Engine;
use crate::residency::{self, Content, LoadingPlaces};

/// Interval at which a dataset is checked for changes if its files are read in place and no refresh is configured:
/// their metadata must match their content.
const WATCH: Duration = Duration::from_secs(5);
/// The same for objects of which only parts are on disk: each check is a request for a listing, which costs money.
const OBJECT_WATCH: Duration = Duration::from_secs(60);

/// Longest time for which files that have changed must stay as they are before they are read again.
const SETTLED: Duration = Duration::from_secs(1);

/// Loads one dataset from its sources.
#[derive(Debug)]
pub struct DatasetLoader {
    spec: DatasetSpec,
    engine: Arc<Engine>,
    scans_in_place: AtomicBool,
    /// Files of a table of Delta Lake that are scanned in place: its log does not tell when one of them is removed.
    scanned: Mutex<Arc<[PathBuf]>>,
    progress: OnceLock<Arc<Progress>>,
}

impl DatasetLoader {
    /// Returns a loader for `spec`.
    #[must_use]
    pub fn new(spec: DatasetSpec, engine: Arc<Engine>) -> Self {
        Self {
            spec,
            engine,
            scans_in_place: AtomicBool::new(false),
            scanned: Mutex::default(),
            progress: OnceLock::new(),
        }
    }

    fn scanned_of_table(&self, content: &Content) -> Arc<[PathBuf]> {
        let is_table = |source: &String| matches!(DeltaSource::of_source(&self.spec, source), Ok(Some(_)));
        match content {
            Content::Parquet { files, kept: None, .. } if self.spec.sources.iter().any(is_table) => {
                let on_disk = files.iter().filter(|file| file.remote.0.is_none());
                on_disk.map(|file| file.path.clone()).collect()
            }
            _ => Arc::default(),
        }
    }
}

#[async_trait]
impl Loader for DatasetLoader {
    fn name(&self) -> &Name {
        &self.spec.name
    }

    fn interval(&self) -> Option<Duration> {
        let watch = if self.spec.sources.iter().any(|source| Buckets::has(source)) { OBJECT_WATCH } else { WATCH };
        self.spec.refresh.or_else(|| self.scans_in_place.load(Ordering::Relaxed).then_some(watch))
    }

    fn waits_for(&self) -> WaitsFor {
        let sources = &self.spec.sources;
        if sources.iter().any(|source| source == "-") {
            return WaitsFor::Pipe;
        }
        let is_url = |source: &String| source.starts_with("http://") || source.starts_with("https://");
        let is_remote = |source: &String| is_url(source) || Buckets::has(source) || GoogleSheetSource::is_meant(source);
        match sources.iter().any(is_remote) {
            true => WaitsFor::Network,
            false => WaitsFor::Disk,
        }
    }

    fn settles(&self) -> Option<Duration> {
        // Of what is scanned in place only footers are read, which come last; and its rows are not to be had meanwhile.
        let is_read = self.waits_for() == WaitsFor::Disk && !self.scans_in_place.load(Ordering::Relaxed);
        is_read.then(|| self.interval().map_or(SETTLED, |interval| interval.min(SETTLED)))
    }

    fn follow(&self, progress: &Arc<Progress>) {
        // Names are unique in the catalog, so this is set once.
        let _ = self.progress.set(Arc::clone(progress));
    }

    async fn probe(&self) -> Result<Version> {
        let found = residency::probe_in(&self.spec, self.engine.buckets(), self.engine.data_dir()).await?;
        let scanned = Arc::clone(&self.scanned.lock().unwrap_or_else(PoisonError::into_inner));
        let looking = move || scanned.iter().any(|path| !path.exists());
        let is_gone = tokio::task::spawn_blocking(looking).await.unwrap_or(false);
        // The next load tells which file it is.
        Ok(if is_gone { Version::of(&("gone", found)) } else { found })
    }

    async fn load(&self) -> Result<Arc<dyn Table>> {
        let progress = self.progress.get().cloned().unwrap_or_default();
        let engine = &self.engine;
        let places = LoadingPlaces { budget: engine.budget(), data_dir: engine.data_dir(), buckets: engine.buckets() };
        let loaded = residency::load_telling(&self.spec, &places, &progress).await?;
        let in_place = matches!(loaded.content, Content::Parquet { kept: None, .. });
        self.scans_in_place.store(in_place, Ordering::Relaxed);
        *self.scanned.lock().unwrap_or_else(PoisonError::into_inner) = self.scanned_of_table(&loaded.content);
        Ok(Arc::new(Dataset::new(&self.spec, loaded, &self.engine)?))
    }
}
