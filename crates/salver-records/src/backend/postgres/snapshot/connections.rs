//! The connections of one snapshot. The first has the transaction that took the snapshot; others import it when a
//! reader would have to wait, as far as there are permits.

use std::sync::{Arc, Mutex, PoisonError};

use salver_model::limits::SNAPSHOT_CONNECTIONS_MAX;
use salver_model::{Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::super::connect_options::ConnectOptions;
use super::super::connection::Connection;
use super::super::sqlstate::Fault;
use super::{BEGIN, RETURN_TO, SETTINGS};
use crate::backend::snapshot_permits::{Places, Queue, lost};
use crate::dialect::Sql;
use crate::statement::Bind;

/// The connections.
#[derive(Debug)]
pub(super) struct SnapshotConnections {
    target: Arc<ConnectOptions>,
    snapshots: Places,
    /// Name under which other transactions can import the snapshot.
    state: String,
    /// Permits for the connections that exist or may still be opened.
    free: Arc<Semaphore>,
    idle: Mutex<Vec<SnapshotConnection>>,
    pub(super) queue: Queue,
    /// Reason why a connection was lost, and with it the snapshot.
    lost: Mutex<Option<String>>,
}

/// One connection in its transaction.
#[derive(Debug)]
pub(super) struct SnapshotConnection {
    pub(super) connection: Connection,
    _place: OwnedSemaphorePermit,
    turn: Option<OwnedSemaphorePermit>,
}

impl SnapshotConnection {
    pub(super) fn new(connection: Connection, place: OwnedSemaphorePermit) -> Self {
        Self { connection, _place: place, turn: None }
    }
}

impl SnapshotConnections {
    pub(super) fn new(
        target: Arc<ConnectOptions>,
        snapshots: Places,
        state: String,
        first: SnapshotConnection,
    ) -> Arc<Self> {
        Arc::new(Self {
            target,
            snapshots,
            state,
            free: Arc::new(Semaphore::new(SNAPSHOT_CONNECTIONS_MAX)),
            idle: Mutex::new(vec![first]),
            queue: Queue::default(),
            lost: Mutex::default(),
        })
    }

    /// Takes a connection for one statement; first come, first served.
    pub(super) async fn take(&self) -> Result<SnapshotConnection> {
        loop {
            let turn = match Arc::clone(&self.free).try_acquire_owned() {
                Ok(turn) => turn,
                Err(_) => self
                    .queue
                    .wait(Arc::clone(&self.free).acquire_owned())
                    .await
                    .map_err(|error| Error::internal("the snapshot is closed").with_source(error))?,
            };
            if let Some(why) = self.lost.lock().unwrap_or_else(PoisonError::into_inner).as_deref() {
                return Err(self.gone(why));
            }
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let line = match idle {
                Some(line) => Some(line),
                None => self.join().await,
            };
            match line {
                Some(mut line) => {
                    line.turn = Some(turn);
                    return Ok(line);
                }
                // There is no connection for this permit, nor will there be; existing ones are waited for.
                None => turn.forget(),
            }
        }
    }

    /// Opens a further connection on the same snapshot; returns `None` when that is impossible.
    async fn join(&self) -> Option<SnapshotConnection> {
        let place = self.snapshots.spare()?;
        let connection = Connection::open(&self.target).await.ok()?;
        let mut sql = Sql::literal();
        sql.push(BEGIN).push("; SET TRANSACTION SNAPSHOT ").bind(Bind::Text(self.state.clone()));
        sql.push("; SAVEPOINT ").push(RETURN_TO);
        let begun = match connection.client.batch_execute(SETTINGS).await {
            Ok(()) => connection.client.batch_execute(&sql.text).await,
            refused => refused,
        };
        match begun {
            Ok(()) => Some(SnapshotConnection::new(connection, place)),
            Err(error) => {
                tracing::debug!(%error, entry = self.target.entry, "no further connection for a snapshot");
                None
            }
        }
    }

    /// Gives a connection back after a statement, and returns the statement's result.
    pub(super) async fn settle(&self, mut line: SnapshotConnection, ended: Result<(), Fault>) -> Result<()> {
        let turn = line.turn.take();
        let mut kept = true;
        if let Err(fault) = &ended {
            let back = format!("ROLLBACK TO SAVEPOINT {RETURN_TO}");
            kept = !fault.is_lost() && line.connection.client.batch_execute(&back).await.is_ok();
        }
        if kept {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        } else {
            let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert_with(|| "a connection to it was lost".to_owned());
        }
        drop(turn);
        match ended {
            Err(Fault::Driver(error)) if !kept => Err(self.gone("a connection to it was lost").with_source(error)),
            ended => ended.map_err(|fault| fault.into_error(&self.target.entry)),
        }
    }

    fn gone(&self, why: &str) -> Error {
        lost(&format!("`{}`", self.target.entry), why)
    }
}
