//! The way of one call through a worker.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use salver_model::Result;
use salver_model::functions::{Answer, AnswerBody, Call};
use salver_model::spec::FunctionSpec;

use super::{FunctionFile, errors};
use crate::pool::Lease;
use crate::process::Ended;
use crate::wire::answer::{Failure, First, Next};

/// How often a call is given to another worker because the one it was given to had just ended.
pub(super) const TRIES_MAX: usize = 3;

impl FunctionFile {
    /// Has a worker answer the call.
    pub(super) async fn answer(&self, call: &Call) -> Result<Answer> {
        let mut tries = 1;
        loop {
            let mut lease = self.pool.take().await.map_err(|refusal| self.refusal(refusal))?;
            // From here on, leaving without `give_back` kills the process.
            let first = in_time(self.spec.timeout, lease.worker().call(call)).await;
            match first {
                None => return Err(errors::slow(&self.spec)),
                Some(Ok(First::Whole(answer))) => {
                    lease.give_back();
                    return Ok(answer);
                }
                Some(Ok(First::Begun { status, headers })) => {
                    return Ok(Answer { status, headers, body: AnswerBody::Stream(self.pieces(lease)) });
                }
                Some(Ok(First::Failed(failure))) => return Err(failed(lease, failure)),
                Some(Err(Ended::Refused(error))) => {
                    lease.give_back();
                    return Err(error);
                }
                Some(Err(Ended::Before(_))) if tries < TRIES_MAX => tries += 1,
                Some(Err(Ended::Before(error) | Ended::During(error))) => {
                    return Err(errors::ended(&self.spec, error));
                }
            }
        }
    }

    /// The body that `lease` gives in pieces.
    fn pieces(&self, lease: Lease) -> BoxStream<'static, Result<Bytes>> {
        let body = Pieces { lease, spec: Arc::clone(&self.spec) };
        stream::unfold(Some(body), |body| async {
            match body?.next().await {
                Ok(None) => None,
                Ok(Some((piece, body))) => Some((Ok(piece), Some(body))),
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed()
    }
}

/// A body that is being made. Dropped before its end, it takes its process along.
struct Pieces {
    lease: Lease,
    spec: Arc<FunctionSpec>,
}

impl Pieces {
    async fn next(mut self) -> Result<Option<(Bytes, Self)>> {
        let next: Option<io::Result<Next>> = in_time(self.spec.timeout, self.lease.worker().next()).await;
        match next {
            None => Err(errors::slow(&self.spec)),
            Some(Ok(Next::Piece(piece))) => Ok(Some((piece, self))),
            Some(Ok(Next::End)) => {
                self.lease.give_back();
                Ok(None)
            }
            Some(Ok(Next::Failed(failure))) => Err(failed(self.lease, failure)),
            Some(Err(error)) => Err(errors::ended(&self.spec, error)),
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

/// What `work` gives; `None` when that takes longer than `bound`.
pub(super) async fn in_time<T>(bound: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match bound {
        Some(bound) => tokio::time::timeout(bound, work).await.ok(),
        None => Some(work.await),
    }
}
