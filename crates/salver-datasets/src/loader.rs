//! Implements the port through which the catalog loads datasets.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use salver_model::ports::{Loader, Progress, Table, WaitsFor};
use salver_model::spec::{DatasetSpec, GoogleSheetSource};
use salver_model::{Name, Result, Version};

use crate::buckets::Buckets;
use crate::dataset::Dataset;
use crate::engine::Engine;
use crate::residency::{self, Content, LoadingPlaces};

/// Interval at which a dataset is checked for changes if its files are read in place and no refresh is configured:
/// their metadata must match their content.
const WATCH: Duration = Duration::from_secs(5);
/// The same for objects of which only parts are on disk: each check is a request for a listing, which costs money.
const OBJECT_WATCH: Duration = Duration::from_secs(60);

/// Loads one dataset from its sources.
#[derive(Debug)]
pub struct DatasetLoader {
    spec: DatasetSpec,
    engine: Arc<Engine>,
    scans_in_place: AtomicBool,
    progress: OnceLock<Arc<Progress>>,
}

impl DatasetLoader {
    /// Returns a loader for `spec`.
    #[must_use]
    pub fn new(spec: DatasetSpec, engine: Arc<Engine>) -> Self {
        Self { spec, engine, scans_in_place: AtomicBool::new(false), progress: OnceLock::new() }
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

    fn follow(&self, progress: &Arc<Progress>) {
        // Names are unique in the catalog, so this is set once.
        let _ = self.progress.set(Arc::clone(progress));
    }

    async fn probe(&self) -> Result<Version> {
        residency::probe_in(&self.spec, self.engine.buckets(), self.engine.data_dir()).await
    }

    async fn load(&self) -> Result<Arc<dyn Table>> {
        let progress = self.progress.get().cloned().unwrap_or_default();
        let engine = &self.engine;
        let places = LoadingPlaces { budget: engine.budget(), data_dir: engine.data_dir(), buckets: engine.buckets() };
        let loaded = residency::load_telling(&self.spec, &places, &progress).await?;
        let in_place = matches!(loaded.content, Content::Parquet { kept: None, .. });
        self.scans_in_place.store(in_place, Ordering::Relaxed);
        Ok(Arc::new(Dataset::new(&self.spec, loaded, &self.engine)?))
    }
}
