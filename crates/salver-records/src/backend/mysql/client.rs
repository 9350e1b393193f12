//! One connection, its prepared statements, and whether a statement is in progress on it.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use ahash::AHashMap;
use mysql_async::prelude::Queryable;
use mysql_async::{BinaryProtocol, Conn, Error as Failure, Opts, Params, QueryResult, Row, Statement};
use salver_model::limits::{DATABASE_GRACE_MS, DATABASE_LOCK_S_MAX, PREPARED_MAX};
use tokio::time::timeout;

use super::decode::RowBuffer;
use super::error_numbers::{self, Overdue};
use super::values::values;
use crate::statement::Bind;

type MysqlResult<T> = Result<T, Failure>;

/// The terms that hold for every connection to a database.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Longest run of a statement; 0 is no bound.
    pub(super) statement_ms_max: u64,
    /// Whether the session is read-only.
    pub(super) read_only: bool,
}

impl Terms {
    /// Returns the time to wait for a statement; the server should have ended it before.
    fn patience(self) -> Option<Duration> {
        (self.statement_ms_max > 0)
            .then(|| Duration::from_millis(self.statement_ms_max.saturating_add(DATABASE_GRACE_MS)))
    }
}

/// Has the server kill what a connection was doing when it was dropped.
pub(super) trait Ender: fmt::Debug + Send + Sync {
    /// Kills it, in the background.
    fn end(self: Arc<Self>, connection: u32);
}

/// A connection. If dropped while a statement is in progress, it has the server kill that.
#[derive(Debug)]
pub(super) struct Client {
    conn: Conn,
    prepared: AHashMap<Arc<str>, MysqlStatement>,
    /// Counts uses of prepared statements.
    uses: u64,
    used: Instant,
    busy: bool,
    broken: bool,
    mariadb: bool,
    patience: Option<Duration>,
    ender: Weak<dyn Ender>,
    /// Reused between results, so that rows don't allocate.
    pub(super) buffer: RowBuffer,
}

#[derive(Debug)]
struct MysqlStatement {
    statement: Statement,
    used: u64,
}

impl Client {
    /// Connects and sets the session variables that all of Salver's statements rely on.
    pub(super) async fn connect(options: &Opts, terms: Terms, ender: Weak<dyn Ender>) -> MysqlResult<Self> {
        let mut conn = Conn::new(options.clone()).await?;
        let version: Option<String> = conn.query_first("SELECT VERSION()").await?;
        let mariadb = version.is_some_and(|version| version.contains("MariaDB"));
        conn.query_drop(session(terms, mariadb)).await?;
        Ok(Self {
            conn,
            prepared: AHashMap::new(),
            uses: 0,
            used: Instant::now(),
            busy: false,
            broken: false,
            mariadb,
            patience: terms.patience(),
            ender,
            buffer: RowBuffer::default(),
        })
    }

    /// Returns whether the server is MariaDB, not MySQL.
    pub(super) fn is_mariadb(&self) -> bool {
        self.mariadb
    }

    /// Returns the time since the connection was last used.
    pub(super) fn idle(&self) -> Duration {
        self.used.elapsed()
    }

    /// Marks the connection as idle; returns `false` when it is no longer usable.
    pub(super) fn rest(&mut self) -> bool {
        self.busy = false;
        self.used = Instant::now();
        !self.broken
    }

    /// Returns the driver's connection, for statements that need no supervision.
    pub(super) fn connection(&mut self) -> &mut Conn {
        &mut self.conn
    }

    /// Makes a round trip.
    pub(super) async fn ping(&mut self) -> MysqlResult<()> {
        self.busy = true;
        let answer = within(self.patience, self.conn.ping()).await;
        self.watch(answer)
    }

    /// Runs a statement without values in the text protocol, for statements that can't be prepared; skips its rows.
    pub(super) async fn run(&mut self, sql: &str) -> MysqlResult<()> {
        self.busy = true;
        let answer = within(self.patience, self.conn.query_drop(sql)).await;
        self.watch(answer)
    }

    /// Begins a transaction that only reads, and in which all reads see the state of this moment.
    pub(super) async fn begin_snapshot(&mut self) -> MysqlResult<()> {
        // With any other level there would be no snapshot, whatever the second statement says.
        self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await?;
        self.run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").await
    }

    /// Prepares `sql`, or returns it from the cache. If this fails, nothing of it has run.
    pub(super) async fn prepare(&mut self, sql: &Arc<str>) -> MysqlResult<Statement> {
        self.uses += 1;
        if let Some(known) = self.prepared.get_mut(sql) {
            known.used = self.uses;
            return Ok(known.statement.clone());
        }
        self.busy = true;
        let answer = self.prepare_anew(sql).await;
        self.watch(answer)
    }

