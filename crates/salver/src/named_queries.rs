//! The named queries of a server, with the task that plans them until this is dropped.

use std::sync::Arc;

use salver_config::Checked;
use salver_datasets::Engine;
use salver_model::observation::Observer;
use salver_model::ports::SqlEngine;
use salver_service::{Catalog, NamedQuery, named_query};
use tokio::task::JoinSet;

/// Named queries.
#[derive(Debug, Default)]
pub(crate) struct NamedQueries {
    /// All of them, in the order of their declaration.
    pub(crate) all: Vec<Arc<NamedQuery>>,
    _planning: JoinSet<()>,
}

impl NamedQueries {
    /// Starts to plan the queries of `checked`. Call it inside the runtime.
    pub(crate) fn start(
        checked: &Checked,
        engine: &Arc<Engine>,
        catalog: &Arc<Catalog>,
        observer: &Arc<dyn Observer>,
    ) -> Self {
        let all: Vec<_> = checked.queries.iter().map(|spec| Arc::new(NamedQuery::new(spec.clone()))).collect();
        let mut planning = JoinSet::new();
        let sql: Arc<dyn SqlEngine> = Arc::<Engine>::clone(engine);
        named_query::start(catalog, &all, &sql, observer, &mut planning);
        Self { all, _planning: planning }
    }
}
