//! The transfer of a load's rows to the writer thread.

use salver_model::Result;
use tokio::sync::mpsc::Receiver;

use super::load_spool::{LoadRows, Spooled};

/// A message to the writer from a fast client.
pub(super) enum Feed {
    /// More rows.
    Rows(LoadRows),
    /// The end of the rows. Without this the client has gone or became slow, and the load is rolled back.
    End,
}

/// The source of the writer's rows.
pub(super) enum LoadSource {
    /// Rows as they arrive.
    Fed(Receiver<Feed>),
    /// All rows, which are few, in memory.
    Gathered(std::vec::IntoIter<LoadRows>),
    /// All rows, in a spool.
    Spooled(Spooled),
}

impl LoadSource {
    /// Returns the next message; `None` when the client has gone or became slow.
    pub(super) fn next(&mut self) -> Result<Option<Feed>> {
        match self {
            Self::Fed(rows) => Ok(rows.blocking_recv()),
            Self::Gathered(rows) => Ok(Some(rows.next().map_or(Feed::End, Feed::Rows))),
            Self::Spooled(spooled) => {
                let rows = spooled.next()?;
                Ok(Some(if rows.is_empty() { Feed::End } else { Feed::Rows(rows) }))
            }
        }
    }
}