    async fn prepare_anew(&mut self, sql: &Arc<str>) -> MysqlResult<Statement> {
        if self.prepared.len() >= PREPARED_MAX {
            let oldest = self.prepared.iter().min_by_key(|(_, known)| known.used).map(|(sql, _)| Arc::clone(sql));
            if let Some(known) = oldest.and_then(|sql| self.prepared.remove(&sql)) {
                self.conn.close(known.statement).await?;
            }
        }
        let statement = within(self.patience, self.conn.prep(&**sql)).await?;
        self.prepared.insert(Arc::clone(sql), MysqlStatement { statement: statement.clone(), used: self.uses });
        Ok(statement)
    }

    /// Starts a statement with the values of all of `binds` in order. Its rows come from [`Client::next`], and all of
    /// them must be taken.
    pub(super) async fn start(&mut self, sql: &Arc<str>, binds: &[&[Bind]]) -> MysqlResult<()> {
        let statement = self.prepare(sql).await?;
        match self.start_prepared(&statement, binds).await {
            // The table changed too much, or the server evicted the statement: nothing has run.
            Err(failure) if error_numbers::is_stale(&failure) => {
                self.prepared.remove(sql);
                let statement = self.prepare(sql).await?;
                self.start_prepared(&statement, binds).await
            }
            answer => answer,
        }
    }

    async fn start_prepared(&mut self, statement: &Statement, binds: &[&[Bind]]) -> MysqlResult<()> {
        self.busy = true;
        let started = self.conn.exec_iter(statement, Params::Positional(values(binds)));
        let answer = within(self.patience, started).await.map(drop);
        self.watch(answer)
    }

    /// Returns the next row of the started statement.
    pub(super) async fn next(&mut self) -> MysqlResult<Option<Row>> {
        let answer = {
            let mut rows = QueryResult::<'_, 'static, BinaryProtocol>::new(&mut self.conn);
            within(self.patience, rows.next()).await
        };
        self.watch(answer)
    }

    /// Skips the remaining rows of the started statement.
    pub(super) async fn skip(&mut self) -> MysqlResult<()> {
        while self.next().await?.is_some() {}
        Ok(())
    }

    /// Returns the number of rows that the last statement affected.
    pub(super) fn affected(&self) -> u64 {
        self.conn.affected_rows()
    }

    /// Returns the auto-increment value of the last statement's new row.
    pub(super) fn last_key(&self) -> Option<i64> {
        self.conn.last_insert_id().and_then(|key| i64::try_from(key).ok())
    }

    /// Returns the rows of a statement that is not cached, for reading the schema.
    pub(super) async fn rows(&mut self, sql: &str) -> MysqlResult<Vec<Row>> {
        self.busy = true;
        let answer = within(self.patience, self.conn.query::<Row, _>(sql)).await;
        self.watch(answer)
    }

    fn watch<T>(&mut self, answer: MysqlResult<T>) -> MysqlResult<T> {
        if let Err(failure) = &answer {
            // An overdue statement still runs on the server, and is killed when this is dropped.
            self.broken |= !matches!(failure, Failure::Server(_)) || error_numbers::is_lost(failure);
            self.busy = !error_numbers::is_lost(failure);
        }
        answer
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.busy
            && let Some(ender) = self.ender.upgrade()
        {
            ender.end(self.conn.id());
        }
    }
}

async fn within<T>(patience: Option<Duration>, answer: impl Future<Output = MysqlResult<T>>) -> MysqlResult<T> {
    match patience {
        Some(patience) => match timeout(patience, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::Other(Box::new(Overdue))),
        },
        None => answer.await,
    }
}

/// Like `TRADITIONAL`, but lets in dates that don't exist: otherwise `GROUP BY` would fold all such stored dates into
/// one. Written values are validated before.
const SQL_MODE: &str = "ANSI,STRICT_TRANS_TABLES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,\
                        ALLOW_INVALID_DATES";

/// Returns the `SET` of a new session. Values that don't fit are errors, and quotes follow the standard.
fn session(terms: Terms, mariadb: bool) -> String {
    // A `timestamp` is read and written as UTC, in whatever time zone the server is.
    let mut sql = format!("SET SESSION sql_mode = '{SQL_MODE}', time_zone = '+00:00'");
    let ms = terms.statement_ms_max;
    // The lock timeout must come first, or the error would be the statement timeout, not the lock.
    let lock_s = if ms == 0 { DATABASE_LOCK_S_MAX } else { (ms / 2_000).clamp(1, DATABASE_LOCK_S_MAX) };
    sql.push_str(&format!(", lock_wait_timeout = {lock_s}, innodb_lock_wait_timeout = {lock_s}"));
    if ms > 0 && mariadb {
        sql.push_str(&format!(", max_statement_time = {}.{:03}", ms / 1_000, ms % 1_000));
    } else if ms > 0 {
        sql.push_str(&format!(", max_execution_time = {ms}"));
    }
    if terms.read_only {
        sql.push_str("; SET SESSION TRANSACTION READ ONLY");
    }
    sql
}
