//! One connection and the statements prepared on it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use ahash::AHashMap;
use futures::future::join_all;
use salver_model::limits::PREPARED_MAX;
use salver_model::{Code, Error};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Statement};

use super::fault;
use super::target::{CONNECT_MS_MAX, Target};

/// A connection. Any number of tasks may send on it: answers come in the order in which the questions went.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) opened: Instant,
    /// The task that moves the bytes.
    driver: AbortHandle,
    prepared: Mutex<Prepared>,
}

/// Why there is no new connection.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: Error,
    /// The server has as many as it allows; ours may be among them.
    pub(super) full: bool,
}

impl Connection {
    pub(super) async fn open(target: &Target) -> Result<Self, Refusal> {
        let place = target.place();
        let slow = || Refusal {
            error: Error::new(
                Code::DatabaseUnavailable,
                format!("the database `{}` at {place} does not answer", target.entry),
            )
            .with_hint("is it overloaded, or stopped?"),
            full: false,
        };
        let refused =
            |error| Refusal { full: fault::is_full(&error), error: fault::of_connecting(error, &target.entry, &place) };
        // The driver's own limit is for the TCP connection alone; a server may take that and say nothing.
        let patience = Duration::from_millis(CONNECT_MS_MAX);
        let (client, connection) = timeout(patience, Box::pin(target.config.connect(target.tls.clone())))
            .await
            .map_err(|_| slow())?
            .map_err(refused)?;
        let driver = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL ended");
            }
        })
        .abort_handle();
        let opened = Self { client, opened: Instant::now(), driver, prepared: Mutex::default() };
        match timeout(patience, opened.client.batch_execute(&target.greeting)).await {
            Ok(greeted) => greeted.map_err(refused)?,
            Err(_) => {
                opened.abort();
                return Err(slow());
            }
        }
        Ok(opened)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Ends the connection where it stands: who waits on it gets an error.
    pub(super) fn abort(&self) {
        self.driver.abort();
    }

    /// The statement for `sql`, prepared on first use.
    pub(super) async fn prepare(&self, sql: &Arc<str>) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.kept().get(sql) {
            return Ok(statement);
        }
        let statement = Box::pin(self.client.prepare(sql)).await?;
        self.kept().put(sql, &statement);
        Ok(statement)
    }

    /// The statements for all of `texts`; those that must be prepared are so in one round trip.
    pub(super) async fn prepare_all(&self, texts: &[&Arc<str>]) -> Result<Vec<Statement>, tokio_postgres::Error> {
        let mut known: AHashMap<&str, Option<Statement>> = AHashMap::new();
        let mut missing = Vec::new();
        {
            let mut kept = self.kept();
            for text in texts {
                known.entry(text.as_ref()).or_insert_with(|| {
                    let found = kept.get(text);
                    if found.is_none() {
                        missing.push(*text);
                    }
                    found
                });
            }
        }
        // All of them are waited for, also after a failure: a statement nobody took would never be closed.
        let prepared = join_all(missing.iter().map(|text| Box::pin(self.client.prepare(text)))).await;
        for (text, statement) in missing.into_iter().zip(prepared) {
            let statement = statement?;
            self.kept().put(text, &statement);
            known.insert(text.as_ref(), Some(statement));
        }
        Ok(texts.iter().filter_map(|text| known.get(text.as_ref()).cloned().flatten()).collect())
    }

    /// Forgets every prepared statement: the schema moved.
    pub(super) fn forget(&self) {
        *self.kept() = Prepared::default();
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Prepared> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends what `future` has to send, without waiting for its answer. `Some` when it is over already.
///
/// Futures of the driver send when they are polled first; so questions that are started one after the other leave as
/// one flight, and their answers can be taken in the same order.
pub(super) async fn start<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Option<F::Output> {
    poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// Prepared statements by text. The one that was not used for longest makes room.
#[derive(Debug, Default)]
struct Prepared {
    statements: AHashMap<Arc<str>, (Statement, u64)>,
    uses: u64,
}

impl Prepared {
    fn get(&mut self, sql: &Arc<str>) -> Option<Statement> {
        self.uses += 1;
        let (statement, used) = self.statements.get_mut(sql)?;
        *used = self.uses;
        Some(statement.clone())
    }

    fn put(&mut self, sql: &Arc<str>, statement: &Statement) {
        if self.statements.len() >= PREPARED_MAX && !self.statements.contains_key(sql) {
            let oldest = self.statements.iter().min_by_key(|(_, (_, used))| *used).map(|(sql, _)| Arc::clone(sql));
            // The server forgets it too, once the last clone is gone.
            oldest.and_then(|sql| self.statements.remove(&sql));
        }
        self.uses += 1;
        self.statements.insert(Arc::clone(sql), (statement.clone(), self.uses));
    }
}
