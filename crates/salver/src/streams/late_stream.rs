//! A stream that could not be opened at the start: it returns the reason as an error, and is opened as soon as
//! possible, for example when another server that owns its log ends.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use salver_model::ports::{EventStream, Scan};
use salver_model::spec::StreamSpec;
use salver_model::streams::{Ack, Ends, Envelope, Event, EventDelivery, Framing, NewEvent, Receipt, RejectedEvent};
use salver_model::{Code, Error, Name, Result};
use tokio::sync::watch;

/// Delay before a retry.
const AGAIN: Duration = Duration::from_secs(1);

/// Function that opens a stream, and publishes its tables. Blocks.
pub(super) type Open = Arc<dyn Fn() -> Result<Arc<dyn EventStream>> + Send + Sync>;

/// Stream that is opened late.
#[derive(Debug)]
pub(super) struct Late {
    spec: StreamSpec,
    opened: OnceLock<Arc<dyn EventStream>>,
    /// Reason why it is not open.
    fault: Mutex<Error>,
    is_open: watch::Sender<bool>,
    /// Whether the server shuts down, so that nothing is opened any more. Locked during an attempt.
    is_closed: tokio::sync::Mutex<bool>,
}

impl Late {
    /// Creates a stream that is not open because of `fault`; retries with `open` as long as it exists. Call it inside
    /// the runtime.
    pub(super) fn begin(spec: StreamSpec, fault: Error, open: Open) -> Arc<Self> {
        let may_pass = may_pass(&fault);
        let late = Self::new(spec, fault);
        if may_pass {
            tokio::spawn(try_again(Arc::downgrade(&late), open));
        }
        late
    }

    /// Creates a stream that is not open because of `fault`, until it is opened.
    pub(super) fn new(spec: StreamSpec, fault: Error) -> Arc<Self> {
        Arc::new(Self {
            spec,
            opened: OnceLock::new(),
            fault: Mutex::new(fault),
            is_open: watch::Sender::new(false),
            is_closed: tokio::sync::Mutex::new(false),
        })
    }

    /// Opens it, and retries as long as it exists if that fails. Returns the reason if it fails the first time.
    pub(super) async fn open_or_retry(late: &Arc<Self>, open: Open) -> Option<Error> {
        if late.open(&open).await {
            return None;
        }
        let fault = late.fault.lock().unwrap_or_else(PoisonError::into_inner).shared();
        if may_pass(&fault) {
            tokio::spawn(try_again(Arc::downgrade(late), open));
        }
        Some(fault)
    }

    /// Returns the open stream, or the reason why there is none.
    fn inner(&self) -> Result<&Arc<dyn EventStream>> {
        self.opened.get().ok_or_else(|| {
            let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            let message = format!("the stream `{}` could not be opened: {}", self.spec.name, fault.message);
            Error::new(Code::StreamUnavailable, message).with_hint_if(fault.hint.clone())
        })
    }

    async fn open(&self, open: &Open) -> bool {
        let is_closed = self.is_closed.lock().await;
        if *is_closed {
            return true;
        }
        let open = Arc::clone(open);
        match tokio::task::spawn_blocking(move || open()).await {
            Ok(Ok(stream)) => {
                let _ = self.opened.set(stream);
                self.is_open.send_replace(true);
                true
            }
            Ok(Err(error)) => {
                *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = error;
                false
            }
            Err(_) => false,
        }
    }
}

/// Returns whether a later attempt may succeed: a configuration error is permanent.
fn may_pass(fault: &Error) -> bool {
    fault.code != Code::Config
}

async fn try_again(late: Weak<Late>, open: Open) {
    loop {
        tokio::time::sleep(AGAIN).await;
        let Some(late) = late.upgrade() else { return };
        if late.open(&open).await {
            return;
        }
    }
}

#[async_trait]
impl EventStream for Late {
    fn spec(&self) -> &StreamSpec {
        &self.spec
    }

    fn available(&self) -> Result<()> {
        self.inner().map(|_| ())
    }

