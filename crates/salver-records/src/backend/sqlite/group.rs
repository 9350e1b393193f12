//! Group commit: all waiting programs go into one transaction and share its one fsync. No response is sent before it.
//!
//! A failed program is rolled back by itself. Where SQLite rolls back more than that (a full disk, a statement that was
//! stopped, a trigger that rolls back, a deferred constraint that fails only at the commit), the transaction is rolled
//! back and the programs are run again, each in a transaction of its own, so that none fails because of another. A
//! deferred constraint that one program violates and a later one of the same group repairs is not noticed, since it
//! holds at the commit.

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
const GROUP_PROGRAMS: usize = 1_024;
/// Time for which a transaction takes in more programs: its first ones wait for the commit.
const GATHER_TIME: Duration = Duration::from_millis(20);

/// The end of a group.
pub(super) struct Ended {
    /// A job of another kind, taken out of the queue.
    pub(super) next: Option<Job>,
    /// Whether the connection is unusable.
    pub(super) spoiled: bool,
}

/// Runs `first` and the other waiting programs.
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
        if ran.len() < GROUP_PROGRAMS && since.elapsed() < GATHER_TIME {
            match jobs.try_recv() {
                Ok(Job::Program(waiting)) => next = Some(waiting),
                Ok(other) => ended.next = Some(other),
                Err(_) => {}
            }
        }
    }
    if writer.connection.is_autocommit() {
        // The last one's failure rolled back all the others, and is its own result.
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

/// Handles a failed commit of the group.
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
        // A program that failed by itself would have been rolled back anyway.
        let result = if outcome.committed { Err(told(&mut error, &mut words)) } else { Ok(outcome) };
        let _ = waiting.answer.send(result);
    }
}

/// Returns the same failure for several callers: the first gets the cause, the others its message.
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

/// Fails all waiting programs when the transaction could not begin: each would wait as long, in vain.
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
        // The send fails if the caller has gone.
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
