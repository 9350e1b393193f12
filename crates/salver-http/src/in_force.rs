//! What connections and requests are served with, as a whole.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use salver_model::limits::{HEAD_BYTES_MAX, LOBBY_MS_MAX, STREAMS_PER_CONNECTION_MAX};
use tokio::task::AbortHandle;

use crate::app::App;
use crate::proxy_protocol::TrustedProxies;

/// The connection builders for both versions of HTTP.
pub(crate) type Builders = (http1::Builder, http2::Builder<TokioExecutor>);

/// What connections and requests are served with.
pub(crate) struct InForce {
    pub(crate) app: Arc<App>,
    /// For connections with a place, and for those in the lobby.
    pub(crate) builders: [Builders; 2],
    pub(crate) proxies: TrustedProxies,
    /// Longest time for the head of a request.
    pub(crate) head_ms_max: Duration,
    /// Takes up what files of functions declare.
    following: AbortHandle,
}

impl InForce {
    /// Puts `app` in force. Call it inside the runtime.
    pub(crate) fn new(app: App) -> Self {
        let head_ms_max = Duration::from_millis(app.service.limits().head_ms_max);
        let app = Arc::new(app);
        let own = Arc::clone(&app);
        Self {
            builders: builders(head_ms_max),
            proxies: TrustedProxies::new(&app.options.proxy_protocol),
            app,
            head_ms_max,
            following: tokio::spawn(async move { own.follow_functions().await }).abort_handle(),
        }
    }
}

impl Drop for InForce {
    fn drop(&mut self) {
        self.following.abort();
    }
}

/// Returns the connection builders, given the timeout for a request head: for connections with a place, and for those
/// in the lobby.
fn builders(head_ms_max: Duration) -> [Builders; 2] {
    [head_ms_max, Duration::from_millis(LOBBY_MS_MAX)].map(builders_of)
}

/// Returns those for both versions of HTTP. Connections of HTTP/1 get their own timer.
fn builders_of(head_ms_max: Duration) -> Builders {
    let mut first = http1::Builder::new();
    first
        .header_read_timeout(head_ms_max)
        // Without `pipeline_flush`: with it hyper never sends its response to a request that it can't parse, and
        // buffers any response whole for a client that does not read.
        .max_buf_size(HEAD_BYTES_MAX);
    let mut second = http2::Builder::new(TokioExecutor::new());
    second
        .timer(TokioTimer::new())
        .keep_alive_interval(head_ms_max)
        .keep_alive_timeout(head_ms_max)
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32);
    (first, second)
}
