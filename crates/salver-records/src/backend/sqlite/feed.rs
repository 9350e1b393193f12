//! How the rows of a load come to the thread that writes.

use salver_model::Result;
use tokio::sync::mpsc::Receiver;

use super::spool::{Rows, Spooled};

/// What the writer gets of a client that is fast.
pub(super) enum Feed {
    /// More rows.
    Rows(Rows),
    /// That was all. Without this the client has gone or became slow, and nothing stays.
    End,
}

/// Where the writer gets rows from.
pub(super) enum Source {
    /// As they come.
    Fed(Receiver<Feed>),
    /// All of them, which are few.
    Gathered(std::vec::IntoIter<Rows>),
    /// All of them.
    Spooled(Spooled),
}

impl Source {
    /// What comes next; `None` when the client has gone or became slow.
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
