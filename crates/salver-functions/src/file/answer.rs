//! The way of one call through a worker.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use salver_model::Result;
use salver_model::functions::{Answer, AnswerBody, Call};
use salver_model::spec::FunctionSpec;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};

use super::{FunctionFile, errors};
use crate::pool::Lease;
use crate::process::Ended;
use crate::wire::answer::{Failure, First, Next};

/// How often a call is given to another worker because the one it was given to had just ended.
pub(super) const TRIES_MAX: usize = 3;

/// A call, in the form in which the worker gets it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question<'a> {
    /// As it is.
    Call(&'a Call),
    /// As the only row of columns.
    Row(&'a Call),
}

impl FunctionFile {
    /// Has a worker answer the call: that of the lease, when there is one already.
    pub(super) async fn answer(&self, question: Question<'_>, mut leased: Option<Lease>) -> Result<Answer> {
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
            // From here on, leaving without `give_back` kills the process.
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
                    return Ok(answer);
                }
                Ok(First::Begun { status, headers }) => {
                    let pieces = Pieces { lease, time, _place: place };
                    return Ok(Answer { status, headers, body: AnswerBody::Stream(pieces.stream()) });
                }
                Ok(First::Failed(failure)) => return Err(failed(lease, failure)),
                Err(Ended::Refused(error)) => {
                    lease.give_back();
                    return Err(error);
                }
                Err(Ended::Before(_)) if tries < TRIES_MAX => tries += 1,
                Err(Ended::Before(error) | Ended::During(error)) => return Err(errors::ended(&self.spec, error)),
            }
        }
    }
}

/// How long a call may take.
pub(super) struct Time {
    spec: Arc<FunctionSpec>,
    /// When a job has to be over. A call has its time for each piece of its answer: somebody takes them as they come.
    job: Option<Option<Instant>>,
}

impl Time {
    /// The time of a call that begins now; a job's is told when that was.
    pub(super) fn new(spec: &Arc<FunctionSpec>, job: Option<&OnceLock<SystemTime>>) -> Self {
        let job = job.map(|begun| {
            begun.get_or_init(SystemTime::now);
            spec.job_timeout.map(|timeout| Instant::now() + timeout)
        });
        Self { spec: Arc::clone(spec), job }
    }

    /// Does a part of the work.
    pub(super) async fn bound<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        match (self.job, self.spec.timeout) {
            (Some(Some(end)), _) => timeout_at(end, work).await.map_err(|_| errors::slow_job(&self.spec)),
            (None, Some(each)) => timeout(each, work).await.map_err(|_| errors::slow(&self.spec)),
            (Some(None), _) | (None, None) => Ok(work.await),
        }
    }
}

/// A body that is being made. Dropped before its end, it takes its process along.
struct Pieces {
    lease: Lease,
    time: Time,
    /// A job's, until it is over.
    _place: Option<OwnedSemaphorePermit>,
}

impl Pieces {
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

/// What a worker says of a call that failed. It goes on, unless it has no memory left.
pub(super) fn failed(lease: Lease, failure: Failure) -> salver_model::Error {
    if failure.is_out_of_memory() {
        drop(lease);
    } else {
        lease.give_back();
    }
    failure.into_error()
}
