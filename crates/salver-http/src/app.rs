//! State shared by all requests: the service, the options, and what the handlers keep between requests.

use std::sync::Arc;

use salver_model::limits::RECEIVING_BYTES_MAX;
use salver_model::{Limits, Shares};
use salver_service::{FunctionFile, Service};
use tokio::sync::watch;

use crate::auth::CurrentAuth;
use crate::cache::ResponseCache;
use crate::caller_accounts::CallerAccounts;
use crate::connections::Connections;
use crate::consumers::Consumers;
use crate::cursor_state::Cursors;
use crate::export_state::Exports;
use crate::functions_state::Jobs;
use crate::gate::Gate;
use crate::graphql::Graphql;
use crate::idempotency::Idempotency;
use crate::metrics::Metrics;
use crate::options::HttpOptions;
use crate::redaction;
use crate::routes::declared::{DeclaredRoutes, DeclaredTable};
use crate::tokens::Tokens;
use crate::unsent_responses::Answers;

/// Bytes charged for each request body while it is being received.
pub(crate) const RECEIVED_BYTES: u64 = 64 * 1024;

/// Returns the memory budget for request bodies, which all callers share.
fn receiving(limits: &Limits) -> Arc<Shares> {
    let bytes = RECEIVING_BYTES_MAX.max(limits.body_bytes_max.saturating_mul(16));
    Shares::new("received bodies (64 KiB)", usize::try_from(bytes / RECEIVED_BYTES).unwrap_or(usize::MAX / 4))
}

/// Returns the options in the form that requests are compared with. Their private directories are not disclosed from
/// now on.
fn effective(mut options: HttpOptions) -> HttpOptions {
    let trimmed = options.base_path.trim_matches('/');
    options.base_path = if trimmed.is_empty() { String::new() } else { format!("/{trimmed}") };
    redaction::keep_private(&options.private_dirs);
    options
}

/// State shared by all requests. What is shared with the requests before and after a reload is behind an `Arc`.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) service: Arc<Service>,
    pub(crate) options: HttpOptions,
    pub(crate) cache: ResponseCache,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) graphql: Graphql,
    pub(crate) gate: Gate,
    /// Accounts of the callers whose requests are limited.
    pub(crate) callers: Arc<CallerAccounts>,
    /// Authentication.
    pub(crate) auth: CurrentAuth,
    pub(crate) idempotency: Arc<Idempotency>,
    pub(crate) consumers: Arc<Consumers>,
    pub(crate) cursors: Arc<Cursors>,
    pub(crate) exports: Arc<Exports>,
    /// Routes that streams and files of functions declare.
    declared: DeclaredRoutes,
    pub(crate) jobs: Arc<Jobs>,
    /// Open connections.
    pub(crate) connections: Arc<Connections>,
    /// Memory budget for request bodies that are being received.
    pub(crate) receiving: Arc<Shares>,
    /// Memory budget for complete responses that their clients have not yet taken.
    pub(crate) answers: Arc<Answers>,
    /// Seals what clients hold of what is kept.
    pub(crate) tokens: Tokens,
    /// Becomes true at shutdown; endless responses end then, too.
    pub(crate) ending: Arc<watch::Sender<bool>>,
}

impl App {
    pub(crate) fn new(service: Arc<Service>, options: HttpOptions, connections: Arc<Connections>) -> Self {
        let options = effective(options);
        let limits = service.limits();
        let (receiving, answers) = (receiving(limits), Arc::new(Answers::new(limits)));
        let has_provider = options.auth.load().is_some_and(|auth| auth.oidc.is_some());
        let jobs = Arc::new(Jobs::new(limits));
        Self {
            cache: ResponseCache::new(limits.cache_bytes_max),
            metrics: Arc::new(Metrics::new()),
            graphql: Graphql::default(),
            gate: Gate::new(&options),
            callers: CallerAccounts::new(),
            auth: options.auth.clone(),
            idempotency: Arc::default(),
            consumers: Arc::default(),
            cursors: Arc::default(),
            exports: Arc::default(),
            declared: DeclaredRoutes::new(&service, has_provider),
            jobs,
            connections,
            receiving,
            answers,
            tokens: Tokens::new(&options.root_key),
            ending: Arc::new(watch::Sender::new(false)),
            options,
            service,
        }
    }

