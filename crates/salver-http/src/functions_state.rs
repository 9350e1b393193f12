//! State of functions between requests: the routes of every file as last loaded, and jobs.

mod jobs;
mod pattern;
mod routes;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use salver_model::functions::{Interface, Parameter};

pub(crate) use self::jobs::{Callback, Job, JobOutcome, Jobs};
use self::routes::Routes;
pub(crate) use self::routes::{Found, pattern};

/// A cache of the routes of every file.
#[derive(Debug, Default)]
pub(crate) struct Known(Box<[ArcSwapOption<OfFile>]>);

/// The routes of one file, with the interface that they were built from.
#[derive(Debug)]
pub(crate) struct OfFile {
    interface: Arc<Interface>,
    pub(crate) routes: Routes,
}

impl Known {
    /// Creates an empty cache for this number of files.
    pub(crate) fn new(files: usize) -> Self {
        Self((0..files).map(|_| ArcSwapOption::empty()).collect())
    }

    /// Returns the routes of the file with this index, rebuilt if `interface` has changed.
    pub(crate) fn routes(&self, index: usize, interface: &Arc<Interface>) -> Arc<OfFile> {
        if let Some(known) = self.0[index].load_full().filter(|known| Arc::ptr_eq(&known.interface, interface)) {
            return known;
        }
        let made = Arc::new(OfFile { interface: Arc::clone(interface), routes: Routes::new(interface) });
        self.0[index].store(Some(Arc::clone(&made)));
        made
    }
}

/// Returns whether the parameter is variadic: R's dots or Python's keyword arguments.
pub(crate) fn takes_any(parameter: &Parameter) -> bool {
    parameter.name == "..." || parameter.name.starts_with("**")
}
