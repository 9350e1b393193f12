//! Runs reads: one as it is, several as one statement where they can be merged, else in one snapshot.

use std::sync::Arc;

use mysql_async::{Error as Failure, Value};
use salver_model::{Error, Result};
use tokio::sync::mpsc;

use super::client::Client;
use super::error_numbers;
use super::merged_reads::merged;
use super::pool::Pool;
use crate::cell::RowSink;
use crate::statement::{Bind, Read};

/// Reason for an early end of reads.
pub(super) enum ReadEnd {
    /// The database, or the connection to it.
    Failure(Failure),
    /// The sink.
    Error(Error),
    /// The receiver of the pieces is gone.
    Unwanted,
}

impl From<Failure> for ReadEnd {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// The destination of rows.
pub(super) struct Way<'a, S: RowSink> {
    pub(super) sink: &'a mut S,
    pub(super) out: Option<&'a mpsc::Sender<Result<S::Piece>>>,
    /// Number of rows passed on: a read can't be retried once there is one.
    pub(super) rows: u64,
}

impl<S: RowSink> Way<'_, S> {
    async fn send(&mut self) -> Result<(), ReadEnd> {
        if let Some(out) = self.out {
            while let Some(piece) = self.sink.piece() {
                out.send(Ok(piece)).await.map_err(|_| ReadEnd::Unwanted)?;
            }
        }
        Ok(())
    }
}

/// Runs `reads`, all of which see one snapshot of the database.
pub(super) async fn read<S: RowSink>(
    pool: &Pool,
    reads: &[Read],
    mut sink: S,
    out: Option<mpsc::Sender<Result<S::Piece>>>,
) -> Result<S> {
    let mut way = Way { sink: &mut sink, out: out.as_ref(), rows: 0 };
    let mut lease = pool.lease().await?;
    let mut ended = run(&mut lease.client, reads, &mut way).await;
    if let Err(ReadEnd::Failure(failure)) = &ended
        && error_numbers::is_lost(failure)
        && way.rows == 0
    {
        // The connection may have been lost long ago, with a server since restarted.
        drop(lease);
        lease = pool.lease_new().await?;
        ended = run(&mut lease.client, reads, &mut way).await;
    }
    match ended {
        Ok(()) => {
            pool.give_back(lease);
            Ok(sink)
        }
        Err(ReadEnd::Failure(failure)) => {
            if matches!(failure, Failure::Server(_)) {
                pool.give_back(lease);
            }
            Err(error_numbers::error(failure, pool.place()))
        }
        // Closing the connection ends the rest of the result.
        Err(ReadEnd::Error(error)) => Err(error),
        Err(ReadEnd::Unwanted) => Ok(sink),
    }
}

async fn run<S: RowSink>(client: &mut Client, reads: &[Read], way: &mut Way<'_, S>) -> Result<(), ReadEnd> {
    match reads {
        [] => Ok(()),
        [only] => one(client, only, 0, way).await,
        several => {
            if let Some(sql) = merged(several) {
                match together(client, &sql.into(), several, way).await {
                    // Reads that fail as one statement may work as several; if these fail too, theirs is the failure to
                    // report.
                    Err(ReadEnd::Failure(Failure::Server(cause)))
                        if way.rows == 0 && !error_numbers::is_lost(&Failure::Server(cause.clone())) => {}
                    ended => return ended,
                }
            }
            in_snapshot(client, several, way).await
        }
    }
}

pub(super) async fn one<S: RowSink>(
    client: &mut Client,
    read: &Read,
    index: usize,
    way: &mut Way<'_, S>,
) -> Result<(), ReadEnd> {
    client.start(&read.sql, &[&read.binds]).await?;
    while let Some(row) = client.next().await? {
        client.buffer.hand_over(&row, &read.kinds, index, way.sink).map_err(ReadEnd::Error)?;
        way.rows += 1;
        way.send().await?;
    }
    Ok(())
}

async fn together<S: RowSink>(
    client: &mut Client,
    sql: &Arc<str>,
    reads: &[Read],
    way: &mut Way<'_, S>,
) -> Result<(), ReadEnd> {
    let binds: Vec<&[Bind]> = reads.iter().map(|read| read.binds.as_slice()).collect();
    client.start(sql, &binds).await?;
    while let Some(row) = client.next().await? {
        let index = match row.as_ref(0) {
            Some(Value::Int(index)) => usize::try_from(*index).ok(),
            Some(Value::UInt(index)) => usize::try_from(*index).ok(),
            _ => None,
        };
        let Some((index, read)) = index.and_then(|index| Some((index, reads.get(index)?))) else {
            return Err(ReadEnd::Error(Error::internal("a merged row belongs to no read")));
        };
        client.buffer.hand_over_merged(&row, &read.kinds, index, way.sink).map_err(ReadEnd::Error)?;
        way.rows += 1;
        way.send().await?;
    }
    Ok(())
}

async fn in_snapshot<S: RowSink>(client: &mut Client, reads: &[Read], way: &mut Way<'_, S>) -> Result<(), ReadEnd> {
    client.begin_snapshot().await?;
    for (index, read) in reads.iter().enumerate() {
        if let Err(ended) = one(client, read, index, way).await {
            // The connection goes back to the pool after a failure of the statement.
            if let ReadEnd::Failure(Failure::Server(_)) = &ended {
                client.run("ROLLBACK").await?;
            }
            return Err(ended);
        }
    }
    client.run("COMMIT").await?;
    Ok(())
}
