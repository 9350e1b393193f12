//! PostgreSQL, through tokio-postgres.
//!
//! Reads by key go through a few shared connections, pipelined (`shared_connections`); everything else takes a
//! connection of its own (`pool`). Statements are prepared once per connection (`connection`), values are sent as text
//! or binary (`bind`) and returned in binary (`decode`). Errors of the server are converted to Salver's (`sqlstate`).

mod bind;
mod connect_options;
mod connection;
mod decode;
mod define;
mod load;
mod pool;
mod read;
mod read_transaction;
mod reflect;
mod shared_connections;
pub(crate) mod snapshot;
mod sqlstate;
#[cfg(test)]
mod tests;
mod tls;
mod write;

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::spec::DatabaseSpec;
use salver_model::{Result, Shares};

use self::connect_options::ConnectOptions;
use self::pool::{Pool, PostgresLease};
pub(crate) use self::read_transaction::PostgresTransaction;
use self::shared_connections::SharedConnections;
pub(crate) use self::snapshot::PostgresSnapshot;
use self::sqlstate::Fault;
pub(crate) use self::sqlstate::{is_nowhere, misfit};
use crate::backend::snapshot_permits::Places;

/// Most shared connections. Each has one server process. A second one answers a quarter more requests under
/// concurrency; four answer no more where the server has two processors, and each is lost to lists and transactions.
const SHARED_CONNECTIONS: usize = 2;

/// A PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    target: Arc<ConnectOptions>,
    pool: Arc<Pool>,
    shared: SharedConnections,
    /// The spatial reference system of geometries that come without one.
    geometry_srid: u32,
    /// Permits for the connections of snapshots.
    snapshots: Places,
}

impl Postgres {
    pub(crate) fn lying(&self) -> &Arc<Shares> {
        &self.pool.lying
    }

    /// See [`crate::backend::Backend::open`].
    pub(crate) fn open(spec: &DatabaseSpec) -> Result<Self> {
        let target = Arc::new(ConnectOptions::of(spec)?);
        let shared = (spec.connections_max / 3).min(SHARED_CONNECTIONS).max(usize::from(spec.connections_max > 1));
        Ok(Self {
            pool: Pool::new(Arc::clone(&target), spec.connections_max.saturating_sub(shared)),
            shared: SharedConnections::new(Arc::clone(&target), shared),
            target,
            geometry_srid: spec.geometry_srid,
            snapshots: Places::default(),
        })
    }

    /// See [`crate::backend::Backend::ping`].
    pub(crate) async fn ping(&self) -> Result<Duration> {
        let mut again = false;
        loop {
            let began = Instant::now();
            let asked = match self.shared.ticket().await? {
                Some(ticket) => {
                    let connection = ticket.connection();
                    let asked = connection.within(connection.client.batch_execute("SELECT 1")).await;
                    ticket.answered();
                    asked
                }
                None => {
                    let lease = self.lease().await?;
                    lease.within(lease.client.batch_execute("SELECT 1")).await
                }
            };
            match asked {
                Ok(()) => return Ok(began.elapsed()),
                Err(fault) if fault.is_worth_another_try() && !again => {
                    self.recover(&fault, began);
                    again = true;
                }
                Err(fault) => return Err(fault.into_error(&self.target.entry)),
            }
        }
    }

    async fn lease(&self) -> Result<PostgresLease> {
        self.pool.lease(|| self.shared.give_up_one()).await
    }

    /// Prepares for a retry: a lost connection or a stale schema would fail it again.
    fn recover(&self, fault: &Fault, began: Instant) {
        tracing::debug!(?fault, entry = self.target.entry, "once more");
        if fault.is_lost() {
            self.pool.clear(began);
            self.shared.clear(began);
        } else {
            self.pool.forget();
            self.shared.forget();
        }
    }
}
