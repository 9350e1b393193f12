//! Starts the engine with the rules for our tables.

use std::sync::Arc;

use salver_model::Result;

use crate::cached_table::CachedScans;
#[cfg(feature = "ballista")]
use crate::cluster::Cluster;
use crate::engine::{Engine, EngineOptions, TableRules};
use crate::federate::OneView;
use crate::first_piece::FirstPiece;
use crate::late_columns::{self, LateColumns};
use crate::text_views::TextViews;
#[cfg(not(feature = "ballista"))]
use crate::without_cluster::Cluster;

impl Engine {
    /// Starts an engine: its threads, its memory pool and its spill directory.
    ///
    /// # Errors
    /// When the directory can't be created or threads can't be started, and for a cluster that can't be.
    pub fn new(options: &EngineOptions) -> Result<Arc<Self>> {
        let rules = TableRules {
            logical: Arc::new(LateColumns),
            columns: vec![Arc::new(TextViews), Arc::new(CachedScans)],
            operator: late_columns::operator,
            physical: Arc::new(FirstPiece),
            last: Arc::new(OneView),
        };
        let engine = Self::with_rules(options, &rules)?;
        if let Some(cluster) = &options.cluster {
            let environment = engine.session().runtime_env();
            engine.set_cluster(Cluster::open(cluster, environment, engine.query_bytes())?);
        }
        Ok(engine)
    }
}
