//! A transaction with a consistent snapshot for the reads of one statement of the SQL engine. Tables of engines without
//! transactions are read as they are.

use std::pin::pin;

use mysql_async::Error as Failure;
use salver_model::{Error, Result};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;

use super::client::Client;
use super::pool::{MysqlLease, Pool};
use super::read::{ReadEnd, Way, one};
use super::{Mysql, error_numbers};
use crate::backend::receivers::{is_unwanted, unwanted};
use crate::cell::RowSink;
use crate::statement::Read;

/// A transaction on a connection of the pool, which gets it back when this is dropped.
#[derive(Debug)]
pub(crate) struct MysqlTransaction {
    /// `None` after a failure.
    lease: Option<MysqlLease>,
    pool: Pool,
}

impl Mysql {
    /// See [`crate::backend::Backend::begin`].
    pub(crate) async fn begin(&self) -> Result<MysqlTransaction> {
        let mut lease = self.pool.lease().await?;
        let mut begun = lease.client.begin_snapshot().await;
        if begun.as_ref().is_err_and(error_numbers::is_lost) {
            drop(lease);
            lease = self.pool.lease_new().await?;
            begun = lease.client.begin_snapshot().await;
        }
        match begun {
            Ok(()) => Ok(MysqlTransaction { lease: Some(lease), pool: self.pool.clone() }),
            Err(failure) => Err(error_numbers::error(failure, self.pool.place())),
        }
    }
}

impl MysqlTransaction {
    /// See [`crate::backend::read_transaction::ReadTransaction::read`].
    pub(crate) async fn read<S: RowSink>(
        &mut self,
        reads: &[Read],
        mut sink: S,
        out: Option<Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        let Some(mut lease) = self.lease.take() else {
            return Err(Error::internal("a transaction was used after it failed"));
        };
        let connection = lease.client.connection().id();
        let mut way = Way { sink: &mut sink, out: out.as_ref(), rows: 0 };
        let ended = {
            let mut running = pin!(statements(&mut lease.client, reads, &mut way));
            tokio::select! {
                biased;
                ended = running.as_mut() => ended,
                () = unwanted(out.clone()) => {
                    self.pool.interrupt(connection).await;
                    running.await
                }
            }
        };
        let ended = match ended {
            Err(ReadEnd::Failure(Failure::Server(_))) if is_unwanted(out.as_ref()) => settle(&mut lease.client).await,
            Err(ReadEnd::Unwanted) => {
                self.pool.interrupt(connection).await;
                match lease.client.skip().await {
                    Ok(()) | Err(Failure::Server(_)) => settle(&mut lease.client).await,
                    Err(failure) => Err(failure.into()),
                }
            }
            ended => ended,
        };
        match ended {
            Ok(()) => {
                self.lease = Some(lease);
                Ok(sink)
            }
            Err(ReadEnd::Failure(failure)) => Err(error_numbers::error(failure, self.pool.place())),
            Err(ReadEnd::Error(error)) => Err(error),
            Err(ReadEnd::Unwanted) => Err(Error::internal("a read was given up twice")),
        }
    }
}

async fn statements<S: RowSink>(client: &mut Client, reads: &[Read], way: &mut Way<'_, S>) -> Result<(), ReadEnd> {
    for (index, read) in reads.iter().enumerate() {
        one(client, read, index, way).await?;
    }
    Ok(())
}

/// Runs a statement that does nothing, for an interrupt that comes late to hit.
async fn settle(client: &mut Client) -> Result<(), ReadEnd> {
    match client.run("DO 0").await {
        Err(Failure::Server(_)) => Ok(client.run("DO 0").await?),
        done => Ok(done?),
    }
}

impl Drop for MysqlTransaction {
    fn drop(&mut self) {
        let Some(mut lease) = self.lease.take() else { return };
        // Without a runtime the connection is closed, and with it the transaction.
        let Ok(runtime) = Handle::try_current() else { return };
        let pool = self.pool.clone();
        runtime.spawn(async move {
            if lease.client.run("COMMIT").await.is_ok() {
                pool.give_back(lease);
            }
        });
    }
}
