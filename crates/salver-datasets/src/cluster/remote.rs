//! The cluster as the server sees it: decides which statements go there.

use std::fmt;
use std::sync::Arc;

use ballista_core::extension::{SessionConfigExt, SessionConfigHelperExt};
use datafusion::common::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use futures::FutureExt;
use futures::future::BoxFuture;
use salver_model::Result;
use salver_model::limits::CLUSTER_PLAN_BYTES_MAX;
use salver_model::ports::Table;

use super::address;
use super::codec::PlanCodec;
use super::fragment;
use super::job::{Job, JobThreads};
use super::reach;
use crate::dataset::Dataset;
use crate::engine::{ClusterOptions, FunctionWire, QueryCluster, QueryWork, Route, elsewhere};
use crate::plan;

/// Bytes of files below which a scan is not cut into more parts.
const LEAST_PART_BYTES: usize = 1024 * 1024;

/// Adapts the configuration of a session to plans that run in a cluster.
pub(super) fn adapted(config: SessionConfig) -> SessionConfig {
    let prefers_hash_joins = config.options().optimizer.prefer_hash_join;
    let mut config = config.upgrade_for_ballista();
    let options = config.options_mut();
    // Which operators compute equal answers is ours to say; sorts for joins would only be needed for lack of memory.
    options.optimizer.prefer_hash_join = prefers_hash_joins;
    // Whether a side of a join is small enough to go to all executors, is decided by the scheduler, which can't undo
    // such a decision: its rows would have other partitions than what follows expects.
    options.optimizer.hash_join_single_partition_threshold = 0;
    options.optimizer.hash_join_single_partition_threshold_rows = 0;
    options.optimizer.repartition_file_min_size = LEAST_PART_BYTES;
    options.optimizer.enable_topk_dynamic_filter_pushdown = false;
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    options.optimizer.enable_join_dynamic_filter_pushdown = false;
    options.execution.collect_statistics = true;
    config
}

/// Returns a session of a process of a cluster, and its functions.
///
/// # Errors
/// When it can't be set up.
pub(super) fn session(
    environment: &Arc<RuntimeEnv>,
    memory_bytes: u64,
    partitions: usize,
) -> Result<(SessionState, Arc<FunctionWire>)> {
    let (state, functions) = elsewhere(environment, memory_bytes, adapted, partitions)?;
    Ok((state, Arc::new(functions)))
}

/// A cluster.
pub(crate) struct Cluster {
    bytes_min: u64,
    session: SessionState,
    codec: PlanCodec,
    scheduler: Arc<str>,
    threads: Arc<JobThreads>,
}

impl Cluster {
    /// Returns the cluster of these options, without a connection yet. Plans are made with the memory of queries.
    ///
    /// # Errors
    /// `Config` for an address that is none.
    pub(crate) fn open(
        options: &ClusterOptions,
        environment: &Arc<RuntimeEnv>,
        memory_bytes: u64,
    ) -> Result<Arc<Self>> {
        address::host_and_port(&options.scheduler)?;
        let (session, functions) = session(environment, memory_bytes, options.partitions.max(1))?;
        Ok(Arc::new(Self {
            bytes_min: options.bytes_min,
            session,
            codec: PlanCodec::new(functions),
            scheduler: options.scheduler.as_str().into(),
            threads: JobThreads::start()?,
        }))
    }

    async fn decide(&self, plan: &LogicalPlan, work: QueryWork) -> Route {
        let reach = match reach::of(plan) {
            Ok(reach) => reach,
            Err(error) => return unfit(&error),
        };
        if let Some(why) = reach.refusal {
            return here(why);
        }
        let read = format!("it reads {} of Parquet in {}", size(reach.bytes), files(reach.files));
        if reach.files == 0 {
            return here("it reads no files".to_owned());
        }
        let least = size(self.bytes_min);
        if reach.bytes < self.bytes_min {
            return here(format!("{read}, and `cluster.bytes_min` is {least}"));
        }
        match self.fragment(plan, work).await {
            Ok((bytes, _)) if bytes.len() > CLUSTER_PLAN_BYTES_MAX => here("its plan is too large to send".to_owned()),
            Ok((bytes, operators)) => {
                let settings = self.session.config().to_key_value_pairs();
                let job = Job { scheduler: Arc::clone(&self.scheduler), plan: bytes, settings, operators };
                let threads = Arc::clone(&self.threads);
                let why = format!("on the cluster: {read}, and `cluster.bytes_min` is {least}");
                Route { why, work: Some(Box::pin(async move { job.run(&threads) })) }
            }
            Err(error) => unfit(&error),
        }
    }

    async fn fragment(
        &self,
        plan: &LogicalPlan,
        work: QueryWork,
    ) -> Result<(Vec<u8>, Arc<dyn ExecutionPlan>), DataFusionError> {
        let mut session = self.session.clone();
        work.enter(&mut session);
        let refused = |error| DataFusionError::External(Box::new(error));
        let physical = plan::operators(&session, plan).await.map_err(refused)?;
        fragment::encode(physical, &session, &self.codec)
    }
}

impl QueryCluster for Cluster {
    fn may_take(&self, table: &Arc<dyn Table>) -> bool {
        let dataset = table.as_any().downcast_ref::<Dataset>();
        let parquet = dataset.and_then(Dataset::parquet);
        parquet.is_some_and(|table| table.is_only_here().is_none() && table.bytes() >= self.bytes_min)
    }

    fn route<'a>(&'a self, plan: &'a LogicalPlan, work: QueryWork) -> BoxFuture<'a, Route> {
        match plan {
            LogicalPlan::Explain(explained) => self.decide(&explained.plan, work).boxed(),
            LogicalPlan::Analyze(_) => async { here("`explain analyze` measures this server".to_owned()) }.boxed(),
            plan => self.decide(plan, work).boxed(),
        }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cluster").field("scheduler", &self.scheduler).finish_non_exhaustive()
    }
}

fn here(why: String) -> Route {
    Route { why: format!("on this server: {why}"), work: None }
}

/// A statement whose plan executors can't run, or that has no plan, which the engine tells better.
fn unfit(error: &DataFusionError) -> Route {
    let whole = error.to_string();
    tracing::debug!(cause = whole, "a statement does not go to the cluster");
    let reason = match error.find_root() {
        DataFusionError::NotImplemented(reason) | DataFusionError::Internal(reason) => reason.lines().next(),
        _ => None,
    };
    here(format!("its plan can't run on executors ({})", reason.unwrap_or("the log has the cause")))
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

/// Returns a number of bytes for people.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_readable() {
        assert_eq!(size(0), "0 bytes");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(1 << 30), "1.0 GiB");
        assert_eq!(size(10 << 40), "10.0 TiB");
        assert_eq!(size(u64::MAX), "16777216.0 TiB");
    }
}
