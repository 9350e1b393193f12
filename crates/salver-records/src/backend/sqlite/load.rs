//! Many rows at once, in one transaction.
//!
//! All rows stay or none does, so the load has SQLite's one right to write from its first row to its commit, and other
//! writers wait. So that they wait for the database only and not for a slow client, rows that come slowly are gathered
//! before the transaction begins, as many as may lie in memory; rows that come fast go in as they come. Once it has
//! begun, a client that sends nothing for long ends the load.

use std::time::{Duration, Instant};

use rusqlite::{Connection, Statement};
use salver_model::limits::LOAD_PROBLEMS_MAX;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;

use super::connections::Writer;
use super::fault::{commit_fault, fault};
use super::program::execute;
use super::read::StopOnDrop;
use super::rows::{Stop, bind_all};
use super::writer::{Job, Queue};
use crate::statement::{Bind, BulkLoad, Loaded};

type Rows = Vec<Vec<Bind>>;

/// Rows gathered before the transaction begins, in bytes as they lie in memory.
const GATHER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// When so many bytes came, it is known how fast they come.
const GATHER_BYTES_MIN: usize = 128 * 1024;
/// A client that sends so much is fast.
const FAST_BYTES_PER_MS: usize = 4 * 1024;
/// How long the transaction waits for the next rows.
const STALL_MAX: Duration = Duration::from_secs(10);
/// Pieces of rows between the client's task and the writer.
const PIECES_MAX: usize = 8;
/// Rows after which the clock is set anew: the limit is on statements, and each is one.
const ROWS_PER_LIMIT: usize = 256;

/// What the writer gets.
pub(super) enum Feed {
    /// More rows.
    Rows(Rows),
    /// That was all. Without this the client has gone, and nothing stays.
    End,
    /// The client sends nothing.
    Stalled,
}

/// Hands a load to the writer and feeds it.
pub(super) async fn load(queue: &Queue, load: BulkLoad, mut rows: Receiver<Rows>, stop: StopOnDrop) -> Result<Loaded> {
    let (gathered, ended) = gather(&mut rows).await;
    let (feed, fed) = mpsc::channel(PIECES_MAX);
    let (answer, mut answered) = oneshot::channel();
    queue.put(Job::Load { load, rows: fed, run: stop.run, answer }).await?;
    let pump = pump(gathered, ended, rows, feed);
    let answer = tokio::select! {
        biased;
        answer = &mut answered => answer,
        () = pump => answered.await,
    };
    answer.map_err(|_| Error::internal("the load broke off"))?
}

/// Takes rows while they come slowly; whether they came to their end.
async fn gather(rows: &mut Receiver<Rows>) -> (Vec<Rows>, bool) {
    let since = Instant::now();
    let mut gathered = Vec::new();
    let mut bytes = 0;
    while bytes < GATHER_BYTES_MAX {
        let Some(piece) = rows.recv().await else { return (gathered, true) };
        bytes += piece.iter().map(|row| row_bytes(row)).sum::<usize>();
        gathered.push(piece);
        let ms = usize::try_from(since.elapsed().as_millis()).unwrap_or(usize::MAX).max(1);
        if bytes >= GATHER_BYTES_MIN && bytes / ms >= FAST_BYTES_PER_MS {
            break;
        }
    }
    (gathered, false)
}

fn row_bytes(row: &[Bind]) -> usize {
    let text = |bind: &Bind| match bind {
        Bind::Text(text) => text.len(),
        Bind::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    std::mem::size_of_val(row) + row.iter().map(text).sum::<usize>()
}

/// Feeds the writer until it wants no more.
async fn pump(gathered: Vec<Rows>, ended: bool, mut rows: Receiver<Rows>, feed: Sender<Feed>) {
    for piece in gathered {
        if feed.send(Feed::Rows(piece)).await.is_err() {
            return;
        }
    }
    let last = if ended { Feed::End } else { relay(&mut rows, &feed).await };
    let _ = feed.send(last).await;
}

/// Passes rows on as they come; why no more come.
async fn relay(rows: &mut Receiver<Rows>, feed: &Sender<Feed>) -> Feed {
    loop {
        match tokio::time::timeout(STALL_MAX, rows.recv()).await {
            Ok(Some(piece)) => {
                if feed.send(Feed::Rows(piece)).await.is_err() {
                    return Feed::End;
                }
            }
            Ok(None) => return Feed::End,
            Err(_) => return Feed::Stalled,
        }
    }
}

/// Loads, on the writer's thread.
pub(super) fn run(writer: &Writer, load: &BulkLoad, rows: Receiver<Feed>, run: u64, ms_max: u64) -> Result<Loaded> {
    let connection = &writer.connection;
    writer.watch.begin(0, 0);
    execute(connection, "BEGIN IMMEDIATE").map_err(fault)?;
    let filled = fill(writer, load, rows, run, ms_max);
    writer.watch.begin(0, 0);
    let undo = || {
        if !connection.is_autocommit() {
            let _ = execute(connection, "ROLLBACK");
        }
    };
    let mut loaded = match filled {
        Ok(loaded) => loaded,
        Err(error) => {
            undo();
            return Err(error);
        }
    };
    if load.dry_run || (loaded.refused > 0 && !load.keep_good) {
        undo();
        loaded.kept = 0;
        return Ok(loaded);
    }
    if let Err(error) = execute(connection, "COMMIT") {
        undo();
        return Err(commit_fault(error));
    }
    Ok(loaded)
}

fn fill(writer: &Writer, load: &BulkLoad, mut rows: Receiver<Feed>, run: u64, ms_max: u64) -> Result<Loaded> {
    let mut statement = prepare(&writer.connection, &load.insert)?;
    let mut loaded = Loaded::default();
    loop {
        match rows.blocking_recv() {
            Some(Feed::Rows(piece)) => {
                for rows in piece.chunks(ROWS_PER_LIMIT) {
                    writer.watch.begin(run, ms_max);
                    for row in rows {
                        insert(writer, &mut statement, row, &mut loaded)?;
                    }
                }
            }
            Some(Feed::End) => return Ok(loaded),
            Some(Feed::Stalled) => {
                return Err(Error::new(
                    Code::Timeout,
                    "the rows of the load came too slowly, and others wait to write",
                )
                .with_hint("send it in smaller parts"));
            }
            None => return Err(Error::new(Code::Execution, "the caller is gone")),
        }
    }
}

fn prepare<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>> {
    connection.prepare(sql).map_err(fault)
}

/// Inserts one row, or notes why not. Fails when it is not the row's fault.
fn insert(writer: &Writer, statement: &mut Statement<'_>, row: &[Bind], loaded: &mut Loaded) -> Result<()> {
    let inserted = bind_all(statement, row, &[]).and_then(|()| Ok(statement.raw_execute()?));
    let error = match inserted {
        Ok(_) => {
            loaded.kept += 1;
            return Ok(());
        }
        Err(Stop::Sqlite(error)) => writer.watch.explain(error),
        Err(Stop::Own(error)) => error,
    };
    let of_the_row = matches!(error.code, Code::DuplicateKey | Code::Integrity | Code::Invalid);
    if !of_the_row || writer.connection.is_autocommit() {
        return Err(error);
    }
    let number = loaded.kept + loaded.refused;
    loaded.refused += 1;
    if loaded.problems.len() < LOAD_PROBLEMS_MAX {
        loaded.problems.push((number, error));
    }
    Ok(())
}
