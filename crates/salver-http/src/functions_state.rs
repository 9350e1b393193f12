//! What the doors of functions keep between requests: the routes of every file, as of one version of it.

mod pattern;
mod routes;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use salver_model::functions::Interface;

use self::routes::Routes;
pub(crate) use self::routes::{Found, pattern};

/// What is kept of every file: its routes, as of one version of it.
#[derive(Debug, Default)]
pub(crate) struct Known(Box<[ArcSwapOption<(u64, Routes)>]>);

impl Known {
    /// For so many files.
    pub(crate) fn new(files: usize) -> Self {
        Self((0..files).map(|_| ArcSwapOption::empty()).collect())
    }

    /// The routes of the file with this number.
    pub(crate) fn routes(&self, index: usize, version: u64, interface: &Interface) -> Arc<(u64, Routes)> {
        if let Some(known) = self.0[index].load_full().filter(|known| known.0 == version) {
            return known;
        }
        let made = Arc::new((version, Routes::new(interface)));
        self.0[index].store(Some(Arc::clone(&made)));
        made
    }
}