    /// Returns the state for the requests after a reload, which keeps what clients hold, and what counts for them.
    /// Responses are cached anew: they may be others under other options.
    pub(crate) fn successor(&self, service: Arc<Service>, options: HttpOptions) -> Self {
        // The listener stays as it is, and what was given to the server as a whole.
        let HttpOptions { listens, only_local, tls, metrics, tracer, query_editor, root_key, .. } = &self.options;
        let options = effective(HttpOptions {
            listens: *listens,
            only_local: *only_local,
            tls: tls.clone(),
            metrics: metrics.clone(),
            tracer: tracer.clone(),
            query_editor: query_editor.clone(),
            root_key: root_key.clone(),
            ..options
        });
        let has_provider = options.auth.load().is_some_and(|auth| auth.oidc.is_some());
        let budget = receiving(service.limits());
        let is_same = service.limits().body_bytes_max == self.service.limits().body_bytes_max;
        Self {
            cache: ResponseCache::new(service.limits().cache_bytes_max),
            metrics: Arc::clone(&self.metrics),
            graphql: Graphql::default(),
            gate: Gate::new(&options),
            callers: Arc::clone(&self.callers),
            auth: options.auth.clone(),
            idempotency: Arc::clone(&self.idempotency),
            consumers: Arc::clone(&self.consumers),
            cursors: Arc::clone(&self.cursors),
            exports: Arc::clone(&self.exports),
            declared: DeclaredRoutes::new(&service, has_provider),
            jobs: Arc::clone(&self.jobs),
            connections: Arc::clone(&self.connections),
            receiving: if is_same { Arc::clone(&self.receiving) } else { budget },
            answers: Arc::clone(&self.answers),
            tokens: Tokens::new(&options.root_key),
            ending: Arc::clone(&self.ending),
            options,
            service,
        }
    }

    /// Returns what ends, whenever the access rules change, that was opened under others, for ever. What clients hold
    /// of an export is opened again under the rules of then.
    pub(crate) fn ending_with_rules(&self) -> impl Future<Output = ()> + Send + use<> {
        let (cursors, exports) = (Arc::clone(&self.cursors), Arc::clone(&self.exports));
        let mut rights = self.service.rights();
        async move {
            let mut rules = rights.borrow_and_update().rules;
            while rights.changed().await.is_ok() {
                let now = rights.borrow_and_update().rules;
                if now != rules {
                    rules = now;
                    cursors.leases.end_all();
                    exports.sessions.end_all();
                }
            }
        }
    }

    /// Returns the routes that streams and files of functions declare now.
    pub(crate) fn declared(&self) -> Arc<DeclaredTable> {
        self.declared.current(&self.service, || self.has_provider())
    }

    /// Takes up what files of functions declare whenever one was loaded.
    pub(crate) async fn follow_functions(&self) {
        futures::future::join_all(self.service.functions().iter().map(|file| self.follow(file))).await;
    }

    async fn follow(&self, file: &FunctionFile) {
        let mut changes = 0;
        loop {
            changes = file.changed(changes).await;
            drop(self.declared());
        }
    }

    /// Returns whether a request that reads records may run user code or create a database.
    pub(crate) fn runs_code_around_records(&self) -> bool {
        let mut databases = self.service.databases().iter();
        databases.any(|database| database.spec().customization.is_some() || database.spec().of_caller.is_some())
    }

    /// Returns whether users log in at an identity provider.
    pub(crate) fn has_provider(&self) -> bool {
        self.auth.load().is_some_and(|auth| auth.oidc.is_some())
    }

    /// Returns whether callers authenticate with a name and a password that they send.
    pub(crate) fn has_accounts(&self) -> bool {
        self.auth.load().is_some_and(|auth| auth.users.as_ref().is_some_and(|users| users.spec.login))
    }
}
