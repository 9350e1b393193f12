//! Snapshots of a SQLite database.
//!
//! With a write-ahead log, a read transaction keeps the snapshot and blocks nobody. With any other journal it would
//! keep every writer from committing for as long as it is open, so there the snapshot is not kept but watched: each
//! statement first checks whether anything was committed since, and fails if so.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use salver_model::limits::SNAPSHOT_THREADS_MAX;
use salver_model::records::{TableInfo, TableKind};
use salver_model::{Error, Result, memory};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore};

use super::connections::Connections;
use super::error_codes::{fault, spoils};
use super::interrupt::Watch;
use super::read::{ONLY_RUN, StopOnDrop};
use super::read_connection::ReadConnection;
use super::rows::{self, RowsEnd};
use super::snapshot_connection::{Holder, SnapshotConnection};
use super::{Sqlite, open, version};
use crate::backend::layout::{Address, Layout};
use crate::backend::snapshot_permits::{Queue, lost};
use crate::cell::{Cell, RowSink};
use crate::statement::Read;

/// Longest use of one of [`THREADS`] by one statement.
const TURN: Duration = Duration::from_millis(500);
/// Cache of a snapshot's connection, in KiB: it reads each page about once.
const CACHE_KIB: i64 = 128;

/// A snapshot of the database.
#[derive(Debug)]
pub(crate) struct SqliteSnapshot {
    connections: Arc<Connections>,
    held: Arc<SnapshotConnection>,
    queue: Arc<Queue>,
    watched: bool,
    ms_max: u64,
    /// Number of the last statement, so that stopping one stops no other.
    last_run: AtomicU64,
}

impl Sqlite {
    /// See [`crate::backend::Backend::hold`].
    pub(crate) async fn hold(&self, tables: &[TableInfo]) -> Result<(SqliteSnapshot, Vec<Layout>)> {
        let connections = Arc::clone(&self.connections);
        let place = connections.snapshots.take(&format!("`{}`", connections.name))?;
        connections.look();
        let (tables, ms_max) = (tables.to_vec(), self.ms_max);
        on_thread(move || {
            let mut reader = connections.open_reader(open::BUSY)?;
            reader.watch.begin(ONLY_RUN, ms_max);
            let (watched, layouts) = begin(&mut reader, &tables).map_err(fault)?;
            let held = Arc::new(Mutex::new(Some(Holder::new(reader, watched, place))));
            connections.keep_track(&held);
            let (watched, queue, last_run) = (watched.is_some(), Arc::default(), AtomicU64::new(ONLY_RUN));
            Ok((SqliteSnapshot { connections, held, queue, watched, ms_max, last_run }, layouts))
        })
        .await
    }
}

/// Begins to keep, or to watch, the present state.
fn begin(reader: &mut ReadConnection, tables: &[TableInfo]) -> rusqlite::Result<(Option<i64>, Vec<Layout>)> {
    let connection = &reader.connection;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    connection.execute_batch("BEGIN")?;
    // The first read of the file takes the snapshot.
    let layouts = tables.iter().map(|table| layout(connection, table)).collect::<rusqlite::Result<_>>()?;
    if journal == "wal" && !reader.era.still {
        return Ok((None, layouts));
    }
    let watched = version::data_version(connection)?;
    connection.execute_batch("COMMIT")?;
    Ok((Some(watched), layouts))
}

/// Returns the identity of a table's rows.
fn layout(connection: &Connection, table: &TableInfo) -> rusqlite::Result<Layout> {
    let address = address(connection, table)?;
    // A primary key other than the rowid may have nulls, which identify no row; only tables without a rowid forbid
    // them.
    Ok(Layout { keyed: address.is_none() && table.kind == TableKind::Table, address })
}

