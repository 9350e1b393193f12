//! Composition of the parts: from settings to a service over loaded entries.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use salver_config::{Checked, StoreSpec};
use salver_datasets::{ClusterOptions, DatasetLoader, Engine, EngineOptions};
use salver_formats::Format;
use salver_http::{Auth, AuthSources, Callbacks, CurrentAuth, HttpOptions, OriginOptions};
use salver_model::observation::Observer;
use salver_model::ports::{Database, EventStream, IdentityProvider, Loader, SqlEngine};
use salver_model::spec::{AuthSpec, DatabaseSpec, DatasetSpec};
use salver_model::{AccessPolicy, Name, Result};
use salver_records::RecordsDatabase;
use salver_service::refresh::Keepers;
use salver_service::{Catalog, Service, Store};
use tokio::task::JoinSet;

use crate::databases::Databases;
use crate::functions::OpenFile;
use crate::identity_provider::HttpIdentityProvider;
use crate::key_set_source::key_set_source;
use crate::named_queries::NamedQueries;
use crate::sessions::LateSessions;
use crate::webhook_sender::HttpWebhookSender;
use crate::{functions, secrets, streams, traces};

/// Most connections for looking up users.
const AUTH_CONNECTIONS: usize = 2;

/// Service, with the tasks that keep its entries fresh until it is dropped.
#[derive(Debug)]
pub(crate) struct Wired {
    pub(crate) service: Arc<Service>,
    /// The streams it serves, to be closed in the end.
    pub(crate) streams: Vec<Arc<dyn EventStream>>,
    /// The tasks that keep datasets fresh.
    pub(crate) keepers: Keepers,
    /// The databases, and the tasks that keep their tables fresh.
    pub(crate) databases: Databases,
    /// The files of functions, and the tasks that keep them loaded.
    pub(crate) functions: Vec<OpenFile>,
    /// The tasks that keep the columns of each stream fresh.
    pub(crate) columns: BTreeMap<Name, JoinSet<()>>,
    /// The named queries, and the task that plans them.
    pub(crate) queries: NamedQueries,
}

/// Handling of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// Opened: this process is their only owner.
    Open,
    /// Left to the server.
    LeaveOut,
}

/// Creates the engine for `checked`.
pub(crate) fn engine(checked: &Checked, data_dir: &Path) -> Result<Arc<Engine>> {
    Engine::new(&EngineOptions {
        memory_bytes_max: checked.limits.memory_bytes_max,
        data_dir: data_dir.to_owned(),
        threads: checked.server.threads,
        spill_bytes_max: checked.limits.spill_bytes_max,
        // A directory that was not named is not found again.
        object_cache_dir: checked.server.data_dir.as_ref().map(|dir| dir.join(salver_config::OBJECTS_DIR)),
        object_cache_bytes_max: checked.limits.object_cache_bytes_max,
        query_ms_max: checked.limits.query_ms_max,
        slow_ms: checked.server.slow_ms,
        owns_process: true,
        cluster: checked.cluster.as_ref().map(|cluster| ClusterOptions {
            scheduler: cluster.scheduler.clone(),
            bytes_min: cluster.bytes_min,
            partitions: cluster.partitions,
        }),
    })
}

/// Returns the loader of one dataset.
pub(crate) fn loader(spec: &DatasetSpec, engine: &Arc<Engine>) -> Arc<dyn Loader> {
    Arc::new(DatasetLoader::new(spec.clone(), Arc::clone(engine)))
}

/// Returns the stores of `checked`.
pub(crate) fn stores(checked: &Checked) -> Vec<Store> {
    let store = |spec: &StoreSpec| Store {
        name: spec.name.clone(),
        entry: spec.dataset.clone(),
        key: spec.key.clone(),
        value: spec.value.clone(),
    };
    checked.stores.iter().map(store).collect()
}

/// Creates a service over the datasets, databases and streams of `checked`. Loads start at once; streams are open when
/// this returns. Call it inside the runtime.
pub(crate) fn wire(checked: &Checked, engine: &Arc<Engine>, observer: &Arc<dyn Observer>, owned: Streams) -> Wired {
    let dataset_names = checked.datasets.iter().map(|spec| &spec.name);
    let names = dataset_names.chain(checked.streams.iter().map(|spec| &spec.name)).cloned();
    let database_names = checked.databases.iter().map(|spec| spec.name.clone());
    let catalog = Arc::new(Catalog::new(names, database_names, stores(checked)));
    // Before anything is published, so that views get their names.
    declare_views(checked, engine, &catalog, observer);
    let loaders = checked.datasets.iter().map(|spec| loader(spec, engine)).collect();
    let keepers = Keepers::start(&catalog, loaders, observer);
    // First, so that streams get their names.
    let streams = match owned {
        Streams::Open => streams::open(checked, engine, &catalog, observer),
        Streams::LeaveOut => {
            streams::leave_out(checked, &catalog);
            Vec::new()
        }
    };
    let functions = functions::open(&checked.functions);
    let files = functions::files(&functions);
    engine.set_functions(&files);
    let columns = streams.iter().map(|stream| (stream.spec().name.clone(), columns_of(stream, &catalog))).collect();
    let databases = Databases::open(checked, &catalog, observer);
    let opened = databases.all();
    let sql: Arc<dyn SqlEngine> = Arc::<Engine>::clone(engine);
    let access = access(checked.access.as_deref(), &opened);
    let mut queries = NamedQueries::default();
    queries.follow(&checked.queries, engine, &catalog, observer);
    let service = Service::new(catalog, sql, Arc::clone(observer), checked.limits.clone())
        .with_databases(opened)
        .with_streams(streams.clone())
        .with_functions(files)
        .with_queries(queries.all.clone())
        .with_access(access)
        .with_caller_limits(checked.caller_limits.clone())
        .with_tracing(traces::is_wanted(&checked.server));
    Wired { service: Arc::new(service), streams, keepers, databases, functions, columns, queries }
}

