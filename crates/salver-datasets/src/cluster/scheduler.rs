//! The scheduler of a cluster: Ballista's, with our functions and operators.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use salver_model::limits::CLUSTER_MESSAGE_BYTES_MAX;
use salver_model::{Error, Result};
use tokio::net::TcpListener;

use super::address;
use super::codec::PlanCodec;
use super::lost_executors;
use super::remote::{adapted, session};
use crate::engine::environment;

/// Memory for what plans are decoded to.
const MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
/// Seconds after which Ballista itself counts an executor as lost: never, see `lost_executors`.
const NEVER_S: u64 = 100 * 365 * 24 * 60 * 60;
/// Seconds for which it is known how a job ended, and its data is kept by executors that did not hear of its end.
const ENDED_JOBS_KEPT_S: u64 = 60;

/// Options of a scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchedulerOptions {
    /// IP:PORT to listen on.
    pub listen: String,
    /// Host by which executors find it; `None` for the address that it listens on.
    pub advertise: Option<String>,
    /// Whether others than this machine may reach it.
    pub insecure: bool,
}

/// Runs a scheduler until `asked_to_end`. `begun` is called with its address when it listens.
///
/// # Errors
/// `Config` for addresses that it may not or can't listen on.
pub async fn run_scheduler(
    options: &SchedulerOptions,
    begun: impl FnOnce(SocketAddr),
    asked_to_end: impl Future<Output = ()>,
) -> Result<()> {
    let wanted = address::listening(&options.listen, options.insecure)?;
    let listener = TcpListener::bind(wanted).await.map_err(|error| taken(wanted, error))?;
    let own = listener.local_addr().map_err(|error| taken(wanted, error))?;
    let scratch = tempfile::tempdir().map_err(|error| broken("no place for temporary files", error))?;
    let (known, functions) = functions_of(scratch.path())?;
    let host = options.advertise.clone().unwrap_or_else(|| own.ip().to_string());
    let message_bytes = u32::try_from(CLUSTER_MESSAGE_BYTES_MAX).unwrap_or(u32::MAX);
    let builder = Arc::new(move |config: SessionConfig| {
        let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(Arc::clone(known.runtime_env()));
        Ok(with_functions(builder.with_default_features(), &known).build())
    });
    let producer = Arc::new(|| adapted(SessionConfig::new()));
    // Executors ask for work, and count their free cores themselves.
    let mut config = SchedulerConfig::default()
        .with_hostname(host)
        .with_port(own.port())
        .with_scheduler_policy(TaskSchedulingPolicy::PullStaged)
        .with_finished_job_data_clean_up_interval_seconds(ENDED_JOBS_KEPT_S)
        .with_finished_job_state_clean_up_interval_seconds(ENDED_JOBS_KEPT_S)
        .with_no_executors_grace_period_seconds(NEVER_S)
        .with_grpc_server_max_decoding_message_size(message_bytes)
        .with_grpc_server_max_encoding_message_size(message_bytes)
        .with_grpc_client_max_message_size(message_bytes)
        .with_override_session_builder(builder)
        .with_override_config_producer(producer);
    config.bind_host = own.ip().to_string();
    config.executor_timeout_seconds = NEVER_S;
    config.executor_termination_grace_period = NEVER_S;
    config.override_physical_codec = Some(Arc::new(PlanCodec::new(functions)));
    config.validate().map_err(|error| broken("its settings don't fit", error))?;
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(|error| broken("no cluster", error))?;
    let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config));
    let scheduler = scheduler.await.map_err(|error| broken("no scheduler", error))?;
    let looking = lost_executors::look_after(scheduler.clone());
    begun(own);
    tokio::select! {
        () = looking => Ok(()),
        served = start_grpc_service_with_listener(listener, scheduler) => {
            served.map_err(|error| broken("it stopped to listen", error))
        }
        () = asked_to_end => Ok(()),
    }
}

/// Returns a session with our functions, and their names.
pub(super) fn functions_of(scratch: &Path) -> Result<(SessionState, Arc<crate::engine::FunctionWire>)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let environment = environment(MEMORY_BYTES, threads, scratch, 0)?;
    session(&environment, MEMORY_BYTES, threads)
}

/// Gives a session the functions of another.
fn with_functions(builder: SessionStateBuilder, known: &SessionState) -> SessionStateBuilder {
    builder
        .with_scalar_functions(in_order(known.scalar_functions(), |function| function.name()))
        .with_aggregate_functions(in_order(known.aggregate_functions(), |function| function.name()))
        .with_window_functions(in_order(known.window_functions(), |function| function.name()))
}

/// Returns functions so that each has its name after all are there: one of another name may be left of those that ours
/// replaced, and would take its own name again.
fn in_order<T: Clone>(functions: &HashMap<String, T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    let mut all: Vec<(&String, &T)> = functions.iter().collect();
    all.sort_by_key(|(known_as, function)| known_as.as_str() == name(function));
    all.into_iter().map(|(_, function)| function.clone()).collect()
}

fn taken(address: SocketAddr, error: std::io::Error) -> Error {
    Error::new(salver_model::Code::Config, format!("can't listen on {address}"))
        .with_hint("choose another port with `--listen`")
        .with_source(error)
}

pub(super) fn broken(what: &str, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::internal(format!("a process of the cluster broke down: {what}")).with_source(error)
}
