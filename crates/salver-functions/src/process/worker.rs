//! A process that answers one call at a time, and the connection to it.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::ArrayRef;
use bytes::Bytes;
use salver_model::functions::{Answer, AnswerBody, Call, ColumnsCall, Interface};
use salver_model::limits::FUNCTION_ANSWER_BYTES_MAX;
use salver_model::{Code, Error, Result};

use super::line::Line;
use super::zygote::{Order, Zygote};
use crate::wire::answer::{self, Failure, First, Next};
use crate::wire::frame::Input;
use crate::wire::gathered::{self, Said};
use crate::wire::{batch, call};

/// The memory for the head of calls is kept from one to the next unless it grew beyond this.
const HEAD_BYTES_KEPT: usize = 64 * 1024;

/// A worker. Whoever drops it ends its connection, and with it, unless it is busy, the process.
#[derive(Debug)]
pub(crate) struct Worker {
    line: Line,
    input: Input,
    head: Vec<u8>,
    mark: Mark,
    /// Calls it was given.
    calls: u64,
    /// Whether a call was sent whole and nothing of its answer was handed out yet.
    is_awaited: bool,
    /// When it was last given back.
    pub(crate) idle_since: Instant,
}

/// Which worker it is, for whoever has to end it.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pid: u32,
    zygote: Arc<Zygote>,
    /// Whether the call it has is its last.
    pub(crate) is_last: bool,
}

impl Mark {
    /// Which zygote it was forked from.
    pub(crate) fn generation(&self) -> u64 {
        self.zygote.number
    }

    /// Has its process killed, whatever it does.
    pub(crate) fn kill(&self) {
        self.zygote.tell(Order::Kill(self.pid));
    }
}

/// How a connection ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The process did not take in the whole call, so that user code saw nothing of it.
    Before(io::Error),
    /// User code may have worked on the call.
    During(io::Error),
    /// There is nothing to be sent: why.
    Refused(Error),
}

impl Worker {
    pub(crate) fn new(line: Line, input: Input, pid: u32, zygote: Arc<Zygote>) -> Self {
        let head = Vec::with_capacity(1024);
        let mark = Mark { pid, zygote, is_last: false };
        Self { line, input, head, mark, calls: 0, is_awaited: false, idle_since: Instant::now() }
    }

    /// Which one it is.
    pub(crate) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// It gets a call, the last one if it may have no more than `calls_max`.
    pub(crate) fn begin(&mut self, calls_max: u64) {
        self.calls += 1;
        self.mark.is_last = self.calls >= calls_max;
    }

    /// Whether a worker that has no call is of no use any more: its connection ended, or it said something unasked.
    pub(crate) fn is_spent(&self) -> bool {
        !self.line.is_quiet() || !self.input.is_empty()
    }

    /// Whether a call was sent whole and nothing of its answer was handed out yet.
    pub(crate) fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    /// Reads an answer that nobody wants: whether the call is over and the worker may have the next.
    pub(crate) async fn ends_call(&mut self) -> bool {
        self.is_awaited = false;
        match self.input.frame(&mut self.line, FUNCTION_ANSWER_BYTES_MAX).await {
            Ok((b'X', frame)) => answer::failure(frame).is_ok_and(|failure| !failure.is_out_of_memory()),
            // An answer whose body is a file has one that is to be removed.
            Ok((b'A', frame)) => {
                matches!(answer::first(b'A', frame), Ok(First::Whole(Answer { body: AnswerBody::Whole(_), .. })))
            }
            Ok((kind, _)) => matches!(kind, b'B' | b'G'),
            Err(_) => false,
        }
    }

    /// Sends a call and reads the first of what it answers.
    ///
    /// # Errors
    /// How the connection ended.
    pub(crate) async fn call(&mut self, call: &Call) -> Result<First, Ended> {
        let endpoint = call.endpoint.map(|endpoint| self.find(endpoint, call.interface.as_ref()));
        let endpoint = endpoint.transpose().map_err(Ended::Refused)?;
        call::head(&mut self.head, call, endpoint).map_err(Ended::Refused)?;
        let (kind, frame) = self.exchange(&call.body).await?;
        answer::first(kind, frame).map_err(Ended::During)
    }

    /// Sends calls that are alike, as one, and reads what it answers.
    ///
    /// # Errors
    /// How the connection ended.
    pub(crate) async fn call_rows(&mut self, calls: &[Call]) -> Result<Said, Ended> {
        let nothing = || Ended::Refused(Error::internal("a call of no function goes together with others"));
        let first = calls.first().ok_or_else(nothing)?;
        let endpoint = first.endpoint.ok_or_else(nothing)?;
        let endpoint = self.find(endpoint, first.interface.as_ref()).map_err(Ended::Refused)?;
        gathered::write(&mut self.head, calls, endpoint).map_err(Ended::Refused)?;
        let (kind, frame) = self.exchange(&[]).await?;
        gathered::read(kind, frame, calls.len()).map_err(Ended::During)
    }

    /// Does that with a call that is by itself.
    ///
    /// # Errors
    /// How the connection ended.
    pub(crate) async fn call_row(&mut self, call: &Call) -> Result<First, Ended> {
        Ok(match self.call_rows(std::slice::from_ref(call)).await? {
            Said::Values(mut values) => First::Whole(gathered::answer(values.pop().unwrap_or_default())),
            Said::Other(other) => other,
        })
    }

    /// Sends a call over columns and reads what it answers.
    ///
    /// # Errors
    /// How the connection ended.
    pub(crate) async fn call_columns(&mut self, call: &ColumnsCall) -> Result<Result<ArrayRef, Failure>, Ended> {
        let endpoint = self.find(call.endpoint, Some(&call.interface)).map_err(Ended::Refused)?;
        batch::write(&mut self.head, call, endpoint).map_err(Ended::Refused)?;
        let (kind, frame) = self.exchange(&[]).await?;
        batch::read(kind, frame, call.rows, call.result).map_err(Ended::During)
    }

    /// Sends what stands in `head`, and `body` behind it, and reads the frame that comes back.
    async fn exchange(&mut self, body: &[u8]) -> Result<(u8, Bytes), Ended> {
        self.line.send(&self.head, body).await.map_err(Ended::Before)?;
        if self.head.capacity() > HEAD_BYTES_KEPT {
            self.head = Vec::new();
        }
        self.is_awaited = true;
        let frame = self.input.frame(&mut self.line, FUNCTION_ANSWER_BYTES_MAX).await;
        self.is_awaited = false;
        frame.map_err(|error| match error.kind() {
            // What the kernel says when bytes were left unread in a connection that was closed.
            io::ErrorKind::ConnectionReset => Ended::Before(error),
            _ => Ended::During(error),
        })
    }

    /// Reads the next piece of an answer that comes in pieces.
    ///
    /// # Errors
    /// The connection ended, or the process says what it may not.
    pub(crate) async fn next(&mut self) -> io::Result<Next> {
        let (kind, frame) = self.input.frame(&mut self.line, FUNCTION_ANSWER_BYTES_MAX).await?;
        answer::next(kind, frame)
    }

    /// The number here of what was `endpoint` of `known`.
    fn find(&self, endpoint: usize, known: Option<&Arc<Interface>>) -> Result<usize> {
        self.mark.zygote.endpoint(endpoint, known).ok_or_else(|| {
            Error::new(Code::EntryUnavailable, "the file was loaded again and has this function no more")
                .with_hint("ask again")
        })
    }
}
