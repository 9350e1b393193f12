//! Stream of the batches of a part, which are read ahead of the consumer while there are slots for all who read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use arrow::record_batch::RecordBatch;
use futures::{StreamExt, stream};
use salver_model::reply::BatchStream;
use salver_model::{Error, Result};
use tokio::task::JoinHandle;

use super::BATCH_BYTES;
use super::part_reader::PartReader;
use super::reader_slots::{self, Idle, Slot};

/// Number of batches read at a time.
const READ_AHEAD: usize = 4;
/// Bytes of batches from which on no more are read at a time.
const AHEAD_BYTES: usize = 2 * 1024 * 1024;
/// Bytes that complete a batch while all slots are taken: each of many readers has some batches on their way.
const SMALL_BATCH_BYTES: usize = 256 * 1024;

/// Streams the batches of a part. While the consumer takes some, the next are read. No thread waits for the consumer,
/// and dropping the stream stops the reading.
pub(super) fn stream_of(part: PartReader) -> BatchStream {
    let place = Place { part: Some(part), ahead: VecDeque::new(), is_end: false, slot: None, number: None };
    let reading = PartStream { place: Arc::new(ReaderPlace(Mutex::new(place))), read: None, is_first: true };
    stream::unfold(reading, |mut reading| async move { Some((reading.next().await?, reading)) }).boxed()
}

/// Part that is being read.
struct PartStream {
    place: Arc<ReaderPlace>,
    /// Running read, which returns its first batch.
    read: Option<JoinHandle<Option<Result<RecordBatch>>>>,
    /// Whether the consumer has seen nothing yet, and waits.
    is_first: bool,
}

/// What a reader holds between two reads.
struct ReaderPlace(Mutex<Place>);

struct Place {
    /// The reader, unless it is at work.
    part: Option<PartReader>,
    /// Batches that were read ahead, with their offsets.
    ahead: VecDeque<(u64, Result<RecordBatch>)>,
    /// Whether those are the last.
    is_end: bool,
    slot: Option<Slot>,
    /// Number among the idle readers.
    number: Option<u64>,
}

impl PartStream {
    async fn next(&mut self) -> Option<Result<RecordBatch>> {
        if self.read.is_none() {
            let next = self.place.lock().ahead.pop_front();
            if let Some((_, batch)) = next {
                self.read_ahead();
                return Some(batch);
            }
            let slot = {
                let mut place = self.place.lock();
                if place.is_end {
                    return None;
                }
                place.slot.take()
            };
            let slot = match slot {
                Some(slot) => slot,
                None => reader_slots::slot().await,
            };
            self.start(slot);
        }
        let read = self.read.take()?;
        let batch = match read.await {
            Ok(batch) => batch?,
            Err(error) => Err(Error::internal("the read of a stream was cut off").with_source(error)),
        };
        self.read_ahead();
        Some(batch)
    }

    /// Reads on before the consumer asks, when it has all that was read.
    fn read_ahead(&mut self) {
        let slot = {
            let mut place = self.place.lock();
            let is_to_read = place.ahead.is_empty() && !place.is_end && !reader_slots::are_taken();
            if is_to_read { place.slot.take() } else { None }
        };
        if let Some(slot) = slot {
            self.start(slot);
        }
    }

    /// Reads some batches on a thread that may block.
    fn start(&mut self, slot: Slot) {
        let (part, number) = {
            let mut place = self.place.lock();
            (place.part.take(), place.number.take())
        };
        if let Some(number) = number {
            reader_slots::leave(number);
        }
        let Some(mut part) = part else { return };
        let (count, bytes) = match (reader_slots::are_taken(), std::mem::take(&mut self.is_first)) {
            (true, _) => (1, SMALL_BATCH_BYTES),
            (false, true) => (1, BATCH_BYTES),
            (false, false) => (READ_AHEAD, BATCH_BYTES),
        };
        part.set_batch_bytes(bytes);
        let place = Arc::clone(&self.place);
        self.read = Some(tokio::task::spawn_blocking(move || {
            let (mut batches, is_end) = some(&mut part, count);
            // The first is for the consumer, who may not have asked yet; it is never read twice, or readers would take
            // turns without one of them getting on.
            let first = batches.pop_front();
            place.put(part, slot, batches, is_end);
            first.map(|(_, batch)| batch)
        }));
    }
}

impl Drop for PartStream {
    fn drop(&mut self) {
        if let Some(number) = self.place.lock().number.take() {
            reader_slots::leave(number);
        }
    }
}

impl ReaderPlace {
    fn lock(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts back a reader after a read, with what it has read.
    fn put(self: &Arc<Self>, part: PartReader, slot: Slot, batches: Batches, is_end: bool) {
        let mut place = self.lock();
        place.part = Some(part);
        place.ahead.extend(batches);
        place.is_end = is_end;
        if is_end && place.ahead.is_empty() {
            // Nothing is left to hold.
            return;
        }
        place.slot = Some(slot);
        let own: Weak<Self> = Arc::downgrade(self);
        place.number = reader_slots::enter(own);
        if place.number.is_none() {
            place.give_up();
        }
    }
}

impl Idle for ReaderPlace {
    fn give_up(&self) -> Option<Slot> {
        self.lock().give_up()
    }
}

impl Place {
    fn give_up(&mut self) -> Option<Slot> {
        let part = self.part.as_mut()?;
        if self.ahead.iter().all(|(_, batch)| batch.is_ok()) {
            let position = self.ahead.front().map_or_else(|| part.position(), |(offset, _)| *offset);
            // The end is reached again, behind the batches that are read again.
            self.is_end &= self.ahead.is_empty();
            self.ahead = VecDeque::new();
            part.rewind(position);
        }
        self.number = None;
        self.slot.take()
    }
}

/// Batches with the offsets of their first rows.
type Batches = VecDeque<(u64, Result<RecordBatch>)>;

/// Reads some batches, and returns whether those were the last.
fn some(part: &mut PartReader, count: usize) -> (Batches, bool) {
    let mut batches = VecDeque::with_capacity(count);
    let mut bytes = 0;
    while batches.len() < count && bytes < AHEAD_BYTES {
        let position = part.position();
        match part.next() {
            Ok(Some(batch)) => {
                bytes += batch.get_array_memory_size();
                batches.push_back((position, Ok(batch)));
            }
            Ok(None) => return (batches, true),
            Err(error) => {
                batches.push_back((position, Err(error)));
                part.end();
                return (batches, true);
            }
        }
    }
    (batches, false)
}
