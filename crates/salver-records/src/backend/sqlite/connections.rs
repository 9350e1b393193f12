//! The connections to one database: lanes for reads on the caller's own thread, a pool for all other reads, and the
//! writer's one.
//!
//! All connections to one and the same file belong to one era. When another file is found at the path, the era is over:
//! every connection is closed, at once or when its work ends, and only then is the new file opened. A connection to the
//! old file would share its log's name with the new one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Duration;

use rusqlite::Connection;
use salver_model::limits::DATABASE_WAIT_MS_MAX;
use salver_model::spec::{DatabaseSpec, Reserve, Reserved};
use salver_model::{Code, Error, Result, Shares};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::database_file::{FileId, Location, beside};
use super::file_generation::FileGeneration;
use super::interrupt::Watch;
use super::lock_window::LockWindow;
use super::open;
use super::read_connection::{CachedReadTxn, ReadConnection};
use super::slow_statements::LongReads;
use super::snapshot_connection::{Holder, SnapshotConnection};
use super::version::Clock;
use crate::backend::slow_clients;
use crate::backend::snapshot_permits::Places;

/// The connection that writes.
pub(super) struct WriteConnection {
    pub(super) connection: Connection,
    pub(super) watch: Arc<Watch>,
    /// The length of the log, in pages, and what it was at the last checkpoint.
    pub(super) log_pages: Arc<AtomicU32>,
    pub(super) log_pages_checked: u32,
    pub(super) era: Arc<FileGeneration>,
}

/// A connection of one thread; padded, so that threads don't share a cache line.
#[repr(align(128))]
#[derive(Default)]
struct Lane(Mutex<Option<ReadConnection>>);

/// State that is needed only to open connections.
#[derive(Default)]
struct OpenState {
    era: Option<Arc<FileGeneration>>,
    /// The previous era, while some of its connections are open, and its log.
    leaving: Option<(Weak<FileGeneration>, Option<FileId>)>,
    eras: u64,
    /// The writer that was opened to begin the era, until it is taken.
    writer: Option<WriteConnection>,
    /// Keeps a database in memory alive.
    anchor: Option<Connection>,
}

/// Every connection to a database.
pub(super) struct Connections {
    /// The entry's name, for messages.
    pub(super) name: String,
    location: Location,
    reserved: Reserved,
    writable: bool,
    lanes: Box<[Lane]>,
    pool: Mutex<Vec<ReadConnection>>,
    places: Arc<Semaphore>,
    /// Shares of these connections for responses and loads whose clients are slow.
    pub(super) lying: Arc<Shares>,
    pub(super) clock: Clock,
    /// Whether an era has begun, so that lanes may be opened.
    begun: AtomicBool,
    // Behind the readers, so that it closes last: only a writer can remove the log.
    pub(super) writer: Mutex<Option<WriteConnection>>,
    /// The watch of the writer, for callers that stop waiting.
    pub(super) writer_watch: Arc<Watch>,
    pub(super) runs: AtomicU64,
    /// The times in which lanes keep the lock of the file; `None` where a writer of this process would wait for them.
    pub(super) lock_window: Option<Arc<LockWindow>>,
    /// Whether a sweeper is looking for idle transactions of lanes.
    pub(super) sweeping: AtomicBool,
    /// Reads that took too long for request threads.
    pub(super) long: LongReads,
    /// Permits for the connections of snapshots, and these connections.
    pub(super) snapshots: Places,
    held: Mutex<Vec<Weak<SnapshotConnection>>>,
    state: Mutex<OpenState>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").field("location", &self.location).finish_non_exhaustive()
    }
}

/// Locks, ignoring poison: a panic of another holder leaves the guarded state consistent.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Returns the number of the calling thread, in the order of first calls.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

