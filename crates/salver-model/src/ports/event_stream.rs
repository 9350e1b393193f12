//! The port of a stream: events in, in order, and out again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;
use crate::name::Name;
use crate::ports::Scan;
use crate::spec::StreamSpec;
use crate::streams::{Ack, Ends, Envelope, Event, Framing, NewEvent, Placement, Receipt};

/// A stream.
///
/// Contract:
/// - Events have offsets without gaps, in the order in which they were taken; what `append` returned is read by every
///   later `events` and scan at once. What they give, and `ends`, outlives the process, so that no offset is ever that
/// of
///   two events; what can't be written at the moment is not given.
/// - An event that is not what the stream takes is in the quarantine with the reason, before `append` returns, and the
///   others of the request are taken. Nothing is dropped silently.
/// - `append` and `append_text` take all or, with an error, nothing, and never wait. `Backlogged` means that too much
///   waits to be written; `room` waits for that to change.
/// - When `settle` returns without error, what [`Ack`] promises holds, whatever happens next.
/// - An event with an id that was taken within the stream's window is a duplicate: it is answered and not taken again.
#[async_trait]
pub trait EventStream: Send + Sync + std::fmt::Debug {
    /// How it was declared.
    fn spec(&self) -> &StreamSpec;

    /// Whether it is open.
    ///
    /// # Errors
    /// `StreamUnavailable` with the reason, as long as it could not be opened.
    fn available(&self) -> Result<()> {
        Ok(())
    }

    /// Takes events that are apart already.
    ///
    /// # Errors
    /// `Backlogged`, `StreamUnavailable`.
    fn append(&self, events: &[NewEvent], envelope: &Envelope) -> Result<Receipt>;

    /// Takes the whole events at the beginning of a JSON text: one object, an array of them, or one after the other.
    /// Without `is_last` an incomplete event at the end is left for the next piece; with it, that is a bad event.
    ///
    /// # Errors
    /// `Backlogged`, `StreamUnavailable`.
    fn append_text(&self, text: &Bytes, framing: &mut Framing, is_last: bool, envelope: &Envelope) -> Result<Receipt>;

    /// Waits until `append` would take more.
    async fn room(&self);

    /// Waits until what `ack` promises holds for everything a receipt speaks of.
    ///
    /// # Errors
    /// `StreamUnavailable` when that can't be reached now: the disk is full, the broker away. The message says what
    /// became of the events.
    async fn settle(&self, receipt: &Receipt, ack: Ack) -> Result<()>;

    /// [`EventStream::settle`] with `Ack::Broker`, and where each of the events that were taken is in Kafka, in order,
    /// or why it is not; for a stream without Kafka in partition 0 of the log.
    ///
    /// # Errors
    /// As `settle`.
    async fn place(&self, receipt: &Receipt) -> Result<Vec<Result<Placement>>>;

    /// Where it begins and ends.
    fn ends(&self) -> Ends;

    /// Some events from offset `from` on, or from the oldest that is kept: at least one when there is one, at most
    /// `count_max`, and no more than about `bytes_max` bytes. When there are none, waits for some until `patience` is
    /// over.
    ///
    /// # Errors
    /// `Source` when the log is damaged there.
    async fn events(&self, from: u64, count_max: usize, bytes_max: usize, patience: Duration) -> Result<Vec<Event>>;

    /// The first offset from `from` on that can be read, behind events that are damaged or gone.
    ///
    /// # Errors
    /// `Source` when the log can't be read.
    async fn good_from(&self, from: u64) -> Result<u64>;

    /// The offset of the first event at or after a time, in milliseconds since 1970.
    ///
    /// # Errors
    /// `Source` when the log is damaged.
    async fn offset_at(&self, time_ms: i64) -> Result<u64>;

    /// The offset a consumer group goes on from; `None` when it never committed one.
    fn committed(&self, group: &str) -> Option<u64>;

    /// Every group with its offset.
    fn groups(&self) -> Vec<(String, u64)>;

    /// Remembers where a consumer group goes on, on disk.
    ///
    /// # Errors
    /// `StreamUnavailable` when that could not be written.
    async fn commit(&self, group: &str, offset: u64) -> Result<()>;

    /// The partitions its topic has; 1 without Kafka.
    ///
    /// # Errors
    /// `StreamUnavailable` when the broker is away.
    async fn partitions(&self) -> Result<u32>;

    /// How many events wait to be handed on to Kafka.
    fn backlog(&self) -> u64;

    /// The stream and its quarantine as rows, under the names they have in the catalog.
    fn scans(&self) -> Vec<(Name, Arc<dyn Scan>)>;

    /// Completes when the columns of one of the scans are others than those with `stamp`, with the new stamp.
    async fn widened(&self, stamp: u64) -> u64;

    /// Writes what is in memory to disk and lets go of the log; appends fail from then on.
    ///
    /// # Errors
    /// `StreamUnavailable` when that could not be written.
    async fn close(&self) -> Result<()>;
}
