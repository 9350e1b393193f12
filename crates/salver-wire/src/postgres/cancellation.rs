//! Requests to cancel, which come by connections of their own and name the connection whose statement they mean
//! (<https://www.postgresql.org/docs/16/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS>).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use salver_model::Result;
use salver_model::seal::random;
use tokio::sync::Notify;

/// The connections whose statements can be cancelled, by the number that their clients were told.
#[derive(Debug, Default)]
pub(super) struct Cancellations(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    last: u32,
    by_number: HashMap<u32, (u32, Arc<CancelRequest>)>,
}

/// A request to cancel the statement that runs. It holds until the next statement begins, so that one that is between
/// two of its steps ends at the next.
#[derive(Debug, Default)]
pub(super) struct CancelRequest {
    is_there: AtomicBool,
    came: Notify,
}

impl CancelRequest {
    fn make(&self) {
        self.is_there.store(true, Ordering::Release);
        self.came.notify_waiters();
    }

    /// Forgets a request that came when nothing ran.
    pub(super) fn forget(&self) {
        self.is_there.store(false, Ordering::Release);
    }

    /// Waits for a request, if there is none already.
    pub(super) async fn wait(&self) {
        // Told also of what comes from here on, before it is awaited.
        let came = self.came.notified();
        if !self.is_there.load(Ordering::Acquire) {
            came.await;
        }
    }

    /// Returns whether there is a request.
    pub(super) fn is_there(&self) -> bool {
        self.is_there.load(Ordering::Acquire)
    }
}

/// What a client needs to cancel its statement; it is known until this is dropped.
#[derive(Debug)]
pub(super) struct Cancellable {
    /// Number of the connection.
    pub(super) number: u32,
    /// Secret that a request to cancel must name.
    pub(super) secret: u32,
    /// Told by such a request.
    pub(super) requested: Arc<CancelRequest>,
    known: Arc<Mutex<Known>>,
}

impl Cancellations {
    /// Makes a connection known.
    ///
    /// # Errors
    /// `Internal` if the system has no random numbers.
    pub(super) fn register(&self) -> Result<Cancellable> {
        let secret = u32::from_be_bytes(random()?);
        let requested = Arc::new(CancelRequest::default());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Clients read it as a signed number, and expect a positive one.
        let mut number = known.last % i32::MAX as u32 + 1;
        while known.by_number.contains_key(&number) {
            number = number % i32::MAX as u32 + 1;
        }
        known.last = number;
        known.by_number.insert(number, (secret, Arc::clone(&requested)));
        Ok(Cancellable { number, secret, requested, known: Arc::clone(&self.0) })
    }

    /// Cancels what runs on the connection `number`. Nothing is told to one who does not know the secret.
    pub(super) fn cancel(&self, number: u32, secret: u32) {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((own, requested)) = known.by_number.get(&number)
            && *own == secret
        {
            requested.make();
        }
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).by_number.remove(&self.number);
    }
}
