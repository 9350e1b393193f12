//! Jobs for the writer thread.

use salver_model::{Error, Result};
use tokio::sync::oneshot;

use super::load_feed::LoadSource;
use crate::statement::{BulkLoad, Loaded, Program, ProgramOutcome};

/// A job for the writer.
pub(super) enum Job {
    /// A program.
    Program(WaitingProgram),
    /// Statements that change the schema.
    Define { statements: Vec<String>, answer: oneshot::Sender<Result<()>> },
    /// Rows, as they arrive.
    Load { load: BulkLoad, rows: LoadSource, run: u64, answer: oneshot::Sender<Result<Loaded>> },
}

impl Job {
    /// Answers the job's caller with `error`.
    pub(super) fn refuse(self, error: Error) {
        match self {
            Self::Program(waiting) => drop(waiting.answer.send(Err(error))),
            Self::Define { answer, .. } => drop(answer.send(Err(error))),
            Self::Load { answer, .. } => drop(answer.send(Err(error))),
        }
    }
}

/// A program that waits.
pub(super) struct WaitingProgram {
    pub(super) program: Program,
    pub(super) run: u64,
    pub(super) answer: oneshot::Sender<Result<ProgramOutcome>>,
}
