//! Accepts connections and hands requests to the router; ends gracefully.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use salver_model::limits::{HEAD_BYTES_MAX, STALL_MS_MAX, STREAMS_PER_CONNECTION_MAX};
use salver_service::Service;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::app::App;
use crate::body::Body;
use crate::options::HttpOptions;
use crate::streams::{Begun, Plan, Taken};

/// Serves until `shutdown` is done, then lets open requests end for `limits.drain_ms_max`.
///
/// # Errors
/// When the listener breaks in a way that is not one connection's.
pub async fn serve(
    listener: TcpListener,
    service: Arc<Service>,
    options: HttpOptions,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let limits = service.limits().clone();
    let app = Arc::new(App::new(service, options));
    let places = Arc::new(Semaphore::new(limits.connections_max.clamp(1, Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    // Dropped when the end begins: who has not said anything yet is not waited for.
    let serving = watch::Sender::new(());
    let head_ms_max = Duration::from_millis(limits.head_ms_max);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(head_ms_max)
        // No `pipeline_flush`: with it hyper never sends its answer to a request that it can't parse, and buffers any
        // answer whole for a client that does not read.
        .max_buf_size(HEAD_BYTES_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(head_ms_max)
        .keep_alive_timeout(head_ms_max)
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32);
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&places).acquire_owned() => permit,
            () = &mut shutdown => break,
        };
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => (stream, peer.ip().to_canonical()),
                Err(error) if is_one_connections(&error) => continue,
                Err(error) => {
                    // Out of descriptors, most likely: wait for connections to end rather than spin or stop serving.
                    tracing::warn!("can't accept a connection: {error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        prepare(&stream);
        let (builder, handler, watcher) =
            (builder.clone(), Handler { app: Arc::clone(&app), peer }, graceful.watcher());
        let mut ended = serving.subscribe();
        tokio::spawn(async move {
            let has_greeted = tokio::select! {
                greeting = tokio::time::timeout(head_ms_max, greeted(&stream)) => greeting.is_ok(),
                _ = ended.changed() => false,
            };
            if has_greeted {
                let connection = builder.serve_connection(TokioIo::new(stream), handler).into_owned();
                // A connection that breaks is the client's affair; nothing is left to do or to tell.
                let _ = watcher.watch(connection).await;
            }
            drop(permit);
        });
    }
    drop(listener);
    drop(serving);
    app.ending.send_replace(true);
    let drain = Duration::from_millis(limits.drain_ms_max);
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests were still open after {} ms; they were cut off", limits.drain_ms_max);
    }
    Ok(())
}

fn is_one_connections(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

fn prepare(stream: &TcpStream) {
    // Small answers must not wait for an acknowledgement, and a client that takes nothing of an answer must not keep
    // its connection for ever. A socket that refuses either still works.
    let _ = stream.set_nodelay(true);
    let patience = Duration::from_millis(STALL_MS_MAX);
    let _ = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(patience));
}

/// Waits until the client has said enough to tell HTTP/1 from HTTP/2 (RFC 9113, section 3.4). The library that tells
/// them apart would wait for that without end.
async fn greeted(stream: &TcpStream) {
    const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut said = [0; PREFACE.len()];
    loop {
        match stream.peek(&mut said).await {
            Ok(count) if count > 0 && said[..count] == PREFACE[..count] && count < PREFACE.len() => {
                // What was said so far stays readable, so that waiting for more takes a timer.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            _ => return,
        }
    }
}

/// The connection's side of the router.
#[derive(Clone)]
struct Handler {
    app: Arc<App>,
    /// The other end of the connection.
    peer: IpAddr,
}

impl hyper::service::Service<Request<Incoming>> for Handler {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        match crate::router::answer_now(&self.app, &request, self.peer) {
            Some(response) => Answering::Now(Some(response)),
            None => match crate::router::plan_append(&self.app, &request) {
                Some(plan) => Answering::Append(Append { app: Arc::clone(&self.app), request, peer: self.peer, plan }),
                None => Answering::later(&self.app, request, self.peer),
            },
        }
    }
}

/// An answer that is there, or on its way: the first costs no allocation.
enum Answering {
    Now(Option<Response<Body>>),
    Later(Pin<Box<dyn Future<Output = Response<Body>> + Send>>),
    /// One that follows from a body, which is mostly there by the time this is asked: what reads the head of a request
    /// reads on before it asks for the answer.
    Append(Append),
    /// One whose events are taken.
    Settling(Arc<App>, BoxFuture<'static, Response<Body>>),
    /// Given away.
    Done,
}

/// An append before its body was looked at.
struct Append {
    app: Arc<App>,
    request: Request<Incoming>,
    peer: IpAddr,
    plan: Plan,
}

impl Answering {
    fn later(app: &Arc<App>, request: Request<Incoming>, peer: IpAddr) -> Self {
        Self::Later(Box::pin(crate::router::answer(Arc::clone(app), request, peer)))
    }
}

impl Append {
    fn begin(mut self, context: &mut Context<'_>) -> Answering {
        match self.plan.begin(&self.app, &mut self.request, context) {
            Begun::Answered(response) => Answering::Now(Some(crate::router::leave(&self.app, response))),
            Begun::Settling(response) => Answering::Settling(self.app, response),
            Begun::General(first) => {
                if let Some(first) = first {
                    self.request.extensions_mut().insert(Taken(first));
                }
                Answering::later(&self.app, self.request, self.peer)
            }
        }
    }
}

impl Future for Answering {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Self::Append(_) = &*self
            && let Self::Append(append) = std::mem::replace(&mut *self, Self::Done)
        {
            *self = append.begin(context);
        }
        match &mut *self {
            Self::Now(response) => match response.take() {
                Some(response) => Poll::Ready(Ok(response)),
                None => Poll::Pending,
            },
            Self::Later(future) => future.as_mut().poll(context).map(Ok),
            Self::Settling(app, future) => {
                future.as_mut().poll(context).map(|response| Ok(crate::router::leave(app, response)))
            }
            Self::Append(_) | Self::Done => Poll::Pending,
        }
    }
}
