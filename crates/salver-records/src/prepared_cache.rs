//! A cache of whatever is prepared once per table and schema, so that a request adds nothing but its values. It does
//! not know its contents: its users do.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use salver_model::records::DatabaseSchema;

/// The kinds of cached items of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PreparedKind {
    /// The statement for one row by its key.
    Point,
    /// The common parts of its lists.
    List,
}

/// Number of slots.
const SLOTS: usize = 2;

type PreparedItem = OnceLock<Option<Arc<dyn Any + Send + Sync>>>;

/// The cached items for the tables of the latest schema.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    current: ArcSwap<Set>,
}

#[derive(Debug, Default)]
struct Set {
    stamp: u64,
    tables: Box<[[PreparedItem; SLOTS]]>,
}

impl Prepared {
    /// Returns the item in a slot of the table at this position, created if missing; `None` when `make` returns that
    /// this table has none. The cache is reset when the schema changes.
    pub(crate) fn get<T: Any + Send + Sync>(
        &self,
        schema: &DatabaseSchema,
        position: usize,
        slot: PreparedKind,
        make: impl FnOnce() -> Option<Arc<T>>,
    ) -> Option<Arc<T>> {
        let look = |set: &Set| {
            let kept = set.tables.get(position)?[slot as usize].get_or_init(|| Some(make()? as Arc<_>)).clone();
            kept?.downcast::<T>().ok()
        };
        let set = self.current.load();
        if set.stamp == schema.stamp() {
            return look(&set);
        }
        let tables = schema.tables().iter().map(|_| Default::default()).collect();
        let set = Arc::new(Set { stamp: schema.stamp(), tables });
        self.current.store(Arc::clone(&set));
        look(&set)
    }
}
