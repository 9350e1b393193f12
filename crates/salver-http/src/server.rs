//! Accepts connections, passes requests to the router, and shuts down gracefully.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Method, Request, Response, Version, header};
use http_body::Body as _;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use salver_model::limits::{LOBBY_MS_MAX, STALL_MS_MAX};
use salver_service::Service;
use salver_service::trace::ActiveSpan;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::app::App;
use crate::body::Body;
use crate::caller_accounts::{Charge, RunningRequest};
use crate::connections::{self, Connection, Connections, HeadTimer, Seat, Turn};
use crate::dialect::Refusal;
use crate::doors::Doors;
use crate::gate::CheckedHeaders;
use crate::in_force::{Builders, InForce};
use crate::lingering::Lingering;
use crate::listener::Listener;
use crate::metrics::Timer;
use crate::open_request::{SettlingAppend, begin_span};
use crate::options::HttpOptions;
use crate::peer::Peer;
use crate::proxy_protocol;
use crate::receive::Incoming;
use crate::request_record::REQUEST_ID;
use crate::socket::Socket;
use crate::streams::{AppendPlan, AppendState, Taken};
use crate::transport::{Begun, TlsDoor, Transport};
use crate::unsent_responses::ResponseTraits;

/// Serves until `shutdown` is done, then lets open requests finish for `limits.drain_ms_max`.
///
/// # Errors
/// When the listener fails in a way that does not concern a single connection.
pub async fn serve(
    listener: impl Into<Listener>,
    service: Arc<Service>,
    options: HttpOptions,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    serve_behind(Doors::default(), listener, service, options, shutdown).await
}

/// Does the same behind `doors`, by which the service and the options can be replaced meanwhile.
///
/// # Errors
/// As [`serve`].
pub async fn serve_behind(
    doors: Doors,
    listener: impl Into<Listener>,
    service: Arc<Service>,
    mut options: HttpOptions,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let mut listener = listener.into();
    let limits = service.limits().clone();
    let places = listener.places().ok();
    options.listens = places.as_ref().and_then(|places| places.addresses.first().copied());
    options.only_local = places.is_some_and(|places| places.exposed().is_none());
    options.metrics = listener.metrics_places()?;
    let look_every = connections::look_every(limits.head_ms_max.min(LOBBY_MS_MAX));
    let per_address_max = limits.connections_per_address_max;
    let connections = Connections::new(limits.connections_max, per_address_max, !options.reverse_proxy, look_every);
    let tls = options.tls.as_ref().map(TlsDoor::new);
    let app = App::new(service, options, Arc::clone(&connections));
    let watching = tokio::spawn(app.ending_with_rules());
    let current = Arc::new(ArcSwap::from_pointee(InForce::new(app)));
    doors.open(&current);
    let graceful = GracefulShutdown::new();
    // Dropped when the shutdown begins: connections that have not sent anything yet are not waited for.
    let serving = watch::Sender::new(());
    let reception = Arc::new(Reception { current: Arc::clone(&current), connections: Arc::clone(&connections), tls });
    let mut shutdown = std::pin::pin!(shutdown);
    let mut clock = tokio::time::interval(look_every);
    let mut spare = Spare::default();
    loop {
        let (socket, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) if is_one_connections(&error) => continue,
                Err(error) => {
                    relieve(&connections, &mut spare, &error).await;
                    continue;
                }
            },
            _ = clock.tick() => {
                connections.tick();
                spare.take();
                continue;
            }
            () = &mut shutdown => break,
        };
        reception.accept(socket, peer, ConnectionEnd { watcher: graceful.watcher(), ended: serving.subscribe() });
    }
    watching.abort();
    drop(listener);
    drop(serving);
    let drain_ms_max = {
        let current = current.load();
        current.app.ending.send_replace(true);
        current.app.service.limits().drain_ms_max
    };
    drain(graceful, drain_ms_max).await;
    Ok(())
}

/// What every connection is served with.
struct Reception {
    current: Arc<ArcSwap<InForce>>,
    connections: Arc<Connections>,
    tls: Option<TlsDoor>,
}

/// How a connection learns that the server shuts down.
struct ConnectionEnd {
    /// Lets open requests finish.
    watcher: Watcher,
    /// Ends what has not begun yet.
    ended: watch::Receiver<()>,
}