    fn append(&self, events: &[NewEvent], envelope: &Envelope) -> Result<Receipt> {
        self.inner()?.append(events, envelope)
    }

    fn append_text(&self, text: &Bytes, framing: &mut Framing, is_last: bool, envelope: &Envelope) -> Result<Receipt> {
        self.inner()?.append_text(text, framing, is_last, envelope)
    }

    async fn room(&self) {
        if let Some(stream) = self.opened.get() {
            stream.room().await;
        }
    }

    async fn settle(&self, receipt: &Receipt, ack: Ack) -> Result<Vec<RejectedEvent>> {
        self.inner()?.settle(receipt, ack).await
    }

    async fn place(&self, receipt: &Receipt) -> Result<Vec<EventDelivery>> {
        self.inner()?.place(receipt).await
    }

    fn ends(&self) -> Ends {
        self.opened.get().map_or_else(Ends::default, |stream| stream.ends())
    }

    async fn events(&self, from: u64, count_max: usize, bytes_max: usize, patience: Duration) -> Result<Vec<Event>> {
        self.inner()?.events(from, count_max, bytes_max, patience).await
    }

    async fn good_from(&self, from: u64) -> Result<u64> {
        self.inner()?.good_from(from).await
    }

    async fn offset_at(&self, time_ms: i64) -> Result<u64> {
        self.inner()?.offset_at(time_ms).await
    }

    fn committed(&self, group: &str) -> Option<u64> {
        self.opened.get()?.committed(group)
    }

    fn groups(&self) -> Vec<(String, u64)> {
        self.opened.get().map_or_else(Vec::new, |stream| stream.groups())
    }

    async fn commit(&self, group: &str, offset: u64) -> Result<()> {
        self.inner()?.commit(group, offset).await
    }

    async fn partitions(&self) -> Result<u32> {
        self.inner()?.partitions().await
    }

    fn backlog(&self) -> u64 {
        self.opened.get().map_or(0, |stream| stream.backlog())
    }

    fn scans(&self) -> Vec<(Name, Arc<dyn Scan>)> {
        self.opened.get().map_or_else(Vec::new, |stream| stream.scans())
    }

    async fn widened(&self, stamp: u64) -> u64 {
        let mut is_open = self.is_open.subscribe();
        let _ = is_open.wait_for(|is_open| *is_open).await;
        match self.opened.get() {
            Some(stream) => stream.widened(stamp).await,
            None => std::future::pending().await,
        }
    }

    async fn close(&self) -> Result<()> {
        *self.is_closed.lock().await = true;
        match self.opened.get() {
            Some(stream) => stream.close().await,
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use salver_model::ports::EventStream;
    use salver_model::spec::StreamSpec;
    use salver_model::{Code, Error, Name};
    use salver_streams::LogStream;

    use super::{Late, Open};

    /// Waits until the stream is open.
    async fn opened(late: &Late) {
        while late.available().is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_contract_of_the_port_once_it_is_open() {
        let dir = tempfile::tempdir().expect("a directory");
        let spec = StreamSpec::new(Name::new("clicks").expect("a name"), dir.path().join("clicks"));
        let may = Arc::new(AtomicBool::new(false));
        let fault = || Error::new(Code::StreamUnavailable, "its log is another server's");
        let (own, permission) = (spec.clone(), Arc::clone(&may));
        let open: Open = Arc::new(move || {
            if !permission.load(Ordering::Acquire) {
                return Err(fault());
            }
            LogStream::open(own.clone()).map(|stream| stream as Arc<dyn EventStream>)
        });
        let late = Late::begin(spec.clone(), fault(), Arc::clone(&open));
        let refused = late.available().expect_err("it may not open yet");
        assert!(refused.code == Code::StreamUnavailable && refused.message.contains("another server's"), "{refused:?}");
        may.store(true, Ordering::Release);
        opened(&late).await;
        let reopen = async || {
            let again = Late::begin(spec, fault(), open);
            opened(&again).await;
            again as Arc<dyn EventStream>
        };
        salver_testkit::contract::event_stream::run(late, reopen).await;
    }
}
