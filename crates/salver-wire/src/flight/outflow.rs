//! Sends rows: a task of its own takes batches as the client takes messages, so that no more than a message or two
//! waits for a client that rests, and ends when the client leaves.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arrow::array::Array;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use futures::{Stream, StreamExt, stream};
use salver_formats::{Portable, PortableFormat};
use salver_model::access::Bound;
use salver_model::limits::{PARK_MS, STALL_MS_MAX};
use salver_model::reply::BatchStream;
use salver_model::{Batches, Error, Result, Rows};
use salver_service::reception::{Outcome, Reception, Welcome};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tonic::Status;

use super::refusal::unwritable;
use super::row_body::Messages;
use super::row_message::{MessageEncoder, RowMessage};
use super::{WIRE, refusal};

/// Bytes of rows in a message, about. Clients take 4 MiB unless they say otherwise, and those written in Go find memory
/// for what is larger than 1 MiB anew each time.
const MESSAGE_BYTES: usize = 960 * 1024;
/// Longest time that a client may take nothing of an answer.
const STALL: Duration = Duration::from_millis(STALL_MS_MAX);
/// Time after which what is read for a client that takes nothing is let go.
const GLANCE: Duration = Duration::from_millis(PARK_MS);

/// Rows to be sent.
pub(super) struct Outflow {
    pub(super) schema: SchemaRef,
    pub(super) batches: BatchStream,
    /// Lets go of what can be read again while the client takes nothing.
    pub(super) rest: Option<Box<dyn Fn() + Send + Sync>>,
    /// What the caller was let in with, until the last row.
    pub(super) welcome: Arc<Welcome>,
}

impl fmt::Debug for Outflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outflow").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Counts a statement, and says what is told of its failure.
pub(super) struct Account {
    pub(super) reception: Arc<dyn Reception>,
    pub(super) began: Instant,
}

impl Account {
    pub(super) fn begin(reception: &Arc<dyn Reception>) -> Self {
        Self { reception: Arc::clone(reception), began: Instant::now() }
    }

    /// Counts a statement that was refused, and returns what the client is told.
    pub(super) fn refuse(&self, error: Error) -> Status {
        self.reception.count(WIRE, Outcome { took: self.began.elapsed(), refused: Some(error.code) });
        refusal::status(self.reception.disclose(error))
    }

    fn done(&self) {
        self.reception.count(WIRE, Outcome { took: self.began.elapsed(), refused: None });
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("began", &self.began).finish_non_exhaustive()
    }
}

impl Outflow {
    /// Takes the rows of an answer.
    pub(super) fn of(rows: Rows, welcome: Arc<Welcome>) -> Self {
        let batches: BatchStream = match rows.batches {
            Batches::Ready(batches) => Box::pin(stream::iter(batches.into_iter().map(Ok))),
            Batches::Stream(stream) => stream,
        };
        Self { schema: rows.schema, batches, rest: None, welcome }
    }

    /// Sends the rows.
    pub(super) fn send(self, account: Account) -> Messages {
        let (sender, receiver) = mpsc::channel(1);
        let is_whole = Arc::new(AtomicBool::new(false));
        tokio::spawn(pump(self, account, sender, Arc::clone(&is_whole)));
        Box::pin(Received { receiver, is_whole, has_ended: false })
    }
}

/// Returns the columns as clients get them: without views and dictionaries, which not all of them read.
pub(super) fn portable(schema: &Schema) -> Portable {
    Portable::new(schema, PortableFormat::ArrowFile)
}

/// Encodes rows and passes them on, until all are sent or the client leaves.
async fn pump(
    outflow: Outflow,
    account: Account,
    sender: Sender<std::result::Result<RowMessage, Status>>,
    is_whole: Arc<AtomicBool>,
) {
    let Outflow { schema, batches, rest, welcome } = outflow;
    let bound = welcome.caller.limits.response_bytes();
    let mut sending = Sending { sender: &sender, rest: rest.as_deref(), bound, sent_bytes: 0 };
    match sending.all(&schema, batches).await {
        Ok(()) => {
            is_whole.store(true, Ordering::Release);
            account.done();
        }
        Err(PumpEnd::Left) => {}
        Err(PumpEnd::Failed(error)) => {
            let Some(permit) = reserve(&sender, rest.as_deref()).await else { return };
            permit.send(Err(account.refuse(error)));
            is_whole.store(true, Ordering::Release);
        }
    }
    drop(welcome);
}

/// Why not all rows were sent.
enum PumpEnd {
    /// The client left, or takes nothing.
    Left,
    /// The rows failed, or are too many.
    Failed(Error),
}

impl From<Error> for PumpEnd {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// An answer that is being sent.
struct Sending<'s> {
    sender: &'s Sender<std::result::Result<RowMessage, Status>>,
    rest: Option<&'s (dyn Fn() + Send + Sync)>,
    bound: Bound,
    sent_bytes: u64,
}

