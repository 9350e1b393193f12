//! The part of a statement's [`ReadView`] that belongs to one database: a transaction that its tables read in, one
//! after the other. It begins with the first read, and ends with the last, or with the statement. Tables that are held
//! share a snapshot instead, which lasts as long as one of them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};

use salver_model::records::TableInfo;
use salver_model::shares::gave_up;
use salver_model::{Error, ReadView, Result};
use tokio::sync::mpsc::Sender;
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard};

use crate::backend::Backend;
use crate::backend::layout::Layout;
use crate::backend::read_transaction::ReadTransaction;
use crate::backend::snapshot::DatabaseSnapshot;
use crate::cell::RowSink;
use crate::statement::Read;

/// The transaction of one database.
#[derive(Debug)]
struct SharedView {
    backend: Arc<Backend>,
    /// The tables in the view, and the number of those that were not read to their end.
    tables: SyncMutex<Vec<TableInfo>>,
    unread: AtomicUsize,
    reads_again: bool,
    /// Whether a read gave up its connection for others, so that no other may go on.
    has_ended: AtomicBool,
    /// The transaction between its first and its last read.
    transaction: Arc<Mutex<Option<ReadTransaction>>>,
    /// The snapshot of the tables if they are held, with the identity of the rows of each.
    snapshot: OnceCell<(Arc<DatabaseSnapshot>, Vec<Layout>)>,
}

/// A table's place in the view.
#[derive(Clone, Debug)]
pub(super) struct PlaceInView {
    shared: Arc<SharedView>,
    /// Its position among the tables.
    position: usize,
    is_read: Arc<AtomicBool>,
}

/// The turn to read.
pub(super) struct Turn {
    place: PlaceInView,
    transaction: OwnedMutexGuard<Option<ReadTransaction>>,
}

impl PlaceInView {
    /// Adds a table of the database behind `backend` to a view.
    pub(super) fn new(view: &ReadView, backend: &Arc<Backend>, table: &TableInfo) -> Self {
        let shared = view.part(Arc::as_ptr(backend).addr(), || SharedView {
            backend: Arc::clone(backend),
            tables: SyncMutex::default(),
            unread: AtomicUsize::new(0),
            reads_again: view.reads_again(),
            has_ended: AtomicBool::new(false),
            transaction: Arc::default(),
            snapshot: OnceCell::new(),
        });
        let position = {
            let mut tables = shared.tables.lock().unwrap_or_else(PoisonError::into_inner);
            tables.push(table.clone());
            tables.len() - 1
        };
        shared.unread.fetch_add(1, Ordering::Relaxed);
        Self { shared, position, is_read: Arc::default() }
    }

    /// Returns whether a read must see the same state as another: if not, it needs no transaction.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.reads_again || self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner).len() > 1
    }

    /// Returns the snapshot of all tables in the view, which the first call takes, and the identity of this one's rows.
    /// A view has all of its tables before.
    pub(super) async fn snapshot(&self) -> Result<(Arc<DatabaseSnapshot>, Layout)> {
        let take = async || {
            let tables = self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let (snapshot, layouts) = self.shared.backend.hold(&tables).await?;
            Ok::<_, Error>((Arc::new(snapshot), layouts))
        };
        let (snapshot, layouts) = self.shared.snapshot.get_or_try_init(take).await?;
        let layout = layouts.get(self.position).ok_or_else(|| Error::internal("a table came late into its view"))?;
        Ok((Arc::clone(snapshot), layout.clone()))
    }

    /// Ends the transaction: at once, or with the read that goes on.
    pub(super) fn end(&self) {
        self.shared.has_ended.store(true, Ordering::Release);
        if let Ok(mut transaction) = self.shared.transaction.try_lock() {
            *transaction = None;
        }
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
        let PlaceInView { shared, is_read, .. } = &self.place;
        if shared.has_ended.load(Ordering::Acquire) {
            *self.transaction = None;
            return Err(gave_up());
        }
        // After an error it is dropped here; then the statement ends too.
        let mut transaction = match self.transaction.take() {
            Some(open) => open,
            None => shared.backend.begin().await?,
        };
        let sink = transaction.read(reads, sink, out).await?;
        let is_first_time = !is_read.swap(true, Ordering::Relaxed);
        let is_last = is_first_time && shared.unread.fetch_sub(1, Ordering::Relaxed) == 1;
        let has_ended = shared.has_ended.load(Ordering::Acquire);
        if !has_ended && (!is_last || shared.reads_again) {
            *self.transaction = Some(transaction);
        }
        Ok(sink)
    }
}
