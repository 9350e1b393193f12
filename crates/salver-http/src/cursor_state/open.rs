//! An open cursor. It prepares the next batch while the client processes the last one, and releases its decoder when
//! idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use salver_model::{Error, Result, Share};
use salver_service::exports::{Bookmark, Lease};
use tokio::task::{JoinError, JoinHandle};

use super::batch_source::{EncodedBatch, Supply};
use super::budget::{CursorBudget, Reservation};
use crate::dialect::{Refusal, arangodb};

/// The endpoint that a cursor belongs to; it is unknown to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CursorKind {
    /// `/api/export`
    Export,
    /// `/api/cursor`
    Query,
}

/// The properties of a cursor that are sent with batches, beside the rows.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The endpoint that it belongs to.
    pub(crate) kind: CursorKind,
    /// Total number of rows, when requested.
    pub(crate) count: Option<u64>,
    /// Number of rows without LIMIT, when requested.
    pub(crate) full_count: Option<u64>,
    /// Whether statistics are sent with the last batch only.
    pub(crate) is_stream: bool,
    /// Whether the last batch can be requested again.
    pub(crate) allows_retry: bool,
}

/// Statistics up to the current batch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Number of rows in all batches.
    pub(crate) rows: u64,
    /// Time spent on them.
    pub(crate) took: Duration,
    /// Size of the largest batch, in bytes.
    pub(crate) peak_bytes: usize,
}

/// A batch to be sent to the client.
#[derive(Debug)]
pub(crate) struct CursorBatch {
    /// The body up to the end of the rows.
    pub(crate) body: Vec<u8>,
    /// Whether more batches follow.
    pub(crate) has_more: bool,
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Statistics up to and including this batch.
    pub(crate) totals: Totals,
}

/// An open cursor.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// The properties that are sent with each batch.
    pub(crate) facts: Facts,
    stage: Stage,
    totals: Totals,
    /// The number of the last batch returned.
    number: u64,
    /// Whether that was the last one.
    is_finished: bool,
    again: Option<Again>,
    budget: Arc<CursorBudget>,
    /// The permit of a live cursor.
    permit: Option<Share>,
}

#[derive(Debug)]
enum Stage {
    /// No batch is being prepared.
    Resting(Box<Supply>),
    /// The next batch is being prepared.
    Preparing(Preparing),
    /// The next batch is ready.
    Prepared { supply: Box<Supply>, batch: EncodedBatch, before: Option<Bookmark>, _room: Option<Reservation> },
    /// The state was lost in a fault.
    Lost,
}

/// The way to return the last batch again.
#[derive(Debug)]
enum Again {
    /// By reading its rows again.
    Read(Bookmark, Totals),
    /// From a copy.
    Kept(Bytes, Totals),
}

type Made = (Box<Supply>, Result<EncodedBatch, Refusal>);

#[derive(Debug)]
struct Preparing {
    task: Task,
    /// Tells the task that the cursor is idle, so that it releases its decoder at the end.
    is_parked: Arc<AtomicBool>,
    before: Option<Bookmark>,
    room: Option<Reservation>,
}