impl Reception {
    /// Serves a connection in a task of its own; one of a proxy as soon as it is known whose it is.
    fn accept(self: &Arc<Self>, mut socket: Socket, peer: Peer, mut end: ConnectionEnd) {
        prepare(&socket);
        if peer.is_at_metrics() || !self.current.load().proxies.has(&peer) {
            return self.serve(socket, peer, false, end);
        }
        // Until then it counts as the proxy's, and can be closed for another like every connection that waits.
        let connection = self.connections.enter(&peer, true);
        let seat = Seat(Arc::clone(&connection));
        let own = Arc::clone(self);
        let task = tokio::spawn(async move {
            let patience = own.patience(&seat.0);
            let client = tokio::select! {
                client = tokio::time::timeout(patience, proxy_protocol::receive(&mut socket, &peer)) => client,
                _ = end.ended.changed() => return,
            };
            drop(seat);
            match client.ok().flatten() {
                Some(client) => {
                    let is_proxy = client == peer;
                    own.serve(socket, client, is_proxy, end);
                }
                None => tracing::debug!("{peer} sent no valid header of the PROXY protocol; its connection is closed"),
            }
        });
        connection.is_served_by(task.abort_handle());
    }

    /// Serves a connection in a task of its own. `is_proxy` says that it is a proxy's own.
    fn serve(self: &Arc<Self>, socket: Socket, peer: Peer, is_proxy: bool, mut end: ConnectionEnd) {
        let connection = self.connections.enter(&peer, is_proxy);
        let seat = Seat(Arc::clone(&connection));
        let (mut http1, http2) = self.current.load().builders[usize::from(connection.is_in_lobby())].clone();
        http1.timer(HeadTimer(Arc::clone(&connection)));
        let (reception, own) = (Arc::clone(self), Arc::clone(&connection));
        let task = tokio::spawn(async move {
            let _seat = seat;
            let current = &reception.current;
            let tls = reception.tls.as_ref().filter(|_| !peer.is_at_metrics());
            let beginning = Begun::of(socket, tls);
            let begun = tokio::select! {
                begun = tokio::time::timeout(reception.patience(&own), beginning) => begun.ok().flatten(),
                _ = end.ended.changed() => None,
            };
            let handler = |peer, transport| Handler { current: Arc::clone(current), peer, connection: own, transport };
            let builders = (http1, http2);
            match begun {
                Some(Begun::Plain(stream, version)) => {
                    let transport = if tls.is_some() { Transport::Unprotected } else { Transport::Plain };
                    speak(version, stream, handler(peer, transport), builders, end.watcher).await;
                }
                Some(Begun::Tls(stream, version, certificate)) => {
                    let peer = peer.with_certificate(certificate);
                    speak(version, stream, handler(peer, Transport::Tls), builders, end.watcher).await;
                }
                None => {}
            }
        });
        connection.is_served_by(task.abort_handle());
    }

    /// Returns how long a connection may take to begin.
    fn patience(&self, connection: &Connection) -> Duration {
        if connection.is_in_lobby() { Duration::from_millis(LOBBY_MS_MAX) } else { self.current.load().head_ms_max }
    }
}

/// Lets open requests finish, for a while.
async fn drain(graceful: GracefulShutdown, ms_max: u64) {
    if tokio::time::timeout(Duration::from_millis(ms_max), graceful.shutdown()).await.is_err() {
        tracing::warn!("requests were still open after {ms_max} ms; they were cut off");
    }
}

/// Makes room for a connection that could not be accepted. Most likely there are no descriptors left: a connection that
/// waits for its client is closed, and the spare descriptor is freed for this one. If that does not help, waits rather
/// than spin or stop serving.
async fn relieve(connections: &Connections, spare: &mut Spare, error: &io::Error) {
    let made_room = connections.make_room() | spare.give();
    if !made_room {
        tracing::warn!("can't accept a connection: {error}");
    }
    tokio::time::sleep(Duration::from_millis(if made_room { 1 } else { 50 })).await;
}

