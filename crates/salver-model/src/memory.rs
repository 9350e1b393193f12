//! Whether the process has more in memory than it may. The program looks, some times a second; whoever has made a large
//! row asks here before it goes on. And what threads keep that have nothing to do.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::limits::LARGE_ROW_BYTES;
use crate::{Code, Error, Result};

static IS_SHORT: AtomicBool = AtomicBool::new(false);
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Says how a thread gives back what it keeps for what it may need again; the first that is said holds.
pub fn give_back_by(give_back: fn()) {
    let _ = GIVE_BACK.set(give_back);
}

/// Gives back what this thread keeps, so that others may have it: for threads that had large work and may rest now.
pub fn give_back() {
    if let Some(give_back) = GIVE_BACK.get() {
        give_back();
    }
}

/// Says whether memory is short now.
pub fn set_short(is_short: bool) {
    IS_SHORT.store(is_short, Relaxed);
}

/// Whether memory is short now.
#[must_use]
pub fn is_short() -> bool {
    IS_SHORT.load(Relaxed)
}

/// That who made a row of so many bytes may go on; with a large one nobody does while memory is short.
///
/// # Errors
/// `Overloaded`.
#[inline]
pub fn room_for(row_bytes: usize) -> Result<()> {
    if row_bytes < LARGE_ROW_BYTES || !is_short() {
        return Ok(());
    }
    let message = "the server has as much in memory as it may, and these rows are large";
    Err(Error::new(Code::Overloaded, message).with_hint("try again in a few seconds, or ask for fewer columns"))
}
