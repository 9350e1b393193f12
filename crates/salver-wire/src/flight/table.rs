//! Whole tables: held at one version, in as many shares as can be read side by side, each for a ticket of its own.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use arrow_flight::{FlightDescriptor, FlightInfo};
use futures::stream;
use salver_model::access::Bound;
use salver_model::limits::{EXPORT_STREAMS_MAX, EXPORT_TTL_S, FLIGHT_TABLES_MAX};
use salver_model::ports::Held;
use salver_model::reply::BatchStream;
use salver_model::{Code, Error, Permission, Result, Share, Shares};
use salver_service::RightsVersion;
use salver_service::exports::{ExportReader, Lease, Leases, Range};
use salver_service::reception::Welcome;
use tokio::sync::Mutex as Turn;

use super::admission::Admitted;
use super::outflow::Outflow;
use super::query;
use super::tickets::{Ticket, Tickets, unknown};
use salver_model::EntryKind;

/// Rows of a share, at least, before a table is divided further.
const SHARE_ROWS: u64 = 64 * 1024;
/// Shares of a table, if the client does not say.
const USUAL_SHARES: u64 = 8;
/// Rows that are read at a time.
const STEP_ROWS: usize = 8 * 1024;
/// Least number of decoders that there are for all tables.
const LEAST_DECODERS: usize = 8;

/// The tables that are held.
#[derive(Debug)]
pub(super) struct HeldTables {
    kept: Leases<Kept>,
    /// Permits for decoders, of which each needs some megabytes.
    decoders: Arc<Shares>,
}

#[derive(Debug)]
struct Kept(Arc<HeldTable>);

impl Lease for Kept {}

#[derive(Debug)]
struct HeldTable {
    held: Arc<dyn Held>,
    shares: Vec<Range>,
    /// What callers may see, when the table was held.
    rights: RightsVersion,
    /// Shares that nobody has read to their end.
    unread: Mutex<BTreeSet<usize>>,
}

impl Default for HeldTables {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            kept: Leases::new("tables of Arrow Flight", FLIGHT_TABLES_MAX),
            decoders: Shares::new("decoders of Arrow Flight", cores.max(LEAST_DECODERS)),
        }
    }
}

impl HeldTables {
    /// Holds the table that a path names, and returns the tickets for its shares.
    ///
    /// # Errors
    /// Those of the service, `Overloaded`, and `InvalidRequest` for a path that names none.
    pub(super) async fn open(
        &self,
        admitted: &Admitted,
        tickets: &Tickets,
        descriptor: FlightDescriptor,
    ) -> Result<FlightInfo> {
        let Welcome { service, caller, .. } = &*admitted.welcome;
        let (name, wanted) = named(&descriptor.path)?;
        let snapshot = service.snapshot_with(caller, Permission::Export, name).await;
        let description = snapshot.resolve(name)?.describe();
        let count = wanted.unwrap_or_else(|| usual(description.rows));
        let parts = if description.kind == EntryKind::Table { count } else { 1 };
        let held = service.hold(caller, &snapshot, name, usize::try_from(parts).unwrap_or(1)).await?;
        let bound = caller.limits.rows(service.limits().rows_max);
        let rows = held.describe().rows;
        if bound.most().zip(rows).is_some_and(|(most, rows)| rows > most) {
            return Err(too_many(bound));
        }
        let mut shares = Range::split(&*held, count);
        shares.retain(|share| share.rows != Some(0) && !share.parts.is_empty());
        if shares.is_empty() {
            shares.push(Range::all(&*held));
        }
        let schema = Arc::clone(&held.describe().schema);
        let unread = Mutex::new((0..shares.len()).collect());
        let table = HeldTable { held, unread, rights: service.own_rights(), shares };
        let count = table.shares.len() as u64;
        let id = self.kept.open(&caller.holder(), Kept(Arc::new(table)), Duration::from_secs(EXPORT_TTL_S))?;
        let sealed = (0..count).map(|share| tickets.seal(&admitted.owner, &Ticket::Table { id, share }));
        let info = query::info_of(descriptor, Some(&schema), sealed.map(query::ticket_of).collect())?;
        let rows = rows.and_then(|rows| i64::try_from(rows).ok()).unwrap_or(query::UNKNOWN_ROWS);
        Ok(info.with_total_records(rows).with_ordered(true))
    }