/// Serves a connection until it ends. A broken one concerns only the client; nothing is left to do or to report.
async fn speak<S>(version: Version, stream: S, handler: Handler, (http1, http2): Builders, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let _ = match version {
        Version::HTTP_2 => {
            let stream = TokioIo::new(Lingering::new(stream));
            watcher.watch(http2.serve_connection(stream, HeadOnly(handler))).await
        }
        _ => watcher.watch(http1.serve_connection(TokioIo::new(stream), handler)).await,
    };
}

/// A spare file descriptor for when there are none left.
#[derive(Default)]
struct Spare(Option<std::fs::File>);

impl Spare {
    /// Opens the spare descriptor, if possible.
    fn take(&mut self) {
        if self.0.is_none() {
            self.0 = std::fs::File::open("/dev/null").ok();
        }
    }

    /// Closes the spare descriptor; returns whether there was one.
    fn give(&mut self) -> bool {
        self.0.take().is_some()
    }
}

fn is_one_connections(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

fn prepare(socket: &Socket) {
    // On one machine there is nothing to do.
    #[cfg_attr(not(unix), allow(irrefutable_let_patterns))]
    let Socket::Tcp(stream) = socket else { return };
    // Small responses must not wait for an acknowledgement, and a client that takes nothing of a response must not keep
    // its connection forever. A socket without these options still works.
    let _ = stream.set_nodelay(true);
    let patience = Duration::from_millis(STALL_MS_MAX);
    let _ = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(patience));
}

/// The service of a connection, which calls the router.
#[derive(Clone)]
struct Handler {
    current: Arc<ArcSwap<InForce>>,
    /// Who sent the request.
    peer: Peer,
    connection: Arc<Connection>,
    transport: Transport,
}

impl hyper::service::Service<Request<hyper::body::Incoming>> for Handler {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, mut request: Request<hyper::body::Incoming>) -> Self::Future {
        self.connection.used();
        // A request ends with what is in force when it begins.
        let current = self.current.load();
        let app = &current.app;
        crate::gate::settle(&mut request);
        match self.transport {
            Transport::Plain => {}
            Transport::Tls => app.gate.says_tls(request.headers_mut()),
            Transport::Unprotected => {
                return Answering::Now(Some(crate::router::answer_without_tls(app, &request, &self.peer)));
            }
        }
        let span = begin_span(app, request.headers());
        let mut said = CheckedHeaders::of(request.headers());
        said.is_traced = span.is_some();
        let expects = said.expects;
        if self.connection.is_in_lobby() {
            let request = Incoming::of(request, &self.connection, expects);
            return Answering::Now(Some(crate::router::answer_beyond(app, &request, &self.connection)));
        }
        let asked = ResponseTraits::of(&request);
        let mut charge = Charge::default();
        // Reads with a body are not handled here, because the body has to be received.
        if request.body().is_end_stream()
            && !self.peer.is_at_metrics()
            && let Some(mut response) = crate::router::answer_now(app, &request, &said, &self.peer, &mut charge)
        {
            if asked.counts(&response) {
                response = held(app, asked, &self.connection, response);
            }
            if matches!(response.body(), Body::Stream(_)) {
                response.body_mut().belongs_to(Some(Turn::begin(&self.connection)));
                response.body_mut().counts_as(charge.into_running());
            }
            return Answering::Now(Some(response));
        }
        let plan = (!self.peer.is_at_metrics())
            .then(|| crate::router::plan_append(app, &request, &said, &self.peer, &mut charge))
            .flatten();
        // Where a body ends that came in another coding, a proxy may have seen differently.
        let closes = said.packed.is_some() && request.version() < Version::HTTP_2;
        let request = Incoming::of(request, &self.connection, expects);
        let turn = Turn::begin(&self.connection);
        if self.connection.is_closing() {
            // No client would learn the outcome.
            return Answering::Now(Some(crate::router::answer_beyond(app, &request, &self.connection)));
        }
        if let Err(error) = asked.admit(&app.answers, &self.connection) {
            let id = request.headers().get(REQUEST_ID);
            return Answering::Now(Some(crate::router::refuse_response(app, id, error)));
        }
        match plan {
            Some(plan) => {
                // Boxed, so that it does not enlarge the future of immediate responses.
                let append =
                    Append { app: Arc::clone(app), request, peer: self.peer.clone(), charge, plan, asked, turn };
                Answering::Append(Box::new(append))
            }
            None => Answering::later(app, (request, self.peer.clone()), (charge, span), (asked, turn), closes),
        }
    }
}

