//! The part of a statement's [`ReadView`] that belongs to one database: a transaction that its tables read in, one
//! after the other. It begins with the first read, and ends with the last, or with the statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use salver_model::{ReadView, Result};
use tokio::sync::mpsc::Sender;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::backend::Backend;
use crate::backend::read_transaction::ReadTransaction;
use crate::cell::RowSink;
use crate::statement::Read;

/// The transaction of one database.
#[derive(Debug)]
struct SharedView {
    backend: Arc<Backend>,
    /// Number of tables in the view, and of those that were not read to their end.
    tables: AtomicUsize,
    unread: AtomicUsize,
    reads_again: bool,
    /// The transaction between its first and its last read.
    transaction: Arc<Mutex<Option<ReadTransaction>>>,
}

/// A table's place in the view.
#[derive(Clone, Debug)]
pub(super) struct PlaceInView {
    shared: Arc<SharedView>,
    is_read: Arc<AtomicBool>,
}

/// The turn to read.
pub(super) struct Turn {
    place: PlaceInView,
    transaction: OwnedMutexGuard<Option<ReadTransaction>>,
}

impl PlaceInView {
    /// Adds a table of the database behind `backend` to a view.
    pub(super) fn new(view: &ReadView, backend: &Arc<Backend>) -> Self {
        let shared = view.part(Arc::as_ptr(backend).addr(), || SharedView {
            backend: Arc::clone(backend),
            tables: AtomicUsize::new(0),
            unread: AtomicUsize::new(0),
            reads_again: view.reads_again(),
            transaction: Arc::default(),
        });
        shared.tables.fetch_add(1, Ordering::Relaxed);
        shared.unread.fetch_add(1, Ordering::Relaxed);
        Self { shared, is_read: Arc::default() }
    }

    /// Returns whether a read must see the same state as another: if not, it needs no transaction.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.reads_again || self.shared.tables.load(Ordering::Relaxed) > 1
    }

    /// Waits until the reads that came before are over.
    pub(super) async fn turn(&self) -> Turn {
        let transaction = Arc::clone(&self.shared.transaction).lock_owned().await;
        Turn { place: self.clone(), transaction }
    }
}

impl Turn {
    /// Returns whether the transaction has begun, and with it holds a connection.
    pub(super) fn has_connection(&self) -> bool {
        self.transaction.is_some()
    }

    /// Runs reads in the transaction; see [`ReadTransaction::read`].
    pub(super) async fn read<S: RowSink>(
        mut self,
        reads: Vec<Read>,
        sink: S,
        out: Option<Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        let PlaceInView { shared, is_read } = &self.place;
        // After an error it is dropped here; then the statement ends too.
        let mut transaction = match self.transaction.take() {
            Some(open) => open,
            None => shared.backend.begin().await?,
        };
        let sink = transaction.read(reads, sink, out).await?;
        let is_first_time = !is_read.swap(true, Ordering::Relaxed);
        let is_last = is_first_time && shared.unread.fetch_sub(1, Ordering::Relaxed) == 1;
        if !is_last || shared.reads_again {
            *self.transaction = Some(transaction);
        }
        Ok(sink)
    }
}