    /// Returns the rows of a share.
    ///
    /// # Errors
    /// `NotFound` if the table is no longer held, `ExpiredCursor` if callers may see something else by now.
    pub(super) fn read(self: &Arc<Self>, welcome: Arc<Welcome>, id: u64, share: u64) -> Result<Outflow> {
        let table = self.kept.touch(id, |kept| Arc::clone(&kept.0)).map_err(|_| unknown())?;
        let own = welcome.service.own_rights();
        if (own.callers, own.rules) != (table.rights.callers, table.rights.rules) {
            let message = "what callers may see was changed since the table was asked for";
            return Err(Error::new(Code::ExpiredCursor, message).with_hint("ask for it again"));
        }
        let at = usize::try_from(share).map_err(|_| unknown())?;
        let range = table.shares.get(at).cloned().ok_or_else(unknown)?;
        let columns: Vec<usize> = (0..table.held.describe().schema.fields().len()).collect();
        let reader = ExportReader::new(Arc::clone(&table.held), columns, range);
        let schema = Arc::clone(reader.schema());
        let bound = welcome.caller.limits.rows(welcome.service.limits().rows_max);
        let reading = Reading {
            tables: Arc::clone(self),
            table,
            at: (id, at),
            welcome: Arc::clone(&welcome),
            reader,
            decoder: None,
            waiting: Vec::new(),
            bound,
            left: bound.most(),
        };
        let reading = Arc::new(Turn::new(reading));
        let resting = Arc::clone(&reading);
        let rest = move || {
            if let Ok(mut reading) = resting.try_lock() {
                reading.rest();
            }
        };
        Ok(Outflow { schema, batches: batches(reading), rest: Some(Box::new(rest)), welcome })
    }
}

/// A share of a table that is being read.
struct Reading {
    tables: Arc<HeldTables>,
    table: Arc<HeldTable>,
    /// Numbers of the table and of the share.
    at: (u64, usize),
    welcome: Arc<Welcome>,
    reader: ExportReader,
    decoder: Option<Share>,
    /// Batches that were read, the next one last.
    waiting: Vec<RecordBatch>,
    bound: Bound,
    /// Rows that the caller may still get.
    left: Option<u64>,
}

impl Reading {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if self.waiting.is_empty() {
            self.step().await?;
        }
        let Some(batch) = self.waiting.pop() else {
            self.end();
            return Ok(None);
        };
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(batch.num_rows() as u64).ok_or_else(|| too_many(self.bound))?;
        }
        Ok(Some(batch))
    }

    /// Reads on.
    async fn step(&mut self) -> Result<()> {
        let Welcome { service, caller, .. } = &*self.welcome;
        if self.decoder.is_none() {
            self.decoder = Some(self.tables.decoders.take(&caller.holder()).await);
        }
        // Keeps the table while it is read.
        let _ = self.tables.kept.touch(self.at.0, |_| ());
        self.waiting = service.read_on(caller, &mut self.reader, STEP_ROWS).await?;
        self.waiting.reverse();
        if self.tables.decoders.taken().taken >= self.tables.decoders.total() {
            // Others may wait for it.
            self.rest();
        }
        Ok(())
    }

    /// Lets go of what can be read again.
    fn rest(&mut self) {
        self.reader.park();
        self.decoder = None;
    }

    /// Notes that all was read; a table of which every share was is no longer held.
    fn end(&mut self) {
        self.rest();
        let mut unread = self.table.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.remove(&self.at.1);
        let is_read = unread.is_empty();
        drop(unread);
        if is_read {
            let _ = self.tables.kept.remove(self.at.0);
        }
    }
}

fn batches(reading: Arc<Turn<Reading>>) -> BatchStream {
    Box::pin(stream::try_unfold(reading, |reading| async move {
        let next = reading.lock().await.next().await?;
        Ok(next.map(|batch| (batch, reading)))
    }))
}

/// Reads a path: the name of a table, and in how many shares it is wanted.
fn named(path: &[String]) -> Result<(&str, Option<u64>)> {
    let refused = |message: String| {
        let hint = "a path is [\"table\"], or [\"table\", \"4\"] for four tickets";
        Error::new(Code::InvalidRequest, message).with_hint(hint)
    };
    match path {
        [name] => Ok((name, None)),
        [name, count] => {
            let wanted = count.parse().ok().filter(|count| (1..=EXPORT_STREAMS_MAX).contains(count));
            let wanted = wanted.ok_or_else(|| {
                let shown: String = count.chars().take(20).collect();
                refused(format!("`{shown}` is no number of tickets from 1 to {EXPORT_STREAMS_MAX}"))
            })?;
            Ok((name, Some(wanted)))
        }
        _ => Err(refused(format!("a path of {} names is that of no table", path.len()))),
    }
}

/// Returns the number of shares for as many rows.
fn usual(rows: Option<u64>) -> u64 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let worth = rows.map_or(USUAL_SHARES, |rows| rows / SHARE_ROWS + 1);
    cores.min(USUAL_SHARES).min(worth).max(1)
}

fn too_many(bound: Bound) -> Error {
    bound
        .refuse(Code::AnswerTooLarge, format!("the table has more rows than {} allows", bound.setting()))
        .with_hint("ask for a part of it by a statement")
}
