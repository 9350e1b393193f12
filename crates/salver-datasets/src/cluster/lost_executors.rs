//! Ends the jobs that lose an executor. The server that sent one begins it anew.
//!
//! Ballista can make up for what was lost alone, but makes some of it twice (release 55): a join between two executors,
//! one of which was killed, counted each row of one side twice. So it never learns that an executor is gone: it is told
//! to wait for each of them for ever, and the jobs are cancelled here before anything else can become of them.

use std::collections::HashSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ballista_core::JobId;
use ballista_core::serde::protobuf::task_status::Status;
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::execution_graph::ExecutionGraphBox;
use ballista_scheduler::state::task_manager::JobInfoCache;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use salver_model::limits::CLUSTER_EXECUTOR_LOST_S_MAX;
use tokio::time::{Instant, sleep};

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Longest that an executor may give no sign of life.
const SILENT: Duration = Duration::from_secs(CLUSTER_EXECUTOR_LOST_S_MAX);

type Server = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Looks after the jobs of a scheduler; never ends.
pub(super) async fn look_after(server: Server) {
    let mut told = HashSet::new();
    let mut last_seen = Instant::now();
    loop {
        sleep(LOOK).await;
        let Ok(executors) = server.state.executor_manager.get_executors_state().await else { continue };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_silent = |heard: &Option<Duration>| heard.is_none_or(|heard| heard + SILENT < now);
        let silent = executors.iter().filter(|(_, heard, _)| is_silent(heard));
        let lost: HashSet<String> = silent.map(|(executor, ..)| executor.id.clone()).collect();
        if executors.len() > lost.len() {
            last_seen = Instant::now();
        }
        for executor in lost.difference(&told) {
            tracing::warn!(executor, "an executor is lost");
        }
        told.clone_from(&lost);
        // Jobs for which there is nobody run as well.
        let is_empty = last_seen.elapsed() > SILENT;
        for (id, job) in server.state.task_manager.get_running_job_cache().iter() {
            if is_empty || works_on(job, &lost).await {
                cancel(&server, id).await;
            }
        }
    }
}

/// Returns whether a job has a task, or rows, on one of these executors.
async fn works_on(job: &JobInfoCache, lost: &HashSet<String>) -> bool {
    if lost.is_empty() {
        return false;
    }
    let graph: &ExecutionGraphBox = &*job.execution_graph.read().await;
    let tasks = graph.stages().values().filter_map(|stage| stage.task_infos()).flatten();
    tasks.into_iter().any(|task| match &task.task_status {
        Status::Running(running) => lost.contains(&running.executor_id),
        Status::Successful(successful) => lost.contains(&successful.executor_id),
        Status::Failed(_) => false,
    })
}

async fn cancel(server: &Server, id: &JobId) {
    tracing::warn!(job = %id, "a job has lost an executor, or finds none, and is cancelled");
    if let Err(error) = server.cancel_job(id.clone()).await {
        tracing::error!(job = %id, cause = %error, "a job can't be cancelled");
    }
}
