//! Loads many rows in one transaction, by multi-row inserts: measured against `LOAD DATA LOCAL INFILE` they take the
//! same time, and they never coerce a value to make it fit.
//!
//! A failed insert leaves nothing. It is then bisected until the bad rows stand alone.

use std::sync::Arc;

use salver_model::limits::LOAD_PROBLEMS_MAX;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc;

use super::clauses;
use super::client::Client;
use super::failure;
use super::merge::PLACEHOLDERS;
use super::pool::Pool;
use super::write::{begin, finish};
use crate::statement::{Bind, BulkLoad, Loaded};

/// Rows of one insert, as a power of two: few different statements, so that each is prepared once.
const INSERT_ROWS_LOG2: u32 = 8;
/// Bytes of text and binary values of one insert, approximately; well below the smallest packet that servers accept.
const INSERT_BYTES: usize = 512 * 1024;

type Row = Vec<Bind>;

/// Loads `rows` as they arrive.
pub(super) async fn load(pool: &Pool, load: BulkLoad, mut rows: mpsc::Receiver<Vec<Row>>) -> Result<Loaded> {
    let mut lease = begin(pool).await?;
    let mut loading = Loading::new(&mut lease.client, pool.place(), &load);
    let mut waiting: Vec<Row> = Vec::new();
    while let Some(some) = rows.recv().await {
        waiting.extend(some);
        // The remainder waits for more rows, so that inserts are as long as possible.
        let whole = waiting.len() - waiting.len() % loading.rows_max;
        loading.insert_all(&waiting[..whole]).await?;
        waiting.drain(..whole);
    }
    loading.insert_all(&waiting).await?;
    let mut loaded = loading.loaded;
    let keep = !load.dry_run && (load.keep_good || loaded.refused == 0);
    finish(pool, lease, keep).await?;
    if !keep {
        loaded.kept = 0;
    }
    Ok(loaded)
}

/// A load in progress.
struct Loading<'a> {
    client: &'a mut Client,
    place: &'a str,
    /// The insert up to its row, the row, and the rest; `None` when it can't take several rows.
    parts: Option<(&'a str, &'a str, &'a str)>,
    /// The prepared inserts of 1, 2, 4, ... rows, as far as needed yet.
    inserts: Vec<Option<Arc<str>>>,
    rows_max: usize,
    loaded: Loaded,
}

impl<'a> Loading<'a> {
    fn new(client: &'a mut Client, place: &'a str, load: &'a BulkLoad) -> Self {
        let parts = clauses::insert(&load.insert);
        let fitting = (PLACEHOLDERS / load.columns.len().max(1)).max(1).ilog2();
        let log2_max = if parts.is_some() { fitting.min(INSERT_ROWS_LOG2) } else { 0 };
        let mut inserts = vec![None; log2_max as usize + 1];
        inserts[0] = Some(Arc::clone(&load.insert));
        Self { client, place, parts, inserts, rows_max: 1 << log2_max, loaded: Loaded::default() }
    }

    async fn insert_all(&mut self, rows: &[Row]) -> Result<()> {
        let mut waiting = vec![rows];
        while let Some(rows) = waiting.pop() {
            if rows.is_empty() {
                continue;
            }
            let (part, rest) = rows.split_at(self.fitting(rows));
            waiting.push(rest);
            match self.insert(part).await? {
                None => self.loaded.kept += part.len() as u64,
                Some(error) if part.len() == 1 => self.refuse(error),
                Some(_) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    waiting.push(second);
                    waiting.push(first);
                }
            }
        }
        Ok(())
    }

    /// Returns how many of the rows, a power of two, fit into one insert.
    fn fitting(&self, rows: &[Row]) -> usize {
        let mut bytes = 0;
        let count = rows
            .iter()
            .take(self.rows_max)
            .take_while(|row| {
                bytes += size(row);
                bytes <= INSERT_BYTES
            })
            .count();
        1 << count.max(1).ilog2()
    }

    /// Inserts all of the rows or none; returns the error of the insert, unless it ends the whole load.
    async fn insert(&mut self, rows: &[Row]) -> Result<Option<Error>> {
        let sql = self.statement(rows.len().ilog2() as usize)?;
        let binds: Vec<&[Bind]> = rows.iter().map(Vec::as_slice).collect();
        let mut answer = self.client.start(&sql, &binds).await;
        if answer.is_ok() {
            answer = self.client.skip().await;
        }
        let Err(failure) = answer else { return Ok(None) };
        let error = failure::error(failure, self.place);
        let is_of_row =
            matches!(error.code, Code::DuplicateKey | Code::Integrity | Code::Raised | Code::Invalid | Code::Execution);
        if is_of_row { Ok(Some(error)) } else { Err(error) }
    }

    /// Returns the insert of 2 to the power of `log2` rows.
    fn statement(&mut self, log2: usize) -> Result<Arc<str>> {
        if let Some(known) = &self.inserts[log2] {
            return Ok(Arc::clone(known));
        }
        let (head, row, tail) = self.parts.ok_or_else(|| Error::internal("the insert takes one row only"))?;
        let rows = 1usize << log2;
        let mut sql = String::with_capacity(head.len() + tail.len() + (row.len() + 1) * rows);
        sql.push_str(head);
        for index in 0..rows {
            if index > 0 {
                sql.push(',');
            }
            sql.push_str(row);
        }
        sql.push_str(tail);
        let sql: Arc<str> = Arc::from(sql);
        self.inserts[log2] = Some(Arc::clone(&sql));
        Ok(sql)
    }

    fn refuse(&mut self, error: Error) {
        if self.loaded.problems.len() < LOAD_PROBLEMS_MAX {
            let row = self.loaded.kept + self.loaded.refused;
            self.loaded.problems.push((row, error));
        }
        self.loaded.refused += 1;
    }
}

/// Returns the size of a row in bytes, approximately.
fn size(row: &Row) -> usize {
    row.iter()
        .map(|bind| match bind {
            Bind::Text(text) => text.len(),
            Bind::Bytes(bytes) => bytes.len(),
            _ => 8,
        })
        .sum()
}
