//! The named queries of a server, with the task that plans them until this is dropped.

use std::sync::Arc;

use salver_datasets::Engine;
use salver_model::observation::Observer;
use salver_model::ports::SqlEngine;
use salver_model::spec::QuerySpec;
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
    /// Takes up `queries` in place of those so far, of which those stay that are the same, and starts to plan them.
    /// Call it inside the runtime.
    pub(crate) fn follow(
        &mut self,
        queries: &[QuerySpec],
        engine: &Arc<Engine>,
        catalog: &Arc<Catalog>,
        observer: &Arc<dyn Observer>,
    ) {
        let own = |spec: &QuerySpec| self.all.iter().find(|own| own.spec() == spec).cloned();
        let all: Vec<_> =
            queries.iter().map(|spec| own(spec).unwrap_or_else(|| Arc::new(NamedQuery::new(spec.clone())))).collect();
        let mut planning = JoinSet::new();
        let sql: Arc<dyn SqlEngine> = Arc::<Engine>::clone(engine);
        named_query::start(catalog, &all, &sql, observer, &mut planning);
        *self = Self { all, _planning: planning };
    }
}
