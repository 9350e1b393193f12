//! Views of the catalog for callers with equal rights, each kept until the catalog changes.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use ahash::AHashMap;
use arc_swap::{ArcSwapOption, Guard};
use salver_model::{Grants, Permission};

use crate::snapshot::Snapshot;

/// Rights whose views are kept.
const VIEWS_KEPT: usize = 512;

/// The views of all rights, each until the catalog changes.
#[derive(Debug, Default)]
pub(crate) struct CallerCatalogs(RwLock<AHashMap<u64, Arc<Views>>>);

/// The views of one set of rights, by permission: see [`place`].
pub(crate) type Views = [ArcSwapOption<Snapshot>; Permission::READING.len()];

impl CallerCatalogs {
    /// Returns the views of these rights.
    pub(crate) fn of(&self, grants: &Grants) -> Arc<Views> {
        if let Some(views) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&grants.id()) {
            return Arc::clone(views);
        }
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= VIEWS_KEPT {
            all.clear();
        }
        Arc::clone(all.entry(grants.id()).or_default())
    }
}

/// Returns where the view for a permission is kept; those that don't read rows see what may be read.
pub(crate) fn place(permission: Permission) -> usize {
    Permission::READING.iter().position(|own| *own == permission).unwrap_or(0)
}

/// A borrowed view of the catalog, in which entries that grow can't be read.
pub enum Peek {
    /// All of it.
    Whole(Guard<Arc<Snapshot>>),
    /// A caller's.
    View(Arc<Snapshot>),
}

impl fmt::Debug for Peek {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Peek").field(&**self).finish()
    }
}

impl Deref for Peek {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        match self {
            Self::Whole(guard) => guard,
            Self::View(view) => view,
        }
    }
}
