//! The port of whatever an entry is loaded from.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;
use crate::name::Name;
use crate::ports::{Progress, Table};
use crate::version::Version;

/// What a loader waits for while it loads. A slow one holds up only others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The disk: loading is bound by the processor.
    Disk,
    /// Another machine.
    Network,
    /// A pipe, whose end may never come.
    Pipe,
}

/// Loads one entry, and notices when it must be loaded again.
///
/// Contract: `load` returns a table whose version is what `probe` returned for the same content. Neither keeps
/// anything half done behind when it fails.
#[async_trait]
pub trait Loader: Send + Sync + std::fmt::Debug {
    /// The entry's name.
    fn name(&self) -> &Name;

    /// How often to probe; `None` for never.
    fn interval(&self) -> Option<Duration>;

    /// What loading waits for.
    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Disk
    }

    /// Has loads tell from now on how far they are.
    fn follow(&self, _progress: &Arc<Progress>) {}

    /// The version the source has now, as cheaply as it can be told (modification time and size, a conditional
    /// request).
    async fn probe(&self) -> Result<Version>;

    /// Reads the source.
    async fn load(&self) -> Result<Arc<dyn Table>>;
}
