//! The schemas of the catalog, cached between requests: one for the whole of it, and one for each view of callers.

use std::sync::{Arc, Mutex, PoisonError};

use ahash::AHashMap;
use apollo_compiler::collections::HashMap;
use apollo_compiler::schema::Implementers;
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name as GraphqlName, Schema};
use arc_swap::ArcSwapOption;
use salver_model::{Caller, Error, Result};
use salver_service::{CallerQueries, Service, Snapshot, caller_queries};

use crate::graphql::graph::Graph;
use crate::graphql::sdl;

/// Views of the catalog whose schemas are kept.
const VIEWS_KEPT: usize = 64;

/// The door, with a cache of the schema of the latest catalog.
#[derive(Debug, Default)]
pub(crate) struct Graphql {
    /// Of the whole catalog.
    latest: ArcSwapOption<Compiled>,
    /// Of views of it, by their number.
    of_views: Mutex<AHashMap<u64, Arc<Compiled>>>,
}

/// A schema and the meaning of its names.
#[derive(Debug)]
pub(crate) struct Compiled {
    generation: u64,
    /// The named queries that it was made of.
    queries: CallerQueries,
    pub(crate) graph: Graph,
    pub(crate) schema: Valid<Schema>,
    pub(crate) implementers: HashMap<GraphqlName, Implementers>,
}

impl Graphql {
    /// Returns the schema of `snapshot` and of the `queries` of `caller`. Callers with the same view of the catalog may
    /// run the same queries.
    ///
    /// # Errors
    /// Those of [`Service::describe_queries`].
    pub(crate) async fn compiled(
        &self,
        service: &Service,
        caller: &Caller,
        (snapshot, queries): (&Arc<Snapshot>, &CallerQueries),
    ) -> Result<Arc<Compiled>> {
        let generation = snapshot.generation();
        let is_current = |compiled: &Arc<Compiled>| compiled.generation == generation && compiled.queries == *queries;
        if let Some(compiled) = self.kept(snapshot.view_class()).filter(is_current) {
            return Ok(compiled);
        }
        let described = service.describe_queries(caller, snapshot, queries).await?;
        let lasts = described.iter().all(caller_queries::lasts);
        let graph = Graph::of(snapshot, service.databases(), described);
        let schema = Schema::parse_and_validate(sdl::write(&graph), "catalog.graphql").map_err(|e| {
            Error::internal("the catalog makes no valid GraphQL schema").with_source(e.errors.to_string())
        })?;
        let implementers = schema.implementers_map();
        let compiled = Arc::new(Compiled { generation, queries: queries.clone(), graph, schema, implementers });
        if !lasts {
            return Ok(compiled);
        }
        match snapshot.view_class() {
            0 => self.latest.store(Some(Arc::clone(&compiled))),
            view => {
                let mut views = self.of_views.lock().unwrap_or_else(PoisonError::into_inner);
                if views.len() >= VIEWS_KEPT {
                    views.clear();
                }
                views.insert(view, Arc::clone(&compiled));
            }
        }
        Ok(compiled)
    }

    fn kept(&self, view: u64) -> Option<Arc<Compiled>> {
        match view {
            0 => self.latest.load_full(),
            view => self.of_views.lock().unwrap_or_else(PoisonError::into_inner).get(&view).cloned(),
        }
    }
}