impl Sending<'_> {
    /// Sends the schema at once, and then the rows, in messages that clients take.
    async fn all(&mut self, schema: &Schema, mut batches: BatchStream) -> std::result::Result<(), PumpEnd> {
        let portable = portable(schema);
        let (mut encoder, first) = MessageEncoder::new(portable.schema()).map_err(unwritable)?;
        self.one(first).await?;
        loop {
            let next = tokio::select! {
                biased;
                () = self.sender.closed() => return Err(PumpEnd::Left),
                next = batches.next() => next,
            };
            let Some(batch) = next else { return Ok(()) };
            let batch = portable.batch(&batch?)?;
            for piece in Pieces::of(batch, MESSAGE_BYTES) {
                self.one(encoder.encode(&piece).map_err(unwritable)?).await?;
            }
        }
    }

    async fn one(&mut self, message: RowMessage) -> std::result::Result<(), PumpEnd> {
        self.sent_bytes += message.bytes();
        if self.bound.is_exceeded_by(self.sent_bytes) {
            return Err(self.bound.refuse_answer().into());
        }
        reserve(self.sender, self.rest).await.ok_or(PumpEnd::Left)?.send(Ok(message));
        Ok(())
    }
}

/// Waits for the client to take a message; `None` if it leaves, or takes nothing for too long.
async fn reserve<'s, T>(sender: &'s Sender<T>, rest: Option<&(dyn Fn() + Send + Sync)>) -> Option<mpsc::Permit<'s, T>> {
    if let Ok(permit) = tokio::time::timeout(GLANCE, sender.reserve()).await {
        return permit.ok();
    }
    if let Some(rest) = rest {
        rest();
    }
    tokio::time::timeout(STALL, sender.reserve()).await.ok()?.ok()
}

/// The pieces of a batch, each of about as many bytes as a message may have, or of one row.
struct Pieces {
    waiting: VecDeque<RecordBatch>,
    bytes: usize,
}

impl Pieces {
    fn of(batch: RecordBatch, bytes: usize) -> Self {
        Self { waiting: VecDeque::from([batch]), bytes }
    }
}

impl Iterator for Pieces {
    type Item = RecordBatch;

    fn next(&mut self) -> Option<RecordBatch> {
        let mut piece = self.waiting.pop_front()?;
        while piece.num_rows() > 1 && weight(&piece) > self.bytes {
            let half = piece.num_rows() / 2;
            self.waiting.push_front(piece.slice(half, piece.num_rows() - half));
            piece = piece.slice(0, half);
        }
        Some(piece)
    }
}

/// Returns the bytes of a batch as it is sent.
fn weight(batch: &RecordBatch) -> usize {
    let bytes = |column: &Arc<dyn Array>| {
        let data = column.to_data();
        data.get_slice_memory_size().unwrap_or_else(|_| data.get_array_memory_size())
    };
    batch.columns().iter().map(bytes).sum()
}

/// What the task sends; an answer that ends before its end is an error.
struct Received {
    receiver: Receiver<std::result::Result<RowMessage, Status>>,
    is_whole: Arc<AtomicBool>,
    has_ended: bool,
}

impl Stream for Received {
    type Item = std::result::Result<RowMessage, Status>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        if self.has_ended {
            return std::task::Poll::Ready(None);
        }
        let polled = self.receiver.poll_recv(context);
        if let std::task::Poll::Ready(None) = polled {
            self.has_ended = true;
            if !self.is_whole.load(Ordering::Acquire) {
                let message = "the answer broke off before its end, most likely since nothing was taken of it";
                return std::task::Poll::Ready(Some(Err(Status::aborted(message))));
            }
        }
        polled
    }
}

/// Returns one batch as rows.
pub(super) fn single(batch: RecordBatch) -> Rows {
    Rows::ready(batch.schema(), vec![batch])
}

/// Returns what rows of one batch are sent as, or why there are none.
pub(super) fn of_batch(
    batch: Result<RecordBatch>,
    welcome: Arc<Welcome>,
    account: Account,
) -> Result<Messages, Status> {
    match batch {
        Ok(batch) => Ok(Outflow::of(single(batch), welcome).send(account)),
        Err(error) => Err(account.refuse(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Pieces, weight};
    use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};

    #[test]
    fn pieces_are_small_and_all_rows_in_order() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
        let texts = (0..1_000_usize).map(|row| "x".repeat(if row == 700 { 50_000 } else { row % 7 }));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let batch = RecordBatch::try_from_iter([("n", numbers), ("t", texts)]).unwrap();
        let slice = batch.slice(10, 900);
        let pieces: Vec<RecordBatch> = Pieces::of(slice.clone(), 4_096).collect();
        assert!(pieces.iter().all(|piece| weight(piece) <= 4_096 || piece.num_rows() == 1));
        assert!(pieces.len() < 40, "{}", pieces.len());
        assert_eq!(arrow::compute::concat_batches(&slice.schema(), &pieces).unwrap(), slice);
        let empty: Vec<RecordBatch> = Pieces::of(batch.slice(0, 0), 4_096).collect();
        assert_eq!(empty.len(), 1);
    }
}
