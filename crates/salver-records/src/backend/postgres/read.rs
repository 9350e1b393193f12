//! Reads: by key on a shared connection, others on one of their own, several in one snapshot and one round trip.

use std::pin::{Pin, pin};
use std::time::Instant;

use futures::TryStreamExt;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc;
use tokio_postgres::{RowStream, Statement};

use super::Postgres;
use super::bind::Wire;
use super::connection::{Connection, start};
use super::decode::{PostgresForm, cells, forms, recycle};
use super::sqlstate::Fault;
use crate::cell::RowSink;
use crate::statement::Read;

/// All reads of a flight share the snapshot taken by the first of them.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The destination of rows.
pub(super) struct RowForwarder<S: RowSink> {
    pub(super) sink: S,
    pub(super) out: Option<mpsc::Sender<Result<S::Piece>>>,
    /// Whether the sink has seen a row, which rules out a retry.
    pub(super) seen: bool,
}

impl Postgres {
    /// See [`crate::backend::Backend::read`].
    pub(crate) async fn read<S: RowSink>(
        &self,
        reads: Vec<Read>,
        sink: S,
        out: Option<mpsc::Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        let mut rows = RowForwarder::new(sink, out);
        let mut again = false;
        loop {
            let began = Instant::now();
            let ended = match reads.as_slice() {
                [] => Ok(()),
                [only] if only.point => self.read_point(only, &mut rows).await,
                _ => Box::pin(self.read_exclusive(&reads, &mut rows)).await,
            };
            match ended {
                Ok(()) => return Ok(rows.sink),
                // No row has been sent, so that a retry can't mix two results.
                Err(fault) if !again && !rows.seen && fault.is_worth_another_try() => {
                    self.recover(&fault, began);
                    again = true;
                }
                Err(fault) => return Err(fault.into_error(&self.target.entry)),
            }
        }
    }

    /// Reads on a shared connection, pipelined behind the reads of others.
    async fn read_point<S: RowSink>(&self, read: &Read, rows: &mut RowForwarder<S>) -> Result<(), Fault> {
        let Some(ticket) = self.shared.ticket().await? else {
            return Box::pin(self.read_exclusive(std::slice::from_ref(read), rows)).await;
        };
        let connection = ticket.connection();
        let ended = async {
            let statement = connection.within(connection.prepare(&read.sql)).await?;
            let forms = forms(&statement, &read.kinds)?;
            let asked = connection.client.query_raw(&statement, read.binds.iter().map(Wire));
            let stream = connection.within(asked).await?;
            take(connection, stream, &forms, (0, rows, false)).await
        }
        .await;
        if matches!(ended, Err(Fault::Silent)) {
            // Requests behind this one on the connection wait in vain too.
            ticket.dead();
        }
        ticket.answered();
        ended?;
        // Sent after the ticket is dropped, so that the line is free for others.
        drop(ticket);
        Ok(rows.send().await?)
    }

    async fn read_exclusive<S: RowSink>(&self, reads: &[Read], rows: &mut RowForwarder<S>) -> Result<(), Fault> {
        let mut lease = self.lease().await?;
        let texts: Vec<_> = reads.iter().map(|read| &read.sql).collect();
        lease.asks();
        let prepared = lease.within(lease.prepare_all(&texts)).await;
        lease.answered();
        let prepared = prepared?;
        let mut all_forms = Vec::with_capacity(reads.len());
        for (read, statement) in reads.iter().zip(&prepared) {
            all_forms.push(forms(statement, &read.kinds)?);
        }
        lease.asks();
        let ended = if let ([read], [statement], [forms]) = (reads, prepared.as_slice(), all_forms.as_slice()) {
            one(&lease, read, statement, forms, (0, rows)).await
        } else {
            flight(&lease, reads, &prepared, &all_forms, rows).await
        };
        // A statement that the server rejected is over; one that the sink rejected or the receiver abandoned is
        // cancelled.
        if !matches!(ended, Err(Fault::Own(_))) {
            lease.answered();
        }
        ended
    }
}

/// Runs one statement, which is a snapshot by itself, as the read with this index.
pub(super) async fn one<S: RowSink>(
    connection: &Connection,
    read: &Read,
    statement: &Statement,
    forms: &[PostgresForm],
    (index, rows): (usize, &mut RowForwarder<S>),
) -> Result<(), Fault> {
    let asked = connection.client.query_raw(statement, read.binds.iter().map(Wire));
    let stream = connection.within(asked).await?;
    take(connection, stream, forms, (index, rows, true)).await
}

/// Runs several statements in one transaction, pipelined with its begin and end. After a failure the server rejects the
/// rest and ends the transaction by itself.
async fn flight<S: RowSink>(
    connection: &Connection,
    reads: &[Read],
    prepared: &[Statement],
    all_forms: &[Vec<PostgresForm>],
    rows: &mut RowForwarder<S>,
) -> Result<(), Fault> {
    type Question<'a> = Pin<Box<dyn Future<Output = Result<RowStream, tokio_postgres::Error>> + Send + 'a>>;
    let client = &connection.client;
    let mut begin = Box::pin(client.batch_execute(BEGIN));
    let begun = start(&mut begin).await;
    let mut questions = Vec::with_capacity(reads.len());
    for (read, statement) in reads.iter().zip(prepared) {
        let mut question: Question<'_> = Box::pin(client.query_raw(statement, read.binds.iter().map(Wire)));
        let early = start(&mut question).await;
        questions.push((question, early));
    }
    let mut commit = Box::pin(client.batch_execute("COMMIT"));
    let committed = start(&mut commit).await;

    connection.within_or(begun, begin).await?;
    for (index, (question, early)) in questions.into_iter().enumerate() {
        let stream = connection.within_or(early, question).await?;
        take(connection, stream, &all_forms[index], (index, rows, true)).await?;
    }
    connection.within_or(committed, commit).await
}

/// Passes the rows of one result to the sink. With `sends`, finished pieces are sent while rows arrive: a slow receiver
/// then causes backpressure on the server, which only an exclusive connection may do.
async fn take<S: RowSink>(
    connection: &Connection,
    stream: RowStream,
    forms: &[PostgresForm],
    (index, rows, sends): (usize, &mut RowForwarder<S>, bool),
) -> Result<(), Fault> {
    let mut stream = pin!(stream);
    let mut spare = Vec::with_capacity(forms.len());
    while let Some(row) = connection.within(stream.try_next()).await? {
        let mut values = recycle(spare);
        cells(&row, forms, &mut values)?;
        rows.seen = true;
        rows.sink.row(index, &values)?;
        spare = recycle(values);
        if sends {
            rows.send().await?;
        }
    }
    Ok(())
}

impl<S: RowSink> RowForwarder<S> {
    pub(super) fn new(sink: S, out: Option<mpsc::Sender<Result<S::Piece>>>) -> Self {
        Self { sink, out, seen: false }
    }

    /// Sends the finished pieces.
    async fn send(&mut self) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        while let Some(piece) = self.sink.piece() {
            if out.send(Ok(piece)).await.is_err() {
                return Err(Error::new(Code::Execution, "nobody takes the rows any more"));
            }
        }
        Ok(())
    }
}
