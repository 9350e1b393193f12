//! Responses of a database to the records doors: serialized JSON.

use std::fmt;
use std::pin::Pin;

use futures::Stream;

use crate::error::{Error, Result};

/// Stream of JSON chunks. Dropping it cancels the work behind it; an error in it invalidates everything sent so far.
pub type DocumentStream = Pin<Box<dyn Stream<Item = Result<Vec<u8>>> + Send>>;

/// JSON, complete or streamed.
pub enum DocumentBody {
    /// Complete JSON.
    Whole(Vec<u8>),
    /// More than should be held in memory at once.
    Stream(DocumentStream),
}

impl fmt::Debug for DocumentBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "Whole({} bytes)", bytes.len()),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

/// Response to a request about records.
#[derive(Debug)]
pub struct Document {
    /// JSON body.
    pub body: DocumentBody,
    /// Entity tag of the single row it contains, without quotes.
    pub tag: Option<String>,
}

impl Document {
    /// Creates a document from complete JSON.
    #[must_use]
    pub fn whole(body: Vec<u8>) -> Self {
        Self { body: DocumentBody::Whole(body), tag: None }
    }
}

/// Response to changes of records.
#[derive(Debug)]
pub enum Changed {
    /// The results of the changes, as JSON.
    Done(Vec<u8>),
    /// The parts of a batch that was rolled back: the error of each, or `None` for one that would have succeeded.
    Undone(Vec<Option<Error>>),
}
