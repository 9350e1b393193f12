//! Bulk loads in one transaction.
//!
//! A load commits all rows or none, so it holds SQLite's single write lock from its first row to its commit, and other
//! writers wait. To make them wait for the database only and not for a slow client, slow rows are gathered before the
//! transaction begins, all of them, in memory or in a file; fast rows are written as they arrive. Should a fast client
//! become slow, the transaction is rolled back, the rest is gathered, and then all rows are written: for that, fast
//! rows are kept as well.

use std::time::{Duration, Instant};

use salver_model::{Error, Result};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;

use super::feed::{Feed, Source};
use super::job::Job;
use super::read::StopOnDrop;
use super::spool::{Rows, Spool};
use super::writer::Queue;
use crate::statement::{Bind, BulkLoad, Loaded};

/// Bytes of rows, as they are in memory, that are gathered before the client counts as slow.
const GATHERED_BYTES: usize = 8 * 1024 * 1024;
/// Bytes after which the pace of the client is known.
const PACED_BYTES: usize = 128 * 1024;
/// Bytes per millisecond from which a client is fast.
const FAST_BYTES_PER_MS: usize = 4 * 1024;
/// Time that the transaction waits for rows beyond what a fast client needs, in milliseconds.
const CREDIT_MS: u64 = 300;
/// Interval at which the arrival of rows is checked.
const LOOK: Duration = Duration::from_millis(50);
/// Pieces of rows between the client's task and the writer.
const PIECES_CAPACITY: usize = 8;

/// Passes a load to the writer and feeds it.
pub(super) async fn load(queue: &Queue, load: BulkLoad, mut rows: Receiver<Rows>, stop: StopOnDrop) -> Result<Loaded> {
    let (gathered, pace) = gather(&mut rows).await;
    if pace == Pace::Ended {
        return write(queue, load, Source::Gathered(gathered.into_iter()), &stop).await;
    }
    let mut spool = Keep(Some(Spool::new(queue.beside())));
    if pace == Pace::Fast {
        let (feed, fed) = mpsc::channel(PIECES_CAPACITY);
        let (answer, mut answered) = oneshot::channel();
        queue.put(Job::Load { load: load.clone(), rows: Source::Fed(fed), run: stop.run, answer }).await?;
        let fed = tokio::select! {
            biased;
            answer = &mut answered => return answer.map_err(|_| broke_off())?,
            fed = pump(gathered, &mut rows, feed, &mut spool) => fed?,
        };
        if fed == Pace::Ended {
            return answered.await.map_err(|_| broke_off())?;
        }
        // The writer rolls back the rows it had before it answers.
        let _ = answered.await;
    } else {
        for piece in gathered {
            spool.push(piece).await?;
        }
    }
    while let Some(piece) = rows.recv().await {
        spool.push(piece).await?;
    }
    write(queue, load, Source::Spooled(spool.take()?.read()?), &stop).await
}

/// Has the writer write rows that are all here.
async fn write(queue: &Queue, load: BulkLoad, rows: Source, stop: &StopOnDrop) -> Result<Loaded> {
    let (answer, answered) = oneshot::channel();
    queue.put(Job::Load { load, rows, run: stop.run, answer }).await?;
    answered.await.map_err(|_| broke_off())?
}

fn broke_off() -> Error {
    Error::internal("the load broke off")
}

/// The pace of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Fast,
    Slow,
    Ended,
}

/// A spool that is filled on blocking threads, away from those that answer requests.
struct Keep(Option<Spool>);

impl Keep {
    fn take(&mut self) -> Result<Spool> {
        self.0.take().ok_or_else(broke_off)
    }

    /// Spools rows, and returns them.
    async fn push(&mut self, rows: Rows) -> Result<Rows> {
        let mut spool = self.take()?;
        let kept = tokio::task::spawn_blocking(move || {
            let pushed = spool.push(&rows);
            pushed.map(|()| (spool, rows))
        });
        let (spool, rows) = kept.await.map_err(|_| broke_off())??;
        self.0 = Some(spool);
        Ok(rows)
    }
}

/// Takes rows until their pace is known.
async fn gather(rows: &mut Receiver<Rows>) -> (Vec<Rows>, Pace) {
    let since = Instant::now();
    let mut gathered = Vec::new();
    let mut bytes = 0;
    while bytes < GATHERED_BYTES {
        let Some(piece) = rows.recv().await else { return (gathered, Pace::Ended) };
        bytes += bytes_of(&piece);
        gathered.push(piece);
        let ms = usize::try_from(since.elapsed().as_millis()).unwrap_or(usize::MAX).max(1);
        if bytes >= PACED_BYTES && bytes / ms >= FAST_BYTES_PER_MS {
            return (gathered, Pace::Fast);
        }
    }
    (gathered, Pace::Slow)
}

fn bytes_of(rows: &Rows) -> usize {
    rows.iter().map(|row| row_bytes(row)).sum()
}

fn row_bytes(row: &[Bind]) -> usize {
    let text = |bind: &Bind| match bind {
        Bind::Text(text) => text.len(),
        Bind::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    std::mem::size_of_val(row) + row.iter().map(text).sum::<usize>()
}

/// Feeds the writer for as long as rows are fast; returns whether they came to their end. A writer that takes no more
/// has failed, and reports why to its caller.
async fn pump(gathered: Vec<Rows>, rows: &mut Receiver<Rows>, feed: Sender<Feed>, spool: &mut Keep) -> Result<Pace> {
    for piece in gathered {
        let piece = spool.push(piece).await?;
        if feed.send(Feed::Rows(piece)).await.is_err() {
            return Ok(Pace::Ended);
        }
    }
    let mut credit = Duration::from_millis(CREDIT_MS);
    loop {
        let since = Instant::now();
        let next = tokio::time::timeout(LOOK, rows.recv()).await;
        credit = credit.saturating_sub(since.elapsed());
        match next {
            Ok(None) => {
                let _ = feed.send(Feed::End).await;
                return Ok(Pace::Ended);
            }
            Ok(Some(piece)) => {
                let earned = Duration::from_millis((bytes_of(&piece) / FAST_BYTES_PER_MS * 2) as u64);
                credit = (credit + earned).min(Duration::from_millis(CREDIT_MS));
                let piece = spool.push(piece).await?;
                if feed.send(Feed::Rows(piece)).await.is_err() {
                    return Ok(Pace::Ended);
                }
            }
            Err(_) => {}
        }
        if credit.is_zero() {
            return Ok(Pace::Slow);
        }
    }
}