/// The service of a connection of HTTP/2. Its library sends the body of a response to HEAD, which that of HTTP/1 leaves
/// out.
#[derive(Clone)]
struct HeadOnly(Handler);

impl hyper::service::Service<Request<hyper::body::Incoming>> for HeadOnly {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn call(&self, request: Request<hyper::body::Incoming>) -> Self::Future {
        let is_head = *request.method() == Method::HEAD;
        let answering = self.0.call(request);
        Box::pin(async move {
            let mut response = answering.await?;
            if is_head {
                // A response that has no body, such as 204, has no length either.
                let length = response.body().size_hint().exact().filter(|length| *length > 0);
                if let Some(length) = length.filter(|_| !response.headers().contains_key(header::CONTENT_LENGTH)) {
                    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
                }
                *response.body_mut() = Body::Full(Bytes::new());
            }
            Ok(response)
        })
    }
}

/// Charges a large response to the client.
#[cold]
fn held(app: &App, asked: ResponseTraits, connection: &Connection, response: Response<Body>) -> Response<Body> {
    let id = response.headers().get(REQUEST_ID).cloned();
    let held = asked.hold(&app.answers, connection, response);
    held.unwrap_or_else(|error| crate::router::refuse_response(app, id.as_ref(), error))
}

/// A response, at hand or pending: the former needs no allocation.
enum Answering {
    Now(Option<Response<Body>>),
    Later(Pin<Box<dyn Future<Output = Response<Body>> + Send>>, Option<Turn>),
    /// An append that waits for its body, which is mostly there at the first poll: the HTTP library reads on after the
    /// head before it polls this.
    Append(Box<Append>),
    /// An append whose events are being written.
    Settling(
        SettlingAppend,
        BoxFuture<'static, Result<Response<Body>, Refusal>>,
        Option<(Turn, Option<RunningRequest>)>,
    ),
    /// The response was returned.
    Done,
}

/// An append before its body is read.
struct Append {
    app: Arc<App>,
    request: Request<Incoming>,
    peer: Peer,
    charge: Charge,
    plan: (Timer, AppendPlan),
    asked: ResponseTraits,
    turn: Turn,
}

impl Answering {
    /// Answers a request, and ends its connection if `closes`.
    fn later(
        app: &Arc<App>,
        (request, peer): (Request<Incoming>, Peer),
        charged: (Charge, Option<ActiveSpan>),
        (asked, turn): (ResponseTraits, Turn),
        closes: bool,
    ) -> Self {
        let (app, connection) = (Arc::clone(app), Arc::clone(turn.connection()));
        let answer = async move {
            let mut response = crate::router::answer(Arc::clone(&app), request, peer, charged).await;
            if closes {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            if asked.counts(&response) { held(&app, asked, &connection, response) } else { response }
        };
        Self::Later(Box::pin(answer), Some(turn))
    }
}

impl Append {
    fn begin(mut self: Box<Self>, context: &mut Context<'_>) -> Answering {
        let (timer, plan) = self.plan;
        match plan.begin(&mut self.request, context) {
            AppendState::Answered(answered) => {
                Answering::Now(Some(crate::router::leave_appended(&self.app, timer, answered)))
            }
            AppendState::Settling(answered) => {
                let append = SettlingAppend { app: self.app, timer, is_answered: false };
                Answering::Settling(append, answered, Some((self.turn, self.charge.into_running())))
            }
            AppendState::General(first) => {
                if let Some(first) = first {
                    self.request.extensions_mut().insert(Taken(first));
                }
                let sender = (self.request, self.peer);
                Answering::later(&self.app, sender, (self.charge, None), (self.asked, self.turn), false)
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
            Self::Later(future, turn) => future.as_mut().poll(context).map(|mut response| {
                // Producing the rest of the response counts as work, too.
                response.body_mut().belongs_to(turn.take());
                Ok(response)
            }),
            Self::Settling(append, future, turn) => {
                let polled = future.as_mut().poll(context);
                polled.map(|answered| {
                    drop(turn.take());
                    append.is_answered = true;
                    Ok(crate::router::leave_appended(&append.app, append.timer, answered))
                })
            }
            Self::Append(_) | Self::Done => Poll::Pending,
        }
    }
}
