//! The port of an entry's source.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;
use crate::name::Name;
use crate::ports::{Progress, Table};
use crate::version::Version;

/// Resource that a load waits for. A slow load delays only others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The disk; such a load is CPU-bound.
    Disk,
    /// A remote machine.
    Network,
    /// A pipe, whose end may never come.
    Pipe,
}

/// Loads one entry, and detects when it must be reloaded.
///
/// Contract: `load` returns a table whose version is what `probe` returned for the same content. Neither leaves partial
/// state behind when it fails.
#[async_trait]
pub trait Loader: Send + Sync + std::fmt::Debug {
    /// Returns the entry's name.
    fn name(&self) -> &Name;

    /// Returns the interval between probes; `None` for never.
    fn interval(&self) -> Option<Duration>;

    /// Returns the resource that loading waits for.
    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Disk
    }

    /// Returns the time for which a source that has changed must stay as it is before it is loaded again; `None` if
    /// half of a change is never taken for the whole.
    fn settles(&self) -> Option<Duration> {
        None
    }

    /// Makes later loads report their progress.
    fn follow(&self, _progress: &Arc<Progress>) {}

    /// Returns the current version of the source, as cheaply as possible (modification time and size, a conditional
    /// request).
    async fn probe(&self) -> Result<Version>;

    /// Reads the source.
    async fn load(&self) -> Result<Arc<dyn Table>>;
}
