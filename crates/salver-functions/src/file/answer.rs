//! Execution of one call by a worker.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use salver_model::Result;
use salver_model::functions::{Answer, AnswerBody, Call};
use salver_model::limits::FUNCTION_TRIES_MAX;
use salver_model::spec::FunctionSpec;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use super::{FunctionFile, errors};
use crate::pool::WorkerLease;
use crate::process::CallEnd;
use crate::wire::answer::{CallFailure, First, Next};

/// Encoding of a call for the worker.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question<'a> {
    /// As a call.
    Call(&'a Call),
    /// As a batch with one row.
    Row(&'a Call),
}

impl FunctionFile {
    /// Runs the call in a worker: the leased one, if there is one already.
    pub(super) async fn answer(&self, question: Question<'_>, mut leased: Option<WorkerLease>) -> Result<Answer> {
        let (Question::Call(call) | Question::Row(call)) = question;
        let place = match call.job {
            Some(_) => Arc::clone(&self.job_places).acquire_owned().await.ok(),
            None => None,
        };
        let mut tries = 1;
        loop {
            let mut lease = match leased.take() {
                Some(lease) => lease,
                None => self
                    .pool
                    .take(call.holder.as_ref(), call.job.is_some())
                    .await
                    .map_err(|refusal| self.refusal(refusal))?,
            };
            let time = Time::new(&self.spec, call.job.as_deref());
            // From here on, returning without `give_back` kills the process.
            let work = async {
                let worker = lease.worker()?;
                match question {
                    Question::Call(call) => worker.call(call).await,
                    Question::Row(call) => worker.call_row(call).await,
                }
            };
            match time.bound(work).await.inspect_err(|_| lease.condemn())? {
                Ok(First::Whole(answer)) => {
                    lease.give_back();
                    return self.reachable(answer);
                }
                Ok(First::Begun { status, headers }) => {
                    let pieces = BodyStream { lease, time, _place: place };
                    return Ok(Answer { status, headers, body: AnswerBody::Stream(pieces.stream()) });
                }
                Ok(First::Failed(failure)) => return Err(failed(lease, self.named(call, failure))),
                Err(CallEnd::Refused(error)) => {
                    lease.give_back();
                    return Err(error);
                }
                Err(CallEnd::Before(_)) if tries < FUNCTION_TRIES_MAX => tries += 1,
                Err(CallEnd::Before(error) | CallEnd::During(error)) => return Err(errors::ended(&self.spec, error)),
            }
        }
    }
}

impl FunctionFile {
    /// Names the function in the message of a failure.
    fn named(&self, call: &Call, failure: CallFailure) -> CallFailure {
        let endpoint = call.interface.as_ref().zip(call.endpoint);
        match endpoint.and_then(|(interface, index)| interface.endpoints.get(index)) {
            Some(endpoint) => failure.of(&endpoint.label(), &self.spec.file),
            None => failure,
        }
    }
}

/// Time limit of a call.
pub(super) struct Time {
    spec: Arc<FunctionSpec>,
    /// Deadline of a job. A call has a time limit for each chunk of its response, since the client reads them as they
    /// arrive.
    job: Option<Option<Instant>>,
}

impl Time {
    /// Starts the time of a call; for a job, also stores the start.
    pub(super) fn new(spec: &Arc<FunctionSpec>, job: Option<&OnceLock<SystemTime>>) -> Self {
        let job = job.map(|begun| {
            begun.get_or_init(SystemTime::now);
            spec.job_timeout.map(|timeout| Instant::now() + timeout)
        });
        Self { spec: Arc::clone(spec), job }
    }

    /// Runs a part of the work within the time limit.
    pub(super) async fn bound<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        match (self.job, self.spec.timeout) {
            (Some(Some(end)), _) => timeout_at(end, work).await.map_err(|_| errors::slow_job(&self.spec)),
            (None, Some(each)) => timeout(each, work).await.map_err(|_| errors::slow(&self.spec)),
            (Some(None), _) | (None, None) => Ok(work.await),
        }
    }
}

/// Streaming response body. Dropping it before the end kills its process.
struct BodyStream {
    lease: WorkerLease,
    time: Time,
    /// Permit of a job, until it ends.
    _place: Option<OwnedSemaphorePermit>,
}

impl BodyStream {
    fn stream(self) -> BoxStream<'static, Result<Bytes>> {
        stream::unfold(Some(self), |body| async {
            match body?.next().await {
                Ok(None) => None,
                Ok(Some((piece, body))) => Some((Ok(piece), Some(body))),
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed()
    }

    async fn next(mut self) -> Result<Option<(Bytes, Self)>> {
        let next = async {
            match self.lease.worker() {
                Ok(worker) => worker.next().await,
                Err(_) => Err(io::ErrorKind::NotConnected.into()),
            }
        };
        match self.time.bound(next).await? {
            Ok(Next::Piece(piece)) => Ok(Some((piece, self))),
            Ok(Next::End) => {
                self.lease.give_back();
                Ok(None)
            }
            Ok(Next::Failed(failure)) => Err(failed(self.lease, failure)),
            Err(error) => Err(errors::ended(&self.time.spec, error)),
        }
    }
}

/// Converts a worker's failure report. The worker stays in use, unless it is out of memory.
pub(super) fn failed(lease: WorkerLease, failure: CallFailure) -> salver_model::Error {
    if failure.is_out_of_memory() {
        drop(lease);
    } else {
        lease.give_back();
    }
    failure.into_error()
}
