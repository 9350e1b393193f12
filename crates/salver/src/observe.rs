//! Observations become log lines.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use salver_config::Server;
use salver_model::Name;
use salver_model::observation::{Observation, Observer};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts the log on standard error.
pub(crate) fn start(server: &Server) {
    let level: LevelFilter = server.log.parse().unwrap_or(LevelFilter::INFO);
    let mut filter = Targets::new().with_default(level);
    if server.access_log {
        // Asked for by name, so it is logged at any level.
        filter = filter.with_target("access", LevelFilter::INFO);
    }
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // A second start, which only tests could ask for, keeps the first log.
    let _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
}

/// Writes observations to the log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Whether the first loads were told to the operator by other means.
    announced: AtomicBool,
    /// The last failure of each entry, so that a source that stays broken is told once.
    failures: Mutex<HashMap<Name, String>>,
}

impl Log {
    /// From now on loads are worth a line.
    pub(crate) fn announced(&self) {
        self.announced.store(true, Ordering::Relaxed);
    }

    /// Whether `failure` is news for `name`; `None` says that all is well.
    fn is_news(&self, name: &Name, failure: Option<&str>) -> bool {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        match failure {
            None => failures.remove(name).is_some(),
            Some(why) => failures.insert(name.clone(), why.to_owned()).as_deref() != Some(why),
        }
    }
}

impl Observer for Log {
    fn observe(&self, observation: &Observation<'_>) {
        let announced = self.announced.load(Ordering::Relaxed);
        match observation {
            Observation::Loaded { name, version, ms, source } => {
                self.is_news(name, None);
                if announced {
                    tracing::info!("loaded `{name}` in {ms} ms, version {version}: {source}");
                } else {
                    tracing::debug!("loaded `{name}` in {ms} ms, version {version}: {source}");
                }
            }
            Observation::LoadFailed { name, error } => {
                let hint = error.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
                let why = format!("can't load `{name}`: {}{hint}", error.chain());
                match (self.is_news(name, Some(&why)), announced) {
                    (true, true) => tracing::warn!("{why}"),
                    _ => tracing::debug!("{why}"),
                }
            }
            Observation::RequestFailed { error } => tracing::error!("a request failed: {}", error.chain()),
        }
    }
}
