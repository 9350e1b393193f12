//! Limits the number of open decoders of all exports and cursors, because each needs some megabytes, however many
//! clients read. Callers share the permits fairly, so that many readers of one caller do not starve another.
//!
//! A body keeps its decoder between two reads, in a [`SlotPermit`]. A waiting reader takes the decoder from a seat that
//! was not used for a moment, as when its client stalled, and a body that has had its turn for a while queues behind
//! the waiting ones. Reopening a decoder at its position costs some milliseconds.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use salver_model::limits::{IDLE_DECODERS_MAX, PARK_MS};
use salver_model::{Holder, Share, Shares};
use salver_service::exports::ExportReader;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Minimum of the limit on open decoders.
const LEAST_DECODERS: usize = 8;
/// Duration of a turn while others wait.
const TURN: Duration = Duration::from_millis(200);
/// Time for which a decoder may stay unused while others wait.
const GLANCE: Duration = Duration::from_millis(20);

/// The permits for decoders.
#[derive(Debug)]
pub(crate) struct DecoderSlots {
    places: Arc<Shares>,
    waiting: AtomicUsize,
    /// The seats of bodies that have a turn, oldest first.
    seats: Mutex<VecDeque<Weak<SlotPermit>>>,
    /// Permits for idle readers, which wait for the next request of their client.
    idle: Arc<Semaphore>,
}

impl Default for DecoderSlots {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let decoders = cores.max(LEAST_DECODERS);
        let (places, idle) = (Shares::new("decoders", decoders), Arc::new(Semaphore::new(IDLE_DECODERS_MAX)));
        Self { places, waiting: AtomicUsize::new(0), seats: Mutex::default(), idle }
    }
}

/// The slot in which a body keeps its reader between two reads.
#[derive(Debug, Default)]
pub(crate) struct SlotPermit(Mutex<Option<HeldSlot>>);

/// A reader that has its turn.
#[derive(Debug)]
pub(crate) struct HeldSlot {
    /// The reader.
    pub(crate) reader: ExportReader,
    turn: Option<Turn>,
    used: Instant,
}

/// A permit for a decoder; dropping it passes it on.
#[derive(Debug)]
pub(crate) struct Turn {
    _place: Share,
    since: Instant,
}

impl HeldSlot {
    /// A reader with its turn; a reader that holds nothing while idle needs none.
    pub(crate) fn new(reader: ExportReader, turn: Option<Turn>) -> Self {
        Self { reader, turn, used: Instant::now() }
    }
}

impl SlotPermit {
    /// Takes the reader, unless it was taken away.
    pub(crate) fn take(&self) -> Option<HeldSlot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Puts the reader back.
    pub(crate) fn put(&self, mut seated: HeldSlot) {
        seated.used = Instant::now();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seated);
    }

    /// Takes away a reader that is not in use. Returns whether there was one.
    fn clear(&self) -> bool {
        let mut seated = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = seated.take_if(|seated| seated.turn.is_some() && seated.used.elapsed() >= GLANCE);
        drop(seated);
        unused.is_some()
    }
}

impl DecoderSlots {
    /// Waits for a turn for `holder`. The holder with the fewest turns goes first; ties go to the one that came first.
    pub(crate) async fn take(&self, holder: &Holder) -> Turn {
        let _counted = WaitingReader::among(&self.waiting);
        let mut place = std::pin::pin!(self.places.take(holder));
        loop {
            match tokio::time::timeout(GLANCE, &mut place).await {
                Ok(place) => return Turn { _place: place, since: Instant::now() },
                Err(_) => self.clear_one(),
            }
        }
    }

    /// Waits for a turn as [`DecoderSlots::take`] does, for the reader of a seat.
    pub(crate) async fn take_for(&self, seat: &Arc<SlotPermit>, holder: &Holder) -> Turn {
        let turn = self.take(holder).await;
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|other| other.strong_count() > 0 && other.as_ptr() != Arc::as_ptr(seat));
        seats.push_back(Arc::downgrade(seat));
        turn
    }

    /// Returns whether a reader waits for a turn.
    pub(crate) fn are_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Returns whether a turn should be given up.
    pub(crate) fn is_over(&self, seated: &HeldSlot) -> bool {
        let is_long = seated.turn.as_ref().is_some_and(|turn| turn.since.elapsed() > TURN);
        is_long && self.are_wanted()
    }

    /// Returns how long a client may read nothing before it loses its turn.
    pub(crate) fn patience(&self) -> Duration {
        if self.are_wanted() { GLANCE } else { Duration::from_millis(PARK_MS) }
    }

    /// Returns a permit for an idle decoder, if one is free.
    pub(crate) fn idle(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.idle).try_acquire_owned().ok()
    }

    /// Takes away the first reader that is not in use.
    fn clear_one(&self) {
        let seats: Vec<_> = self.seats.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        let _ = seats.iter().filter_map(Weak::upgrade).any(|seat| seat.clear());
    }
}

/// Counts a waiting reader for as long as it lives.
struct WaitingReader<'a>(&'a AtomicUsize);

impl<'a> WaitingReader<'a> {
    fn among(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for WaitingReader<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
