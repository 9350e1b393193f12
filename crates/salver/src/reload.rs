//! Reload of the settings at a hang-up (SIGHUP): datasets, access rules, limits of callers and the ways to prove who
//! one is change without a dropped request. What else changed takes effect at the next start, and the log says so.
//!
//! Mistakes change nothing: the settings of before stay as a whole. What is no longer served goes first, then the rules
//! change, then what is new comes, so that nothing is open in between that both settings keep shut. A request that has
//! begun goes on under the rules that it began with.

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_config::{Checked, Sources};
use salver_datasets::Engine;
use salver_http::{Auth, CurrentAuth, Places};
use salver_model::limits::ANNOUNCED_S_MAX;
use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Name, Result};
use salver_service::Service;
use salver_service::refresh::Keepers;

use crate::cli::ServeArguments;
use crate::failure::CommandFailure;
use crate::service_manager::ServiceManager;
use crate::sessions::LateSessions;
use crate::settings::Loaded;
use crate::signals::HangUps;
use crate::watch::{self, Watch};
use crate::{access, exposure, logging, output, secrets, settings, wiring};

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
    pub(crate) places: Places,
    /// Who is told of it.
    pub(crate) manager: ServiceManager,
    pub(crate) engine: Arc<Engine>,
    pub(crate) service: Arc<Service>,
    pub(crate) auth: CurrentAuth,
    pub(crate) sessions: LateSessions,
    pub(crate) keepers: Keepers,
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
        let told = told(&changes, (false, false), false);
        salver_http::keep_private(&secrets::of(&next));
        self.take_out(&changes).await;
        self.put_in(&changes, &next).await;
        tracing::info!("the served directories changed: {told}");
        self.checked = next;
        Ok(())
    }

    async fn read_again(&mut self) -> Result<(), CommandFailure> {
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
        let Loaded { checked: mut next, sources, .. } = loaded??;
        self.leave_out_taken(&mut next, &sources.discovered);
        self.check(&next)?;
        let proves = next.auth != self.checked.auth;
        let auth = if proves { self.other_auth(&next)? } else { None };
        let rules = next.access != self.checked.access;
        let limits = next.caller_limits != self.checked.caller_limits;
        let datasets = DatasetChanges::between(&self.checked.datasets, &next.datasets);
        let pending = pending(&self.checked, &next);
        salver_http::keep_private(&secrets::of(&next));
        salver_http::keep_secret(secrets::from_outside(&next));
        logging::mask(secrets::secrets(&next));
        self.take_out(&datasets).await;
        // Rules may come in place of [auth], or [auth] in place of rules: one is in force before the other ends.
        if rules && next.access.is_some() {
            self.service.set_access(wiring::access(next.access.as_deref(), self.service.databases()));
        }
        if proves {
            self.auth.replace(auth);
            self.service.callers_changed();
        }
        if rules && next.access.is_none() {
            self.service.set_access(wiring::access(None, self.service.databases()));
        }
        if limits {
            self.service.set_caller_limits(next.caller_limits.clone());
        }
        self.put_in(&datasets, &next).await;
        let told = told(&datasets, (rules, limits), proves);
        tracing::info!("SIGHUP: the settings were read again: {told}");
        if !pending.is_empty() {
            tracing::warn!("these changed too, and need a restart: {}", pending.join(", "));
        }
        let Checked { auth, access, caller_limits, datasets, stores, hidden, .. } = next;
        self.checked = Checked { auth, access, caller_limits, datasets, stores, hidden, ..self.checked.clone() };
        if let Some(watch) = &mut self.watch {
            watch.know(&sources.discovered);
        }
        self.sources = sources;
        let service = Arc::clone(&self.service);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(SETTLING, service.catalog().settled()).await;
            access::idle_rules::warn(&service);
        });
        Ok(())
    }

    /// Takes out of the next settings the datasets that were only discovered, and whose names tables of databases or
    /// streams have.
    fn leave_out_taken(&self, next: &mut Checked, discovered: &[DatasetSpec]) {
        let snapshot = self.service.catalog().snapshot();
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

    /// Checks that the part of the next settings that a reload applies fits what stays as it is.
    ///
    /// # Errors
    /// `Config`.
    fn check(&self, next: &Checked) -> Result<()> {
        let restart = |what: String| Err(Error::new(Code::Config, what).with_hint("restart the server for that"));
        let users = |checked: &Checked| checked.auth.as_ref().and_then(|auth| auth.users.clone());
        // Databases were opened with that table shut.
        let is_same = match (users(&self.checked), users(next)) {
            (Some(own), Some(other)) => salver_http::is_same_table(&own, &other),
            (own, other) => own.is_none() && other.is_none(),
        };
        if !is_same {
            return restart("the table of users of [auth], or what is kept of it, is another".to_owned());
        }
        // Connections ask for certificates as they did, and [auth] must not count on others.
        let asks = |checked: &Checked| checked.server.tls.as_ref().is_some_and(|tls| tls.client.is_some());
        if asks(&self.checked) != asks(next) {
            return restart(
                "clients show certificates (`server.tls_client_ca`), or don't, other than so far".to_owned(),
            );
        }
        let snapshot = self.service.catalog().snapshot();
        let is_new = |spec: &&DatasetSpec| self.checked.datasets.iter().all(|own| own.name != spec.name);
        let mut new = next.datasets.iter().filter(is_new);
        if let Some(taken) = new.find(|spec| snapshot.entry(spec.name.as_str()).is_some()) {
            return restart(format!("`{}` is a table of a database or a stream so far", taken.name));
        }
        let applied = Checked { server: self.checked.server.clone(), ..next.clone() };
        exposure::check(&applied, &self.places).map_err(|error| {
            error.with_hint("add [auth] or [[access]]; `server.firewall` and `server.insecure` need a restart")
        })
    }

    /// Returns the methods of the next settings, under which who is logged in stays so.
    fn other_auth(&self, next: &Checked) -> Result<Option<Auth>> {
        let previous = self.auth.load();
        // Databases stay what they are until the next start.
        let served = Checked { databases: self.checked.databases.clone(), ..next.clone() };
        served.auth.as_ref().map(|spec| wiring::auth(spec, &served, &self.sessions, previous.as_deref())).transpose()
    }

    async fn take_out(&mut self, changes: &DatasetChanges<'_>) {
        for name in &changes.gone {
            self.keepers.stop(name).await;
        }
        self.service.catalog().declare([], &changes.gone, wiring::stores(&self.checked));
    }

    async fn put_in(&mut self, changes: &DatasetChanges<'_>, next: &Checked) {
        let names = changes.new.iter().map(|spec| spec.name.clone());
        self.service.catalog().declare(names, &[], wiring::stores(next));
        for spec in changes.new.iter().chain(&changes.other) {
            self.keepers.keep(wiring::loader(spec, &self.engine)).await;
        }
    }
}

