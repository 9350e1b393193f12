//! Everything worth logging or counting, as one type. Code emits observations; the binary decides what becomes of them.

use crate::error::Error;
use crate::name::Name;
use crate::version::Version;

/// Something noteworthy.
#[derive(Debug)]
pub enum Observation<'a> {
    /// An entry was loaded for the first time or again.
    Loaded {
        /// The entry.
        name: &'a Name,
        /// Its version.
        version: Version,
        /// How long it took, in milliseconds.
        ms: u64,
        /// Where it comes from and where it is held, in words.
        source: &'a str,
    },
    /// An entry is being loaded that takes its time.
    Loading {
        /// The entry.
        name: &'a Name,
        /// Of how many files.
        files: u64,
        /// How much is done, in percent.
        percent: u64,
    },
    /// An entry could not be loaded; its last good version, if there is one, goes on being served.
    LoadFailed {
        /// The entry.
        name: &'a Name,
        /// Why.
        error: &'a Error,
    },
    /// A request failed through no fault of the client.
    RequestFailed {
        /// Why, with its cause.
        error: &'a Error,
    },
}

/// Who takes observations. Must not block.
pub trait Observer: Send + Sync + std::fmt::Debug {
    /// Takes one.
    fn observe(&self, observation: &Observation<'_>);
}

/// An observer that drops everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&self, _: &Observation<'_>) {}
}
