//! One statement on the cluster: handed to the scheduler, followed until its end, its rows fetched from the executors.
//! When nobody wants the rows any more, the job is cancelled.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use ballista_core::client::BallistaClient;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair, PartitionLocation,
    execute_query_result, job_status,
};
use ballista_core::utils::create_grpc_client_endpoint;
use ballista_core::version;
use datafusion::common::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use salver_model::limits::{CLUSTER_CONNECT_MS_MAX, CLUSTER_JOB_ATTEMPTS_MAX, CLUSTER_MESSAGE_BYTES_MAX};
use salver_model::{Code, Error, Result};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tonic::transport::Channel;

use super::task_fault::{self, JobFault};

/// Threads that talk to the cluster: they wait, and decode rows.
const THREADS: usize = 2;
/// Batches that wait for their reader.
const CHANNEL_BATCHES: usize = 2;
/// First pause between two looks at a job, and the longest: each is twice the one before.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LAST_LOOK: Duration = Duration::from_millis(100);
/// Session of all jobs: what executors keep for a session, like the footers of files, serves all of them.
const SESSION: &str = "salver";

type Scheduler = SchedulerGrpcClient<Channel>;
type Sender = mpsc::Sender<Result<RecordBatch, DataFusionError>>;

/// The threads on which jobs are followed.
#[derive(Debug)]
pub(super) struct JobThreads(Option<Runtime>);

impl JobThreads {
    /// Starts them.
    ///
    /// # Errors
    /// When threads can't be started.
    pub(super) fn start() -> Result<Arc<Self>> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("salver-cluster")
            .enable_all()
            .build()
            .map_err(|error| Error::internal("can't start the threads for the cluster").with_source(error))?;
        Ok(Arc::new(Self(Some(runtime))))
    }
}