/// The datasets that differ.
struct DatasetChanges<'s> {
    new: Vec<&'s DatasetSpec>,
    /// Those that were there, and are declared otherwise now.
    other: Vec<&'s DatasetSpec>,
    gone: Vec<Name>,
}

impl<'s> DatasetChanges<'s> {
    fn between(before: &[DatasetSpec], after: &'s [DatasetSpec]) -> Self {
        let find = |specs: &[DatasetSpec], name: &Name| specs.iter().position(|spec| spec.name == *name);
        let (old, new): (Vec<_>, Vec<_>) = after.iter().partition(|spec| find(before, &spec.name).is_some());
        let is_other = |spec: &&DatasetSpec| find(before, &spec.name).is_some_and(|at| before[at] != **spec);
        let gone = before.iter().map(|spec| &spec.name).filter(|name| find(after, name).is_none());
        Self { new, other: old.into_iter().filter(is_other).collect(), gone: gone.cloned().collect() }
    }
}

/// Returns the settings that differ and that a reload can't change.
fn pending(before: &Checked, after: &Checked) -> Vec<String> {
    let lists = [
        ("[[database]]", before.databases != after.databases),
        ("[[stream]]", before.streams != after.streams),
        ("[[function]]", before.functions != after.functions),
        ("[limits]", before.limits != after.limits),
        ("[compat]", before.compat != after.compat),
    ];
    let mut names: Vec<String> =
        lists.iter().filter(|(_, differs)| *differs).map(|(name, _)| (*name).to_owned()).collect();
    names.extend(salver_config::differing_of_server(before, after));
    names
}

/// Describes what changed.
fn told(datasets: &DatasetChanges<'_>, (rules, limits): (bool, bool), proves: bool) -> String {
    let count = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 dataset {what}")),
        more => Some(format!("{more} datasets {what}")),
    };
    let parts = [
        count(datasets.new.len(), "new"),
        count(datasets.other.len(), "changed"),
        count(datasets.gone.len(), "gone"),
        rules.then(|| "other access rules".to_owned()),
        limits.then(|| "other limits of callers".to_owned()),
        proves.then(|| "other [auth]".to_owned()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "nothing to change".to_owned() } else { parts.join(", ") }
}

fn report(failure: &CommandFailure) {
    match failure {
        CommandFailure::Usage(error) | CommandFailure::Error(error) => tracing::warn!("{}", output::with_hint(error)),
        CommandFailure::Mistakes(mistakes) => mistakes.iter().for_each(|mistake| tracing::warn!("{mistake}")),
        CommandFailure::Told | CommandFailure::Closed => {}
    }
}
