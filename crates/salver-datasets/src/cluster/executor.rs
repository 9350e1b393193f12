//! An executor of a cluster: Ballista's, with our functions, operators and failures.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::serde::protobuf::{RuntimeStatsReport, ShuffleWritePartition, TaskColumnStats, WindowStateReport};
use ballista_core::{ConfigProducer, JobId};
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::common::Result as EngineResult;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::prelude::SessionConfig;
use salver_model::limits::CLUSTER_MESSAGE_BYTES_MAX;
use salver_model::{Code, Error, Result};

use super::address;
use super::codec::PlanCodec;
use super::remote::adapted;
use super::running_jobs::RunningJobs;
use super::scheduler::{broken, functions_of};
use super::task_fault;
use super::unchanged_files::UnchangedFiles;

/// Seconds for which the rows between stages are kept if nobody says that their job is over, and between two looks.
const KEPT_ROWS_S: u64 = 24 * 60 * 60;
const LOOK_S: u64 = 10 * 60;

/// Options of an executor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutorOptions {
    /// HOST:PORT of the scheduler.
    pub scheduler: String,
    /// IP:PORT to listen on; port 0 takes a free one.
    pub listen: String,
    /// Host by which the scheduler, other executors and servers find it; `None` for the address that they see.
    pub advertise: Option<String>,
    /// Whether others than this machine may reach it.
    pub insecure: bool,
    /// Directory for the rows between stages, and what is spilled; `None` makes one.
    pub work_dir: Option<PathBuf>,
    /// Memory for queries, in bytes; 0 takes seven tenths of the machine's.
    pub memory_bytes_max: u64,
    /// Tasks that run at once; 0 takes as many as there are cores.
    pub threads: usize,
}

/// Runs an executor until `asked_to_end`. `begun` is called with its address before it registers.
///
/// # Errors
/// `Config` for addresses that it may not listen on, `EntryUnavailable` if the scheduler can't be reached.
pub async fn run_executor(
    options: &ExecutorOptions,
    begun: impl FnOnce(SocketAddr),
    asked_to_end: impl Future<Output = ()>,
) -> Result<()> {
    let own = address::listening(&options.listen, options.insecure)?;
    let (scheduler_host, scheduler_port) = address::host_and_port(&options.scheduler)?;
    let port = address::port(own)?;
    let made = match &options.work_dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|error| {
                Error::new(Code::Config, format!("can't make the directory `{}`", dir.display())).with_source(error)
            })?;
            None
        }
        None => Some(tempfile::tempdir().map_err(|error| broken("no place for temporary files", error))?),
    };
    let work_dir = options.work_dir.as_deref().or(made.as_ref().map(tempfile::TempDir::path));
    let work_dir = work_dir.and_then(|dir| dir.to_str()).ok_or_else(|| {
        Error::new(Code::Config, "the directory for the rows between stages has a name that is no text")
    })?;
    let scratch = tempfile::tempdir().map_err(|error| broken("no place for temporary files", error))?;
    let (known, functions) = functions_of(scratch.path())?;
    let message_bytes = u32::try_from(CLUSTER_MESSAGE_BYTES_MAX).unwrap_or(u32::MAX);
    let producer: ConfigProducer = Arc::new(|| adapted(SessionConfig::new()));
    let config = ExecutorProcessConfig {
        bind_host: own.ip().to_string(),
        external_host: options.advertise.clone(),
        port,
        // Nothing listens there, since executors ask for work.
        grpc_port: port,
        scheduler_host: scheduler_host.to_owned(),
        scheduler_port,
        // With any other number it would wait for ever (Ballista 55).
        scheduler_connect_timeout_seconds: 0,
        vcores: options.threads,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(work_dir.to_owned()),
        job_data_ttl_seconds: KEPT_ROWS_S,
        job_data_clean_up_interval_seconds: LOOK_S,
        grpc_max_decoding_message_size: message_bytes,
        grpc_max_encoding_message_size: message_bytes,
        memory_pool_size: (options.memory_bytes_max > 0).then_some(options.memory_bytes_max),
        override_execution_engine: Some(Arc::new(Engine::new(&options.scheduler))),
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&known))),
        override_config_producer: Some(producer),
        override_physical_codec: Some(Arc::new(PlanCodec::new(functions))),
        ..ExecutorProcessConfig::default()
    };
    begun(SocketAddr::new(own.ip(), port));
    let ended = tokio::select! {
        biased;
        // Before Ballista hears of it, which would tell the scheduler, see `lost_executors`.
        () = asked_to_end => return Ok(()),
        ended = start_executor_process(Arc::new(config)) => ended,
    };
    ended.map_err(|error| {
        Error::new(Code::EntryUnavailable, format!("the executor of `{}` ended", options.scheduler))
            .with_hint("check that the scheduler runs, and that both reach each other")
            .with_source(error)
    })
}

/// Makes the work of a stage: that of Ballista, over files that did not change, as long as its job runs.
struct Engine {
    inner: DefaultExecutionEngine,
    jobs: Arc<RunningJobs>,
}

impl Engine {
    fn new(scheduler: &str) -> Self {
        Self { inner: DefaultExecutionEngine::new(), jobs: RunningJobs::of(scheduler) }
    }
}

impl ExecutionEngine for Engine {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        global_output_partition_ids: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> EngineResult<Arc<dyn QueryStageExecutor>> {
        let files = UnchangedFiles::of(&plan)?;
        let (jobs, job) = (Arc::clone(&self.jobs), job_id.clone());
        let stage = self.inner.create_query_stage_exec(
            job_id,
            stage_id,
            task_id,
            global_output_partition_ids,
            plan,
            work_dir,
            config,
        )?;
        Ok(Arc::new(Stage { stage, files: Arc::new(files), jobs, job }))
    }
}

/// The work of a stage on some partitions.
#[derive(Debug)]
struct Stage {
    stage: Arc<dyn QueryStageExecutor>,
    files: Arc<UnchangedFiles>,
    jobs: Arc<RunningJobs>,
    job: JobId,
}

impl Stage {
    async fn check_files(&self) -> EngineResult<()> {
        let files = Arc::clone(&self.files);
        let checked = tokio::task::spawn_blocking(move || files.check()).await;
        checked.unwrap_or_else(|error| datafusion::common::exec_err!("the check of files ended early: {error}"))
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stage.fmt(formatter)
    }
}

#[async_trait]
impl QueryStageExecutor for Stage {
    async fn execute_query_stage(
        &self,
        task_id: usize,
        context: Arc<TaskContext>,
    ) -> EngineResult<Vec<ShuffleWritePartition>> {
        let work = async {
            self.check_files().await?;
            let written = self.stage.execute_query_stage(task_id, context).await?;
            // A file that was replaced in between may have been read in part.
            self.check_files().await?;
            Ok(written)
        };
        tokio::select! {
            done = work => done.map_err(task_fault::written),
            () = self.jobs.ended(&self.job) => Err(BallistaError::Cancelled.into_datafusion()),
        }
    }

    fn collect_plan_metrics(&self) -> Vec<MetricsSet> {
        self.stage.collect_plan_metrics()
    }

    fn collect_runtime_stats_reports(&self) -> Vec<RuntimeStatsReport> {
        self.stage.collect_runtime_stats_reports()
    }

    fn collect_window_state_reports(&self) -> EngineResult<Vec<WindowStateReport>> {
        self.stage.collect_window_state_reports()
    }

    fn collect_column_stats(&self) -> Vec<TaskColumnStats> {
        self.stage.collect_column_stats()
    }
}
