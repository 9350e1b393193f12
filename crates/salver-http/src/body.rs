//! The body of an answer: finished bytes, or encoded while it is sent, in bounded memory.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use http_body::{Frame, SizeHint};
use salver_formats::{Coding, Compressor, Encoder, Format, Style, TextEncoder};
use salver_model::limits::{PIECE_BYTES_MAX, STALL_MS_MAX};
use salver_model::records::DocumentStream;
use salver_model::reply::BatchStream;
use salver_model::{Error, Result};
use tokio::sync::mpsc;

use crate::weight;

/// Most rows encoded at a time: large enough that the cost of handing over does not show, small enough for the cache.
const PIECE_ROWS_MAX: usize = 8_192;
/// Pieces encoded at the same time for one answer.
const PIECES_AT_ONCE: usize = 2;
/// Finished pieces that may wait for the socket.
const PIECES_WAITING: usize = 2;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Body {
    /// All bytes at hand.
    Full(Bytes),
    /// Bytes as they are made; an error aborts the connection, so that a cut answer never looks complete.
    Stream(Pieces),
}

/// The pieces of a body. `None` is its end, which must be said: a channel that closes without it means that the work
/// was cut off.
#[derive(Debug)]
pub(crate) struct Pieces {
    receiver: mpsc::Receiver<Option<Bytes>>,
    ended: bool,
}

impl Pieces {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Aborted>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        self.receiver.poll_recv(context).map(|received| {
            self.ended = !matches!(received, Some(Some(_)));
            match received {
                Some(Some(bytes)) => Some(Ok(bytes)),
                Some(None) => None,
                None => Some(Err(Aborted)),
            }
        })
    }
}

/// The answer broke off after its head was sent.
#[derive(Debug)]
pub(crate) struct Aborted;

impl fmt::Display for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off")
    }
}

impl std::error::Error for Aborted {}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut *self {
            Self::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Stream(pieces) => pieces.poll(context).map(|next| next.map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Stream(_) => SizeHint::default(),
        }
    }
}

/// How rows become bytes for one answer.
#[derive(Clone, Debug)]
pub(crate) struct Encoding {
    /// The format.
    pub(crate) format: Format,
    /// Its style.
    pub(crate) style: Style,
    /// The compression.
    pub(crate) coding: Coding,
}

/// A body that encodes `head` and then `rest` while it is sent. `failed` hears of an error in the middle.
pub(crate) fn stream(
    schema: SchemaRef,
    head: Vec<RecordBatch>,
    rest: Option<BatchStream>,
    encoding: Encoding,
    failed: impl FnOnce(&Error) + Send + 'static,
) -> Body {
    let (sender, receiver) = mpsc::channel(PIECES_WAITING);
    tokio::spawn(async move {
        let rest = rest.unwrap_or_else(|| Box::pin(stream::empty()));
        let batches = stream::iter(head.into_iter().map(Ok)).chain(rest).flat_map(|batch| stream::iter(cut(batch)));
        let sending = async {
            if encoding.format.is_text() {
                send_text(&schema, batches, &encoding, &sender).await
            } else {
                send_binary(&schema, batches, &encoding, &sender).await
            }
        };
        // A client that leaves takes the work along, also when it leaves between two pieces.
        let outcome = tokio::select! {
            outcome = sending => outcome,
            () = sender.closed() => return,
        };
        match outcome {
            Ok(()) => {
                let _ = sender.send(None).await;
            }
            Err(Broken::Failed(error)) => failed(&error),
            Err(Broken::Gone) => {}
        }
    });
    Body::Stream(Pieces { receiver, ended: false })
}

/// A body of pieces that are text already. `failed` hears of an error in the middle.
pub(crate) fn pieces(mut texts: DocumentStream, coding: Coding, failed: impl FnOnce(&Error) + Send + 'static) -> Body {
    let (sender, receiver) = mpsc::channel(PIECES_WAITING);
    tokio::spawn(async move {
        let sending = async {
            let mut out = Outlet { sender: &sender, compressor: compressor(coding)? };
            while let Some(text) = texts.next().await {
                out.send(text?).await?;
            }
            out.finish(Vec::new()).await
        };
        let outcome = tokio::select! {
            outcome = sending => outcome,
            () = sender.closed() => return,
        };
        match outcome {
            Ok(()) => {
                let _ = sender.send(None).await;
            }
            Err(Broken::Failed(error)) => failed(&error),
            Err(Broken::Gone) => {}
        }
    });
    Body::Stream(Pieces { receiver, ended: false })
}

