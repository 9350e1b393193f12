//! Connections for one user at a time: transactions, lists, loads.
//!
//! A connection that is returned is clean by construction, so that taking one costs no round trip. A dropped
//! transaction is rolled back first; a dropped statement is cancelled, and its connection closed.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use salver_model::limits::{DATABASE_CONNECT_MS_MAX, DATABASE_WAIT_MS_MAX};
use salver_model::{Code, Error, Result, Shares};
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::connection::{Connection, Refusal};
use super::target::Target;
use crate::backend::lying;

/// Retry interval, while waiting, on a server that has no connection left.
const FULL_RETRY_MS: u64 = 50;
/// Idle time after which a connection is closed.
const IDLE_S: u64 = 300;

/// The connections.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) target: Arc<Target>,
    /// Permits, first come, first served.
    places: Arc<Semaphore>,
    /// Shares of these connections for responses and loads whose clients are slow.
    pub(super) lying: Arc<Shares>,
    /// Idle connections. The most recently used one is taken first, so that the others may be closed.
    idle: Mutex<VecDeque<(Arc<Connection>, Instant)>>,
    returned: Notify,
    open: AtomicUsize,
}

impl Pool {
    pub(super) fn new(target: Arc<Target>, connections_max: usize) -> Arc<Self> {
        Arc::new(Self {
            target,
            places: Arc::new(Semaphore::new(connections_max.max(1))),
            lying: lying::places(connections_max),
            idle: Mutex::default(),
            returned: Notify::new(),
            open: AtomicUsize::new(0),
        })
    }

    /// Waits for a connection. `room` is called to close a connection elsewhere when the server has none left and none
    /// of this pool is open to wait for.
    pub(super) async fn lease(self: &Arc<Self>, room: impl Fn()) -> Result<Lease> {
        let deadline = tokio::time::Instant::now() + Duration::from_millis(DATABASE_WAIT_MS_MAX);
        let permit = lying::wait(&self.places, &self.lying, Duration::from_millis(DATABASE_WAIT_MS_MAX)).await;
        let permit = permit.ok_or_else(|| self.exhausted())?;
        loop {
            if let Some(connection) = self.take() {
                return Ok(self.hand_out(connection, permit));
            }
            match Connection::open(&self.target).await {
                Ok(connection) => {
                    self.open.fetch_add(1, Ordering::Relaxed);
                    return Ok(self.hand_out(Arc::new(connection), permit));
                }
                Err(Refusal { error, full }) if !full || tokio::time::Instant::now() >= deadline => return Err(error),
                Err(_) => {
                    if self.open.load(Ordering::Relaxed) == 0 {
                        room();
                    }
                    let pause = Duration::from_millis(FULL_RETRY_MS);
                    // Returned or timed out, it tries again.
                    let _ = timeout(pause, self.returned.notified()).await;
                }
            }
        }
    }

    fn hand_out(self: &Arc<Self>, connection: Arc<Connection>, permit: OwnedSemaphorePermit) -> Lease {
        Lease { connection, pool: Arc::clone(self), permit: Some(permit), state: State::default() }
    }

    fn take(&self) -> Option<Arc<Connection>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((connection, _)) = idle.pop_back() {
            if !connection.is_closed() {
                return Some(connection);
            }
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
        None
    }

    fn put(&self, connection: Arc<Connection>) {
        if connection.is_closed() {
            self.open.fetch_sub(1, Ordering::Relaxed);
        } else {
            let now = Instant::now();
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push_back((connection, now));
            while idle.len() > 1 && idle.front().is_some_and(|(_, since)| now - *since > Duration::from_secs(IDLE_S)) {
                idle.pop_front();
                self.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.returned.notify_one();
    }

    /// Closes idle connections opened `before`: after one was lost, they probably are too.
    pub(super) fn clear(&self, before: Instant) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let all = idle.len();
        idle.retain(|(connection, _)| connection.opened >= before);
        self.open.fetch_sub(all - idle.len(), Ordering::Relaxed);
    }

    /// Drops the statements prepared on idle connections, because the schema changed.
    pub(super) fn forget(&self) {
        for (connection, _) in &*self.idle.lock().unwrap_or_else(PoisonError::into_inner) {
            connection.forget();
        }
    }

    fn exhausted(&self) -> Error {
        Error::new(
            Code::DatabaseUnavailable,
            format!("the database `{}` is out of connections: all are in use", self.target.entry),
        )
        .with_hint("try again in a moment, or raise `connections_max` in its settings")
    }

    /// Cleans up a connection whose user was dropped in the middle. After a cancelled statement it is closed: the
    /// server may deliver the cancel signal late, and it would hit a later statement.
    async fn clean_up(self: Arc<Self>, connection: Arc<Connection>, state: State) {
        let patience = Duration::from_millis(DATABASE_CONNECT_MS_MAX);
        let is_clean = if state.asks {
            let token = connection.client.cancel_token();
            let _ = timeout(patience, Box::pin(token.cancel_query(self.target.tls.clone()))).await;
            false
        } else {
            matches!(timeout(patience, Box::pin(connection.client.batch_execute("ROLLBACK"))).await, Ok(Ok(())))
        };
        if is_clean {
            return self.put(connection);
        }
        connection.abort();
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.returned.notify_one();
    }
}

/// The state of a connection's protocol.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Whether a statement was sent whose response is incomplete.
    asks: bool,
    /// Whether a transaction is open.
    transaction: bool,
}

/// A connection for one user. Dropping it gives it back, clean.
#[derive(Debug)]
pub(super) struct Lease {
    connection: Arc<Connection>,
    pool: Arc<Pool>,
    permit: Option<OwnedSemaphorePermit>,
    state: State,
}

impl Lease {
    /// Marks that a request was sent; until [`Lease::answered`] a drop cancels it.
    pub(super) fn asks(&mut self) {
        self.state.asks = true;
    }

    /// Marks that a transaction was begun; until [`Lease::ended`] a drop rolls it back.
    pub(super) fn begins(&mut self) {
        self.state = State { asks: true, transaction: true };
    }

    /// Marks that every response has come, or will at once without a reader.
    pub(super) fn answered(&mut self) {
        self.state.asks = false;
    }

    /// Marks that every response has come and no transaction is open.
    pub(super) fn ended(&mut self) {
        self.state = State::default();
    }
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let connection = Arc::clone(&self.connection);
        if connection.is_closed() || !(self.state.asks || self.state.transaction) {
            self.pool.put(connection);
            return;
        }
        let (pool, permit, state) = (Arc::clone(&self.pool), self.permit.take(), self.state);
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    pool.clean_up(connection, state).await;
                    drop(permit);
                });
            }
            // The runtime shuts down, and with it every connection.
            Err(_) => connection.abort(),
        }
    }
}