/// Returns SQLite's rowid, under a name that no column has.
fn address(connection: &Connection, table: &TableInfo) -> rusqlite::Result<Option<Address>> {
    let sql = "SELECT type = 'table' AND NOT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?";
    let numbered = match connection.query_row(sql, [&table.real_name], |row| row.get::<_, bool>(0)) {
        Ok(numbered) => numbered && table.kind == TableKind::Table,
        Err(rusqlite::Error::QueryReturnedNoRows) => false,
        Err(error) => return Err(error),
    };
    if !numbered {
        return Ok(None);
    }
    // Columns that rules hide count too.
    let mut names = connection.prepare("SELECT lower(name) FROM pragma_table_xinfo(?)")?;
    let names = names.query_map([&table.real_name], |row| row.get::<_, String>(0))?;
    let names = names.collect::<rusqlite::Result<Vec<_>>>()?;
    let free = ["rowid", "_rowid_", "oid"].into_iter().find(|word| !names.iter().any(|name| name == word));
    Ok(free.map(|word| Address { sql: word.to_owned(), number: true, sorted: true, pages: None }))
}

/// The threads that read for snapshots. With one per snapshot, each would keep memory for reuse.
static THREADS: LazyLock<Threads> =
    LazyLock::new(|| Threads { free: Semaphore::new(SNAPSHOT_THREADS_MAX), queue: Queue::default() });

struct Threads {
    free: Semaphore,
    queue: Queue,
}

/// Runs `work` on one of [`THREADS`]. Long work gives up its permit, so that others need not wait for it.
async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let turn = match THREADS.free.try_acquire() {
        Ok(turn) => Ok(turn),
        Err(_) => THREADS.queue.wait(THREADS.free.acquire()).await,
    };
    let mut task = tokio::task::spawn_blocking(|| {
        let done = work();
        memory::give_back();
        done
    });
    let done = tokio::select! {
        done = &mut task => done,
        () = tokio::time::sleep(TURN) => {
            drop(turn);
            task.await
        }
    };
    done.map_err(|error| Error::internal("reading held rows broke off").with_source(error))?
}

impl SqliteSnapshot {
    /// See [`crate::backend::snapshot::SqliteSnapshot::read`].
    pub(crate) async fn read<S: RowSink>(&self, read: Read, sink: S) -> Result<S> {
        self.run(read, sink, |sink, _| !sink.full()).await
    }

    /// Returns whether the connection blocks writers while it reads.
    pub(crate) fn is_in_the_way(&self) -> bool {
        self.watched
    }

    /// See [`crate::backend::snapshot::SqliteSnapshot::scan`].
    pub(crate) async fn scan<S: RowSink>(&self, read: Read, sink: S, out: Sender<S::Piece>) -> Result<(S, bool)> {
        let (queue, runtime) = (Arc::clone(&self.queue), Handle::current());
        let ended = Arc::new(AtomicBool::new(true));
        let (mut sent, whole) = (0, Arc::clone(&ended));
        let sink = self
            .run(read, sink, move |sink, watch| {
                if !sink.full() {
                    return true;
                }
                let since = Instant::now();
                let place = runtime.block_on(Queue::place([&queue, &THREADS.queue], &out, &mut sent));
                watch.extend(since.elapsed());
                match place {
                    Some(place) => {
                        if let Some(piece) = sink.piece() {
                            place.send(piece);
                        }
                        true
                    }
                    None => {
                        whole.store(false, Ordering::Relaxed);
                        false
                    }
                }
            })
            .await?;
        Ok((sink, ended.load(Ordering::Relaxed)))
    }

    /// Runs one statement on a thread that may block, until `after` a row returns that no more are wanted. Dropping the
    /// future stops the statement; a read that is stopped leaves its transaction open, and with it the snapshot.
    async fn run<S: RowSink>(
        &self,
        read: Read,
        mut sink: S,
        after: impl FnMut(&mut S, &Watch) -> bool + Send + 'static,
    ) -> Result<S> {
        // Awaited here, so that waiting does not block a thread.
        let mut held = match Arc::clone(&self.held).try_lock_owned() {
            Ok(held) => held,
            Err(_) => self.queue.wait(Arc::clone(&self.held).lock_owned()).await,
        };
        let (connections, ms_max) = (Arc::clone(&self.connections), self.ms_max);
        let number = self.last_run.fetch_add(1, Ordering::Relaxed) + 1;
        let _stop = held.as_ref().map(|own| StopOnDrop { watch: Arc::clone(&own.reader.watch), run: number });
        on_thread(move || run(&connections, &mut held, (number, ms_max), &read, (&mut sink, after)).map(|()| sink))
            .await
    }
}

