//! One connection and the statements prepared on it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use ahash::AHashMap;
use futures::future::join_all;
use salver_model::limits::{DATABASE_CONNECT_MS_MAX, PREPARED_MAX};
use salver_model::{Code, Error};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, Statement};

use super::fault::{self, Fault};
use super::target::Target;

/// A connection. Any number of tasks may send on it: responses come in the order of the requests.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) opened: Instant,
    /// The task that moves the bytes.
    driver: AbortHandle,
    /// Whether it was aborted here, which the driver notices a little later.
    ended: AtomicBool,
    /// Longest wait for a response; `None` without a limit.
    patience: Option<Duration>,
    prepared: Mutex<Prepared>,
}

/// Reason why there is no new connection.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: Error,
    /// Whether the server has as many connections as it allows; Salver's may be among them.
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
        // The driver's own timeout covers the TCP connect only; a server may accept that and then not respond.
        let most = Duration::from_millis(DATABASE_CONNECT_MS_MAX);
        // A connection attempt gets no more time than a statement.
        let patience = target.patience.map_or(most, |patience| patience.min(most));
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
        let opened = Self {
            client,
            opened: Instant::now(),
            driver,
            prepared: Mutex::default(),
            ended: AtomicBool::new(false),
            patience: target.patience,
        };
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
        self.ended.load(Ordering::Relaxed) || self.client.is_closed()
    }

    /// Aborts the connection: pending requests on it fail.
    pub(super) fn abort(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.driver.abort();
    }

    /// Waits for a response within the timeout. A server that does not respond for longer than a statement may take
    /// hangs, including its own timeout: then the connection is aborted, and other pending requests on it fail.
    pub(super) async fn within<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Fault> {
        let mut answer = pin!(answer);
        // The clock is not read when the response is already here.
        if let Poll::Ready(ended) = futures::poll!(answer.as_mut()) {
            return Ok(ended?);
        }
        let Some(patience) = self.patience else { return Ok(answer.await?) };
        match timeout(patience, answer).await {
            Ok(ended) => Ok(ended?),
            Err(_) => {
                self.abort();
                Err(Fault::Silent)
            }
        }
    }

    /// Waits like `within` for a response that may have come at once.
    pub(super) async fn within_or<T>(
        &self,
        early: Option<Result<T, tokio_postgres::Error>>,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Fault> {
        match early {
            Some(ended) => Ok(ended?),
            None => self.within(answer).await,
        }
    }

    /// Returns the statement for `sql`, prepared at its first use.
    pub(super) async fn prepare(&self, sql: &Arc<str>) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.kept().get(sql) {
            return Ok(statement);
        }
        let statement = Box::pin(self.client.prepare(sql)).await?;
        self.kept().put(sql, &statement);
        Ok(statement)
    }

    /// Returns the statements for all of `texts`; those that must be prepared take one round trip together.
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
        // All of them are awaited, also after a failure: a statement whose future is dropped would never be closed.
        let prepared = join_all(missing.iter().map(|text| Box::pin(self.client.prepare(text)))).await;
        for (text, statement) in missing.into_iter().zip(prepared) {
            let statement = statement?;
            self.kept().put(text, &statement);
            known.insert(text.as_ref(), Some(statement));
        }
        Ok(texts.iter().filter_map(|text| known.get(text.as_ref()).cloned().flatten()).collect())
    }

    /// Drops every prepared statement, because the schema changed.
    pub(super) fn forget(&self) {
        *self.kept() = Prepared::default();
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Prepared> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the request of `future`, without waiting for its response. Returns `Some` when it is complete already.
///
/// Futures of the driver send at their first poll. So requests that are started one after the other are pipelined, and
/// their responses can be awaited in the same order.
pub(super) async fn start<F: Future + ?Sized>(future: &mut Pin<Box<F>>) -> Option<F::Output> {
    poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// A cache of prepared statements by text, which evicts the least recently used one.
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
            // The server drops it too, once the last clone is gone.
            oldest.and_then(|sql| self.statements.remove(&sql));
        }
        self.uses += 1;
        self.statements.insert(Arc::clone(sql), (statement.clone(), self.uses));
    }
}
