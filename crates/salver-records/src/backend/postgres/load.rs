//! Bulk loads: `COPY` in pieces, each behind a savepoint, in one transaction.
//!
//! A failed piece is split until the bad rows are alone, and those are retried with the insert statement, whose error
//! is reported. An upsert, and a table that `COPY` can't write, use the statement for all rows, many of them pipelined
//! at once.

mod copy;

use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::SinkExt;
use salver_model::limits::LOAD_PROBLEMS_MAX;
use salver_model::{Error, Result};
use tokio::sync::mpsc;
use tokio_postgres::{CopyInSink, Statement};

use self::copy::Copy;
use super::Postgres;
use super::bind::Wire;
use super::connection::{Connection, start};
use super::fault::{Fault, ends_all, unknown_outcome};
use super::pool::Lease;
use crate::dialect::Dialect;
use crate::statement::{Bind, BulkLoad, Loaded};

/// Most rows, and approximately the most bytes, of one piece.
const PIECE_ROWS: usize = 4_096;
const PIECE_BYTES: usize = 1024 * 1024;
/// Most rows pipelined in one flight of statements.
const FLIGHT_ROWS: usize = 256;
/// Bad rows after which the rest of a piece goes by statements: copying its parts again and again takes longer.
const BAD_ROWS: u64 = 16;
/// Opens a savepoint and releases the one before.
const MARK: &str = "RELEASE piece; SAVEPOINT piece";

const COPYABLE: &str = "\
SELECT c.relkind IN ('r', 'p', 'f') AND NOT pg_catalog.row_security_active(c.oid)
   AND pg_catalog.has_table_privilege(c.oid, 'INSERT') AND pg_catalog.current_setting('transaction_read_only') = 'off'
FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass($1::text)";

impl Postgres {
    /// See [`crate::backend::Backend::load`].
    pub(crate) async fn load(&self, load: BulkLoad, mut rows: mpsc::Receiver<Vec<Vec<Bind>>>) -> Result<Loaded> {
        let entry = self.target.entry.as_str();
        let told = |fault: Fault| fault.into_error(entry);
        let copy = Arc::new(Copy::of(&load, self.geometry_srid));
        let mut lease = self.lease().await?;
        lease.begins();
        let insert = lease.within(lease.prepare(&load.insert)).await.map_err(told)?;
        let copying = match load.upsert || !lease.within(copyable(&lease, &load.table)).await.map_err(told)? {
            true => None,
            false => Some(lease.within(lease.client.prepare(&copy.sql)).await.map_err(told)?),
        };
        lease.within(lease.client.batch_execute("BEGIN; SAVEPOINT piece")).await.map_err(told)?;
        let copies = copying.is_some();
        let mut loading =
            Loading { lease, entry, copy: Arc::clone(&copy), copying, insert, loaded: Loaded::default(), taken: 0 };
        let mut piece = Piece::gather(&copy, copies, &mut rows).await;
        while !piece.rows.is_empty() {
            // The next piece is gathered while the server works on this one.
            let next = Piece::gather(&copy, copies, &mut rows);
            let (ended, next) = tokio::join!(Box::pin(loading.take(&piece)), next);
            ended.map_err(|fault| fault.into_error(entry))?;
            piece = next;
        }
        let keep = !load.dry_run && (load.keep_good || loading.loaded.refused == 0);
        loading.finish(keep).await
    }
}

/// Returns whether the table accepts `COPY`: no view does, nor a table with row security. Checked beforehand, since a
/// copy that is rejected before its first row costs the driver the connection.
async fn copyable(connection: &Connection, table: &str) -> Result<bool, tokio_postgres::Error> {
    let mut name = String::new();
    Dialect::Postgres.name(table, &mut name);
    let found = connection.client.query_opt(COPYABLE, &[&name]).await?;
    found.map_or(Ok(false), |row| row.try_get(0))
}

/// Rows that are loaded together.
#[derive(Debug, Default)]
struct Piece {
    rows: Vec<Vec<Bind>>,
    /// The rows in the format of `COPY`.
    text: BytesMut,
}

impl Piece {
    /// Takes rows until there are enough; returns an empty piece when there are no more.
    async fn gather(copy: &Copy, copies: bool, rows: &mut mpsc::Receiver<Vec<Vec<Bind>>>) -> Self {
        let mut piece = Self::default();
        while piece.rows.len() < PIECE_ROWS && piece.text.len() < PIECE_BYTES {
            let Some(mut batch) = rows.recv().await else { break };
            if copies {
                for row in &batch {
                    copy.row(row, &mut piece.text);
                }
            }
            piece.rows.append(&mut batch);
        }
        piece
    }
}

/// A load in progress.
struct Loading<'a> {
    lease: Lease,
    entry: &'a str,
    copy: Arc<Copy>,
    /// The prepared copy; `None` when rows go by statements.
    copying: Option<Statement>,
    insert: Statement,
    loaded: Loaded,
    /// Number of rows in earlier pieces.
    taken: u64,
}

