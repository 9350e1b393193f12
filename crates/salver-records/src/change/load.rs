//! Loads rows as they arrive: each is validated and converted here, the good ones go to the backend's bulk load, and
//! the bad ones into the report, by number.

mod shape;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use futures::{StreamExt, stream};
use salver_model::limits::LOAD_PROBLEMS_MAX;
use salver_model::ports::{ArrivingRow, RecordStream};
use salver_model::records::{Change, ChangeKind, Load, LoadReport, Record, RowProblem};
use salver_model::shares::Yields;
use salver_model::{Code, Error, Result};
use tokio::sync::{Notify, mpsc};

use self::shape::Shape;
use super::ground::{Ground, no_primary_key};
use super::judged::blame;
use super::told::keep_discreet;
use crate::backend::lying;
use crate::scope::Scope;
use crate::statement::{Bind, Loaded};

/// Rows that are inspected for the columns of the load, before any is sent.
const FIRST_ROWS: usize = 1_000;
/// Rows among which at least one must be readable.
const FIRST_LINES: usize = 100_000;
/// Rows per piece sent to the backend.
const PIECE_ROWS: usize = 1_024;
/// Pieces buffered for the backend.
const PIECES_CAPACITY: usize = 4;

/// Loads rows.
pub(crate) async fn load(scope: &Scope<'_>, load: &Load, mut rows: RecordStream) -> Result<LoadReport> {
    let kind = if load.upsert { ChangeKind::Upsert { on: Vec::new(), ignore: false } } else { ChangeKind::Create };
    let mut change = Change::new(kind, load.table.as_str());
    change.strict = true;
    let mut ground = Ground::new(scope, &change)?;
    ground.bytes = load.bytes;
    if load.upsert && !ground.tells_key {
        return Err(no_primary_key(&load.table));
    }
    let mut first = First::default();
    while first.good < FIRST_ROWS && first.rows.len() < FIRST_LINES {
        match rows.next().await {
            Some(piece) => first.take(piece?),
            None => break,
        }
    }
    if first.good == 0 {
        return first.hopeless(rows).await;
    }
    let shape = Shape::of(&ground, first.rows.iter().filter_map(|row| row.as_ref().ok()), load.upsert)?;
    let bulk = shape.bulk(&ground, load)?;
    let mut share = lying::take(scope.backend.lying(), &scope.access.caller.holder()).await?;
    let pace = Arc::new(Pace::default());
    let weak: Weak<Pace> = Arc::downgrade(&pace);
    share.lies(weak);
    let (sender, receiver) = mpsc::channel(PIECES_CAPACITY);
    let mut intake = Intake {
        ground: &ground,
        shape: &shape,
        keep_good: load.keep_good,
        read: 0,
        sent: 0,
        refused: Vec::new(),
        problems: Vec::new(),
    };
    // Boxed, so that it can be dropped at will, which cancels the load.
    let mut loading = Box::pin(scope.backend.load(bulk, receiver));
    let mut feeding = Box::pin(intake.feed(first.rows, pace.watched(rows), sender));
    let fed = tokio::select! {
        fed = &mut feeding => fed,
        // The load ended before the rows did, with an error or a final result.
        loaded = &mut loading => {
            drop(feeding);
            return loaded.map(|loaded| intake.report(loaded));
        }
        () = pace.gave_up.notified() => Err(too_slow()),
    };
    drop(feeding);
    match fed {
        Ok(Some(sender)) => {
            drop(sender);
            loading.await.map(|loaded| intake.report(loaded))
        }
        // The load is dropped first: while the sender lives, it has not seen its end, and keeps nothing.
        Ok(None) => {
            drop(loading);
            Ok(intake.report(Loaded::default()))
        }
        Err(error) => {
            drop(loading);
            Err(error)
        }
    }
}

/// The first rows, which determine the columns.
#[derive(Default)]
struct First {
    rows: Vec<ArrivingRow>,
    /// Number of readable rows among them.
    good: usize,
}

impl First {
    fn take(&mut self, piece: Vec<ArrivingRow>) {
        self.good += piece.iter().filter(|row| row.is_ok()).count();
        self.rows.extend(piece);
    }

    /// Returns the report of a load without a readable row, as far as it was read.
    async fn hopeless(self, mut rest: RecordStream) -> Result<LoadReport> {
        let mut report = LoadReport::default();
        let mut piece = Some(self.rows);
        while let Some(rows) = piece {
            for row in rows {
                report.read += 1;
                report.refused += 1;
                let error = row.err().unwrap_or_else(late);
                if report.problems.len() < LOAD_PROBLEMS_MAX {
                    report.problems.push(RowProblem { row: report.read, error });
                }
            }
            piece = rest.next().await.transpose()?;
        }
        Ok(report)
    }
}

