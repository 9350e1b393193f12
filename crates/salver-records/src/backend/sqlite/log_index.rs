//! The header of the index of a database's write-ahead log. Every connection of every process maps the index as shared
//! memory, and every commit and every checkpoint changes its header, so that comparing two copies tells whether
//! anything was committed in between, without a lock or a system call.
//!
//! Format: <https://www.sqlite.org/walformat.html>, "The WAL-Index Header".

#![allow(unsafe_code, reason = "SQLite tells the address of its shared memory by its C interface only")]

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering, fence};

use rusqlite::{Connection, ffi};

/// Words of the header: its first copy, its second copy, and the progress of the last checkpoint.
const WORDS: usize = 25;
/// Size of the regions that SQLite maps, in bytes.
const REGION_BYTES: c_int = 32 * 1024;

/// The address of the index, valid as long as the connection that it was obtained from is open.
pub(super) struct LogIndex(NonNull<AtomicU32>);

/// A copy of the header at one moment. Equal heads mean that nothing was committed and nothing checkpointed in between:
/// a commit increments a counter, and brings a new checksum over all of the log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct LogHead([u32; WORDS]);

// SAFETY: it points to memory that is shared by processes and is read by atomic loads only.
unsafe impl Send for LogIndex {}

impl LogIndex {
    /// Returns the log index of `connection`, which must have read already; `None` when its journal is no write-ahead
    /// log.
    ///
    /// Must not outlive the connection: a connection in this mode keeps a lock on the file that keeps all others from
    /// leaving the mode, so that the memory is mapped until it closes.
    pub(super) fn of(connection: &Connection) -> Option<Self> {
        let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).ok()?;
        if mode != "wal" {
            return None;
        }
        let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
        let place: *mut *mut ffi::sqlite3_file = &raw mut file;
        // SAFETY: the handle is that of an open connection which no other thread uses at the moment (`Connection` is
        // not `Sync`), and the operation writes one pointer to the given place.
        let done = unsafe {
            let handle = connection.handle();
            ffi::sqlite3_file_control(handle, c"main".as_ptr(), ffi::SQLITE_FCNTL_FILE_POINTER, place.cast::<c_void>())
        };
        if done != ffi::SQLITE_OK || file.is_null() {
            return None;
        }
        let mut region: *mut c_void = ptr::null_mut();
        // SAFETY: the file is open as long as its connection, and its methods are static. Those of version 2 and later
        // have `xShmMap`, which here gives the address of a region that the connection has mapped already, or null.
        unsafe {
            let methods = (*file).pMethods.as_ref().filter(|methods| methods.iVersion >= 2)?;
            let map = methods.xShmMap?;
            if map(file, 0, REGION_BYTES, 0, &raw mut region) != ffi::SQLITE_OK {
                return None;
            }
        }
        NonNull::new(region.cast::<AtomicU32>()).map(Self)
    }

    /// Returns a copy of the present header.
    pub(super) fn head(&self) -> LogHead {
        fence(Ordering::SeqCst);
        // SAFETY: the region has more than so many words, is page-aligned, and is mapped (see `of`). Other processes
        // may write it meanwhile, which atomic loads tolerate; a torn copy equals none that was read before, and at
        // worst the next copy shows the change.
        let head = LogHead(std::array::from_fn(|word| unsafe { self.0.add(word).as_ref().load(Ordering::Relaxed) }));
        fence(Ordering::SeqCst);
        head
    }
}
