//! Observations: everything worth logging or counting, as one type. Code emits observations; the binary decides how to
//! handle them.

use std::cell::RefCell;
use std::sync::Arc;

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
    /// Tables of a database can't be entries, because of their names.
    LeftOut {
        /// Name of the database.
        name: &'a Name,
        /// Names of the tables.
        tables: &'a [String],
    },
    /// A request failed because of the server.
    RequestFailed {
        /// Error, with its cause.
        error: &'a Error,
        /// ID of the request; `None` if its client was told none.
        request: Option<&'a str>,
    },
}

/// A request, as those name it in the log who work for it and know nothing else of it.
pub trait RequestId: std::fmt::Debug + Send + Sync {
    /// Returns the ID of the request.
    fn id(&self) -> &str;
}

thread_local! {
    /// The request that the thread works for at the moment.
    static CURRENT: RefCell<Option<Arc<dyn RequestId>>> = const { RefCell::new(None) };
}

/// Does `work` for a request, on this thread.
pub fn for_request<T>(request: &Arc<dyn RequestId>, work: impl FnOnce() -> T) -> T {
    /// Sets what was before, also after a panic.
    struct Before(Option<Arc<dyn RequestId>>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Before(CURRENT.replace(Some(Arc::clone(request))));
    work()
}

/// Returns the request that this thread works for at the moment; `None` if it works for none.
#[must_use]
pub fn current_request() -> Option<Arc<dyn RequestId>> {
    CURRENT.with_borrow(Option::clone)
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
