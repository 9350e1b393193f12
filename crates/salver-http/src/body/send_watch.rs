//! Notices how the sending of a body ends: whole, broken off by the server, or because the client left.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use salver_service::trace::ActiveSpan;

/// Watches a body while it is sent. When it is dropped before the end, the client has left.
#[derive(Debug)]
pub(crate) struct SendWatch {
    aborted: Arc<AtomicU64>,
    /// The span of the request.
    span: Option<ActiveSpan>,
    /// ID and target of the request, where requests are logged.
    told: Option<(String, String)>,
    is_over: bool,
}

impl SendWatch {
    /// Watches a body of the request with this span, and this ID and target where requests are logged. `aborted` counts
    /// bodies whose client leaves.
    pub(crate) fn new(aborted: Arc<AtomicU64>, span: Option<ActiveSpan>, told: Option<(String, String)>) -> Self {
        Self { aborted, span, told, is_over: false }
    }

    /// Notes that nothing more comes of the body, which was sent as a whole or broken off by the server.
    pub(super) fn over(&mut self, is_whole: bool) {
        self.is_over = true;
        if let Some(mut span) = self.span.take() {
            if is_whole { span.succeed() } else { span.fail("broken_off") }
        }
    }
}

impl Drop for SendWatch {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.aborted.fetch_add(1, Ordering::Relaxed);
        if let Some((id, uri)) = &self.told {
            tracing::info!(target: "access", id, uri, "the client left before the end of the response");
        }
    }
}
