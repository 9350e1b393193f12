//! A stream as those see it who append to it, and as those who read it.
//!
//! Doors never have a stream's port: each can do what the name of what it has says.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use salver_model::limits::PARTITIONS_S_MAX;
use salver_model::ports::EventStream;
use salver_model::spec::StreamSpec;
use salver_model::streams::{Ack, Ends, Envelope, Event, EventDelivery, Framing, NewEvent, Receipt, RejectedEvent};
use salver_model::trace::SpanKind;
use salver_model::{Name, Result};

use crate::rights::WaitPermit;
use crate::trace::{self, ActiveSpan};

/// Timeout for the broker to return the number of partitions.
const PARTITIONS_PATIENCE: Duration = Duration::from_secs(PARTITIONS_S_MAX);

/// A stream, as those see it who append to it.
#[derive(Clone, Debug)]
pub struct Appender(Arc<dyn EventStream>);

/// A stream, as those see it who read it.
#[derive(Clone, Debug)]
pub struct Consumer(Arc<dyn EventStream>);

/// A stream that is served, in both its forms.
#[derive(Clone, Debug)]
pub(crate) struct ServedStream {
    pub(crate) appender: Appender,
    pub(crate) consumer: Consumer,
}

impl ServedStream {
    pub(crate) fn new(stream: Arc<dyn EventStream>) -> Self {
        Self { appender: Appender(Arc::clone(&stream)), consumer: Consumer(stream) }
    }

    pub(crate) fn spec(&self) -> &StreamSpec {
        self.consumer.spec()
    }
}

impl Appender {
    /// Returns the stream's declaration.
    #[must_use]
    pub fn spec(&self) -> &StreamSpec {
        self.0.spec()
    }

    /// Appends events that are already separated.
    ///
    /// # Errors
    /// Returns the errors of [`EventStream::append`].
    pub fn append(&self, events: &[NewEvent], envelope: &Envelope) -> Result<Receipt> {
        let span = self.begin("append");
        let receipt = self.0.append(events, envelope);
        trace::end(span, &receipt);
        receipt
    }

    /// Appends the complete events at the beginning of a JSON text, see [`EventStream::append_text`].
    ///
    /// # Errors
    /// Returns the errors of [`EventStream::append_text`].
    pub fn append_text(
        &self,
        text: &Bytes,
        framing: &mut Framing,
        is_last: bool,
        envelope: &Envelope,
    ) -> Result<Receipt> {
        let span = self.begin("append");
        let receipt = self.0.append_text(text, framing, is_last, envelope);
        trace::end(span, &receipt);
        receipt
    }

    /// Waits until an append would accept more events; returns `false` when `patience` is over first.
    pub async fn room(&self, patience: Duration) -> bool {
        tokio::time::timeout(patience, self.0.room()).await.is_ok()
    }

    /// Waits until the guarantee of `ack` holds for everything in a receipt, see [`EventStream::settle`].
    ///
    /// # Errors
    /// Returns the errors of [`EventStream::settle`].
    pub async fn settle(&self, receipt: &Receipt, ack: Ack) -> Result<Vec<RejectedEvent>> {
        trace::within(self.begin("append settled"), self.0.settle(receipt, ack)).await
    }

    /// Waits for the broker, and returns what became of each event, see [`EventStream::place`].
    ///
    /// # Errors
    /// Returns the errors of [`EventStream::place`].
    pub async fn place(&self, receipt: &Receipt) -> Result<Vec<EventDelivery>> {
        trace::within(self.begin("append placed"), self.0.place(receipt)).await
    }

    /// Begins a span of the request about this stream.
    fn begin(&self, name: &'static str) -> Option<ActiveSpan> {
        let mut span = trace::begin(name, SpanKind::Producer)?;
        span.set("messaging.destination.name", self.spec().name.to_string());
        Some(span)
    }

    /// Returns the number of partitions; 1 without Kafka.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when the broker is unavailable.
    pub async fn partitions(&self) -> Result<u32> {
        self.0.partitions().await
    }