impl Drop for SqliteSnapshot {
    fn drop(&mut self) {
        // Closing may wait for the disk.
        if let Ok(runtime) = Handle::try_current()
            && let Ok(mut held) = Arc::clone(&self.held).try_lock_owned()
            && let Some(holder) = held.take()
        {
            runtime.spawn(on_thread(move || {
                drop(holder);
                Ok(())
            }));
        }
    }
}

fn run<S: RowSink>(
    connections: &Connections,
    held: &mut OwnedMutexGuard<Option<Holder>>,
    (number, ms_max): (u64, u64),
    read: &Read,
    (sink, after): (&mut S, impl FnMut(&mut S, &Watch) -> bool),
) -> Result<()> {
    let database = format!("`{}`", connections.name);
    let replaced = || lost(&database, "its file was replaced");
    let Some(holder) = held.as_mut() else { return Err(replaced()) };
    let watched = holder.watched;
    if watched.is_some() {
        // A file without locks must be checked for replacement.
        connections.look();
    }
    holder.reader.watch.begin(number, ms_max);
    let ended = match watched {
        None => feed(&mut holder.reader, read, sink, after),
        Some(watched) => unchanged(&mut holder.reader, watched, &database, |reader| feed(reader, read, sink, after)),
    };
    if watched.is_some() {
        connections.look();
    }
    let over = holder.reader.era.is_over();
    let kept = watched.is_some() || !holder.reader.connection.is_autocommit();
    let watch = Arc::clone(&holder.reader.watch);
    let spoiled = matches!(&ended, Err(RowsEnd::Sqlite(error)) if spoils(error));
    if over || spoiled || !kept {
        **held = None;
    }
    match ended {
        // Rows read while the file was overwritten are discarded.
        Ok(()) if over => Err(replaced()),
        Ok(()) => Ok(()),
        Err(RowsEnd::Sqlite(error)) => Err(watch.explain(error)),
        Err(RowsEnd::Own(error)) => Err(error),
    }
}

/// Reads in a transaction of its own, if nothing was committed since.
fn unchanged(
    reader: &mut ReadConnection,
    watched: i64,
    database: &str,
    read: impl FnOnce(&mut ReadConnection) -> Result<(), RowsEnd>,
) -> Result<(), RowsEnd> {
    reader.connection.execute_batch("BEGIN")?;
    let ended = match version::data_version(&reader.connection) {
        Ok(now) if now == watched => read(reader),
        Ok(_) => Err(RowsEnd::Own(
            lost(database, "it was changed, and without a write-ahead log it keeps no earlier rows").with_hint(
                "set `writable = true` for the database, or `PRAGMA journal_mode = wal` in it, and export again",
            ),
        )),
        Err(error) => Err(error.into()),
    };
    let settled = reader.connection.execute_batch("ROLLBACK");
    ended.and_then(|()| Ok(settled?))
}

/// Steps `read` until its end, or until `after` a row returns that no more are wanted.
fn feed<S: RowSink>(
    reader: &mut ReadConnection,
    read: &Read,
    sink: &mut S,
    mut after: impl FnMut(&mut S, &Watch) -> bool,
) -> Result<(), RowsEnd> {
    let watch = Arc::clone(&reader.watch);
    let (connection, spare): (&Connection, &mut Vec<Cell<'static>>) = (&reader.connection, &mut reader.spare);
    rows::feed_until((connection, spare), (0, read), sink, |sink| Ok(after(sink, &watch)))
}