impl Connections {
    pub(super) fn new(spec: &DatabaseSpec) -> Result<Self> {
        let lanes = std::thread::available_parallelism().map_or(8, |cores| (2 * cores.get()).max(8));
        Ok(Self {
            name: spec.name.to_string(),
            location: Location::of_url(&spec.url)?,
            reserved: spec.reserved.clone(),
            writable: spec.writable || spec.definable,
            lanes: std::iter::repeat_with(Lane::default).take(lanes).collect(),
            pool: Mutex::default(),
            places: Arc::new(Semaphore::new(spec.connections_max.max(1))),
            lying: slow_clients::places(spec.connections_max),
            clock: Clock::new(),
            begun: AtomicBool::new(false),
            writer: Mutex::default(),
            writer_watch: Arc::new(Watch::new()),
            runs: AtomicU64::new(1),
            lock_window: (!spec.writable && !spec.definable).then(Arc::default),
            sweeping: AtomicBool::new(false),
            long: LongReads::default(),
            snapshots: Places::default(),
            held: Mutex::default(),
            state: Mutex::default(),
        })
    }

    /// Returns the path of the file; none in memory.
    pub(super) fn path(&self) -> Option<PathBuf> {
        match &self.location {
            Location::File(path) => Some(path.clone()),
            Location::Memory(_) => None,
        }
    }

    /// Returns whether the database may be written.
    pub(super) fn is_writable(&self) -> bool {
        self.writable
    }

    /// Waits for a permit of the pool, for a statement that may take `ms_max`.
    pub(super) async fn place(&self, ms_max: u64) -> Result<OwnedSemaphorePermit> {
        let patience = Duration::from_millis(ms_max.min(DATABASE_WAIT_MS_MAX));
        slow_clients::wait(&self.places, &self.lying, patience).await.ok_or_else(|| {
            Error::new(Code::DatabaseUnavailable, format!("all connections of the database `{}` are in use", self.name))
                .with_hint("ask again, or raise its `connections_max`")
        })
    }

    /// Runs `work` with this thread's own connection; returns `None` when it has none at the moment.
    pub(super) fn on_lane<R>(&self, work: impl FnOnce(&mut ReadConnection) -> R) -> Option<R> {
        let own = thread_number() % self.lanes.len();
        let next = (own + 1) % self.lanes.len();
        let mut slot = try_lock(&self.lanes[own].0).or_else(|| try_lock(&self.lanes[next].0))?;
        if slot.as_ref().is_none_or(|reader| reader.era.is_over()) {
            *slot = None;
            if !self.begun.load(Ordering::Acquire) {
                return None;
            }
            *slot = self.open_reader(Duration::ZERO).ok();
            if let Some(reader) = slot.as_mut() {
                reader.kept = CachedReadTxn::of(&reader.connection, self.lock_window.as_ref());
                // A failure only makes it slower.
                let _ = open::widen(&reader.connection);
            }
        }
        let result = work(slot.as_mut()?);
        if slot.as_ref().is_some_and(|reader| reader.era.is_over()) {
            *slot = None;
        }
        Some(result)
    }

    /// Calls `look` with the connection of every lane that is not in use; returns how many are in use.
    pub(super) fn each_lane(&self, mut look: impl FnMut(&mut ReadConnection)) -> usize {
        let mut in_use = 0;
        for lane in &self.lanes {
            match try_lock(&lane.0) {
                Some(mut slot) => slot.as_mut().into_iter().for_each(&mut look),
                None => in_use += 1,
            }
        }
        in_use
    }

    /// Takes a connection out of the pool, or opens one.
    pub(super) fn take_reader(&self) -> Result<ReadConnection> {
        loop {
            let waiting = lock(&self.pool).pop();
            match waiting {
                Some(reader) if reader.era.is_over() => drop(reader),
                Some(reader) => return Ok(reader),
                None => return self.open_reader(open::BUSY),
            }
        }
    }

    /// Returns a connection to the pool.
    pub(super) fn keep_reader(&self, reader: ReadConnection) {
        let mut pool = lock(&self.pool);
        // Checked under the lock, under which the pool is cleared when an era ends.
        if !reader.era.is_over() {
            pool.push(reader);
        }
    }