/// Cuts a batch into pieces of bounded size; empty batches vanish.
fn cut(batch: Result<RecordBatch>) -> Vec<Result<RecordBatch>> {
    match batch {
        Err(error) => vec![Err(error)],
        Ok(batch) => {
            let row_bytes = weight::of(&batch) / batch.num_rows().max(1) + 1;
            let piece_rows = (PIECE_BYTES_MAX / row_bytes).clamp(1, PIECE_ROWS_MAX);
            (0..batch.num_rows())
                .step_by(piece_rows)
                .map(|at| Ok(batch.slice(at, piece_rows.min(batch.num_rows() - at))))
                .collect()
        }
    }
}

type Sender = mpsc::Sender<Option<Bytes>>;

/// Why a body is not completed.
enum Broken {
    /// Something went wrong.
    Failed(Error),
    /// The client left, or stopped to read: nobody's error.
    Gone,
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Text formats encode each piece on its own, several at once, and send them in order.
async fn send_text(
    schema: &SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch>> + Send,
    encoding: &Encoding,
    sender: &Sender,
) -> Result<(), Broken> {
    let encoder = Arc::new(TextEncoder::new(encoding.format, schema, &encoding.style));
    let mut out = Outlet { sender, compressor: compressor(encoding.coding)? };
    let mut begin = Vec::new();
    encoder.begin(&mut begin);
    out.send(begin).await?;
    let mut first = true;
    let pieces = batches.map(|batch| {
        let is_first = std::mem::replace(&mut first, false);
        let encoder = Arc::clone(&encoder);
        async move {
            let batch = batch?;
            off_the_loop(move || {
                let mut piece = Vec::new();
                encoder.rows(&batch, is_first, &mut piece)?;
                Ok(piece)
            })
            .await
        }
    });
    let mut pieces = std::pin::pin!(pieces.buffered(PIECES_AT_ONCE));
    while let Some(piece) = pieces.next().await {
        out.send(piece?).await?;
    }
    let mut end = Vec::new();
    encoder.end(&mut end);
    out.finish(end).await
}

/// Binary formats keep state from batch to batch, so they encode one after the other.
async fn send_binary(
    schema: &SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch>> + Send,
    encoding: &Encoding,
    sender: &Sender,
) -> Result<(), Broken> {
    let mut out = Outlet { sender, compressor: compressor(encoding.coding)? };
    let mut encoder = Encoder::new(encoding.format, schema, &encoding.style)?;
    let mut batches = std::pin::pin!(batches);
    while let Some(batch) = batches.next().await {
        let batch = batch?;
        let (back, piece) = off_the_loop(move || {
            let mut piece = Vec::new();
            encoder.write(&batch, &mut piece)?;
            Ok((encoder, piece))
        })
        .await?;
        encoder = back;
        if !piece.is_empty() {
            out.send(piece).await?;
        }
    }
    let mut end = Vec::new();
    encoder.finish(&mut end)?;
    out.finish(end).await
}

/// Runs what keeps a processor busy away from the threads that answer requests.
async fn off_the_loop<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(broken) => Err(Error::internal("the encoder broke down").with_source(broken)),
    }
}

/// Where pieces leave, compressed when the client asked for it.
struct Outlet<'a> {
    sender: &'a Sender,
    compressor: Option<Compressor>,
}

fn compressor(coding: Coding) -> Result<Option<Compressor>> {
    (coding != Coding::Identity).then(|| Compressor::new(coding)).transpose()
}

impl Outlet<'_> {
    async fn send(&mut self, piece: Vec<u8>) -> Result<(), Broken> {
        let piece = match &mut self.compressor {
            Some(compressor) => compressor.write(&piece, false)?,
            None => piece,
        };
        self.pass(piece).await
    }

    async fn finish(mut self, end: Vec<u8>) -> Result<(), Broken> {
        self.send(end).await?;
        match self.compressor.take() {
            Some(compressor) => self.pass(compressor.finish()?).await,
            None => Ok(()),
        }
    }

    async fn pass(&self, piece: Vec<u8>) -> Result<(), Broken> {
        if piece.is_empty() {
            return Ok(());
        }
        let patience = Duration::from_millis(STALL_MS_MAX);
        self.sender.send_timeout(Some(Bytes::from(piece)), patience).await.map_err(|_| Broken::Gone)
    }
}
