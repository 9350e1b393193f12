//! A transaction on a connection of the pool, for the reads of one statement of the SQL engine: all of them see the
//! state that the first one saw.
//!
//! Unlike a [`DatabaseSnapshot`](super::snapshot::DatabaseSnapshot), it ends with its statement, needs no identity of
//! rows, and reads one statement at a time to its end. Where the database keeps no earlier rows, a read fails after
//! others have committed: SQLite without a write-ahead log, where an open transaction would keep every writer waiting.

use salver_model::Result;
use tokio::sync::mpsc::Sender;

#[cfg(feature = "mysql")]
use super::mysql;
#[cfg(feature = "postgres")]
use super::postgres;
use super::sqlite;
use crate::cell::RowSink;
use crate::statement::Read;

/// The transaction. Dropping it ends it, without waiting for the database.
#[derive(Debug)]
pub(crate) enum ReadTransaction {
    Sqlite(sqlite::SqliteTransaction),
    #[cfg(feature = "postgres")]
    Postgres(postgres::PostgresTransaction),
    #[cfg(feature = "mysql")]
    Mysql(mysql::MysqlTransaction),
}

impl ReadTransaction {
    /// Runs `reads` one after the other, as [`Backend::read`](super::Backend::read) does. When `out` is closed, the
    /// read is stopped, and the transaction goes on. After an error it must be dropped, and it is lost with a future
    /// that is dropped before its end.
    pub(crate) async fn read<S: RowSink>(
        &mut self,
        reads: Vec<Read>,
        sink: S,
        out: Option<Sender<Result<S::Piece>>>,
    ) -> Result<S> {
        match self {
            Self::Sqlite(transaction) => transaction.read(reads, sink, out).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(transaction) => transaction.read(&reads, sink, out).await,
            #[cfg(feature = "mysql")]
            Self::Mysql(transaction) => transaction.read(&reads, sink, out).await,
        }
    }
}
