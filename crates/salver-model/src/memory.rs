//! Whether the process has more in memory than it may. The program looks, some times a second; whoever has made a large
//! row asks here before it goes on.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::limits::LARGE_ROW_BYTES;
use crate::{Code, Error, Result};

static IS_SHORT: AtomicBool = AtomicBool::new(false);

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
