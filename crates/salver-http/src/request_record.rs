//! What is known of a request beside its answer, for the log: its ID, its route, who sent it, and when it was admitted.
//! Whatever works for a request finds it in its task.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use salver_model::limits::REQUEST_ID_BYTES_MAX;
use salver_model::observation::{RequestId, for_request};
use salver_model::{Principal, seal};

use crate::routes::AtomicLabel;

/// Header with the ID of a request, in both directions.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Header with the times that a response took (<https://www.w3.org/TR/server-timing/>).
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Beginning of the IDs that this process makes, which tells them from those before a restart.
static PROCESS: LazyLock<u32> =
    LazyLock::new(|| seal::random::<4>().map_or_else(|_| std::process::id(), u32::from_le_bytes));
/// Number of IDs made so far.
static MADE: AtomicU64 = AtomicU64::new(0);

tokio::task_local! {
    /// The request that the task works for, if it works for one.
    static CURRENT: Option<Arc<RequestRecord>>;
}

/// What is known of a request beside its answer.
#[derive(Debug, Default)]
pub(crate) struct RequestRecord {
    /// The client's ID, or one that was made because something needed it.
    id: OnceLock<HeaderValue>,
    /// Label of the route, under which the request is counted.
    pub(crate) label: AtomicLabel,
    /// Identity of the caller, where it is known and logged.
    caller: OnceLock<String>,
    /// Time from the beginning of the request to the end of its admission.
    admitted_after: OnceLock<Duration>,
}

impl RequestRecord {
    /// Creates the record of a request for which the client may have sent an ID; one that is not valid is ignored.
    pub(crate) fn of(sent: Option<&HeaderValue>) -> Self {
        let record = Self::default();
        if let Some(sent) = sent.filter(|sent| is_id(sent.as_bytes())) {
            // The record is new, and has no ID yet.
            let _ = record.id.set(sent.clone());
        }
        record
    }

    /// Returns the ID of the request, which is made if there is none yet.
    pub(crate) fn id(&self) -> &str {
        self.id.get_or_init(made).to_str().unwrap_or_default()
    }

    /// Returns the ID of the request, if there is one yet.
    pub(crate) fn known_id(&self) -> Option<&str> {
        self.id.get().and_then(|id| id.to_str().ok())
    }

    /// Notes who sent the request.
    pub(crate) fn identify(&self, caller: &Principal) {
        if let Some(identity) = caller.attribute(Principal::IDENTITY) {
            let _ = self.caller.set(identity);
        }
    }

    /// Returns the identity of the caller as it was noted, or `-`.
    pub(crate) fn caller(&self) -> &str {
        self.caller.get().map_or("-", String::as_str)
    }

    /// Notes that the admission is over, `after` the beginning of the request.
    pub(crate) fn admitted(&self, after: Duration) {
        let _ = self.admitted_after.set(after);
    }

    /// Adds the ID to the headers of the response, if there is one. For a request that `is_logged` one is made.
    pub(crate) fn tell(&self, headers: &mut HeaderMap, is_logged: bool) {
        let id = if is_logged { Some(self.id.get_or_init(made)) } else { self.id.get() };
        if let Some(id) = id {
            headers.insert(REQUEST_ID, id.clone());
        }
    }

    /// Adds the times of the request, which took `total`, to the headers of the response.
    pub(crate) fn tell_times(&self, headers: &mut HeaderMap, total: Duration) {
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        let admitted = self.admitted_after.get().map(|after| format!("admit;dur={:.3}, ", ms(*after)));
        let times = format!("{}total;dur={:.3}", admitted.unwrap_or_default(), ms(total));
        if let Ok(times) = HeaderValue::try_from(times) {
            headers.append(SERVER_TIMING, times);
        }
    }

    /// Returns `work` as work for this request, also for who logs something of it and knows nothing of HTTP.
    pub(crate) fn scope<F: Future>(self: &Arc<Self>, work: F) -> impl Future<Output = F::Output> + use<F> {
        let own: Arc<dyn RequestId> = Arc::<Self>::clone(self);
        let mut work = Box::pin(CURRENT.scope(Some(Arc::clone(self)), work));
        poll_fn(move |context| for_request(&own, || work.as_mut().poll(context)))
    }

