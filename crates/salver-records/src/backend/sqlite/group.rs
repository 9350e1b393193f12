//! Group commit: every program that waits goes into one transaction, and all of them share its one fsync. Nobody is
//! answered before it.
//!
//! A program that fails is undone by itself. Where SQLite undoes more than that (a full disk, a statement that was
//! stopped, a trigger that rolls back, a deferred constraint that fails only at the commit), the transaction is undone
//! and the programs are run again, each in a transaction of its own, so that none pays for another. A deferred
//! constraint which one program broke and a later one of the same group mended is not noticed, for it holds.

use std::time::{Duration, Instant};

use rusqlite::ffi;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc::Receiver;

use super::connections::Writer;
use super::fault::{commit_fault, fault, primary, result_code, spoils};
use super::job::{Job, Waiting};
use super::program::{self, Within, execute};
use crate::statement::Outcome;

/// Most programs in one transaction.
const PROGRAMS_MAX: usize = 1_024;
/// How long a transaction takes in more programs: those at its beginning wait for the commit.
const GATHER_MAX: Duration = Duration::from_millis(20);

/// What became of a group.
pub(super) struct Ended {
    /// A job of another kind, taken out of the queue.
    pub(super) next: Option<Job>,
    /// The connection is no good any more.
    pub(super) spoiled: bool,
}

/// Runs `first` and what else waits.
pub(super) fn run(writer: &Writer, first: Waiting, jobs: &mut Receiver<Job>, ms_max: u64) -> Ended {
    let mut ended = Ended { next: None, spoiled: false };
    writer.watch.begin(0, 0);
    if let Err(error) = execute(&writer.connection, "BEGIN IMMEDIATE") {
        ended.spoiled = spoils(&error);
        refuse(error, first, jobs, &mut ended);
        return ended;
    }
    let since = Instant::now();
    let mut ran: Vec<(Waiting, Outcome)> = Vec::new();
    let mut next = Some(first);
    while let Some(waiting) = next.take() {
        if !waiting.answer.is_closed() {
            let outcome = program::run(within(writer, waiting.run, ms_max), &waiting.program);
            ran.push((waiting, outcome));
            if writer.connection.is_autocommit() {
                break;
            }
        }
        if ran.len() < PROGRAMS_MAX && since.elapsed() < GATHER_MAX {
            match jobs.try_recv() {
                Ok(Job::Program(waiting)) => next = Some(waiting),
                Ok(other) => ended.next = Some(other),
                Err(_) => {}
            }
        }
    }
    if writer.connection.is_autocommit() {
        // The last one's failure took all with it, and is its own answer.
        let last = ran.pop();
        one_by_one(writer, ran, ms_max, &mut ended);
        answer(last);
        return ended;
    }
    writer.watch.begin(0, 0);
    match execute(&writer.connection, "COMMIT") {
        Ok(()) => answer(ran),
        Err(error) => refused_commit(writer, error, ran, ms_max, &mut ended),
    }
    ended
}

/// The group's commit failed.
fn refused_commit(
    writer: &Writer,
    error: rusqlite::Error,
    ran: Vec<(Waiting, Outcome)>,
    ms_max: u64,
    ended: &mut Ended,
) {
    roll_back(writer, ended);
    ended.spoiled |= spoils(&error);
    if primary(result_code(&error)) == ffi::SQLITE_CONSTRAINT && ran.len() > 1 {
        one_by_one(writer, ran, ms_max, ended);
        return;
    }
    let mut error = Some(error);
    let mut words = String::new();
    for (waiting, outcome) in ran {
        // What failed by itself would have been undone anyway.
        let result = if outcome.committed { Err(told(&mut error, &mut words)) } else { Ok(outcome) };
        let _ = waiting.answer.send(result);
    }
}

/// The same failure for several: the first gets the cause, the others its words.
fn told(error: &mut Option<rusqlite::Error>, words: &mut String) -> Error {
    match error.take() {
        Some(first) => {
            *words = first.to_string();
            commit_fault(first)
        }
        None => Error::new(Code::DatabaseUnavailable, "the database could not commit; the outcome is unknown")
            .with_hint("read before writing again")
            .with_source(words.clone()),
    }
}

/// Runs programs again, each in its own transaction.
fn one_by_one(writer: &Writer, ran: Vec<(Waiting, Outcome)>, ms_max: u64, ended: &mut Ended) {
    for (waiting, _) in ran {
        if waiting.answer.is_closed() {
            continue;
        }
        let result = alone(writer, &waiting, ms_max, ended);
        let _ = waiting.answer.send(result);
    }
}

fn alone(writer: &Writer, waiting: &Waiting, ms_max: u64, ended: &mut Ended) -> Result<Outcome> {
    writer.watch.begin(0, 0);
    execute(&writer.connection, "BEGIN IMMEDIATE").map_err(fault)?;
    let outcome = program::run(within(writer, waiting.run, ms_max), &waiting.program);
    if writer.connection.is_autocommit() {
        return Ok(outcome);
    }
    writer.watch.begin(0, 0);
    if let Err(error) = execute(&writer.connection, "COMMIT") {
        roll_back(writer, ended);
        ended.spoiled |= spoils(&error);
        return Err(commit_fault(error));
    }
    Ok(outcome)
}

/// The transaction could not begin: those who wait would wait as long each, for nothing.
fn refuse(error: rusqlite::Error, first: Waiting, jobs: &mut Receiver<Job>, ended: &mut Ended) {
    let words = error.to_string();
    let error = fault(error);
    let mut next = Some(first);
    while let Some(waiting) = next.take() {
        let mut same = Error::new(error.code, error.message.clone()).with_source(words.clone());
        same.hint.clone_from(&error.hint);
        let _ = waiting.answer.send(Err(same));
        match jobs.try_recv() {
            Ok(Job::Program(waiting)) => next = Some(waiting),
            Ok(other) => ended.next = Some(other),
            Err(_) => {}
        }
    }
}

fn answer(ran: impl IntoIterator<Item = (Waiting, Outcome)>) {
    for (waiting, outcome) in ran {
        // Whoever has gone does not want it.
        let _ = waiting.answer.send(Ok(outcome));
    }
}

fn roll_back(writer: &Writer, ended: &mut Ended) {
    if !writer.connection.is_autocommit() && execute(&writer.connection, "ROLLBACK").is_err() {
        ended.spoiled = true;
    }
}

fn within(writer: &Writer, run: u64, ms_max: u64) -> Within<'_> {
    Within { connection: &writer.connection, watch: &writer.watch, run, ms_max }
}
