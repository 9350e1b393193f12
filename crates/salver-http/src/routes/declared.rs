//! The routes that entries declare: those of streams and of functions, and mounted applications. They are rows of one
//! table, which is made again when a file of functions was loaded, and swapped as a whole.

mod hidden;
mod row;
mod table;

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use salver_service::Service;

pub(crate) use self::row::DeclaredTarget;
pub(crate) use self::table::{DeclaredFound, DeclaredMatch, DeclaredTable};

/// The table of declared routes.
#[derive(Debug)]
pub(crate) struct DeclaredRoutes {
    current: ArcSwap<DeclaredTable>,
    making: Mutex<()>,
}

impl DeclaredRoutes {
    /// Creates the table. `has_provider` is whether users log in at an identity provider.
    pub(crate) fn new(service: &Service, has_provider: bool) -> Self {
        let table = DeclaredTable::new(service, has_provider);
        table.tell_hidden(&DeclaredTable::default());
        Self { current: ArcSwap::from_pointee(table), making: Mutex::default() }
    }

    /// Returns the table of what is loaded now, and tells the log of routes that can't be reached.
    pub(crate) fn current(&self, service: &Service, has_provider: impl FnOnce() -> bool) -> Arc<DeclaredTable> {
        let table = self.current.load_full();
        if table.is_of(service.functions()) {
            return table;
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.current.load_full();
        if before.is_of(service.functions()) {
            return before;
        }
        let table = Arc::new(DeclaredTable::new(service, has_provider()));
        table.tell_hidden(&before);
        self.current.store(Arc::clone(&table));
        table
    }
}
