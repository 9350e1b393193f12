//! Arrow Flight SQL over gRPC: accepts connections, each in a task of its own, within the bounds on their number.
//!
//! Suggested reading order: `connection` is the life of a connection, `admission` lets each call of it in, `door` says
//! what can be called, `query`, `prepared`, `table` and `listing` what comes of it, `outflow` sends rows, as a
//! `row_body` of `row_message`s.

mod admission;
mod catalog;
mod connection;
mod door;
mod door_service;
mod key_listing;
mod listing;
mod logins;
mod outflow;
mod parameters;
mod prepared;
mod query;
mod refusal;
mod row_body;
mod row_message;
mod server_facts;
mod statement;
mod table;
mod tickets;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use arrow_flight::flight_service_server::FlightServiceServer;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use salver_model::Limits;
use salver_model::limits::{HEAD_BYTES_MAX, STREAMS_PER_CONNECTION_MAX};
use salver_service::reception::Reception;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use self::door::Door;
use self::logins::Logins;
use crate::places::Places;

/// Name of this wire, as it is counted under.
const WIRE: &str = "flight";

/// Name of HTTP/2 in TLS (ALPN).
const ALPN: &[u8] = b"h2";

/// Time that the server waits after a connection could not be accepted, most likely for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// A listener for clients of Arrow Flight SQL.
pub struct FlightWire {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// What every connection is served with.
struct Shared {
    reception: Arc<dyn Reception>,
    tls: Option<TlsAcceptor>,
    places: Places,
    logins: Arc<Logins>,
    http: http2::Builder<TokioExecutor>,
    service: FlightServiceServer<Door>,
    /// Longest time for calls that run at the end.
    drain: Duration,
}

impl FlightWire {
    /// Listens on `address`, which is `HOST:PORT`.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn bind(
        address: &str,
        reception: Arc<dyn Reception>,
        tls: Option<&Arc<ServerConfig>>,
        limits: &Limits,
    ) -> io::Result<Self> {
        let own = |config: &Arc<ServerConfig>| {
            let mut config = ServerConfig::clone(config);
            config.alpn_protocols = vec![ALPN.to_vec()];
            TlsAcceptor::from(Arc::new(config))
        };
        let message_bytes_max = usize::try_from(limits.body_bytes_max).unwrap_or(usize::MAX);
        let logins = Arc::new(Logins::default());
        let door = Door::new(Arc::clone(&reception), Arc::clone(&logins), message_bytes_max);
        let service = FlightServiceServer::new(door)
            .max_decoding_message_size(message_bytes_max)
            .max_encoding_message_size(usize::MAX);
        let shared = Shared {
            reception,
            tls: tls.map(own),
            places: Places::new(limits.connections_max, limits.connections_per_address_max),
            logins,
            http: http_of(limits),
            service,
            drain: Duration::from_millis(limits.drain_ms_max),
        };
        Ok(Self { listener: TcpListener::bind(address).await?, shared: Arc::new(shared) })
    }

    /// Returns where it listens.
    ///
    /// # Errors
    /// Those of the system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `shutdown` is done. Connections without a call end at once then, others with their calls, for which
    /// they have `limits.drain_ms_max`.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send) {
        let (ending, ended) = watch::channel(false);
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, address)) => self.begin(stream, address, ended.clone()),
                    Err(error) => {
                        tracing::debug!("can't accept a connection of Arrow Flight: {error}");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                () = &mut shutdown => break,
            }
        }
        ending.send_replace(true);
        drop(ended);
        if tokio::time::timeout(self.shared.drain, ending.closed()).await.is_err() {
            tracing::warn!("calls of Arrow Flight still ran at the end; they were cut off");
        }
    }

    /// Serves a connection in a task of its own.
    fn begin(&self, stream: TcpStream, address: SocketAddr, ended: watch::Receiver<bool>) {
        // Small answers must not wait for an acknowledgement. A socket without this option still works.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move { connection::serve(stream, address.ip().to_canonical(), &shared, ended).await });
    }
}

impl fmt::Debug for FlightWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlightWire").field("listener", &self.listener).finish_non_exhaustive()
    }
}

/// Returns the builder of connections, with the bounds of HTTP/2 at the other doors. A client that does not answer is
/// taken for one that left.
fn http_of(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let patience = Duration::from_millis(limits.head_ms_max);
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .keep_alive_interval(patience)
        .keep_alive_timeout(patience)
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32);
    http
}
