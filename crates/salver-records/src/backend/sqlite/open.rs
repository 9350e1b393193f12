//! Opens connections: flags, pragmas, and the fallback for a file in a read-only directory.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, ffi};
use salver_model::limits::{DATABASE_BUSY_MS_MAX, PREPARED_MAX};
use salver_model::{Code, Error, Result};

use super::fault::{fault, primary, result_code};
use super::functions;
use super::location::{Location, beside};

/// Patience with another process that holds the database.
pub(super) const BUSY: Duration = Duration::from_millis(DATABASE_BUSY_MS_MAX);
/// Page cache of a reader, in KiB; allocated as pages are read. Files are not memory-mapped: a program that overwrites
/// the file in place would kill the server with a signal.
const READER_CACHE_KIB: i64 = 16 * 1024;
/// Page cache of all threads' own readers together, in KiB: they do most reads, and a cache miss costs a system call.
/// Each has no less than any other reader.
const LANES_CACHE_KIB: usize = 128 * 1024;
/// Page cache of the writer, in KiB: an update of many rows spills what does not fit.
const WRITER_CACHE_KIB: i64 = 64 * 1024;
/// Size to which a log that grew by one large change is truncated afterwards, in bytes. Below it the file is
/// overwritten in place, since growing a file makes each fsync more expensive.
const LOG_BYTES_KEPT: i64 = 64 * 1024 * 1024;

/// Opens a read-only connection; `busy` is the longest wait for writers of other processes.
pub(super) fn reader(location: &Location, still: bool, busy: Duration) -> Result<Connection> {
    let connection = try_reader(location, still, busy).map_err(fault)?;
    let encoding: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0)).map_err(fault)?;
    if encoding == "UTF-8" {
        return Ok(connection);
    }
    // UTF-16 text would be compared in a byte order that no other part of Salver knows.
    Err(Error::new(Code::DatabaseUnavailable, format!("the database has its texts in {encoding}, and not in UTF-8"))
        .with_hint("write it anew: `sqlite3 OLD .dump | sqlite3 NEW`"))
}

/// Opens the file and reads its header.
fn try_reader(location: &Location, still: bool, busy: Duration) -> rusqlite::Result<Connection> {
    let connection = match location {
        Location::File(path) if still => Connection::open_with_flags(still_uri(path), reading(true)),
        Location::File(path) => Connection::open_with_flags(path, reading(false)),
        Location::Memory(uri) => Connection::open_with_flags(uri, memory()),
    }?;
    prepare_reader(&connection, busy)?;
    Ok(connection)
}

fn prepare_reader(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    settle(connection, busy)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    // Opening alone reads nothing.
    connection.query_row("PRAGMA schema_version", [], |_| Ok(()))
}

/// Gives a thread's own reader its share of the page cache.
pub(super) fn widen(connection: &Connection) -> rusqlite::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = i64::try_from(LANES_CACHE_KIB / threads).unwrap_or(READER_CACHE_KIB);
    connection.pragma_update(None, "cache_size", -share.max(READER_CACHE_KIB))
}

/// Returns whether the file can only be read as immutable: its journal is a write-ahead log, and the index of the log
/// can't be created in a read-only directory. Fails when the file can't be read at all.
pub(super) fn must_be_still(location: &Location) -> Result<bool> {
    let Location::File(path) = location else { return Ok(false) };
    let Err(error) = try_reader(location, false, BUSY) else { return Ok(false) };
    let log_in_use = std::fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    if log_in_use || !matches!(primary(result_code(&error)), ffi::SQLITE_CANTOPEN | ffi::SQLITE_READONLY) {
        return Err(fault(error));
    }
    reader(location, true, BUSY).map(|_| true)
}

/// Opens the only connection that writes. `create` creates a missing file; `pages` receives the length of the log.
pub(super) fn writer(location: &Location, create: bool, pages: &Arc<AtomicU32>) -> Result<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, create);
    let opened = match location {
        Location::File(path) => Connection::open_with_flags(path, flags),
        Location::Memory(uri) => Connection::open_with_flags(uri, memory()),
    };
    let mut connection = opened.map_err(fault)?;
    prepare_writer(&mut connection, pages).map_err(fault)?;
    if matches!(location, Location::File(_)) && connection.is_readonly("main").map_err(fault)? {
        return Err(Error::new(Code::DatabaseUnavailable, "the database can't be written")
            .with_hint("let the server write the file and its directory, or serve it without `writable`"));
    }
    Ok(connection)
}

fn prepare_writer(connection: &mut Connection, pages: &Arc<AtomicU32>) -> rusqlite::Result<()> {
    settle(connection, BUSY)?;
    // Another program that is using the file can keep the journal mode; everything works with it, only slower.
    match connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0)) {
        Ok(mode) if mode == "wal" || mode == "memory" => {}
        Ok(mode) => tracing::warn!(mode, "the database takes no write-ahead log"),
        Err(error) if primary(result_code(&error)) == ffi::SQLITE_BUSY => {
            tracing::warn!("the database takes no write-ahead log now: another program uses it");
        }
        Err(error) => return Err(error),
    }
    // Each commit waits for the disk. With NORMAL, a power failure would lose the last commits.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_KEPT, |_| Ok(()))?;
    // Replaces SQLite's own checkpoints, which would delay the commit that triggers them.
    let pages = Arc::clone(pages);
    connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, length| {
        pages.store(u32::try_from(length).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    }))
}

/// Applies the settings of every connection.
fn settle(connection: &Connection, busy: Duration) -> rusqlite::Result<()> {
    functions::add(connection)?;
    connection.busy_timeout(busy)?;
    connection.set_prepared_statement_cache_capacity(PREPARED_MAX);
    // Otherwise the quoted name of a missing column would be taken as a string.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    // Otherwise a statement is planned again for every value, since another plan might be better for it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(())
}

fn reading(uri: bool) -> OpenFlags {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_URI, uri);
    flags
}

fn memory() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI
}

/// Returns the URI of an immutable file.
fn still_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1");
    uri
}
