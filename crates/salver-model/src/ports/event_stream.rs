//! The port of a stream: events are appended in order, and read back.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;
use crate::name::Name;
use crate::ports::Scan;
use crate::spec::StreamSpec;
use crate::streams::{Ack, Ends, Envelope, Event, EventDelivery, Framing, NewEvent, Receipt, RejectedEvent};

/// Stream of events.
///
/// Contract:
/// - Offsets have no gaps and follow the order of the appends; events of an `append` that has returned are visible to
///   every later `events` and scan. Whatever these and `ends` return survives the process, so that no offset is ever
///   reused; events that cannot be written at the moment are not returned.
/// - An event that the stream rejects is in the quarantine with the reason before `append` returns, and the other
///   events of the request are accepted. Nothing is dropped silently.
/// - `append` and `append_text` are atomic and never wait. `Backlogged` means that too many events are waiting to be
///   written; `room` waits until that changes.
/// - When `settle` returns without error, the guarantee of [`Ack`] holds, whatever happens next.
/// - An event whose id was already accepted within the stream's window is a duplicate: it is acknowledged and not
///   appended again.
#[async_trait]
pub trait EventStream: Send + Sync + std::fmt::Debug {
    /// Returns its declaration.
    fn spec(&self) -> &StreamSpec;

    /// Checks that the stream is open.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` with the reason while it could not be opened.
    fn available(&self) -> Result<()> {
        Ok(())
    }

    /// Appends events that are already separated.
    ///
    /// # Errors
    /// Returns `Backlogged` or `StreamUnavailable`.
    fn append(&self, events: &[NewEvent], envelope: &Envelope) -> Result<Receipt>;

    /// Appends the complete events at the beginning of a JSON text: one object, an array of objects, or a sequence of
    /// them. Without `is_last` an incomplete event at the end is left for the next piece; with it, that is a bad event.
    ///
    /// # Errors
    /// Returns `Backlogged` or `StreamUnavailable`.
    fn append_text(&self, text: &Bytes, framing: &mut Framing, is_last: bool, envelope: &Envelope) -> Result<Receipt>;

    /// Waits until `append` would accept more events.
    async fn room(&self);

    /// Waits until the guarantee of `ack` holds for everything in a receipt. Returns the events that Kafka will never
    /// accept, repeated ones included, in the order of their offsets; none unless `ack` waits for it.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when that is impossible now: the disk is full, or the broker unavailable. The
    /// message says what happened to the events.
    async fn settle(&self, receipt: &Receipt, ack: Ack) -> Result<Vec<RejectedEvent>>;

    /// Runs [`EventStream::settle`] with `Ack::Broker`, and returns what became of each appended event, in order, and
    /// then of each repeated one; for a stream without Kafka the position is in partition 0 of the log.
    ///
    /// # Errors
    /// Returns the errors of `settle`.
    async fn place(&self, receipt: &Receipt) -> Result<Vec<EventDelivery>>;

    /// Returns the current range of offsets.
    fn ends(&self) -> Ends;

    /// Returns events from offset `from` on, or from the oldest that is kept: at least one if there is one, at most
    /// `count_max`, and no more than about `bytes_max` bytes. If there are none, waits for some until `patience` is
    /// over.
    ///
    /// # Errors
    /// Returns `Source` when the log is damaged there.
    async fn events(&self, from: u64, count_max: usize, bytes_max: usize, patience: Duration) -> Result<Vec<Event>>;

    /// Returns the first offset from `from` on that can be read, behind events that are damaged or lost.
    ///
    /// # Errors
    /// Returns `Source` when the log cannot be read.
    async fn good_from(&self, from: u64) -> Result<u64>;

    /// Returns the offset of the first event at or after a time, in milliseconds since 1970.
    ///
    /// # Errors
    /// Returns `Source` when the log is damaged.
    async fn offset_at(&self, time_ms: i64) -> Result<u64>;

    /// Returns the committed offset of a consumer group; `None` when it never committed one.
    fn committed(&self, group: &str) -> Option<u64>;

    /// Returns every group with its offset.
    fn groups(&self) -> Vec<(String, u64)>;

    /// Stores the offset of a consumer group on disk.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when that could not be written.
    async fn commit(&self, group: &str, offset: u64) -> Result<()>;

    /// Returns the number of partitions of its topic; 1 without Kafka.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when the broker is unavailable.
    async fn partitions(&self) -> Result<u32>;

    /// Returns the number of events that wait to be delivered to Kafka.
    fn backlog(&self) -> u64;

    /// Returns the stream and its quarantine as scans, under their names in the catalog.
    fn scans(&self) -> Vec<(Name, Arc<dyn Scan>)>;

    /// Completes when the columns of one of the scans differ from those with `stamp`, and returns the new stamp.
    async fn widened(&self, stamp: u64) -> u64;

    /// Writes pending events to disk and releases the log; later appends fail.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when that could not be written.
    async fn close(&self) -> Result<()>;
}