    /// Returns the number of partitions; `None` when the broker does not return it in time.
    pub async fn partitions_if_known(&self) -> Option<u32> {
        partitions_if_known(&*self.0).await
    }
}

impl Consumer {
    /// Returns the stream's declaration.
    #[must_use]
    pub fn spec(&self) -> &StreamSpec {
        self.0.spec()
    }

    /// Checks that the stream is open.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` with the reason while it could not be opened.
    pub fn available(&self) -> Result<()> {
        self.0.available()
    }

    /// Returns the current range of offsets.
    #[must_use]
    pub fn ends(&self) -> Ends {
        self.0.ends()
    }

    /// Returns events from offset `from` on, at most `count_max` and no more than about `bytes_max` bytes; none if
    /// there are none now.
    ///
    /// # Errors
    /// Returns the errors of [`EventStream::events`].
    pub async fn events(&self, from: u64, count_max: usize, bytes_max: usize) -> Result<Vec<Event>> {
        self.0.events(from, count_max, bytes_max, Duration::ZERO).await
    }

    /// Returns the same; if there are none, waits for some until `patience` is over. Returns `None` once other rights
    /// are in force than those under which the permit was given: whoever waits has to prove itself again.
    ///
    /// # Errors
    /// Returns the errors of [`EventStream::events`].
    pub async fn wait_for_events(
        &self,
        permit: &WaitPermit,
        from: u64,
        (count_max, bytes_max): (usize, usize),
        patience: Duration,
    ) -> Result<Option<Vec<Event>>> {
        let events = tokio::select! {
            biased;
            () = permit.ended() => return Ok(None),
            events = self.0.events(from, count_max, bytes_max, patience) => events?,
        };
        // Also where they changed while the last events were read.
        Ok((!permit.is_over()).then_some(events))
    }

    /// Returns the first offset from `from` on that can be read, behind events that are damaged or lost.
    ///
    /// # Errors
    /// Returns `Source` when the log cannot be read.
    pub async fn good_from(&self, from: u64) -> Result<u64> {
        self.0.good_from(from).await
    }

    /// Returns the offset of the first event at or after a time, in milliseconds since 1970.
    ///
    /// # Errors
    /// Returns `Source` when the log is damaged.
    pub async fn offset_at(&self, time_ms: i64) -> Result<u64> {
        self.0.offset_at(time_ms).await
    }

    /// Returns the committed offset of a consumer group; `None` when it never committed one.
    #[must_use]
    pub fn committed(&self, group: &str) -> Option<u64> {
        self.0.committed(group)
    }

    /// Returns every group with its offset.
    #[must_use]
    pub fn groups(&self) -> Vec<(String, u64)> {
        self.0.groups()
    }

    /// Stores the offset of a consumer group on disk.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when that could not be written.
    pub async fn commit(&self, group: &str, offset: u64) -> Result<()> {
        self.0.commit(group, offset).await
    }

    /// Returns the number of partitions; 1 without Kafka.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when the broker is unavailable.
    pub async fn partitions(&self) -> Result<u32> {
        self.0.partitions().await
    }

    /// Returns the number of partitions; `None` when the broker does not return it in time.
    pub async fn partitions_if_known(&self) -> Option<u32> {
        partitions_if_known(&*self.0).await
    }

    /// Returns the number of events that wait to be delivered to Kafka.
    #[must_use]
    pub fn backlog(&self) -> u64 {
        self.0.backlog()
    }

    /// Returns the names of the stream and its quarantine in the catalog.
    #[must_use]
    pub fn tables(&self) -> Vec<Name> {
        self.0.scans().into_iter().map(|(name, _)| name).collect()
    }
}

async fn partitions_if_known(stream: &dyn EventStream) -> Option<u32> {
    tokio::time::timeout(PARTITIONS_PATIENCE, stream.partitions()).await.ok()?.ok()
}