impl Drop for JobThreads {
    fn drop(&mut self) {
        // The last reference may be dropped in a task, where blocking is not allowed.
        self.0.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

/// A statement for the cluster.
pub(super) struct Job {
    pub(super) scheduler: Arc<str>,
    /// The plan as bytes.
    pub(super) plan: Vec<u8>,
    /// The configuration of its session.
    pub(super) settings: Vec<KeyValuePair>,
    /// The plan; it keeps the files open that the server loaded.
    pub(super) operators: Arc<dyn ExecutionPlan>,
}

/// Why a job did not give its rows.
enum Stop {
    /// Nobody reads them.
    Unread,
    Failed(Error),
    /// An executor is gone that had some of them.
    Lost(Error),
}

impl Job {
    /// Starts the job, and returns its rows. Dropping them cancels it.
    ///
    /// # Errors
    /// After the server has been shut down.
    pub(super) fn run(self, threads: &Arc<JobThreads>) -> Result<SendableRecordBatchStream> {
        let (rows_out, rows_in) = mpsc::channel(CHANNEL_BATCHES);
        let schema = self.operators.schema();
        let told = Arc::clone(&schema);
        let runtime = threads.0.as_ref().ok_or_else(|| Error::internal("the engine has been shut down"))?;
        // Not awaited: the task ends by itself when nobody receives what it sends.
        runtime.spawn(async move {
            if let Err(Stop::Failed(error) | Stop::Lost(error)) = self.follow(&rows_out, &schema).await {
                let _ = rows_out.send(Err(DataFusionError::External(Box::new(error)))).await;
            }
        });
        let rows = futures::stream::unfold((rows_in, Arc::clone(threads)), async |(mut rows, threads)| {
            Some((rows.recv().await?, (rows, threads)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(told, rows)))
    }

    /// Runs the job; again, if rows are lost of which none was sent.
    async fn follow(&self, rows_out: &Sender, schema: &SchemaRef) -> Result<(), Stop> {
        let mut scheduler = self.connect().await.map_err(Stop::Failed)?;
        let mut attempt = 1;
        loop {
            let mut sent = 0;
            match self.attempt(&mut scheduler, (rows_out, &mut sent), schema).await {
                Err(Stop::Lost(error)) if sent == 0 && attempt < CLUSTER_JOB_ATTEMPTS_MAX => {
                    tracing::warn!(
                        cause = error.chain(),
                        "a statement has lost an executor of the cluster, and begins anew"
                    );
                    attempt += 1;
                }
                done => return done,
            }
        }
    }

    async fn connect(&self) -> Result<Scheduler> {
        let away = |cause: String| {
            let message = "the scheduler of the cluster can't be reached";
            Error::new(Code::EntryUnavailable, message)
                .with_hint("try again later; ask the operator whether the scheduler of `cluster.scheduler` runs")
                .with_retry_after(Duration::from_secs(1))
                .with_source(cause)
        };
        let endpoint = create_grpc_client_endpoint(format!("http://{}", self.scheduler), None)
            .map_err(|error| away(error.to_string()))?
            .connect_timeout(Duration::from_millis(CLUSTER_CONNECT_MS_MAX))
            .tcp_nodelay(true)
            .http2_keep_alive_interval(Duration::from_secs(5))
            .keep_alive_timeout(Duration::from_secs(5))
            .keep_alive_while_idle(true);
        let channel = endpoint.connect().await.map_err(|error| away(error.to_string()))?;
        Ok(SchedulerGrpcClient::new(channel)
            .max_encoding_message_size(CLUSTER_MESSAGE_BYTES_MAX)
            .max_decoding_message_size(CLUSTER_MESSAGE_BYTES_MAX))
    }

    async fn attempt(
        &self,
        scheduler: &mut Scheduler,
        (rows_out, sent): (&Sender, &mut u64),
        schema: &SchemaRef,
    ) -> Result<(), Stop> {
        // Awaited whoever reads: what the scheduler took is known, and can be cancelled. A silent one is given up by
        // the keep-alive of the connection.
        let id = self.submit(scheduler).await.map_err(Stop::Failed)?;
        let ended = tokio::select! {
            biased;
            () = rows_out.closed() => Err(Stop::Unread),
            ended = ended(scheduler, &id) => ended,
        };
        let done = match ended {
            Ok(places) => fetch(places, (rows_out, sent), schema).await,
            Err(stop) => Err(stop),
        };
        if matches!(done, Err(Stop::Unread)) {
            // At best: whoever can't be told can't be helped.
            let _ = scheduler.cancel_job(CancelJobParams { job_id: id.clone() }).await;
            tracing::debug!(job = id, "cancelled a job that nobody reads");
        }
        // The scheduler does it later otherwise.
        let _ = scheduler.clean_job_data(CleanJobDataParams { job_id: id, remove_stage_ids: Vec::new() }).await;
        done
    }

    async fn submit(&self, scheduler: &mut Scheduler) -> Result<String> {
        let mut request = tonic::Request::new(ExecuteQueryParams {
            query: Some(Query::PhysicalPlan(self.plan.clone())),
            settings: self.settings.clone(),
            session_id: SESSION.to_owned(),
            operation_id: String::new(),
        });
        version::insert_version_header(request.metadata_mut());
        let answer = scheduler.execute_query(request).await.map_err(|status| broken(&status))?.into_inner();
        match answer.result {
            Some(execute_query_result::Result::Success(success)) => Ok(success.job_id),
            other => Err(match task_fault::read(&format!("{other:?}")) {
                JobFault::Failed(error) | JobFault::Lost(error) => error,
            }),
        }
    }
}

/// Waits until a job ends, and returns where its rows are.
async fn ended(scheduler: &mut Scheduler, id: &str) -> Result<Vec<PartitionLocation>, Stop> {
    let mut pause = FIRST_LOOK;
    loop {
        let asked = GetJobStatusParams { job_id: id.to_owned() };
        let told = scheduler.get_job_status(asked).await.map_err(|status| Stop::Failed(broken(&status)))?.into_inner();
        match told.status.and_then(|status| status.status) {
            Some(job_status::Status::Successful(success)) => return Ok(success.partition_location),
            Some(job_status::Status::Failed(failure)) => {
                return Err(match task_fault::read(&failure.error) {
                    JobFault::Failed(error) => Stop::Failed(error),
                    JobFault::Lost(error) => Stop::Lost(error),
                });
            }
            None | Some(job_status::Status::Queued(_) | job_status::Status::Running(_)) => {}
        }
        sleep(pause).await;
        pause = LAST_LOOK.min(pause * 2);
    }
}

/// Sends the rows of all partitions, one partition after the other.
async fn fetch(
    places: Vec<PartitionLocation>,
    (rows_out, sent): (&Sender, &mut u64),
    schema: &SchemaRef,
) -> Result<(), Stop> {
    for place in places {
        let layout = place.layout();
        let (Some(executor), Some(partition)) = (place.executor_meta, place.partition_id) else {
            return Err(Stop::Failed(lost("a partition without a place")));
        };
        let port = u16::try_from(executor.port).unwrap_or_default();
        let opened = async {
            let mut client =
                BallistaClient::try_new(&executor.host, port, CLUSTER_MESSAGE_BYTES_MAX, false, None, 3, 250, 0, 0)
                    .await?;
            client.fetch_partition(&executor.id, &partition.into(), place.file_id, layout, true).await
        };
        let mut rows = tokio::select! {
            biased;
            () = rows_out.closed() => return Err(Stop::Unread),
            opened = opened => opened.map_err(|error| Stop::Lost(lost(&error.to_string())))?,
        };
        loop {
            // An executor that hangs must not keep what nobody waits for any more.
            let next = tokio::select! {
                biased;
                () = rows_out.closed() => return Err(Stop::Unread),
                next = rows.next() => next,
            };
            let Some(batch) = next else { break };
            let batch = batch.map_err(|error| Stop::Lost(lost(&error.to_string())))?;
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let batch = RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
                .map_err(DataFusionError::from);
            rows_out.send(batch).await.map_err(|_| Stop::Unread)?;
            *sent += 1;
        }
    }
    Ok(())
}

fn broken(status: &tonic::Status) -> Error {
    Error::new(Code::EntryUnavailable, "the scheduler of the cluster was lost while it worked on the query")
        .with_hint("try again; the log has the cause")
        .with_retry_after(Duration::from_secs(1))
        .with_source(status.to_string())
}

fn lost(cause: &str) -> Error {
    Error::new(Code::EntryUnavailable, "an executor was lost that had rows of the answer")
        .with_hint("try again; the log has the cause")
        .with_retry_after(Duration::from_secs(1))
        .with_source(cause.to_owned())
}
