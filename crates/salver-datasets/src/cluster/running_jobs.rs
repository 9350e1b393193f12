//! The jobs that an executor works for. It asks the scheduler now and then whether they still run: who asks for work is
//! not told that some is in vain.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ballista_core::JobId;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{GetJobStatusParams, job_status};
use ballista_core::utils::create_grpc_client_endpoint;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared};
use tonic::transport::Channel;

/// Time between two questions about a job.
const LOOK: Duration = Duration::from_millis(500);
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

type End = BoxFuture<'static, ()>;

/// The jobs of tasks that run.
#[derive(Debug)]
pub(super) struct RunningJobs {
    scheduler: String,
    /// What waits for the end of each, for all of its tasks together.
    ends: Mutex<HashMap<JobId, WeakShared<End>>>,
}

impl RunningJobs {
    /// Returns the jobs of a scheduler.
    pub(super) fn of(scheduler: &str) -> Arc<Self> {
        Arc::new(Self { scheduler: scheduler.to_owned(), ends: Mutex::default() })
    }

    /// Waits until a job has ended, with or without success.
    pub(super) fn ended(&self, job: &JobId) -> Shared<End> {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(end) = ends.get(job).and_then(WeakShared::upgrade) {
            return end;
        }
        ends.retain(|_, end| end.upgrade().is_some());
        let end = watch(self.scheduler.clone(), job.to_string()).boxed().shared();
        if let Some(end) = end.downgrade() {
            ends.insert(job.clone(), end);
        }
        end
    }
}

async fn watch(scheduler: String, job: String) {
    let Ok(endpoint) = create_grpc_client_endpoint(format!("http://{scheduler}"), None) else {
        // Its tasks could not be here.
        return std::future::pending().await;
    };
    let mut asked = SchedulerGrpcClient::<Channel>::new(endpoint.timeout(PATIENCE).connect_lazy());
    loop {
        tokio::time::sleep(LOOK).await;
        // A scheduler that is away for a moment ends no job.
        let Ok(told) = asked.get_job_status(GetJobStatusParams { job_id: job.clone() }).await else { continue };
        match told.into_inner().status.and_then(|status| status.status) {
            Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) => {}
            Some(job_status::Status::Failed(_) | job_status::Status::Successful(_)) | None => return,
        }
    }
}