    /// Does `work` for this request.
    pub(crate) fn scope_now<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(Some(Arc::clone(self)), work)
    }
}

impl RequestId for RequestRecord {
    fn id(&self) -> &str {
        Self::id(self)
    }
}

/// Returns the request that the task works for; `None` if it works for none.
pub(crate) fn current() -> Option<Arc<RequestRecord>> {
    CURRENT.try_with(Option::clone).ok().flatten()
}

/// Returns `work` as work for the request of this task, to be done in another.
pub(crate) fn carried<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let current = current();
    async move {
        match current {
            Some(request) => request.scope(work).await,
            None => work.await,
        }
    }
}

/// Returns whether a client may call its request this: what neither breaks a line of the log nor needs escapes in it.
fn is_id(text: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._~+/=:@-".contains(byte);
    !text.is_empty() && text.len() <= REQUEST_ID_BYTES_MAX && text.iter().all(is_plain)
}

/// Makes an ID.
fn made() -> HeaderValue {
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    // Hexadecimal digits are a valid value.
    HeaderValue::try_from(format!("{:08x}-{number:x}", *PROCESS)).unwrap_or(HeaderValue::from_static("-"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use http::{HeaderMap, HeaderValue};

    use super::{RequestRecord, carried, current};

    #[test]
    fn what_a_client_may_call_its_request() {
        let long = "a".repeat(128);
        for id in ["1", "0af7651916cd43dd8448eb211c80319c", "a.b_c~d+e/f=g:h@i-j", &long] {
            let record = RequestRecord::of(Some(&HeaderValue::from_str(id).unwrap()));
            assert_eq!(record.known_id(), Some(id));
            assert_eq!(record.id(), id);
        }
        let longer = "a".repeat(129);
        for id in ["", "a b", "a\"b", "a,b", "{}", "%0a", &longer] {
            let record = RequestRecord::of(Some(&HeaderValue::from_str(id).unwrap()));
            assert_eq!(record.known_id(), None, "{id}");
        }
        let latin = RequestRecord::of(Some(&HeaderValue::from_bytes(b"caf\xe9").unwrap()));
        assert_eq!(latin.known_id(), None);
    }

    #[test]
    fn ids_are_made_when_they_are_needed() {
        let (one, other) = (RequestRecord::of(None), RequestRecord::of(None));
        let mut headers = HeaderMap::new();
        one.tell(&mut headers, false);
        assert!(headers.is_empty());
        one.tell(&mut headers, true);
        assert_eq!(headers["x-request-id"], one.id());
        assert_ne!(one.id(), other.id());
        let (process, number) = one.id().split_once('-').unwrap();
        assert_eq!(process.len(), 8);
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(is_hex(process) && is_hex(number), "{}", one.id());
    }

    #[test]
    fn times_are_in_milliseconds() {
        let record = RequestRecord::of(None);
        let mut headers = HeaderMap::new();
        record.tell_times(&mut headers, Duration::from_micros(4567));
        assert_eq!(headers["server-timing"], "total;dur=4.567");
        record.admitted(Duration::from_micros(123));
        let mut headers = HeaderMap::new();
        record.tell_times(&mut headers, Duration::from_millis(5));
        assert_eq!(headers["server-timing"], "admit;dur=0.123, total;dur=5.000");
    }

    #[tokio::test]
    async fn a_task_knows_its_request() {
        let record = Arc::new(RequestRecord::of(Some(&HeaderValue::from_static("mine"))));
        let name = || current().map(|record| record.id().to_owned());
        assert_eq!(name(), None);
        assert_eq!(record.scope_now(name).as_deref(), Some("mine"));
        let spawned = record.scope(async { tokio::spawn(async move { name() }).await.unwrap() }).await;
        assert_eq!(spawned, None);
        let spawned = record.scope(async { tokio::spawn(carried(async move { name() })).await.unwrap() }).await;
        assert_eq!(spawned.as_deref(), Some("mine"));
        assert_eq!(name(), None);
    }
}
