//! The declared views, and those that were made of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use salver_model::Name;
use salver_model::observation::Observer;
use salver_model::ports::{SqlEngine, Table};
use salver_model::spec::ViewSpec;

/// The declared views, and what makes tables of them.
#[derive(Debug)]
pub(crate) struct Views {
    pub(crate) specs: BTreeMap<Name, ViewSpec>,
    /// Views that are about to be declared; until then their entries count as loading.
    awaited: Vec<Name>,
    pub(crate) engine: Arc<dyn SqlEngine>,
    pub(crate) observer: Arc<dyn Observer>,
}

/// A view that was made, with the tables that it was made of.
#[derive(Clone, Debug)]
pub(crate) struct MadeView {
    pub(crate) table: Arc<dyn Table>,
    /// By name; the view is made anew when one of them is another.
    pub(crate) inputs: Vec<(Name, Arc<dyn Table>)>,
    /// Levels of views, with its own.
    pub(crate) depth: usize,
}

impl Views {
    /// Creates the views `specs`, and waits for those called as in `awaited`.
    pub(crate) fn new(
        specs: Vec<ViewSpec>,
        awaited: Vec<Name>,
        engine: Arc<dyn SqlEngine>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let specs = specs.into_iter().map(|spec| (spec.name.clone(), spec)).collect();
        Self { specs, awaited, engine, observer }
    }

    /// Returns the names of the views, and of the awaited ones.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Name> {
        self.specs.keys().chain(&self.awaited)
    }

    /// Returns whether a view is declared that is called `name`.
    pub(crate) fn has(&self, name: &Name) -> bool {
        self.specs.contains_key(name)
    }
}
