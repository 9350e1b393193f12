//! PostgreSQL's protocol: accepts connections, each in a task of its own, within the bounds on their number.
//!
//! Suggested reading order: `connection` is the life of a connection, `startup` its beginning, `simple_query` and
//! `extended_query` what it can be asked, `portal` the rows of a statement that runs, and `row_encoder` their bytes.
//! `frames` and `message` read what clients send, `outbox` writes what they get.

mod cancellation;
mod client;
mod column;
mod command;
mod connection;
mod copy;
mod execute;
mod extended_query;
mod frames;
mod known_descriptions;
mod message;
mod outbox;
mod parameter;
mod portal;
mod prepared;
mod refusal;
mod row_encoder;
mod scram;
mod session;
mod session_settings;
mod simple_query;
mod startup;
mod statement_plan;
mod statement_text;
mod transaction;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use salver_model::Limits;
use salver_model::limits::STALL_MS_MAX;
use salver_service::reception::Reception;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use self::cancellation::Cancellations;
use crate::places::Places;

/// Name of this wire, as it is counted under.
const WIRE: &str = "postgres";

/// Name of this protocol in TLS (ALPN), as PostgreSQL 17 and later have it.
const ALPN: &[u8] = b"postgresql";

/// Time that the server waits after a connection could not be accepted, most likely for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// A listener for clients of PostgreSQL.
pub struct PostgresWire {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// What every connection is served with.
struct Shared {
    reception: Arc<dyn Reception>,
    tls: Option<TlsAcceptor>,
    places: Places,
    cancellations: Cancellations,
    /// Largest message of a client, in bytes.
    message_bytes_max: usize,
    /// Longest time for statements that run at the end.
    drain: Duration,
}

impl PostgresWire {
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
        let shared = Shared {
            reception,
            tls: tls.map(own),
            places: Places::new(limits.connections_max, limits.connections_per_address_max),
            cancellations: Cancellations::default(),
            message_bytes_max: usize::try_from(limits.body_bytes_max).unwrap_or(usize::MAX),
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

    /// Serves until `shutdown` is done. Connections without a statement that runs end at once then, others with their
    /// statement, for which they have `limits.drain_ms_max`.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send) {
        let (ending, ended) = watch::channel(false);
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, address)) => self.begin(stream, address, ended.clone()),
                    Err(error) => {
                        tracing::debug!("can't accept a connection of PostgreSQL's protocol: {error}");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                () = &mut shutdown => break,
            }
        }
        ending.send_replace(true);
        drop(ended);
        if tokio::time::timeout(self.shared.drain, ending.closed()).await.is_err() {
            tracing::warn!("statements of PostgreSQL's protocol still ran at the end; they were cut off");
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

impl fmt::Debug for PostgresWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresWire").field("listener", &self.listener).finish_non_exhaustive()
    }
}

/// Longest time that a client may take nothing of an answer.
const STALL: Duration = Duration::from_millis(STALL_MS_MAX);
