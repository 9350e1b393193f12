//! Long lists are streamed: the first piece is sent while the database still returns rows, and only a few pieces are
//! buffered.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::Stream;
use salver_model::records::{Document, DocumentBody};
use salver_model::shares::Yielding;
use salver_model::{Holder, Result};
use tokio::sync::mpsc;

use super::document::ListSink;
use crate::backend::{Backend, slow_clients};
use crate::statement::Read;

/// Most pieces buffered for the client.
const PIECES_CAPACITY: usize = 2;

type ReadTask = Pin<Box<dyn Future<Output = Result<ListSink>> + Send>>;

/// Runs the statements; a document longer than a piece is returned as a stream.
pub(crate) async fn streamed(
    backend: Arc<Backend>,
    holder: &Holder,
    reads: Vec<Read>,
    sink: ListSink,
) -> Result<Document> {
    let share = slow_clients::take(backend.lying(), holder).await?;
    let (out, pieces) = mpsc::channel(PIECES_CAPACITY);
    let work: ReadTask = Box::pin(async move { backend.read(reads, sink, Some(out)).await });
    let mut pieces = DocumentPieces { first: None, work: Some(work), pieces, last: None };
    let first = poll_fn(|cx| pieces.next(cx)).await.transpose()?.unwrap_or_default();
    if pieces.is_over() {
        return Ok(Document::whole(first));
    }
    pieces.first = Some(first);
    Ok(Document { body: DocumentBody::Stream(Box::pin(Yielding::new(Box::pin(pieces), share))), tag: None })
}

/// The pieces of a document while the statements still run. Dropping it cancels them.
struct DocumentPieces {
    /// The piece that was awaited.
    first: Option<Vec<u8>>,
    work: Option<ReadTask>,
    pieces: mpsc::Receiver<Result<Vec<u8>>>,
    /// The rest of the document, which comes after all pieces.
    last: Option<Vec<u8>>,
}

impl DocumentPieces {
    /// Returns whether the stream has ended.
    fn is_over(&self) -> bool {
        self.work.is_none() && self.last.is_none() && self.pieces.is_empty()
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>>>> {
        loop {
            if let Poll::Ready(Some(piece)) = self.pieces.poll_recv(cx) {
                return Poll::Ready(Some(piece));
            }
            let Some(work) = &mut self.work else { return Poll::Ready(self.last.take().map(Ok)) };
            let Poll::Ready(done) = work.as_mut().poll(cx) else { return Poll::Pending };
            self.work = None;
            match done {
                Ok(sink) => self.last = Some(sink.finish()),
                Err(error) => {
                    // The remaining pieces belong to a failed response.
                    self.pieces.close();
                    while self.pieces.try_recv().is_ok() {}
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

impl Stream for DocumentPieces {
    type Item = Result<Vec<u8>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => self.next(cx),
        }
    }
}
