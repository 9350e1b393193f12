//! A repeatable-read transaction for the reads of one statement of the SQL engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::Result;
use salver_model::limits::DATABASE_CONNECT_MS_MAX;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

use super::Postgres;
use super::connect_options::ConnectOptions;
use super::decode::forms;
use super::pool::PostgresLease;
use super::read::{RowForwarder, one};
use super::sqlstate::Fault;
use crate::backend::receivers::{is_unwanted, unwanted};
use crate::cell::RowSink;
use crate::statement::Read;

/// Begins a transaction whose first read takes its snapshot, with the savepoint to which it returns when a read is
/// stopped.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SAVEPOINT reads";
const RETURN: &str = "ROLLBACK TO SAVEPOINT reads";

/// A transaction on a connection of the pool, which gets it back, rolled back, when this is dropped.
#[derive(Debug)]
pub(crate) struct PostgresTransaction {
    lease: PostgresLease,
    target: Arc<ConnectOptions>,
}

impl Postgres {
    /// See [`crate::backend::Backend::begin`].
    pub(crate) async fn begin(&self) -> Result<PostgresTransaction> {
        let mut again = false;
        loop {
            let began = Instant::now();
            let mut lease = self.lease().await?;
            lease.begins();
            match lease.within(lease.client.batch_execute(BEGIN)).await {
                Ok(()) => {
                    lease.answered();
                    return Ok(PostgresTransaction { lease, target: Arc::clone(&self.target) });
                }
                Err(fault) if !again && fault.is_worth_another_try() => {
                    drop(lease);
                    self.recover(&fault, began);
                    again = true;
                }
                Err(fault) => return Err(fault.into_error(&self.target.entry)),
            }
        }
    }
}

impl PostgresTransaction {
    /// See [`crate::backend::read_transaction::ReadTransaction::read`].
    pub(crate) async fn read<S: RowSink>(
        &mut self,
        reads: &[Read],
        sink: S,
        out: Option<Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        let mut rows = RowForwarder::new(sink, out);
        self.run(reads, &mut rows).await.map_err(|fault| fault.into_error(&self.target.entry))?;
        Ok(rows.sink)
    }

    async fn run<S: RowSink>(&mut self, reads: &[Read], rows: &mut RowForwarder<S>) -> Result<(), Fault> {
        let mut again = false;
        loop {
            let out = rows.out.clone();
            self.lease.asks();
            let ended = tokio::select! {
                biased;
                ended = statements(&self.lease, reads, rows) => ended,
                () = unwanted(out) => Ok(()),
            };
            match ended {
                _ if is_unwanted(rows.out.as_ref()) => self.stop().await?,
                // No row has been sent, and a statement that is prepared anew fits the schema.
                Err(fault) if fault.is_stale() && !again && !rows.seen => {
                    self.lease.forget();
                    self.lease.within(self.lease.client.batch_execute(RETURN)).await?;
                    again = true;
                    continue;
                }
                ended => ended?,
            }
            self.lease.answered();
            return Ok(());
        }
    }

    /// Stops the statement that runs, and returns to the savepoint.
    async fn stop(&mut self) -> Result<(), Fault> {
        let token = self.lease.client.cancel_token();
        let patience = Duration::from_millis(DATABASE_CONNECT_MS_MAX);
        // Without it, the statement ends by itself, or at its timeout.
        let _ = timeout(patience, Box::pin(token.cancel_query(self.target.tls.clone()))).await;
        // The signal hits this one if the statement had ended by itself.
        match self.lease.within(self.lease.client.batch_execute(RETURN)).await {
            Err(fault) if fault.is_cancelled() => self.lease.within(self.lease.client.batch_execute(RETURN)).await,
            returned => returned,
        }
    }
}

async fn statements<S: RowSink>(
    lease: &PostgresLease,
    reads: &[Read],
    rows: &mut RowForwarder<S>,
) -> Result<(), Fault> {
    for (index, read) in reads.iter().enumerate() {
        let statement = lease.within(lease.prepare(&read.sql)).await?;
        let forms = forms(&statement, &read.kinds)?;
        one(lease, read, &statement, &forms, (index, &mut *rows)).await?;
    }
    Ok(())
}
