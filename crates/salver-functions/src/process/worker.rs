//! A process that handles one call at a time, and the connection to it.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::ArrayRef;
use bytes::Bytes;
use salver_model::functions::{Answer, AnswerBody, Call, ColumnsCall, Interface};
use salver_model::limits::FUNCTION_ANSWER_BYTES_MAX;
use salver_model::{Code, Error, Result};

use super::socket::WorkerSocket;
use super::zygote::{Order, Zygote};
use crate::wire::answer::{self, CallFailure, First, Next};
use crate::wire::combined_calls::{self, Said};
use crate::wire::frame::Input;
use crate::wire::{batch, call};

/// Largest buffer for the head of calls that is kept between calls.
const HEAD_BYTES_KEPT: usize = 64 * 1024;

/// Worker. Dropping it closes its connection, which ends the process unless it is busy.
#[derive(Debug)]
pub(crate) struct Worker {
    line: WorkerSocket,
    input: Input,
    head: Vec<u8>,
    mark: Mark,
    /// Number of calls it was given.
    calls: u64,
    /// Whether a call was sent completely and nothing of its answer was returned yet.
    is_awaited: bool,
    /// Time at which it was last returned.
    pub(crate) idle_since: Instant,
}

/// Identity of a worker, for killing it.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pid: u32,
    zygote: Arc<Zygote>,
    /// Whether its current call is its last.
    pub(crate) is_last: bool,
}

impl Mark {
    /// Returns the number of the zygote it was forked from.
    pub(crate) fn generation(&self) -> u64 {
        self.zygote.number
    }

    /// Requests that its process be killed, whatever it does.
    pub(crate) fn kill(&self) {
        self.zygote.tell(Order::Kill(self.pid));
    }
}

/// State of a call at the end of its connection.
#[derive(Debug)]
pub(crate) enum CallEnd {
    /// The process did not receive the whole call, so user code did not see it.
    Before(io::Error),
    /// User code may have worked on the call.
    During(io::Error),
    /// The call cannot be sent, for this reason.
    Refused(Error),
}

impl Worker {
    pub(crate) fn new(line: WorkerSocket, input: Input, pid: u32, zygote: Arc<Zygote>) -> Self {
        let head = Vec::with_capacity(1024);
        let mark = Mark { pid, zygote, is_last: false };
        Self { line, input, head, mark, calls: 0, is_awaited: false, idle_since: Instant::now() }
    }

    /// Returns its identity.
    pub(crate) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Starts a call; it is the last one if `calls_max` is reached.
    pub(crate) fn begin(&mut self, calls_max: u64) {
        self.calls += 1;
        self.mark.is_last = self.calls >= calls_max;
    }

    /// Returns whether an idle worker is unusable: its connection ended, or it sent something unasked.
    pub(crate) fn is_spent(&self) -> bool {
        !self.line.is_quiet() || !self.input.is_empty()
    }

    /// Returns whether a call was sent completely and nothing of its answer was returned yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    /// Reads an answer that is no longer wanted; returns whether the call is over and the worker reusable.
    pub(crate) async fn ends_call(&mut self) -> bool {
        self.is_awaited = false;
        match self.input.frame(&mut self.line, FUNCTION_ANSWER_BYTES_MAX).await {
            Ok((b'X', frame)) => answer::failure(frame).is_ok_and(|failure| !failure.is_out_of_memory()),
            // If the body is a temporary file, it has to be removed.
            Ok((b'A', frame)) => {
                matches!(answer::first(b'A', frame), Ok(First::Whole(Answer { body: AnswerBody::Whole(_), .. })))
            }
            Ok((kind, _)) => matches!(kind, b'B' | b'G'),
            Err(_) => false,
        }
    }

