//! What the thread that writes is asked for.

use salver_model::{Error, Result};
use tokio::sync::oneshot;

use super::feed::Source;
use crate::statement::{BulkLoad, Loaded, Outcome, Program};

/// Something to be written.
pub(super) enum Job {
    /// A program.
    Program(Waiting),
    /// Statements that change the schema.
    Define { statements: Vec<String>, answer: oneshot::Sender<Result<()>> },
    /// Rows, as they arrive.
    Load { load: BulkLoad, rows: Source, run: u64, answer: oneshot::Sender<Result<Loaded>> },
}

impl Job {
    /// Tells who waits for it why it is not done.
    pub(super) fn refuse(self, error: Error) {
        match self {
            Self::Program(waiting) => drop(waiting.answer.send(Err(error))),
            Self::Define { answer, .. } => drop(answer.send(Err(error))),
            Self::Load { answer, .. } => drop(answer.send(Err(error))),
        }
    }
}

/// A program that waits.
pub(super) struct Waiting {
    pub(super) program: Program,
    pub(super) run: u64,
    pub(super) answer: oneshot::Sender<Result<Outcome>>,
}