    /// Has `held` close its connection when the era of the file ends.
    pub(super) fn keep_track(&self, held: &Arc<SnapshotConnection>) {
        let mut all = lock(&self.held);
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(held));
        let over = |holder: &mut Holder| holder.reader.era.is_over();
        // The era may have ended since the connection was opened.
        if let Ok(mut slot) = held.try_lock() {
            slot.take_if(over);
        }
    }

    /// Opens a connection that reads, in the current era.
    pub(super) fn open_reader(&self, busy: Duration) -> Result<ReadConnection> {
        let mut era = self.era()?;
        let mut connection = open::reader(&self.location, era.still, busy).map_err(|error| self.named(error))?;
        // The file may have been replaced between the two; there is no third attempt.
        if era.file != self.current_file(era.still) {
            drop(connection);
            self.end(&era);
            drop(era);
            era = self.era()?;
            connection = open::reader(&self.location, era.still, busy).map_err(|error| self.named(error))?;
        }
        let watch = Arc::new(Watch::new());
        watch.set(&mut connection, &era.over).map_err(super::error_codes::fault)?;
        Ok(ReadConnection { connection, watch, spare: Vec::new(), seen: None, kept: CachedReadTxn::default(), era })
    }

    /// Opens a connection that writes, in the current era.
    pub(super) fn open_writer(&self) -> Result<WriteConnection> {
        let era = self.era()?;
        if let Some(writer) = lock(&self.state).writer.take()
            && Arc::ptr_eq(&writer.era, &era)
        {
            return Ok(writer);
        }
        let log_pages = Arc::default();
        let connection = open::writer(&self.location, false, &log_pages).map_err(|error| self.named(error))?;
        self.writer_of(&era, connection, log_pages)
    }

    fn writer_of(
        &self,
        era: &Arc<FileGeneration>,
        mut connection: Connection,
        log_pages: Arc<AtomicU32>,
    ) -> Result<WriteConnection> {
        self.writer_watch.set(&mut connection, &era.over).map_err(super::error_codes::fault)?;
        let watch = Arc::clone(&self.writer_watch);
        Ok(WriteConnection { connection, watch, log_pages, log_pages_checked: 0, era: Arc::clone(era) })
    }

    /// Returns the current era; begins one when there is none.
    pub(super) fn era(&self) -> Result<Arc<FileGeneration>> {
        let mut state = lock(&self.state);
        if let Some(era) = &state.era {
            return Ok(Arc::clone(era));
        }
        self.clear_up(&mut state)?;
        let log_pages = Arc::default();
        let (era, connection) = self.begin(&mut state, &log_pages)?;
        let era = Arc::new(era);
        state.writer = connection.map(|connection| self.writer_of(&era, connection, log_pages)).transpose()?;
        state.eras += 1;
        state.era = Some(Arc::clone(&era));
        self.begun.store(true, Ordering::Release);
        Ok(era)
    }

    /// Checks whether another file is at the path now, and ends the era if so.
    pub(super) fn look(&self) {
        let era = lock(&self.state).era.clone();
        let Some(era) = era else { return };
        if era.file != self.current_file(era.still) {
            tracing::info!(database = self.name, "the file of the database was replaced");
            self.end(&era);
        }
    }

    fn current_file(&self, still: bool) -> Option<FileId> {
        match &self.location {
            Location::File(path) => FileId::of(path, still).ok(),
            Location::Memory(_) => None,
        }
    }

    /// Finds or creates the file. Where it may be written, the writer opens first, so that the file and its log exist
    /// for the readers.
    fn begin(&self, state: &mut OpenState, log_pages: &Arc<AtomicU32>) -> Result<(FileGeneration, Option<Connection>)> {
        // Created once only: a file that is removed later will come back, and an empty one must not be in its place.
        let create = self.writable && state.eras == 0;
        let mut era = FileGeneration {
            number: state.eras,
            file: None,
            still: false,
            over: Arc::default(),
            log: Mutex::default(),
        };
        let path = match &self.location {
            Location::Memory(_) => {
                state.anchor = Some(open::reader(&self.location, false, open::BUSY)?);
                return Ok((era, None));
            }
            Location::File(path) => path,
        };
        if let Err(error) = FileId::of(path, false)
            && !create
        {
            return Err(self.missing(error));
        }
        self.is_own(path)?;
        let mut writer = None;
        if self.writable {
            let opened = open::writer(&self.location, create, log_pages);
            writer = Some(opened.map_err(|error| self.named(error))?);
        } else {
            era.still = open::must_be_still(&self.location).map_err(|error| self.named(error))?;
        }
        era.file = Some(FileId::of(path, era.still).map_err(|error| self.missing(error))?);
        // Checked again, for the file that was opened.
        self.is_own(path)?;
        Ok((era, writer))
    }

    /// Checks that the file at the path is not a database with other rules.
    fn is_own(&self, path: &Path) -> Result<()> {
        if !self.reserved.are_reserved(&[path.to_owned()]).contains(&true) {
            return Ok(());
        }
        let message = format!("the file of the database `{}` is that of another, with other rules", self.name);
        Err(Error::new(Code::DatabaseUnavailable, message)
            .with_hint("give each database a file of its own, or declare them once"))
    }

    /// Ends `era`: no new work begins in it, and idle connections are closed.
    fn end(&self, era: &Arc<FileGeneration>) {
        {
            let mut state = lock(&self.state);
            let Some(current) = state.era.take_if(|current| Arc::ptr_eq(current, era)) else { return };
            self.begun.store(false, Ordering::Release);
            current.over.store(true, Ordering::Release);
            let log = *lock(&current.log);
            state.leaving = Some((Arc::downgrade(&current), log));
            state.writer = None;
        }
        let over = |reader: &mut ReadConnection| reader.era.is_over();
        // A lane in use checks its era when done.
        for lane in &self.lanes {
            if let Some(mut slot) = try_lock(&lane.0) {
                slot.take_if(over);
            }
        }
        lock(&self.pool).retain(|reader| !reader.era.is_over());
        for held in lock(&self.held).iter().filter_map(Weak::upgrade) {
            if let Ok(mut slot) = held.try_lock() {
                slot.take_if(|holder| holder.reader.era.is_over());
            }
        }
        self.clock.close();
        if let Some(mut writer) = try_lock(&self.writer) {
            writer.take_if(|writer| writer.era.is_over());
        }
    }

    /// Removes the log of the last era, without waiting: while connections of that era are open, the database is
    /// unavailable. When the last is closed, the log at the path is removed if it is still that era's own: SQLite would
    /// take it for the new file's.
    fn clear_up(&self, state: &mut OpenState) -> Result<()> {
        let Some((era, log)) = &state.leaving else { return Ok(()) };
        if era.strong_count() > 0 {
            return Err(Error::new(
                Code::DatabaseUnavailable,
                format!("the file of the database `{}` was replaced, and work on the old one still ends", self.name),
            )
            .with_hint("ask again"));
        }
        if let (Some(log), Location::File(path)) = (log, &self.location) {
            let left = beside(path, "-wal");
            if FileId::of(&left, false).is_ok_and(|id| id == *log) {
                tracing::warn!(path = %left.display(), "removing the log of the database that was replaced");
                for leftover in [left, beside(path, "-shm")] {
                    if let Err(error) = std::fs::remove_file(&leftover) {
                        tracing::warn!(%error, path = %leftover.display(), "it can't be removed");
                    }
                }
            }
        }
        state.leaving = None;
        Ok(())
    }

    /// Records which file the log of this era is.
    pub(super) fn note_log(&self, era: &FileGeneration) {
        let mut log = lock(&era.log);
        if log.is_none()
            && let Location::File(path) = &self.location
        {
            *log = FileId::of(&beside(path, "-wal"), false).ok();
        }
    }

    fn missing(&self, error: std::io::Error) -> Error {
        let hint = if self.writable {
            "put the file there"
        } else {
            "see the path in its URL, or set `writable = true` to have the file made"
        };
        Error::new(Code::DatabaseUnavailable, format!("the database `{}` has no file", self.name))
            .with_hint(hint)
            .with_source(error)
    }

    /// Adds the database's name to the message.
    fn named(&self, mut error: Error) -> Error {
        error.message = format!("database `{}`: {}", self.name, error.message);
        error
    }
}
