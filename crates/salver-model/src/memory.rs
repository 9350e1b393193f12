//! Memory pressure of the process. The program measures it several times a second; code that has built a large row
//! checks here before it continues. Also releases memory cached by idle threads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::limits::{AHEAD_BYTES_MAX, LARGE_ROW_BYTES};
use crate::{Code, Error, Result};

static IS_SHORT: AtomicBool = AtomicBool::new(false);
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();
/// Bytes that may be read ahead.
static AHEAD_ROOM: AtomicUsize = AtomicUsize::new(AHEAD_BYTES_MAX);

/// Registers the function with which a thread releases its cached memory; only the first registration counts.
pub fn give_back_by(give_back: fn()) {
    let _ = GIVE_BACK.set(give_back);
}

/// Releases the memory cached by this thread, after large work and before it becomes idle.
pub fn give_back() {
    if let Some(give_back) = GIVE_BACK.get() {
        give_back();
    }
}

/// Sets whether memory is short.
pub fn set_short(is_short: bool) {
    IS_SHORT.store(is_short, Relaxed);
}

/// Returns whether memory is short.
#[must_use]
pub fn is_short() -> bool {
    IS_SHORT.load(Relaxed)
}

/// Bounds what all readers together read ahead of their consumers.
pub fn bound_read_ahead(bytes: u64) {
    AHEAD_ROOM.store(usize::try_from(bytes).unwrap_or(usize::MAX), Relaxed);
}

/// Returns the bytes that all readers together may hold ahead of their consumers.
#[must_use]
pub fn read_ahead_bytes() -> usize {
    AHEAD_ROOM.load(Relaxed)
}

/// Checks that the caller may continue after building a row of this size: large rows are refused while memory is short.
///
/// # Errors
/// Returns `Overloaded`.
#[inline]
pub fn room_for(row_bytes: usize) -> Result<()> {
    if row_bytes < LARGE_ROW_BYTES || !is_short() {
        return Ok(());
    }
    let message = "the server has as much in memory as it may, and these rows are large";
    Err(Error::new(Code::Overloaded, message).with_hint("try again in a few seconds, or ask for fewer columns"))
}
