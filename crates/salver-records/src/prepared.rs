//! What was made ready once for a table and a schema, so that a request adds nothing but its values. It knows not what
//! it keeps: those who make it do.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use salver_model::records::DatabaseSchema;

/// What can be kept for a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// The way to one row by its key.
    Point,
    /// What its lists have in common.
    List,
}

/// How many there are.
const SLOTS: usize = 2;

type Kept = OnceLock<Option<Arc<dyn Any + Send + Sync>>>;

/// What was made ready for the tables of the latest schema.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    current: ArcSwap<Set>,
}

#[derive(Debug, Default)]
struct Set {
    stamp: u64,
    tables: Box<[[Kept; SLOTS]]>,
}

impl Prepared {
    /// What is kept in a slot of the table at this position, made when it is not there; `None` when `make` says that
    /// there is no such thing for this table. All begins anew when the schema is another.
    pub(crate) fn get<T: Any + Send + Sync>(
        &self,
        schema: &DatabaseSchema,
        position: usize,
        slot: Slot,
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