impl Loading<'_> {
    /// Loads one piece: all of it, or its good rows.
    async fn take(&mut self, piece: &Piece) -> Result<(), Fault> {
        let refused_before = self.loaded.refused;
        // The last range is done first; ranges are pushed in reverse, so that rows stay in order.
        let mut todo: Vec<_> = std::iter::once(0..piece.rows.len()).collect();
        while let Some(range) = todo.pop() {
            let bad = self.loaded.refused - refused_before;
            let Some(statement) = self.copying.clone().filter(|_| range.len() > 1 && bad <= BAD_ROWS) else {
                self.insert(&piece.rows, range).await?;
                continue;
            };
            let text = if range.len() == piece.rows.len() { piece.text.clone() } else { self.text(piece, &range) };
            let Err(fault) = self.copy(&statement, text.freeze()).await else {
                self.loaded.kept += range.len() as u64;
                continue;
            };
            let stopped_at = fault.context().and_then(|context| self.copy.stopped_at(context));
            if fault.is_lost() {
                return Err(fault);
            }
            let error = fault.into_error(self.entry);
            if ends_all(&error) {
                return Err(Fault::Own(error));
            }
            self.lease.within(self.lease.client.batch_execute("ROLLBACK TO piece")).await?;
            todo.extend(parts(range, stopped_at));
        }
        self.taken += piece.rows.len() as u64;
        Ok(())
    }

    fn text(&self, piece: &Piece, range: &Range<usize>) -> BytesMut {
        let mut text = BytesMut::new();
        for row in &piece.rows[range.clone()] {
            self.copy.row(row, &mut text);
        }
        text
    }

    async fn copy(&self, statement: &Statement, text: Bytes) -> Result<(), Fault> {
        let mut mark = Box::pin(self.lease.client.batch_execute(MARK));
        let marked = start(&mut mark).await;
        let sink: CopyInSink<Bytes> = self.lease.within(self.lease.client.copy_in(statement)).await?;
        self.lease.within_or(marked, mark).await?;
        let mut sink = Box::pin(sink);
        // A rejection in the middle is reported at the end.
        if let Err(Fault::Silent) = self.lease.within(sink.send(text)).await {
            return Err(Fault::Silent);
        }
        self.lease.within(sink.as_mut().finish()).await.map(|_| ())
    }

    /// Loads rows with the statement, as many in a flight as succeed.
    async fn insert(&mut self, rows: &[Vec<Bind>], range: Range<usize>) -> Result<(), Fault> {
        let mut at = range.start;
        let mut most = FLIGHT_ROWS;
        let mut known: Option<(usize, Error)> = None;
        while at < range.end {
            let end = match known.take() {
                Some((bad, error)) if bad == at => {
                    self.refuse(at, error);
                    at += 1;
                    continue;
                }
                Some((bad, error)) => known.insert((bad, error)).0,
                None => range.end.min(at + most),
            };
            let Some((index, fault)) = self.flight(&rows[at..end]).await? else {
                self.loaded.kept += (end - at) as u64;
                at = end;
                most = FLIGHT_ROWS.min(most * 2);
                continue;
            };
            if fault.is_lost() {
                return Err(fault);
            }
            let error = fault.into_error(self.entry);
            if ends_all(&error) {
                return Err(Fault::Own(error));
            }
            self.lease.within(self.lease.client.batch_execute("ROLLBACK TO piece")).await?;
            most = (most / 2).max(1);
            known = Some((at + index, error));
        }
        Ok(())
    }

    /// Pipelines rows; returns which of them failed, if one did.
    async fn flight(&self, rows: &[Vec<Bind>]) -> Result<Option<(usize, Fault)>, Fault> {
        type Question<'a> = Pin<Box<dyn Future<Output = Result<u64, tokio_postgres::Error>> + Send + 'a>>;
        let client = &self.lease.client;
        let mut mark = Box::pin(client.batch_execute(MARK));
        let marked = start(&mut mark).await;
        let mut questions = Vec::with_capacity(rows.len());
        for row in rows {
            let mut question: Question<'_> = Box::pin(client.execute_raw(&self.insert, row.iter().map(Wire)));
            let early = start(&mut question).await;
            questions.push((question, early));
        }
        self.lease.within_or(marked, mark).await?;
        for (index, (question, early)) in questions.into_iter().enumerate() {
            if let Err(fault) = self.lease.within_or(early, question).await {
                return Ok(Some((index, fault)));
            }
        }
        Ok(None)
    }

    fn refuse(&mut self, index: usize, error: Error) {
        self.loaded.refused += 1;
        if self.loaded.problems.len() < LOAD_PROBLEMS_MAX {
            self.loaded.problems.push((self.taken + index as u64, error));
        }
    }

    async fn finish(mut self, keep: bool) -> Result<Loaded> {
        let last = if keep { "COMMIT" } else { "ROLLBACK" };
        let ended = self.lease.within(self.lease.client.batch_execute(last)).await;
        self.lease.ended();
        if let Err(fault) = ended {
            let unknown = keep && fault.is_lost();
            return Err(if unknown { unknown_outcome(fault, self.entry) } else { fault.into_error(self.entry) });
        }
        if !keep {
            self.loaded.kept = 0;
        }
        Ok(self.loaded)
    }
}

/// Splits a failed range, the last part first: the good rows, the row at which it stopped, and the rest; or halves.
fn parts(range: Range<usize>, stopped_at: Option<usize>) -> Vec<Range<usize>> {
    let bad = stopped_at.map(|index| range.start + index).filter(|bad| range.contains(bad));
    let parts = match bad {
        Some(bad) => vec![bad + 1..range.end, bad..bad + 1, range.start..bad],
        None => {
            let middle = range.start + range.len() / 2;
            vec![middle..range.end, range.start..middle]
        }
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}
