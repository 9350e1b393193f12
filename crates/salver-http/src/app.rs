//! What every request shares: the waist, the options, and what the doors keep between requests.

use std::sync::Arc;

use salver_service::Service;
use tokio::sync::watch;

use crate::auth::Auth;
use crate::cache::FinalBytes;
use crate::consumers::Consumers;
use crate::cursor_state::Cursors;
use crate::export_state::Exports;
use crate::functions_state::{Jobs, Known};
use crate::gate::Gate;
use crate::graphql::Graphql;
use crate::idempotency::Idempotency;
use crate::options::HttpOptions;

/// What every request shares.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) service: Arc<Service>,
    pub(crate) options: HttpOptions,
    pub(crate) cache: FinalBytes,
    pub(crate) graphql: Graphql,
    pub(crate) gate: Gate,
    /// `None` lets everybody in, and costs nothing.
    pub(crate) auth: Option<Arc<Auth>>,
    pub(crate) idempotency: Idempotency,
    pub(crate) consumers: Consumers,
    pub(crate) cursors: Cursors,
    pub(crate) exports: Exports,
    pub(crate) functions: Known,
    pub(crate) jobs: Jobs,
    /// Becomes true when the server ends: answers without end then end too.
    pub(crate) ending: watch::Sender<bool>,
}

impl App {
    pub(crate) fn new(service: Arc<Service>, mut options: HttpOptions) -> Self {
        let trimmed = options.base_path.trim_matches('/');
        options.base_path = if trimmed.is_empty() { String::new() } else { format!("/{trimmed}") };
        let cache = FinalBytes::new(service.limits().cache_bytes_max);
        let gate = Gate::new(&options);
        let auth = options.auth.take();
        let (graphql, idempotency) = (Graphql::default(), Idempotency::default());
        let (consumers, ending) = (Consumers::default(), watch::Sender::new(false));
        let (cursors, exports) = (Cursors::default(), Exports::default());
        let (functions, jobs) = (Known::new(service.functions().len()), Jobs::new(service.limits()));
        Self {
            service,
            options,
            cache,
            graphql,
            gate,
            auth,
            idempotency,
            consumers,
            cursors,
            exports,
            functions,
            jobs,
            ending,
        }
    }
}
