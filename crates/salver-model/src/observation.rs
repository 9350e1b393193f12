//! Observations: everything worth logging or counting, as one type. Code emits observations; the binary decides how to
//! handle them.

use crate::error::Error;
use crate::name::Name;
use crate::version::Version;

/// Noteworthy event.
#[derive(Debug)]
pub enum Observation<'a> {
    /// An entry was loaded for the first time or reloaded.
    Loaded {
        /// Name of the entry.
        name: &'a Name,
        /// New version.
        version: Version,
        /// Duration of the load, in milliseconds.
        ms: u64,
        /// Origin and residency, as text.
        source: &'a str,
    },
    /// A slow load of an entry is in progress.
    Loading {
        /// Name of the entry.
        name: &'a Name,
        /// Number of files.
        files: u64,
        /// Progress, in percent.
        percent: u64,
    },
    /// An entry could not be loaded; its last good version, if there is one, is still served.
    LoadFailed {
        /// Name of the entry.
        name: &'a Name,
        /// Reason.
        error: &'a Error,
    },
    /// A request failed because of the server.
    RequestFailed {
        /// Error, with its cause.
        error: &'a Error,
        /// ID of the request; `None` if its client was told none.
        request: Option<&'a str>,
    },
}

/// Receiver of observations. Must not block.
pub trait Observer: Send + Sync + std::fmt::Debug {
    /// Receives one observation.
    fn observe(&self, observation: &Observation<'_>);
}

/// Observer that drops everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&self, _: &Observation<'_>) {}
}
