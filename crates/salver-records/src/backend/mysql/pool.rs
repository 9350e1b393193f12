//! A pool of idle connections. Taking one costs a semaphore permit and a pop: no ping, no reset, no `SET`. Session
//! variables are set once, when the connection is made.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Error as Failure, Opts};
use salver_model::limits::{DATABASE_CONNECT_MS_MAX, DATABASE_WAIT_MS_MAX};
use salver_model::spec::DatabaseSpec;
use salver_model::{Code, Error, Result, Shares};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::client::{Client, Ender, Terms};
use super::connect_options::Address;
use super::error_numbers;
use crate::backend::slow_clients;

/// Idle time after which a connection is pinged before a change is sent through it: a change can't be retried.
const UNPROVED_IDLE_MS: u64 = 200;

/// Connections to one database.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    inner: Arc<Inner>,
}

/// The state that connections share.
#[derive(Debug)]
struct Inner {
    options: Opts,
    /// Name of the database in messages.
    place: String,
    terms: Terms,
    free: Mutex<Vec<Client>>,
    places: Arc<Semaphore>,
    /// Shares of these connections for responses and loads whose clients are slow.
    lying: Arc<Shares>,
    connections_max: usize,
    /// Permit for the one extra connection that kills abandoned statements.
    ending: Semaphore,
}

/// A connection and its permit. The connection is closed unless it is given back.
#[derive(Debug)]
pub(super) struct MysqlLease {
    pub(super) client: Client,
    _place: OwnedSemaphorePermit,
}

impl Pool {
    pub(super) fn new(spec: &DatabaseSpec, address: Address) -> Self {
        let connections_max = spec.connections_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            inner: Arc::new(Inner {
                options: address.options,
                place: address.place,
                terms: Terms { statement_ms_max: spec.statement_ms_max, read_only: !spec.writable && !spec.definable },
                free: Mutex::default(),
                places: Arc::new(Semaphore::new(connections_max)),
                lying: slow_clients::places(connections_max),
                connections_max,
                ending: Semaphore::new(1),
            }),
        }
    }

    /// Returns the shares of responses and loads whose clients are slow.
    pub(super) fn lying(&self) -> &Arc<Shares> {
        &self.inner.lying
    }

    /// Returns the name of the database in messages.
    pub(super) fn place(&self) -> &str {
        &self.inner.place
    }

    /// Takes a connection, which may turn out to be lost.
    pub(super) async fn lease(&self) -> Result<MysqlLease> {
        let place = self.wait().await?;
        let client = match self.inner.pop() {
            Some(client) => client,
            None => self.connect().await?,
        };
        Ok(MysqlLease { client, _place: place })
    }

    /// Takes a connection that was alive a moment ago.
    pub(super) async fn lease_alive(&self) -> Result<MysqlLease> {
        let place = self.wait().await?;
        let client = match self.inner.pop() {
            Some(client) if client.idle() < Duration::from_millis(UNPROVED_IDLE_MS) => client,
            Some(mut client) => match client.ping().await {
                Ok(()) => client,
                Err(_) => {
                    drop(client);
                    self.forget();
                    self.connect().await?
                }
            },
            None => self.connect().await?,
        };
        Ok(MysqlLease { client, _place: place })
    }

    /// Makes a new connection after one was found lost, and closes the idle ones, which were probably lost with it.
    pub(super) async fn lease_new(&self) -> Result<MysqlLease> {
        let place = self.wait().await?;
        self.forget();
        Ok(MysqlLease { client: self.connect().await?, _place: place })
    }

    /// Takes back a connection on which nothing is in progress.
    pub(super) fn give_back(&self, mut lease: MysqlLease) {
        if lease.client.rest() {
            self.inner.push(lease.client);
        }
    }

    async fn wait(&self) -> Result<OwnedSemaphorePermit> {
        let Inner { places, lying, connections_max, .. } = &*self.inner;
        slow_clients::wait(places, lying, Duration::from_millis(DATABASE_WAIT_MS_MAX)).await.ok_or_else(|| {
            Error::new(
                Code::DatabaseUnavailable,
                format!("out of connections: all {connections_max} to the database {} are busy", self.place()),
            )
            .with_hint("try again; `connections_max` of the database is the limit")
        })
    }

    /// Makes a connection outside of the pool, without a permit.
    pub(super) async fn apart(&self) -> Result<Client> {
        self.connect().await
    }

    /// Stops the statement that a connection runs; its transaction goes on.
    pub(super) async fn interrupt(&self, connection: u32) {
        self.inner.kill(format!("KILL QUERY {connection}")).await;
    }

    async fn connect(&self) -> Result<Client> {
        self.inner.connect().await.map_err(|failure| error_numbers::connecting(failure, self.place()))
    }

    /// Closes every idle connection.
    fn forget(&self) {
        let gone = std::mem::take(&mut *self.inner.free.lock().unwrap_or_else(PoisonError::into_inner));
        drop(gone);
    }
}

impl Inner {
    fn pop(&self) -> Option<Client> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn push(&self, client: Client) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(client);
    }

    async fn connect(self: &Arc<Self>) -> Result<Client, Failure> {
        let ender: Weak<dyn Ender> = Arc::<Self>::downgrade(self);
        let made = Client::connect(&self.options, self.terms, ender);
        let made = timeout(Duration::from_millis(DATABASE_CONNECT_MS_MAX), made).await;
        made.unwrap_or_else(|_| Err(Failure::Other(Box::new(error_numbers::Overdue))))
    }

    /// Runs a `KILL` on a connection of its own. The statement it is for may have ended by itself; then the server
    /// reports an error.
    async fn kill(self: &Arc<Self>, statement: String) {
        let Ok(_turn) = self.ending.acquire().await else { return };
        if let Ok(mut client) = self.connect().await {
            let killing = client.connection().query_drop(statement);
            let _ = timeout(Duration::from_millis(DATABASE_CONNECT_MS_MAX), killing).await;
        }
    }
}

impl Ender for Inner {
    fn end(self: Arc<Self>, connection: u32) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move { self.kill(format!("KILL {connection}")).await });
    }
}