/// Declares the views of `checked`, in place of those of before.
pub(crate) fn declare_views(
    checked: &Checked,
    engine: &Arc<Engine>,
    catalog: &Arc<Catalog>,
    observer: &Arc<dyn Observer>,
) {
    catalog.declare_views(checked.views.clone(), Vec::new(), Arc::<Engine>::clone(engine), Arc::clone(observer));
}

/// Starts the task that keeps the columns of `stream` fresh.
pub(crate) fn columns_of(stream: &Arc<dyn EventStream>, catalog: &Arc<Catalog>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    salver_service::stream_columns::start(catalog, std::slice::from_ref(stream), &mut tasks);
    tasks
}

/// Returns the policy of the declared one and of the databases' own rules; `None` where every caller may see the same.
pub(crate) fn access(declared: Option<&AccessPolicy>, databases: &[Arc<dyn Database>]) -> Option<Arc<AccessPolicy>> {
    let tells_apart = |spec: &&DatabaseSpec| {
        spec.rules.iter().any(|rule| !rule.is_for_all_alike())
            || spec.tenancy.iter().any(|tenancy| tenancy.attribute().is_some())
    };
    let specs = databases.iter().map(|database| database.spec()).filter(tells_apart);
    let policy = match declared {
        Some(policy) => AccessPolicy::new(policy.roles().to_vec(), policy.rules().to_vec()),
        None if specs.clone().next().is_none() => return None,
        None => AccessPolicy::open(),
    };
    Some(Arc::new(policy.with_databases(specs)))
}

/// Returns the authentication methods of `spec`, in place of the `previous` ones. The table of users is read through
/// separate connections, which bypass the rules and checks for requests.
pub(crate) fn auth(
    spec: &AuthSpec,
    checked: &Checked,
    sessions: &LateSessions,
    previous: Option<&Auth>,
) -> Result<Auth> {
    let database = spec.users.as_ref().and_then(|users| checked.databases.iter().find(|d| d.name == users.database));
    let open = |own: &DatabaseSpec| {
        let bare = DatabaseSpec {
            init: own.init.clone(),
            writable: own.writable,
            mapping: own.mapping.clone(),
            statement_ms_max: own.statement_ms_max,
            connections_max: AUTH_CONNECTIONS.min(own.connections_max),
            ..DatabaseSpec::new(own.name.clone(), own.kind, own.url.clone())
        };
        RecordsDatabase::open(bare).map(|opened| Arc::new(opened) as Arc<dyn Database>)
    };
    let key_set = spec.jwt.key_set.as_deref().map(key_set_source);
    let provider =
        spec.oidc.as_ref().map(|spec| Arc::new(HttpIdentityProvider::new(spec)) as Arc<dyn IdentityProvider>);
    let users = database.map(open).transpose()?;
    Auth::new(spec, AuthSources { users, key_set, provider, sessions: sessions.of(spec) }, previous)
}

/// Returns the authentication methods of `checked`, in place of the `previous` ones.
///
/// # Errors
/// Returns an error for unusable keys, files and databases of users: then no one is served, rather than everyone.
pub(crate) fn current_auth(checked: &Checked, sessions: &LateSessions, previous: Option<&Auth>) -> Result<CurrentAuth> {
    let auth = checked.auth.as_ref().map(|spec| auth(spec, checked, sessions, previous)).transpose()?;
    Ok(CurrentAuth::new(auth))
}

/// Returns the options of the HTTP doors for `checked`.
pub(crate) fn http_options(checked: &Checked, auth: CurrentAuth) -> HttpOptions {
    salver_http::keep_secret(secrets::from_outside(checked));
    let server = &checked.server;
    HttpOptions {
        hosts: server.hosts.clone(),
        listen_host: server.listen.host().to_owned(),
        certificate_names: server
            .tls
            .iter()
            .filter_map(|tls| tls.acme())
            .flat_map(|spec| spec.domains.clone())
            .collect(),
        private_dirs: secrets::of(checked),
        listens: None,
        base_path: server.base_path.clone(),
        omit_nulls: checked.compat.roapi,
        unknown_table_400: checked.compat.roapi,
        cors: server.cors,
        access_log: server.access_log,
        slow_ms: server.slow_ms,
        server_timing: server.server_timing,
        ready_needs_all: server.ready_needs_all,
        default_format: Format::of_suffix(&server.default_format).unwrap_or(Format::Json),
        origins: (!server.cors_origins.is_empty()).then(|| OriginOptions::of(server.cors_origins.clone())),
        reverse_proxy: server.reverse_proxy,
        caller_headers: server.caller.clone(),
        firewall: server.firewall.clone(),
        proxy_protocol: server.proxy_protocol.clone(),
        ssl_redirect: server.ssl_redirect,
        xsrf: server.xsrf,
        ajax_only: server.ajax_only,
        callbacks: (!server.callbacks.is_empty())
            .then(|| Callbacks { allowed: server.callbacks.clone(), webhooks: Arc::new(HttpWebhookSender::new()) }),
        auth,
        ..HttpOptions::default()
    }
}

/// Time a blocking thread without work is kept: it caches memory of its own.
const SPARE_THREADS_KEPT_FOR: Duration = Duration::from_secs(2);

/// Creates the runtime for everything but the engine's own work.
pub(crate) fn runtime(threads: usize) -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if threads > 0 {
        builder.worker_threads(threads);
    }
    builder
        .thread_keep_alive(SPARE_THREADS_KEPT_FOR)
        .enable_all()
        .build()
        .map_err(|error| salver_model::Error::internal("can't start the threads of the server").with_source(error))
}
