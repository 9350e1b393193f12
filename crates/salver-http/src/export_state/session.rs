//! Exports that are read in streams: what the server keeps of them while somebody comes back.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ahash::AHashMap;
use salver_model::limits::{EXPIRED_LEASES_MAX, LEASES_MAX};
use salver_model::ports::Held;
use salver_model::{Caller, Result, Shares};
use salver_service::exports::{Lease, Leases, Range, Reader, Refusal};
use tokio::sync::OwnedSemaphorePermit;

use super::token::Token;

/// An open export.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The rows.
    pub(crate) held: Arc<dyn Held>,
    /// The columns, by their indexes in the schema.
    pub(crate) columns: Vec<usize>,
    /// Which rows each stream has.
    pub(crate) streams: Vec<Range>,
    /// For each stream, a reader that stands where the last read ended.
    readers: Vec<Mutex<Option<Idle>>>,
}

/// A reader between two reads.
#[derive(Debug)]
struct Idle {
    reader: Reader,
    /// The place of its decoder.
    place: Option<OwnedSemaphorePermit>,
}

impl Opened {
    pub(crate) fn new(held: Arc<dyn Held>, columns: Vec<usize>, streams: u64) -> Self {
        let streams = split(&*held, streams);
        let readers = streams.iter().map(|_| Mutex::new(None)).collect();
        Self { held, columns, streams, readers }
    }

    /// A reader of a stream, at its row `offset`.
    pub(crate) fn reader(&self, stream: usize, offset: u64) -> Option<Reader> {
        let range = self.streams.get(stream)?;
        let position = range.skip + offset;
        let waiting = self.slot(stream).and_then(|mut slot| slot.take()).map(|idle| idle.reader);
        let waiting = waiting.filter(|reader| reader.position() == position);
        Some(waiting.unwrap_or_else(|| {
            let rows = range.rows.map(|rows| rows.saturating_sub(offset));
            let range = Range { parts: range.parts.clone(), skip: position, rows };
            Reader::new(Arc::clone(&self.held), self.columns.clone(), range)
        }))
    }

    /// Keeps a reader for who reads on; with its decoder, when there is a place for that.
    pub(crate) fn keep(&self, stream: usize, mut reader: Reader, place: Option<OwnedSemaphorePermit>) {
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

/// Which rows each of `count` streams has. The same rows in the same number of streams are always divided in the same
/// way, where it is known how many they are; else by the parts they are held in.
fn split(held: &dyn Held, count: u64) -> Vec<Range> {
    let parts = held.parts();
    let counted: Option<u64> = (0..parts).map(|part| held.part_rows(part)).sum();
    let share = |all: u64, stream: u64| (u128::from(all) * u128::from(stream) / u128::from(count.max(1))) as u64;
    let total = held.describe().rows.or(counted);
    (0..count)
        .map(|stream| match total {
            Some(total) => {
                let (skip, end) = (share(total, stream), share(total, stream + 1));
                Range { parts: 0..parts, skip, rows: Some(end - skip) }
            }
            None => {
                let part = |stream| usize::try_from(share(parts as u64, stream)).unwrap_or(parts);
                Range::parts(part(stream)..part(stream + 1))
            }
        })
        .collect()
}

/// What is leased of an export.
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

/// What became of an export that is not under its first lease.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It was found again, and has another lease.
    Renewed(u64),
    /// It was ended.
    Ended,
}

/// The exports that are open.
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
    /// Keeps an export for as long as somebody comes back within `ttl_s`.
    ///
    /// # Errors
    /// `Overloaded` when there are too many.
    pub(crate) fn open(&self, caller: &Caller, opened: Arc<Opened>, ttl_s: u64) -> Result<u64> {
        self.leases.open(&caller.holder(), Session(opened), Duration::from_secs(ttl_s))
    }

    /// The places of open exports.
    pub(crate) fn places(&self) -> &Arc<Shares> {
        self.leases.places()
    }

    /// Ends an export.
    pub(crate) fn end(&self, token: &Token) {
        if let Ok(id) = self.lease_of(token) {
            // One that is gone already needs no end.
            let _ = self.leases.remove(id);
        }
        self.note(token.lease, Fate::Ended);
    }

    /// The export, if it is kept; its lease begins anew.
    pub(crate) fn find(&self, token: &Token) -> std::result::Result<Arc<Opened>, Missing> {
        let id = self.lease_of(token)?;
        self.leases.touch(id, |session| Arc::clone(&session.0)).map_err(|refusal| match refusal {
            Refusal::Expired => Missing::Expired,
            Refusal::Unknown | Refusal::Busy => Missing::Unknown,
        })
    }

    /// Begins the lease anew.
    pub(crate) fn renew(&self, token: &Token) {
        // What is not there any more is found again by the next read.
        let _ = self.find(token);
    }

    fn lease_of(&self, token: &Token) -> std::result::Result<u64, Missing> {
        let fates = self.fates.lock().unwrap_or_else(PoisonError::into_inner);
        match fates.get(&token.lease) {
            None => Ok(token.lease),
            Some(Fate::Renewed(id)) => Ok(*id),
            Some(Fate::Ended) => Err(Missing::Ended),
        }
    }

    /// The export was found again and is kept under another lease.
    pub(crate) fn renewed(&self, token: &Token, lease: u64) {
        self.note(token.lease, Fate::Renewed(lease));
    }

    /// Of several that come back at the same time one finds the export again: whoever holds this.
    pub(crate) async fn alone(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.finding.lock().await
    }

    fn note(&self, lease: u64, fate: Fate) {
        let mut fates = self.fates.lock().unwrap_or_else(PoisonError::into_inner);
        if fates.len() >= EXPIRED_LEASES_MAX {
            // What is forgotten here is found again from its token.
            fates.clear();
        }
        fates.insert(lease, fate);
    }
}

/// Why an export is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Nobody came in time.
    Expired,
    /// It was ended.
    Ended,
    /// The server was started anew since.
    Unknown,
}
