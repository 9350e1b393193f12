//! Who may hold a decoder: so many at once and no more, because each needs some megabytes, however many clients read.
//! Callers share them, so that many readers of one do not keep another's from a turn.
//!
//! A body keeps its decoder between two reads, in a [`Seat`]. Whoever waits takes it away from there once it was not
//! used for a moment, as when a client stalled; and who has had a turn for a while goes on behind those who wait.
//! Finding one's place again costs some milliseconds.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use salver_model::limits::PARK_MS;
use salver_model::{Holder, Share, Shares};
use salver_service::exports::Reader;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The fewest decoders that may be held at once.
const DECODERS_MIN: usize = 8;
/// How long a turn lasts while others wait.
const TURN: Duration = Duration::from_millis(200);
/// How long a decoder may go unused while others wait.
const GLANCE: Duration = Duration::from_millis(20);

/// The turns there are.
#[derive(Debug)]
pub(crate) struct Turns {
    places: Arc<Shares>,
    waiting: AtomicUsize,
    /// Those that have a turn, whoever began first.
    seats: Mutex<VecDeque<Weak<Seat>>>,
    /// Readers that wait for the next request of their client.
    idle: Arc<Semaphore>,
}

impl Default for Turns {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let decoders = cores.max(DECODERS_MIN);
        let (places, idle) = (Shares::new("decoders", decoders), Arc::new(Semaphore::new(decoders)));
        Self { places, waiting: AtomicUsize::new(0), seats: Mutex::default(), idle }
    }
}

/// Where a body keeps its reader between two reads.
#[derive(Debug, Default)]
pub(crate) struct Seat(Mutex<Option<Seated>>);

/// A reader that has its turn.
#[derive(Debug)]
pub(crate) struct Seated {
    /// The reader.
    pub(crate) reader: Reader,
    turn: Option<Turn>,
    used: Instant,
}

/// Somebody's turn; others may have it when this is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _place: Share,
    since: Instant,
}

impl Seated {
    /// A reader with its turn; one that costs nothing while it rests needs none.
    pub(crate) fn new(reader: Reader, turn: Option<Turn>) -> Self {
        Self { reader, turn, used: Instant::now() }
    }
}

impl Seat {
    /// Takes the reader, if nobody else took it.
    pub(crate) fn take(&self) -> Option<Seated> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Puts the reader back.
    pub(crate) fn put(&self, mut seated: Seated) {
        seated.used = Instant::now();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seated);
    }

    /// Takes away a reader that is not used; whether there was one.
    fn clear(&self) -> bool {
        let mut seated = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = seated.take_if(|seated| seated.turn.is_some() && seated.used.elapsed() >= GLANCE);
        drop(seated);
        unused.is_some()
    }
}

impl Turns {
    /// Waits for a turn of `holder`: who has fewest has it first, and of these who came first.
    pub(crate) async fn take(&self, holder: &Holder) -> Turn {
        let _counted = Waiting::among(&self.waiting);
        let mut place = std::pin::pin!(self.places.take(holder));
        loop {
            match tokio::time::timeout(GLANCE, &mut place).await {
                Ok(place) => return Turn { _place: place, since: Instant::now() },
                Err(_) => self.clear_one(),
            }
        }
    }

    /// [`Turns::take`], for the reader of a seat.
    pub(crate) async fn take_for(&self, seat: &Arc<Seat>, holder: &Holder) -> Turn {
        let turn = self.take(holder).await;
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|other| other.strong_count() > 0 && other.as_ptr() != Arc::as_ptr(seat));
        seats.push_back(Arc::downgrade(seat));
        turn
    }

    /// Whether somebody waits for a turn.
    pub(crate) fn are_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether a turn should be given up.
    pub(crate) fn is_over(&self, seated: &Seated) -> bool {
        let is_long = seated.turn.as_ref().is_some_and(|turn| turn.since.elapsed() > TURN);
        is_long && self.are_wanted()
    }

    /// How long a client may take nothing before its turn is another's.
    pub(crate) fn patience(&self) -> Duration {
        if self.are_wanted() { GLANCE } else { Duration::from_millis(PARK_MS) }
    }

    /// A place for a decoder that nobody uses at the moment, if there is one.
    pub(crate) fn idle(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.idle).try_acquire_owned().ok()
    }

    /// Takes away the first reader that is not used.
    fn clear_one(&self) {
        let seats: Vec<_> = self.seats.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        let _ = seats.iter().filter_map(Weak::upgrade).any(|seat| seat.clear());
    }
}

/// Counts somebody who waits for as long as it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn among(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
