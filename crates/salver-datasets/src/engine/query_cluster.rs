//! The port of a cluster: other machines that large statements may run on.

use std::fmt;
use std::sync::Arc;

use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use futures::future::BoxFuture;
use salver_model::Result;
use salver_model::ports::Table;

use super::QueryWork;

/// The cluster to which large statements go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterOptions {
    /// HOST:PORT of its scheduler.
    pub scheduler: String,
    /// Bytes of files from which on a statement goes there.
    pub bytes_min: u64,
    /// Parts that the work of a statement is cut into: as many run at once, if there are enough cores.
    pub partitions: usize,
}

/// Where a statement runs, and why.
pub(crate) struct Route {
    /// The reason, in one line.
    pub(crate) why: String,
    /// The work there; `None` if it runs here.
    pub(crate) work: Option<BoxFuture<'static, Result<SendableRecordBatchStream>>>,
}

/// Decides which statements run on a cluster, and runs them there.
pub(crate) trait QueryCluster: fmt::Debug + Send + Sync {
    /// Returns whether queries of this table alone may be large enough.
    fn may_take(&self, table: &Arc<dyn Table>) -> bool;

    /// Decides where a planned statement runs. Must be called where the stack is large.
    fn route<'a>(&'a self, plan: &'a LogicalPlan, work: QueryWork) -> BoxFuture<'a, Route>;
}
