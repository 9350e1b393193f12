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

/// State shared by all requests.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) service: Arc<Service>,
    pub(crate) options: HttpOptions,
    pub(crate) cache: ResponseCache,
    pub(crate) metrics: Metrics,
    pub(crate) graphql: Graphql,
    pub(crate) gate: Gate,
    /// Accounts of the callers whose requests are limited.
    pub(crate) callers: Arc<CallerAccounts>,
    /// Authentication.
    pub(crate) auth: CurrentAuth,
    pub(crate) idempotency: Idempotency,
    pub(crate) consumers: Consumers,
    pub(crate) cursors: Cursors,
    pub(crate) exports: Exports,
    /// Routes that streams and files of functions declare.
    declared: DeclaredRoutes,
    pub(crate) jobs: Jobs,
    /// Open connections.
    pub(crate) connections: Arc<Connections>,
    /// Memory budget for request bodies that are being received.
    pub(crate) receiving: Arc<Shares>,
    /// Memory budget for complete responses that their clients have not yet taken.
    pub(crate) answers: Arc<Answers>,
    /// Seals what clients hold of what is kept.
    pub(crate) tokens: Tokens,
    /// Becomes true at shutdown; endless responses end then, too.
    pub(crate) ending: watch::Sender<bool>,
}

impl App {
    pub(crate) fn new(service: Arc<Service>, mut options: HttpOptions, connections: Arc<Connections>) -> Self {
        let trimmed = options.base_path.trim_matches('/');
        options.base_path = if trimmed.is_empty() { String::new() } else { format!("/{trimmed}") };
        let cache = ResponseCache::new(service.limits().cache_bytes_max);
        let gate = Gate::new(&options);
        redaction::keep_private(&options.private_dirs);
        let auth = options.auth.clone();
        let (graphql, idempotency) = (Graphql::default(), Idempotency::default());
        let (consumers, ending) = (Consumers::default(), watch::Sender::new(false));
        let (cursors, exports) = (Cursors::default(), Exports::default());
        let receiving = receiving(service.limits());
        let answers = Arc::new(Answers::new(service.limits()));
        let has_provider = auth.load().is_some_and(|auth| auth.oidc.is_some());
        let (declared, jobs) = (DeclaredRoutes::new(&service, has_provider), Jobs::new(service.limits()));
        let tokens = Tokens::new(&options.root_key);
        Self {
            service,
            options,
            cache,
            metrics: Metrics::new(),
            graphql,
            gate,
            callers: CallerAccounts::new(),
            auth,
            idempotency,
            consumers,
            cursors,
            exports,
            declared,
            jobs,
            connections,
            receiving,
            answers,
            tokens,
            ending,
        }
    }

    /// Ends what was opened under other access rules, whenever these change. What clients hold of an export is opened
    /// again under the rules of then.
    pub(crate) async fn end_with_rules(&self) {
        let mut rights = self.service.rights();
        let mut rules = rights.borrow_and_update().rules;
        while rights.changed().await.is_ok() {
            let now = rights.borrow_and_update().rules;
            if now != rules {
                rules = now;
                self.cursors.leases.end_all();
                self.exports.sessions.end_all();
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
