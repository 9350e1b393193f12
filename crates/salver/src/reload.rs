//! Reload of the settings at a hang-up (SIGHUP), without a dropped request. What can't change while the server runs
//! takes effect at the next start, and the log says so.
//!
//! Mistakes change nothing: the settings of before stay as a whole. What is no longer served goes first, then
//! everything that decides about requests is replaced at once, then what is new comes, so that nothing is open in
//! between that both settings keep shut. A request that has begun ends with what it began with.

mod applied;
mod current_service;
mod dataset_changes;
mod kept_fresh;
mod query_changes;
mod refusals;
mod replacing;
mod stream_changes;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_config::keys::Setting;
use salver_config::{Checked, Sources};
use salver_datasets::Engine;
use salver_http::{CurrentAuth, Doors};
use salver_model::limits::ANNOUNCED_S_MAX;
use salver_model::observation::Observer;
use salver_model::spec::{DatasetSpec, ViewSpec};
use salver_model::{Code, Error};
use tokio::sync::mpsc;

use self::applied::Applied;
pub(crate) use self::current_service::CurrentService;
use self::dataset_changes::DatasetChanges;
pub(crate) use self::kept_fresh::KeptFresh;
use self::stream_changes::StreamChanges;
use crate::cli::ServeArguments;
use crate::exposure::Exposure;
use crate::failure::CommandFailure;
use crate::query_edits::QueryEdit;
use crate::service_manager::ServiceManager;
use crate::sessions::LateSessions;
use crate::settings::Loaded;
use crate::signals::HangUps;
use crate::streams::OpenStreams;
use crate::watch::{self, Watch};
use crate::wiring::Wired;
use crate::{access, descriptors, logging, output, secrets, settings, wiring};

/// Longest wait for what is new before rules about nothing are reported.
const SETTLING: Duration = Duration::from_secs(ANNOUNCED_S_MAX);

/// What a reload changes, and what it starts from.
pub(crate) struct Reload {
    pub(crate) arguments: Arc<ServeArguments>,
    /// The settings in force.
    pub(crate) checked: Checked,
    /// What they were made of.
    pub(crate) sources: Sources,
    /// The served directories, if they are looked at.
    pub(crate) watch: Option<Watch>,
    /// Where the server listens.
    pub(crate) exposure: Exposure,
    /// Who is told of it.
    pub(crate) manager: ServiceManager,
    pub(crate) engine: Arc<Engine>,
    pub(crate) observer: Arc<dyn Observer>,
    /// The service in force, for those who outlive it.
    pub(crate) current: CurrentService,
    pub(crate) auth: CurrentAuth,
    /// Keeps them fresh.
    pub(crate) fetching: KeptFresh,
    pub(crate) doors: Doors,
    pub(crate) sessions: LateSessions,
    /// Changes of named queries that clients ask for; `None` if none may.
    pub(crate) edits: Option<mpsc::Receiver<QueryEdit>>,
    /// The streams to be closed in the end.
    pub(crate) streams: OpenStreams,
    /// The service in force, and what it was made of.
    pub(crate) wired: Wired,
}

impl Reload {
    /// Reads the settings again at each of `hang_ups`, and looks at the served directories in between, for ever.
    pub(crate) async fn at_each(mut self, mut hang_ups: impl HangUps) {
        let mut pause = watch::PAUSE;
        loop {
            tokio::select! {
                asked = hang_ups.next() => {
                    if asked.is_none() {
                        return;
                    }
                    self.manager.reloading();
                    if let Err(failure) = self.read_again().await {
                        report(&failure);
                        tracing::warn!("SIGHUP: the settings stay as they were");
                    }
                    self.manager.ready();
                }
                edit = query_changes::next(&mut self.edits) => self.edit(edit).await,
                () = tokio::time::sleep(pause), if self.watch.is_some() => pause = self.look().await,
            }
        }
    }

    /// Looks at the served directories, and serves what came into them. Returns the pause until the next look.
    async fn look(&mut self) -> Duration {
        let Some(mut watch) = self.watch.take() else { return watch::PAUSE };
        let started = Instant::now();
        let looking = tokio::task::spawn_blocking(move || {
            let found = watch.look();
            (watch, found)
        });
        let Ok((watch, found)) = looking.await else {
            tracing::error!("new files in the served directories are not noticed any more");
            return watch::PAUSE;
        };
        self.watch = Some(watch);
        let pause = watch::PAUSE.max(started.elapsed() * watch::PAUSE_FACTOR);
        if let Some(found) = found
            && let Err(failure) = self.serve_found(found).await
        {
            report(&failure);
            tracing::warn!("the served directories changed, and what is served stays as it was until a SIGHUP");
        }
        pause
    }

