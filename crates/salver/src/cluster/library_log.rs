//! The log of Ballista as part of ours. What it tells of each job and task is of interest to who looks for a fault.

use log::{Level, LevelFilter, Log, Metadata, Record};

/// First words of the modules whose log it is.
const OWN: &str = "ballista";

struct Forwarded;

impl Log for Forwarded {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(OWN)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let told = record.args();
        match record.level() {
            Level::Error => tracing::error!("{told}"),
            Level::Warn => tracing::warn!("{told}"),
            Level::Info => tracing::debug!("{told}"),
            Level::Debug | Level::Trace => tracing::trace!("{told}"),
        }
    }

    fn flush(&self) {}
}

/// Begins to pass on what is logged.
pub(super) fn forward() {
    // It fails if something else takes the log, which is as good.
    if log::set_logger(&Forwarded).is_ok() {
        log::set_max_level(LevelFilter::Debug);
    }
}
