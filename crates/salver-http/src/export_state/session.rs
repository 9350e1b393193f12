//! Open exports that are read in streams: the state that the server keeps while the client comes back in time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ahash::AHashMap;
use salver_model::limits::{EXPIRED_LEASES_MAX, LEASES_MAX};
use salver_model::ports::Held;
use salver_model::{Caller, Result, Shares};
use salver_service::exports::{ExportReader, Lease, LeaseError, Leases, Range};
use tokio::sync::OwnedSemaphorePermit;

use super::token::ExportToken;

/// An open export.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The rows.
    pub(crate) held: Arc<dyn Held>,
    /// The columns, by their indexes in the schema.
    pub(crate) columns: Vec<usize>,
    /// The rows of each stream.
    pub(crate) streams: Vec<Range>,
    /// For each stream, a reader at the position where the last read ended.
    readers: Vec<Mutex<Option<Idle>>>,
}

/// A reader between two reads.
#[derive(Debug)]
struct Idle {
    reader: ExportReader,
    /// The permit of its decoder.
    place: Option<OwnedSemaphorePermit>,
}

impl Opened {
    pub(crate) fn new(held: Arc<dyn Held>, columns: Vec<usize>, streams: u64) -> Self {
        let streams = Range::split(&*held, streams);
        let readers = streams.iter().map(|_| Mutex::new(None)).collect();
        Self { held, columns, streams, readers }
    }

    /// Returns a reader of a stream, at its row `offset`.
    pub(crate) fn reader(&self, stream: usize, offset: u64) -> Option<ExportReader> {
        let range = self.streams.get(stream)?;
        let position = range.skip + offset;
        let waiting = self.slot(stream).and_then(|mut slot| slot.take()).map(|idle| idle.reader);
        let waiting = waiting.filter(|reader| reader.position() == position);
        Some(waiting.unwrap_or_else(|| {
            let rows = range.rows.map(|rows| rows.saturating_sub(offset));
            let range = Range { parts: range.parts.clone(), skip: position, rows };
            ExportReader::new(Arc::clone(&self.held), self.columns.clone(), range)
        }))
    }

    /// Keeps a reader for the next read, with its decoder if it has a permit.
    pub(crate) fn keep(&self, stream: usize, mut reader: ExportReader, place: Option<OwnedSemaphorePermit>) {
        if place.is_none() {
            reader.park();
        }
        if let Some(mut slot) = self.slot(stream) {
            *slot = Some(Idle { reader, place });
        }
    }

    fn slot(&self, stream: usize) -> Option<std::sync::MutexGuard<'_, Option<Idle>>> {
        Some(self.readers.get(stream)?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The leased resource of an export.
#[derive(Debug)]
struct Session(Arc<Opened>);

impl Lease for Session {
    fn park(&mut self) {
        for slot in &self.0.readers {
            if let Some(idle) = &mut *slot.lock().unwrap_or_else(PoisonError::into_inner) {
                idle.reader.park();
                idle.place = None;
            }
        }
    }
}

/// The state of an export that is no longer under its first lease.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It was opened again, under this lease.
    Renewed(u64),
    /// It was ended.
    Ended,
}

/// The open exports.
#[derive(Debug)]
pub(crate) struct Sessions {
    leases: Leases<Session>,
    fates: Mutex<AHashMap<u64, Fate>>,
    finding: tokio::sync::Mutex<()>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            leases: Leases::new("exports", LEASES_MAX),
            fates: Mutex::default(),
            finding: tokio::sync::Mutex::default(),
        }
    }
}

impl Sessions {
    /// Keeps an export open while the client comes back within `ttl_s`. Returns the id of its lease.
    ///
    /// # Errors
    /// `Overloaded` when too many exports are open.
    pub(crate) fn open(&self, caller: &Caller, opened: Arc<Opened>, ttl_s: u64) -> Result<u64> {
        self.leases.open(&caller.holder(), Session(opened), Duration::from_secs(ttl_s))
    }

    /// Returns the permits of open exports.
    pub(crate) fn places(&self) -> &Arc<Shares> {
        self.leases.places()
    }

    /// Ends all exports, as if their leases had expired.
    pub(crate) fn end_all(&self) {
        self.leases.end_all();
    }

    /// Ends an export.
    pub(crate) fn end(&self, token: &ExportToken) {
        if let Ok(id) = self.lease_of(token) {
            // An export that is gone already needs no removal.
            let _ = self.leases.remove(id);
        }
        self.note(token.lease, Fate::Ended);
    }

    /// Returns the export if it is open, and renews its lease.
    pub(crate) fn find(&self, token: &ExportToken) -> std::result::Result<Arc<Opened>, Missing> {
        let id = self.lease_of(token)?;
        self.leases.touch(id, |session| Arc::clone(&session.0)).map_err(|refusal| match refusal {
            LeaseError::Expired => Missing::Expired,
            LeaseError::Unknown | LeaseError::Busy => Missing::Unknown,
        })
    }

    /// Renews the lease.
    pub(crate) fn renew(&self, token: &ExportToken) {
        // An export that is gone is opened again by the next read.
        let _ = self.find(token);
    }

    fn lease_of(&self, token: &ExportToken) -> std::result::Result<u64, Missing> {
        let fates = self.fates.lock().unwrap_or_else(PoisonError::into_inner);
        match fates.get(&token.lease) {
            None => Ok(token.lease),
            Some(Fate::Renewed(id)) => Ok(*id),
            Some(Fate::Ended) => Err(Missing::Ended),
        }
    }

    /// Records that the export was opened again under another lease.
    pub(crate) fn renewed(&self, token: &ExportToken, lease: u64) {
        self.note(token.lease, Fate::Renewed(lease));
    }

    /// Acquires the lock under which an export is opened again, so that concurrent requests do it once.
    pub(crate) async fn alone(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.finding.lock().await
    }

    fn note(&self, lease: u64, fate: Fate) {
        let mut fates = self.fates.lock().unwrap_or_else(PoisonError::into_inner);
        if fates.len() >= EXPIRED_LEASES_MAX {
            // An entry forgotten here is recovered from its token.
            fates.clear();
        }
        fates.insert(lease, fate);
    }
}

/// The reason why an export is not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Its lease expired.
    Expired,
    /// It was ended.
    Ended,
    /// The server was restarted since.
    Unknown,
}