    /// Serves the datasets `found` in the served directories in place of those found before. Nothing else changes: the
    /// configuration file counts as it was read last.
    async fn serve_found(&mut self, found: Vec<DatasetSpec>) -> Result<(), CommandFailure> {
        let sources = Sources { discovered: found.clone(), ..self.sources.clone() };
        let loading = tokio::task::spawn_blocking(move || salver_config::load(&sources));
        let loaded = loading.await.map_err(|error| Error::internal("a look broke off").with_source(error))?;
        let (loaded, _) = loaded.map_err(CommandFailure::Mistakes)?;
        let mut next = Checked { datasets: loaded.datasets, ..self.checked.clone() };
        self.leave_out_taken(&mut next, &found);
        let changes = DatasetChanges::between(&self.checked.datasets, &next.datasets);
        salver_http::keep_private(&secrets::of(&next));
        self.take_out(&changes).await;
        self.put_in(&changes, &next).await;
        tracing::info!("the served directories changed: {}", told(&changes.told()));
        self.checked = next;
        Ok(())
    }

    async fn read_again(&mut self) -> Result<(), CommandFailure> {
        let Loaded { checked, sources, directories } = self.load().await?;
        let Applied { checked: mut next, pending } = Applied::of(&self.checked, checked);
        descriptors::keep(&mut next);
        self.leave_out_taken(&mut next, &sources.discovered);
        self.check(&next)?;
        let auth = self.other_auth(&next)?;
        let mut databases = self.wired.databases.next(&next)?;
        // Nothing is refused from here on.
        salver_http::keep_private(&secrets::of(&next));
        salver_http::keep_secret(secrets::from_outside(&next));
        logging::mask(secrets::secrets(&next));
        let (files, changed_files) = self.other_files(&next).await;
        databases.reach().await;
        let catalog = Arc::clone(self.wired.service.catalog());
        let datasets = DatasetChanges::between(&self.checked.datasets, &next.datasets);
        let streams = StreamChanges::between(&self.wired.streams, &next.streams);
        let mut changes = datasets.told();
        changes.extend(self.told_of_rest(&next, auth.is_some(), changed_files));
        changes.extend(count(databases.new.len(), "database", "new or changed"));
        changes.extend(count(databases.gone.len(), "database", "gone"));
        changes.extend(streams.told());
        if next.views != self.checked.views {
            // No view of before may be read by the rules to come, and none to come by those of before.
            let has = |views: &[ViewSpec], own: &ViewSpec| views.iter().any(|view| view.name == own.name);
            let own = self.checked.views.iter().filter(|view| has(&next.views, view)).cloned();
            let (same, others): (Vec<_>, Vec<_>) = own.partition(|view| next.views.contains(view));
            let awaited = others.into_iter().map(|view| view.name).collect();
            catalog.declare_views(same, awaited, Arc::<Engine>::clone(&self.engine), Arc::clone(&self.observer));
        }
        self.take_out(&datasets).await;
        self.wired.databases.take_out(&databases, &catalog).await;
        let gone = streams.take_out(&mut self.wired, &catalog, wiring::stores(&self.checked));
        let opening = streams.add(&mut self.wired, &self.engine, &self.observer, &self.streams);
        let is_same = !databases.differs() && next.access == self.checked.access;
        let has_other_rules = next.access != self.checked.access || databases.ends_others();
        // What waits for events has passed the firewall of before.
        let has_other_rules = has_other_rules || next.server.firewall != self.checked.server.firewall;
        let old_auth =
            self.replace(&next, (auth, files), (&databases.all(), is_same), (has_other_rules, !gone.is_empty())).await;
        if let Some(old) = old_auth {
            self.auth.begin(&old);
        }
        self.wired.service.announce_rights();
        logging::set_level(&next.server);
        wiring::declare_views(&next, &self.engine, &catalog, &self.observer);
        self.put_in(&datasets, &next).await;
        self.wired.databases.put_in(databases, &catalog, &self.observer);
        let (handed_over, gone) = streams.handed_over(gone);
        stream_changes::close(gone, &self.current, next.limits.drain_ms_max, &self.streams);
        stream_changes::hand_over(handed_over, &self.current, &self.streams).await;
        opening.await;
        tracing::info!("SIGHUP: the settings were read again: {}", told(&changes));
        if !pending.is_empty() {
            tracing::warn!("these changed too, and need a restart: {}", pending.join(", "));
        }
        self.watch_again(&next, directories, &sources);
        (self.checked, self.sources) = (next, sources);
        let service = Arc::clone(&self.wired.service);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(SETTLING, service.catalog().settled()).await;
            access::idle_rules::warn(&service);
        });
        Ok(())
    }

    /// Reads the settings.
    async fn load(&self) -> Result<Loaded, CommandFailure> {
        let arguments = Arc::clone(&self.arguments);
        let file = self.sources.file.clone();
        let loading = tokio::task::spawn_blocking(move || {
            if let Some(file) = file.filter(|file| std::fs::metadata(file).is_ok_and(|metadata| !metadata.is_file())) {
                // Reading a pipe might never end.
                let error = Error::new(Code::Config, format!("`{}` is not a file", file.display()));
                return Err(CommandFailure::Error(error.with_hint("a reload reads settings from a regular file")));
            }
            settings::of_server(&arguments)
        });
        let loaded =
            loading.await.map_err(|error| Error::internal("reading the settings broke off").with_source(error));
        loaded?
    }

    /// Watches the served directories as the settings say.
    fn watch_again(&mut self, next: &Checked, directories: Vec<PathBuf>, sources: &Sources) {
        if !next.server.watch || directories.is_empty() {
            self.watch = None;
        } else if let Some(watch) = &mut self.watch {
            watch.know(&sources.discovered);
        } else {
            self.watch = Some(Watch::new(directories, &sources.discovered));
        }
    }

    /// Returns what changed beside datasets, databases and streams.
    fn told_of_rest(&self, next: &Checked, proves: bool, files: usize) -> Vec<String> {
        let parts = [
            count(files, "file", "of functions new, changed or gone"),
            (next.access != self.checked.access).then(|| "other access rules".to_owned()),
            (next.caller_limits != self.checked.caller_limits).then(|| "other limits of callers".to_owned()),
            (next.views != self.checked.views).then(|| "other views".to_owned()),
            (next.queries != self.checked.queries).then(|| "other named queries".to_owned()),
            proves.then(|| "other [auth]".to_owned()),
        ];
        let settings = salver_config::differing(&self.checked, next).into_iter().map(Setting::path);
        parts.into_iter().flatten().chain(settings).collect()
    }

    /// Takes out of the next settings the datasets that were only discovered, and whose names tables of databases or
    /// streams have.
    fn leave_out_taken(&self, next: &mut Checked, discovered: &[DatasetSpec]) {
        let snapshot = self.wired.service.catalog().snapshot();
        let is_own = |spec: &DatasetSpec| self.checked.datasets.iter().any(|own| own.name == spec.name);
        let is_found = |spec: &DatasetSpec| {
            discovered.iter().any(|found| found.name == spec.name && found.sources == spec.sources)
        };
        next.datasets.retain(|spec| {
            let is_taken = is_found(spec) && !is_own(spec) && snapshot.entry(spec.name.as_str()).is_some();
            if is_taken {
                let files = spec.sources.join(", ");
                tracing::warn!("`{files}` is left out: `{}` is a table of a database or a stream", spec.name);
            }
            !is_taken
        });
    }

    async fn take_out(&mut self, changes: &DatasetChanges<'_>) {
        for name in &changes.gone {
            self.wired.keepers.stop(name).await;
        }
        self.wired.service.catalog().declare([], &changes.gone, wiring::stores(&self.checked));
    }

    async fn put_in(&mut self, changes: &DatasetChanges<'_>, next: &Checked) {
        let streams = next.streams.iter().map(|spec| spec.name.clone());
        let names = changes.new.iter().map(|spec| spec.name.clone()).chain(streams);
        self.wired.service.catalog().declare(names, &[], wiring::stores(next));
        for spec in changes.new.iter().chain(&changes.other) {
            self.wired.keepers.keep(wiring::loader(spec, &self.engine)).await;
        }
    }
}

/// Describes how many of something changed.
fn count(count: usize, what: &str, how: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {what} {how}")),
        more => Some(format!("{more} {what}s {how}")),
    }
}

/// Describes what changed.
fn told(changes: &[String]) -> String {
    if changes.is_empty() { "nothing to change".to_owned() } else { changes.join(", ") }
}

fn report(failure: &CommandFailure) {
    match failure {
        CommandFailure::Usage(error) | CommandFailure::Error(error) => tracing::warn!("{}", output::with_hint(error)),
        CommandFailure::Mistakes(mistakes) => mistakes.iter().for_each(|mistake| tracing::warn!("{mistake}")),
        CommandFailure::Told | CommandFailure::Closed => {}
    }
}
