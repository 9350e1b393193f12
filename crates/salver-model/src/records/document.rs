//! What a database answers to the records doors: finished JSON.

use std::fmt;
use std::pin::Pin;

use futures::Stream;

use crate::error::Result;

/// Pieces of JSON as they are made. Dropping the stream cancels the work behind it; a failure in it means that what
/// went out so far is no answer.
pub type DocumentStream = Pin<Box<dyn Stream<Item = Result<Vec<u8>>> + Send>>;

/// JSON, all at hand or still to come.
pub enum DocumentBody {
    /// Everything is here.
    Whole(Vec<u8>),
    /// More than should be held at once.
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

/// The answer to a request about records.
#[derive(Debug)]
pub struct Document {
    /// The JSON.
    pub body: DocumentBody,
    /// Whether it is the list of failures of a batch that was undone whole.
    pub undone: bool,
    /// The entity tag of the one row it shows, without quotes.
    pub tag: Option<String>,
    /// What the database says of what failed first, names of constraints and columns.
    pub told: Option<String>,
}

impl Document {
    /// Finished JSON.
    #[must_use]
    pub fn whole(body: Vec<u8>) -> Self {
        Self { body: DocumentBody::Whole(body), undone: false, tag: None, told: None }
    }
}