    /// Sends a call and reads the first frame of the answer.
    ///
    /// # Errors
    /// Returns the state of the call at the end of the connection.
    pub(crate) async fn call(&mut self, call: &Call) -> Result<First, CallEnd> {
        let endpoint = call.endpoint.map(|endpoint| self.find(endpoint, call.interface.as_ref()));
        let endpoint = endpoint.transpose().map_err(CallEnd::Refused)?;
        call::head(&mut self.head, call, endpoint).map_err(CallEnd::Refused)?;
        let (kind, frame) = self.exchange(&call.body).await?;
        answer::first(kind, frame).map_err(CallEnd::During)
    }

    /// Sends compatible calls as one, and reads the answer.
    ///
    /// # Errors
    /// Returns the state of the call at the end of the connection.
    pub(crate) async fn call_rows(&mut self, calls: &[Call]) -> Result<Said, CallEnd> {
        let nothing = || CallEnd::Refused(Error::internal("a call of no function goes together with others"));
        let first = calls.first().ok_or_else(nothing)?;
        let endpoint = first.endpoint.ok_or_else(nothing)?;
        let endpoint = self.find(endpoint, first.interface.as_ref()).map_err(CallEnd::Refused)?;
        combined_calls::write(&mut self.head, calls, endpoint).map_err(CallEnd::Refused)?;
        let (kind, frame) = self.exchange(&[]).await?;
        combined_calls::read(kind, frame, calls.len()).map_err(CallEnd::During)
    }

    /// Sends a single call in this way.
    ///
    /// # Errors
    /// Returns the state of the call at the end of the connection.
    pub(crate) async fn call_row(&mut self, call: &Call) -> Result<First, CallEnd> {
        Ok(match self.call_rows(std::slice::from_ref(call)).await? {
            Said::Values(mut values) => First::Whole(combined_calls::answer(values.pop().unwrap_or_default())),
            Said::Other(other) => other,
        })
    }

    /// Sends a call over columns and reads the answer.
    ///
    /// # Errors
    /// Returns the state of the call at the end of the connection.
    pub(crate) async fn call_columns(&mut self, call: &ColumnsCall) -> Result<Result<ArrayRef, CallFailure>, CallEnd> {
        let endpoint = self.find(call.endpoint, Some(&call.interface)).map_err(CallEnd::Refused)?;
        batch::write(&mut self.head, call, endpoint).map_err(CallEnd::Refused)?;
        let (kind, frame) = self.exchange(&[]).await?;
        batch::read(kind, frame, call.rows, call.result).map_err(CallEnd::During)
    }

    /// Sends `head`, followed by `body`, and reads the frame that is returned.
    async fn exchange(&mut self, body: &[u8]) -> Result<(u8, Bytes), CallEnd> {
        self.line.send(&self.head, body).await.map_err(CallEnd::Before)?;
        if self.head.capacity() > HEAD_BYTES_KEPT {
            self.head = Vec::new();
        }
        self.is_awaited = true;
        let frame = self.input.frame(&mut self.line, FUNCTION_ANSWER_BYTES_MAX).await;
        self.is_awaited = false;
        frame.map_err(|error| match error.kind() {
            // The kernel reports this when a closed connection had unread bytes.
            io::ErrorKind::ConnectionReset => CallEnd::Before(error),
            _ => CallEnd::During(error),
        })
    }

    /// Reads the next frame of a streaming answer.
    ///
    /// # Errors
    /// Returns an error when the connection ended, or the process violated the protocol.
    pub(crate) async fn next(&mut self) -> io::Result<Next> {
        let (kind, frame) = self.input.frame(&mut self.line, FUNCTION_ANSWER_BYTES_MAX).await?;
        answer::next(kind, frame)
    }

    /// Returns the current index of the endpoint that was `endpoint` of `known`.
    fn find(&self, endpoint: usize, known: Option<&Arc<Interface>>) -> Result<usize> {
        self.mark.zygote.endpoint(endpoint, known).ok_or_else(|| {
            Error::new(Code::EntryUnavailable, "the file was loaded again and has this function no more")
                .with_hint("ask again")
        })
    }
}
