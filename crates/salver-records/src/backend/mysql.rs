//! MySQL and MariaDB: a pool of connections, each with its prepared statements.

mod clauses;
mod client;
mod column_types;
mod connect_options;
mod decode;
mod error_numbers;
mod load;
mod merged_reads;
mod pool;
mod read;
mod read_transaction;
mod reflect;
mod snapshot;
#[cfg(test)]
mod tests;
mod values;
mod write;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mysql_async::Error as Failure;
use salver_model::records::TableInfo;
use salver_model::spec::DatabaseSpec;
use salver_model::{Code, Error, Result, Shares};
use tokio::sync::mpsc;

use self::client::Client;
pub(crate) use self::error_numbers::is_nowhere;
use self::pool::Pool;
pub(crate) use self::read_transaction::MysqlTransaction;
pub(crate) use self::snapshot::MysqlSnapshot;
use crate::backend::snapshot_permits::Places;
use crate::cell::RowSink;
use crate::statement::{Bind, BulkLoad, Loaded, Program, ProgramOutcome, Read};

/// A MySQL or MariaDB database. Connects at the first use.
#[derive(Debug)]
pub(crate) struct Mysql {
    pool: Pool,
    name: String,
    writable: bool,
    definable: bool,
    /// Permits for the connections of snapshots.
    snapshots: Places,
}

impl Mysql {
    pub(crate) fn lying(&self) -> &Arc<Shares> {
        self.pool.lying()
    }

    pub(crate) fn open(spec: &DatabaseSpec) -> Result<Self> {
        // The driver takes the process-wide crypto provider, and only this one is built in. One may be installed
        // already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            pool: Pool::new(spec, connect_options::address(spec)?),
            name: spec.name.to_string(),
            writable: spec.writable,
            definable: spec.definable,
            snapshots: Places::default(),
        })
    }

    pub(crate) async fn reflect(&self) -> Result<Vec<TableInfo>> {
        self.look(async |client| reflect::reflect(client).await).await
    }

    pub(crate) async fn stamp(&self) -> Result<u64> {
        let rows = self.look(async |client| client.rows(reflect::STAMP).await).await?;
        let mut hasher = DefaultHasher::new();
        for row in rows {
            for value in row.unwrap_raw() {
                format!("{value:?}").hash(&mut hasher);
            }
        }
        Ok(hasher.finish())
    }

    pub(crate) async fn read<S: RowSink>(
        &self,
        reads: Vec<Read>,
        sink: S,
        out: Option<mpsc::Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        read::read(&self.pool, &reads, sink, out).await
    }

    pub(crate) async fn write(&self, program: Program) -> Result<ProgramOutcome> {
        self.check(self.writable)?;
        write::write(&self.pool, program).await
    }

    /// Runs the statements without a transaction, which the system does not have for DDL: whatever ran before a failure
    /// stays.
    pub(crate) async fn define(&self, statements: Vec<String>) -> Result<()> {
        self.check(self.definable)?;
        let mut lease = self.pool.lease_alive().await?;
        for statement in &statements {
            match lease.client.run(statement).await {
                Ok(()) => {}
                Err(failure) if error_numbers::is_lost(&failure) || error_numbers::is_overdue(&failure) => {
                    return Err(error_numbers::outcome_unknown(failure, self.pool.place()));
                }
                Err(failure) => {
                    self.pool.give_back(lease);
                    return Err(error_numbers::error(failure, self.pool.place()));
                }
            }
        }
        self.pool.give_back(lease);
        Ok(())
    }

    pub(crate) async fn load(&self, load: BulkLoad, rows: mpsc::Receiver<Vec<Vec<Bind>>>) -> Result<Loaded> {
        self.check(self.writable)?;
        load::load(&self.pool, load, rows).await
    }

    pub(crate) async fn ping(&self) -> Result<Duration> {
        self.look(async |client| {
            let start = Instant::now();
            client.ping().await?;
            Ok(start.elapsed())
        })
        .await
    }

    /// Runs a read-only query, and retries it once on a new connection when the first one was lost.
    async fn look<T>(&self, ask: impl AsyncFn(&mut Client) -> Result<T, Failure>) -> Result<T> {
        let mut lease = self.pool.lease().await?;
        let mut answer = ask(&mut lease.client).await;
        if answer.as_ref().is_err_and(error_numbers::is_lost) {
            drop(lease);
            lease = self.pool.lease_new().await?;
            answer = ask(&mut lease.client).await;
        }
        match answer {
            Ok(answer) => {
                self.pool.give_back(lease);
                Ok(answer)
            }
            Err(failure) => {
                if matches!(failure, Failure::Server(_)) {
                    self.pool.give_back(lease);
                }
                Err(error_numbers::error(failure, self.pool.place()))
            }
        }
    }

    fn check(&self, allowed: bool) -> Result<()> {
        if allowed {
            return Ok(());
        }
        Err(Error::new(Code::ReadOnly, format!("the database `{}` is read-only", self.name))
            .with_hint("`writable` in its settings lets rows be changed, `definable` its schema"))
    }
}
