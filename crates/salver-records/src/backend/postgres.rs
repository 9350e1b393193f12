//! PostgreSQL, through tokio-postgres.
//!
//! Reads by key go down a few shared connections, pipelined (`shared`); everything else takes a connection of its own
//! (`pool`). Statements are prepared once a connection (`connection`), values go out as text or binary (`bind`) and
//! come back in binary (`decode`). What the server refuses is told in Salver's words (`fault`).

mod bind;
mod connection;
mod decode;
mod define;
mod fault;
pub(crate) mod hold;
mod load;
mod pool;
mod read;
mod reflect;
mod shared;
mod target;
#[cfg(test)]
mod tests;
mod tls;
mod write;

use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_model::spec::DatabaseSpec;
use salver_model::{Result, Shares};

use self::fault::Fault;
pub(crate) use self::fault::{is_nowhere, misfit};
pub(crate) use self::hold::Snapshot;
use self::pool::{Lease, Pool};
use self::shared::Shared;
use self::target::Target;
use crate::backend::holding::Places;

/// Most shared connections. One server process works through each. A second one answers a quarter more where many ask;
/// four answer no more where the server has two processors, and each is one that lists and transactions don't have.
const SHARED_MAX: usize = 2;

/// A PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    target: Arc<Target>,
    pool: Arc<Pool>,
    shared: Shared,
    /// The reference system of geometries that come without one.
    geometry_srid: u32,
    /// Places for the connections that hold rows.
    snapshots: Places,
}

impl Postgres {
    pub(crate) fn lying(&self) -> &Arc<Shares> {
        &self.pool.lying
    }

    /// See [`crate::backend::Backend::open`].
    pub(crate) fn open(spec: &DatabaseSpec) -> Result<Self> {
        let target = Arc::new(Target::of(spec)?);
        let shared = (spec.connections_max / 3).min(SHARED_MAX).max(usize::from(spec.connections_max > 1));
        Ok(Self {
            pool: Pool::new(Arc::clone(&target), spec.connections_max.saturating_sub(shared)),
            shared: Shared::new(Arc::clone(&target), shared),
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

    async fn lease(&self) -> Result<Lease> {
        self.pool.lease(|| self.shared.give_up_one()).await
    }

    /// Before a second try: what failed the first would fail it again.
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