/// Returns the error for a row after too many unreadable ones.
fn late() -> Error {
    Error::new(Code::Invalid, format!("none of the first {FIRST_LINES} rows could be read"))
        .with_hint("see whether the body is of the type that `Content-Type` says")
}

/// Measures how long the load waits for its client, since other requests wait for the connection.
#[derive(Debug, Default)]
struct Pace {
    waits_since: Mutex<Option<Instant>>,
    gave_up: Notify,
}

impl Pace {
    fn watched(self: &Arc<Self>, rows: RecordStream) -> RecordStream {
        let pace = Arc::clone(self);
        Box::pin(stream::unfold((rows, pace), |(mut rows, pace)| async move {
            pace.set(Some(Instant::now()));
            let next = rows.next().await;
            pace.set(None);
            Some((next?, (rows, pace)))
        }))
    }

    fn set(&self, since: Option<Instant>) {
        *self.waits_since.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

impl Yields for Pace {
    fn idle_since(&self) -> Option<Instant> {
        *self.waits_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self) {
        self.gave_up.notify_one();
    }
}

fn too_slow() -> Error {
    Error::new(Code::Timeout, "the rows of the load came too slowly, and others waited for the connection")
        .with_hint("nothing was loaded; send it faster, or in smaller parts")
}

/// Validates and converts rows.
struct Intake<'a> {
    ground: &'a Ground<'a>,
    shape: &'a Shape,
    keep_good: bool,
    read: u64,
    /// Number of rows sent to the backend.
    sent: u64,
    /// For each row rejected here, the number of rows sent before it.
    refused: Vec<u64>,
    problems: Vec<RowProblem>,
}

impl Intake<'_> {
    /// Sends every good row; returns the sender on success, and `None` when the load must be cancelled.
    async fn feed(
        &mut self,
        first: Vec<ArrivingRow>,
        mut rows: RecordStream,
        sender: mpsc::Sender<Vec<Vec<Bind>>>,
    ) -> Result<Option<mpsc::Sender<Vec<Vec<Bind>>>>> {
        let mut next = Some(first);
        let mut piece = Vec::with_capacity(PIECE_ROWS);
        while let Some(records) = next {
            for record in records {
                self.take(record, &mut piece);
                if piece.len() == PIECE_ROWS {
                    let full = std::mem::replace(&mut piece, Vec::with_capacity(PIECE_ROWS));
                    self.send(full, &sender).await?;
                }
            }
            next = rows.next().await.transpose()?;
        }
        if !piece.is_empty() {
            self.send(piece, &sender).await?;
        }
        Ok((!self.is_called_off()).then_some(sender))
    }

    /// Returns whether a bad row cancels the load.
    fn is_called_off(&self) -> bool {
        !self.keep_good && !self.refused.is_empty()
    }

    async fn send(&self, rows: Vec<Vec<Bind>>, sender: &mpsc::Sender<Vec<Vec<Bind>>>) -> Result<()> {
        if !self.is_called_off() && sender.send(rows).await.is_err() {
            // The receiver is gone: the load has failed, and its future returns the error.
            std::future::pending::<()>().await;
        }
        Ok(())
    }

    fn take(&mut self, row: ArrivingRow, piece: &mut Vec<Vec<Bind>>) {
        self.read += 1;
        match row.and_then(|record: Record| self.shape.row(self.ground, &record)) {
            Ok(row) => {
                piece.push(row);
                self.sent += 1;
            }
            Err(error) => {
                self.refused.push(self.sent);
                if self.problems.len() < LOAD_PROBLEMS_MAX {
                    self.problems.push(RowProblem { row: self.read, error });
                }
            }
        }
    }

    /// Returns the number, from 1, of the row that was sent as number `sent`, from 0.
    fn number(&self, sent: u64) -> u64 {
        let refused_before = self.refused.partition_point(|before| *before <= sent);
        sent + 1 + refused_before as u64
    }

    fn report(&mut self, loaded: Loaded) -> LoadReport {
        let mut problems = std::mem::take(&mut self.problems);
        let judged = self.shape.judged(self.ground);
        let named = |mut error: Error| {
            blame(self.ground.table, judged.iter(), &mut error);
            if error.code == Code::Invalid && error.details.is_empty() {
                error.hint = error.hint.take().or(Some("the database refused a value".to_owned()));
            }
            keep_discreet(self.ground.scope, self.ground.table, &mut error);
            error
        };
        problems.extend(
            loaded.problems.into_iter().map(|(sent, error)| RowProblem { row: self.number(sent), error: named(error) }),
        );
        problems.sort_by_key(|problem| problem.row);
        problems.truncate(LOAD_PROBLEMS_MAX);
        LoadReport {
            read: self.read,
            loaded: loaded.kept,
            refused: self.refused.len() as u64 + loaded.refused,
            problems,
        }
    }
}
