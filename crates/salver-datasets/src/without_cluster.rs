//! Stands for the cluster in a program that was built without it.

use std::sync::Arc;

use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::LogicalPlan;
use futures::future::BoxFuture;
use salver_model::ports::Table;
use salver_model::{Code, Error, Result};

use crate::engine::{ClusterOptions, QueryCluster, QueryWork, Route};

/// A cluster that can't be.
#[derive(Debug)]
pub(crate) enum Cluster {}

impl Cluster {
    /// Refuses every cluster.
    pub(crate) fn open(_: &ClusterOptions, _: &Arc<RuntimeEnv>, _: u64) -> Result<Arc<Self>> {
        Err(Error::new(Code::Config, "`cluster.engine`: this program was built without `ballista`")
            .with_hint("build it with `cargo build --release --features salver/ballista`, or leave [cluster] out"))
    }
}

impl QueryCluster for Cluster {
    fn may_take(&self, _: &Arc<dyn Table>) -> bool {
        match *self {}
    }

    fn route<'a>(&'a self, _: &'a LogicalPlan, _: QueryWork) -> BoxFuture<'a, Route> {
        match *self {}
    }
}
