//! What the doors of functions keep between requests: the routes of every file, as it was loaded last, and jobs.

mod jobs;
mod pattern;
mod routes;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use salver_model::functions::{Interface, Parameter};

pub(crate) use self::jobs::{Callback, Job, Jobs, Outcome};
use self::routes::Routes;
pub(crate) use self::routes::{Found, pattern};

/// What is kept of every file: its routes, with what they were made of.
#[derive(Debug, Default)]
pub(crate) struct Known(Box<[ArcSwapOption<OfFile>]>);

/// The routes of one file, and what they were made of.
#[derive(Debug)]
pub(crate) struct OfFile {
    interface: Arc<Interface>,
    pub(crate) routes: Routes,
}

impl Known {
    /// For so many files.
    pub(crate) fn new(files: usize) -> Self {
        Self((0..files).map(|_| ArcSwapOption::empty()).collect())
    }

    /// The routes of the file with this number, which offers `interface` now.
    pub(crate) fn routes(&self, index: usize, interface: &Arc<Interface>) -> Arc<OfFile> {
        if let Some(known) = self.0[index].load_full().filter(|known| Arc::ptr_eq(&known.interface, interface)) {
            return known;
        }
        let made = Arc::new(OfFile { interface: Arc::clone(interface), routes: Routes::new(interface) });
        self.0[index].store(Some(Arc::clone(&made)));
        made
    }
}

/// Whether it stands for all arguments that are not named: R's dots, Python's keyword arguments.
pub(crate) fn takes_any(parameter: &Parameter) -> bool {
    parameter.name == "..." || parameter.name.starts_with("**")
}
