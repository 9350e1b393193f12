//! The port for the sessions of users, which outlive the process in it.

use std::fmt::Debug;

use crate::error::Result;

/// Keeps the journal of sessions: lines, to which others are added. What they mean is the caller's business, and so is
/// to find out whether they are damaged.
///
/// The methods block, and are called by one thread at a time.
pub trait SessionStore: Debug + Send + Sync {
    /// Describes the place of the journal, for the log.
    fn place(&self) -> String;

    /// Reads the journal; nothing if there is none.
    ///
    /// # Errors
    /// Returns `Source` when it can't be read, or is larger than
    /// [`SESSIONS_FILE_BYTES_MAX`](crate::limits::SESSIONS_FILE_BYTES_MAX).
    fn read(&self) -> Result<Vec<u8>>;

    /// Adds lines to the journal, which must be there. They are durable when this returns.
    ///
    /// # Errors
    /// Returns `Source` when that fails; a part of the lines may be there then.
    fn append(&self, lines: &[u8]) -> Result<()>;

    /// Puts these lines in the place of the journal: whatever happens, either is there as a whole. They are durable
    /// when this returns.
    ///
    /// # Errors
    /// Returns `Source` when that fails; then the journal is as before.
    fn replace(&self, lines: &[u8]) -> Result<()>;

    /// Removes the journal, if there is one. That is durable when this returns.
    ///
    /// # Errors
    /// Returns `Source` when that fails.
    fn remove(&self) -> Result<()>;
}
