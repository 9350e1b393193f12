//! Puts the parts together: settings in, a service over loaded entries out.

use std::path::Path;
use std::sync::Arc;

use salver_config::Checked;
use salver_datasets::{DatasetLoader, Engine, EngineOptions};
use salver_formats::Format;
use salver_http::{HttpOptions, OriginOptions};
use salver_model::Result;
use salver_model::observation::{Observation, Observer};
use salver_model::ports::{Database, Loader, SqlEngine};
use salver_model::spec::DatasetSpec;
use salver_records::RecordsDatabase;
use salver_service::{Catalog, Service, Store, databases, refresh};
use tokio::task::JoinSet;

/// The service, and what keeps its entries fresh until it is dropped.
#[derive(Debug)]
pub(crate) struct Wired {
    pub(crate) service: Arc<Service>,
    pub(crate) _keepers: JoinSet<()>,
}

/// The engine of `checked`.
pub(crate) fn engine(checked: &Checked, data_dir: &Path) -> Result<Arc<Engine>> {
    Engine::new(&EngineOptions {
        memory_bytes_max: checked.limits.memory_bytes_max,
        data_dir: data_dir.to_owned(),
        threads: checked.server.threads,
    })
}

/// What loads one dataset.
pub(crate) fn loader(spec: &DatasetSpec, engine: &Arc<Engine>) -> Arc<dyn Loader> {
    Arc::new(DatasetLoader::new(spec.clone(), Arc::clone(engine)))
}

/// A service over the datasets and databases of `checked`, whose loads begin at once. Runs inside the runtime.
pub(crate) fn wire(checked: &Checked, engine: &Arc<Engine>, observer: &Arc<dyn Observer>) -> Wired {
    let stores = checked.stores.iter().map(|spec| Store {
        name: spec.name.clone(),
        entry: spec.dataset.clone(),
        key: spec.key.clone(),
        value: spec.value.clone(),
    });
    let names = checked.datasets.iter().map(|spec| spec.name.clone());
    let database_names = checked.databases.iter().map(|spec| spec.name.clone());
    let catalog = Arc::new(Catalog::new(names, database_names, stores.collect()));
    let loaders = checked.datasets.iter().map(|spec| loader(spec, engine)).collect();
    let mut keepers = refresh::start(&catalog, loaders, observer);
    let opened = open_databases(checked, &catalog, observer);
    databases::start(&catalog, &opened, observer, &mut keepers);
    let sql: Arc<dyn SqlEngine> = Arc::<Engine>::clone(engine);
    let service = Service::new(catalog, sql, Arc::clone(observer), checked.limits.clone()).with_databases(opened);
    Wired { service: Arc::new(service), _keepers: keepers }
}

/// The databases of `checked`. One that can't even be opened is reported and left out; the others are served.
fn open_databases(checked: &Checked, catalog: &Catalog, observer: &Arc<dyn Observer>) -> Vec<Arc<dyn Database>> {
    let mut opened: Vec<Arc<dyn Database>> = Vec::new();
    for spec in &checked.databases {
        match RecordsDatabase::open(spec.clone()) {
            Ok(database) => opened.push(Arc::new(database)),
            Err(error) => {
                catalog.report(&spec.name, &error);
                observer.observe(&Observation::LoadFailed { name: &spec.name, error: &error });
            }
        }
    }
    opened
}

/// How the HTTP doors behave by `checked`.
pub(crate) fn http_options(checked: &Checked) -> HttpOptions {
    let server = &checked.server;
    HttpOptions {
        base_path: server.base_path.clone(),
        omit_nulls: checked.compat.roapi,
        unknown_table_400: checked.compat.roapi,
        cors: server.cors,
        access_log: server.access_log,
        default_format: Format::of_suffix(&server.default_format).unwrap_or(Format::Json),
        origins: (!server.cors_origins.is_empty()).then(|| OriginOptions::of(server.cors_origins.clone())),
        reverse_proxy: server.reverse_proxy,
        caller_headers: server.caller.clone(),
        firewall: server.firewall.clone(),
        ssl_redirect: server.ssl_redirect,
        xsrf: server.xsrf,
        ajax_only: server.ajax_only,
    }
}

/// The runtime that everything but the engine's own work runs on.
pub(crate) fn runtime(threads: usize) -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if threads > 0 {
        builder.worker_threads(threads);
    }
    builder
        .enable_all()
        .build()
        .map_err(|error| salver_model::Error::internal("can't start the threads of the server").with_source(error))
}
