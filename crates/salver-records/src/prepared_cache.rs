//! A cache of whatever is prepared once per table and schema, so that a request adds nothing but its values. It does
//! not know its contents: its users do.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use ahash::AHashMap;
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

/// Classes of callers for which items are kept.
const CLASSES_KEPT: usize = 64;
/// Number of slots.
const SLOTS: usize = 2;

type PreparedItem = OnceLock<Option<Arc<dyn Any + Send + Sync>>>;

/// The cached items for the tables of the latest schema.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// For callers without bounds.
    current: ArcSwap<Set>,
    /// For the others, by class.
    of_classes: ArcSwap<AHashMap<u64, Arc<Set>>>,
}

#[derive(Debug, Default)]
struct Set {
    stamp: u64,
    tables: Box<[[PreparedItem; SLOTS]]>,
}

impl Set {
    fn of(schema: &DatabaseSchema) -> Self {
        Self { stamp: schema.stamp(), tables: schema.tables().iter().map(|_| Default::default()).collect() }
    }
}

impl Prepared {
    /// Returns the item in a slot of the table at this position, created if missing; `None` when `make` returns that
    /// this table has none. The cache is reset when the schema changes.
    pub(crate) fn get<T: Any + Send + Sync>(
        &self,
        (schema, class): (&DatabaseSchema, u64),
        position: usize,
        slot: PreparedKind,
        make: impl FnOnce() -> Option<Arc<T>>,
    ) -> Option<Arc<T>> {
        let look = |set: &Set| {
            let kept = set.tables.get(position)?[slot as usize].get_or_init(|| Some(make()? as Arc<_>)).clone();
            kept?.downcast::<T>().ok()
        };
        if class != 0 {
            let kept = self.of_classes.load();
            return match kept.get(&class).filter(|set| set.stamp == schema.stamp()) {
                Some(set) => look(set),
                None => look(&self.add_class(class, schema)),
            };
        }
        let set = self.current.load();
        if set.stamp == schema.stamp() {
            return look(&set);
        }
        let set = Arc::new(Set::of(schema));
        self.current.store(Arc::clone(&set));
        look(&set)
    }

    /// Adds an empty set for a class.
    fn add_class(&self, class: u64, schema: &DatabaseSchema) -> Arc<Set> {
        let set = Arc::new(Set::of(schema));
        // Of two that come at once one may be lost, and is made again.
        let all = self.of_classes.load();
        let mut all = if all.len() >= CLASSES_KEPT { AHashMap::new() } else { AHashMap::clone(&all) };
        all.insert(class, Arc::clone(&set));
        self.of_classes.store(Arc::new(all));
        set
    }
}
