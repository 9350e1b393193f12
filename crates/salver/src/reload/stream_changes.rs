//! The streams that come and go. One that stays is open, and remains as it is.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::join_all;
use salver_datasets::Engine;
use salver_model::Name;
use salver_model::observation::Observer;
use salver_model::ports::EventStream;
use salver_model::spec::StreamSpec;
use salver_service::{Catalog, Service, Store};
use tokio::time::{Instant, sleep};

use super::{CurrentService, count};
use crate::streams::{self, OpenStreams};
use crate::wiring::{self, Wired};

/// Interval at which it is looked whether a stream is still in use.
const LOOK: Duration = Duration::from_millis(20);
/// Longest time that a stream stays open for requests of before while another waits for its directory.
const HANDING_OVER: Duration = Duration::from_millis(200);

type Streams = Vec<Arc<dyn EventStream>>;

/// The streams that differ.
pub(super) struct StreamChanges<'s> {
    new: Vec<&'s StreamSpec>,
    gone: Vec<Name>,
}

impl<'s> StreamChanges<'s> {
    pub(super) fn between(before: &[Arc<dyn EventStream>], after: &'s [StreamSpec]) -> Self {
        let is_open = |name: &Name| before.iter().any(|own| own.spec().name == *name);
        let names = before.iter().map(|own| own.spec().name.clone());
        Self {
            new: after.iter().filter(|spec| !is_open(&spec.name)).collect(),
            gone: names.filter(|name| after.iter().all(|spec| spec.name != *name)).collect(),
        }
    }

    /// Describes them.
    pub(super) fn told(&self) -> Vec<String> {
        let parts = [(self.new.len(), "new"), (self.gone.len(), "gone")];
        parts.into_iter().filter_map(|(number, how)| count(number, "stream", how)).collect()
    }

    /// Takes those that go out of the catalog, and returns them.
    pub(super) fn take_out(&self, wired: &mut Wired, catalog: &Catalog, stores: Vec<Store>) -> Streams {
        if self.gone.is_empty() {
            return Vec::new();
        }
        let is_gone = |stream: &Arc<dyn EventStream>| self.gone.contains(&stream.spec().name);
        let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut wired.streams).into_iter().partition(is_gone);
        wired.streams = kept;
        for stream in &gone {
            wired.columns.remove(&stream.spec().name);
        }
        let scans = gone.iter().flat_map(|stream| stream.scans()).map(|(name, _)| name);
        let entries: Vec<Name> = scans.chain(self.gone.iter().cloned()).collect();
        catalog.declare([], &entries, stores);
        gone
    }

    /// Splits the streams that are gone into those whose directory a new one has, as after a change of its name, and
    /// the others.
    pub(super) fn handed_over(&self, gone: Streams) -> (Streams, Streams) {
        let real = |spec: &StreamSpec| std::fs::canonicalize(&spec.dir).unwrap_or_else(|_| spec.dir.clone());
        let taken: Vec<PathBuf> = self.new.iter().map(|spec| real(spec)).collect();
        gone.into_iter().partition(|stream| taken.contains(&real(stream.spec())))
    }

    /// Adds those that come, and returns what opens them and puts them into the catalog when it is polled.
    pub(super) fn add(
        &self,
        wired: &mut Wired,
        engine: &Arc<Engine>,
        observer: &Arc<dyn Observer>,
        open: &OpenStreams,
    ) -> impl Future<Output = ()> + Send + use<> {
        let catalog = Arc::clone(wired.service.catalog());
        let mut opening = Vec::new();
        for spec in &self.new {
            let (stream, begun) = streams::later(spec, engine, &catalog, observer);
            wired.columns.insert(spec.name.clone(), wiring::columns_of(&stream, &catalog));
            open.add(&stream);
            wired.streams.push(stream);
            opening.push(begun);
        }
        async move {
            join_all(opening).await;
        }
    }
}

/// Closes `gone` streams, which are served no more: as soon as nobody has them from before, after a while in any case.
pub(super) fn close(gone: Streams, current: &CurrentService, ms_max: u64, open: &OpenStreams) {
    if gone.is_empty() {
        return;
    }
    let closing = close_unused(gone, users_of_before(current), Duration::from_millis(ms_max), open.clone());
    tokio::spawn(closing);
}

/// Closes `gone` streams, which are served no more, before others open their directories.
pub(super) async fn hand_over(gone: Streams, current: &CurrentService, open: &OpenStreams) {
    if !gone.is_empty() {
        close_unused(gone, users_of_before(current), HANDING_OVER, open.clone()).await;
    }
}

/// Returns those that may still use streams of before. The last one is in force, and has them no more.
fn users_of_before(current: &CurrentService) -> Vec<Weak<Service>> {
    let mut users = current.users();
    users.pop();
    users
}

async fn close_unused(gone: Vec<Arc<dyn EventStream>>, users: Vec<Weak<Service>>, most: Duration, open: OpenStreams) {
    let end = Instant::now() + most;
    while Instant::now() < end && users.iter().any(|user| user.strong_count() > 0) {
        sleep(LOOK).await;
    }
    for stream in gone {
        if let Err(error) = open.close_one(&stream).await {
            tracing::warn!("the stream `{}` could not be closed: {}", stream.spec().name, error.chain());
        }
    }
}
