//! Views of the catalog for callers with equal rights, each kept until the catalog changes.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use arc_swap::{ArcSwapOption, Guard};
use salver_model::Permission;

use crate::snapshot::{Contents, Snapshot};

/// The contents of the views for callers with some rights, by permission: see [`place`]. The rights keep them, so that
/// they must not hold the rights, as views do.
pub(crate) type Views = [ArcSwapOption<Contents>; Permission::READING.len()];

/// Returns where the view for a permission is kept; those that don't read rows see what may be read.
pub(crate) fn place(permission: Permission) -> usize {
    Permission::READING.iter().position(|own| *own == permission).unwrap_or(0)
}

/// A borrowed view of the catalog, in which entries that grow can't be read.
pub enum Peek {
    /// All of it.
    Whole(Guard<Arc<Snapshot>>),
    /// A caller's.
    View(Snapshot),
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