/// A task that is aborted on drop.
#[derive(Debug)]
struct Task(JoinHandle<Made>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Cursor {
    /// A cursor before its first batch.
    pub(crate) fn new(facts: Facts, supply: Supply, budget: &Arc<CursorBudget>) -> Self {
        Self {
            facts,
            stage: Stage::Resting(Box::new(supply)),
            totals: Totals::default(),
            number: 0,
            is_finished: false,
            again: None,
            budget: Arc::clone(budget),
            permit: None,
        }
    }

    /// Returns whether it keeps a query, or its rows, in memory.
    pub(crate) fn is_live(&self) -> bool {
        match &self.stage {
            Stage::Resting(supply) | Stage::Prepared { supply, .. } => supply.is_live(),
            Stage::Preparing(_) | Stage::Lost => false,
        }
    }

    /// Returns whether it holds the permit of a live cursor.
    pub(crate) fn has_place(&self) -> bool {
        self.permit.is_some()
    }

    /// Gives it the permit of a live cursor.
    pub(crate) fn settle_in(&mut self, permit: Share) {
        self.permit = Some(permit);
    }

    /// Returns whether the last batch was returned.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the number of the last batch returned.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns whether the state was lost in a fault.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.stage, Stage::Lost)
    }

    /// Returns the next batch. Cancel-safe: no batch is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Result<CursorBatch, Refusal> {
        self.start(None);
        let (batch, before) = self.made().await?;
        let totals_before = self.totals;
        self.totals.rows += batch.rows;
        self.totals.took += batch.took;
        self.totals.peak_bytes = self.totals.peak_bytes.max(batch.body.len());
        self.number += 1;
        self.is_finished = !batch.has_more;
        if self.facts.allows_retry {
            self.again = Some(match before {
                Some(before) => Again::Read(before, totals_before),
                None => Again::Kept(Bytes::copy_from_slice(&batch.body), self.totals),
            });
        }
        Ok(CursorBatch { body: batch.body, has_more: batch.has_more, number: self.number, totals: self.totals })
    }

    /// Returns the last batch again.
    pub(crate) async fn again(&mut self) -> Result<CursorBatch, Refusal> {
        match &self.again {
            None => Err(arangodb::no_batch()),
            Some(Again::Kept(body, totals)) => Ok(CursorBatch {
                body: body.to_vec(),
                has_more: !self.is_finished,
                number: self.number,
                totals: *totals,
            }),
            Some(Again::Read(before, totals)) => {
                let (before, totals) = (*before, *totals);
                // A batch prepared after it is made again later.
                let mut supply = match std::mem::replace(&mut self.stage, Stage::Lost) {
                    Stage::Resting(supply) | Stage::Prepared { supply, .. } => supply,
                    Stage::Preparing(preparing) => {
                        self.stage = Stage::Preparing(preparing);
                        // If that one failed, the error is reported to the request that asks for it.
                        let _ = self.made().await;
                        match std::mem::replace(&mut self.stage, Stage::Lost) {
                            Stage::Resting(supply) => supply,
                            _ => return Err(arangodb::no_batch()),
                        }
                    }
                    Stage::Lost => return Err(lost(None)),
                };
                supply.go_back(before);
                self.stage = Stage::Resting(supply);
                self.totals = totals;
                self.number -= 1;
                self.is_finished = false;
                self.next().await
            }
        }
    }

    /// Starts to prepare the next batch, if there is one and the budget allows it. Without budget the decoder is
    /// released.
    pub(crate) fn prepare(&mut self) {
        if let Stage::Resting(supply) = &mut self.stage
            && !self.is_finished
        {
            match self.budget.reserve(supply.expected_bytes()) {
                Some(room) => self.start(Some(room)),
                None => supply.park(),
            }
        }
    }

    fn start(&mut self, room: Option<Reservation>) {
        if !matches!(self.stage, Stage::Resting(_)) {
            return;
        }
        let Stage::Resting(mut supply) = std::mem::replace(&mut self.stage, Stage::Lost) else { return };
        let before = supply.bookmark();
        let is_parked = Arc::new(AtomicBool::new(false));
        let parked = Arc::clone(&is_parked);
        let task = tokio::spawn(async move {
            let batch = supply.batch().await;
            if parked.load(Ordering::Relaxed) {
                supply.park();
            }
            (supply, batch)
        });
        self.stage = Stage::Preparing(Preparing { task: Task(task), is_parked, before, room });
    }

    /// Waits for the batch that is prepared or in progress, and returns it with the position where it begins.
    async fn made(&mut self) -> Result<(EncodedBatch, Option<Bookmark>), Refusal> {
        if let Stage::Preparing(preparing) = &mut self.stage {
            let done = (&mut preparing.task.0).await;
            let before = preparing.before;
            return self.take(done).map(|batch| (batch, before));
        }
        match std::mem::replace(&mut self.stage, Stage::Lost) {
            Stage::Prepared { supply, batch, before, .. } => {
                self.stage = Stage::Resting(supply);
                Ok((batch, before))
            }
            _ => Err(lost(None)),
        }
    }

    fn take(&mut self, done: std::result::Result<Made, JoinError>) -> Result<EncodedBatch, Refusal> {
        self.stage = Stage::Lost;
        let (supply, batch) = done.map_err(|broken| lost(Some(broken)))?;
        // The rows of a live query can't be read again.
        if batch.is_ok() || !supply.is_live() {
            self.stage = Stage::Resting(supply);
        }
        batch
    }
}

fn lost(broken: Option<JoinError>) -> Refusal {
    let error = Error::internal("the cursor broke down while a batch was made");
    match broken {
        Some(broken) => error.with_source(broken),
        None => error,
    }
    .into()
}

impl Lease for Cursor {
    fn park(&mut self) {
        if let Stage::Preparing(preparing) = &mut self.stage {
            let Some(done) = (&mut preparing.task.0).now_or_never() else {
                preparing.is_parked.store(true, Ordering::Relaxed);
                return;
            };
            let (before, mut room) = (preparing.before, preparing.room.take());
            // After an error the batch is made again at the next request, which reports it.
            if let Ok(batch) = self.take(done)
                && let Stage::Resting(supply) = std::mem::replace(&mut self.stage, Stage::Lost)
            {
                if let Some(room) = &mut room {
                    room.adjust(batch.body.len());
                }
                self.stage = Stage::Prepared { supply, batch, before, _room: room };
            }
        }
        self.give_back();
        if let Stage::Resting(supply) | Stage::Prepared { supply, .. } = &mut self.stage {
            supply.park();
        }
    }
}

impl Cursor {
    /// Drops a prepared batch when the budget is short and the batch can be made again.
    fn give_back(&mut self) {
        let is_dear = matches!(&self.stage, Stage::Prepared { before: Some(_), .. }) && self.budget.is_short();
        if is_dear
            && let Stage::Prepared { mut supply, before: Some(before), .. } =
                std::mem::replace(&mut self.stage, Stage::Lost)
        {
            supply.go_back(before);
            self.stage = Stage::Resting(supply);
        }
    }
}
