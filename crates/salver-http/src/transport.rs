//! How a connection speaks: with TLS or without, HTTP/1 or HTTP/2. Found out from its first bytes.
//!
//! A listener with TLS tells a client that came without, instead of breaking the connection off: a handshake begins
//! with the byte 22 (RFC 8446, section 5.1), with which no request of HTTP can begin.

use std::sync::Arc;
use std::time::Duration;

use http::Version;
use tokio::io::AsyncWriteExt;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::server::{Acceptor, ClientHello};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, TlsAcceptor};

use crate::client_certificate;
use crate::options::TlsOptions;
use crate::socket::Socket;

/// First byte of a TLS handshake.
const HANDSHAKE: u8 = 22;

/// The protocol by which an authority checks that a name is this server's (RFC 8737, section 4).
const CHALLENGE: &[u8] = b"acme-tls/1";

/// Accepts connections with TLS.
pub(crate) struct TlsDoor {
    clients: TlsAcceptor,
    challenges: Option<Arc<ServerConfig>>,
}

impl TlsDoor {
    pub(crate) fn new(options: &TlsOptions) -> Self {
        Self { clients: TlsAcceptor::from(Arc::clone(&options.clients)), challenges: options.challenges.clone() }
    }

    /// Completes a handshake. `None` when it fails, and after one of an authority: nothing else is said then.
    async fn accept(&self, stream: Socket) -> Option<TlsStream<Socket>> {
        let failed = |error: &std::io::Error| tracing::debug!("no TLS: {error}");
        let Some(challenges) = &self.challenges else {
            return self.clients.accept(stream).await.inspect_err(failed).ok();
        };
        let begun = LazyConfigAcceptor::new(Acceptor::default(), stream).await.inspect_err(failed).ok()?;
        if !is_challenge(&begun.client_hello()) {
            return begun.into_stream(Arc::clone(self.clients.config())).await.inspect_err(failed).ok();
        }
        let mut asked = begun.into_stream(Arc::clone(challenges)).await.inspect_err(failed).ok()?;
        let _ = asked.shutdown().await;
        None
    }
}

/// Returns whether an authority asks for the proof that a name is this server's, and for nothing else.
fn is_challenge(hello: &ClientHello<'_>) -> bool {
    hello.alpn().is_some_and(|mut offered| offered.next() == Some(CHALLENGE) && offered.next().is_none())
}

/// A connection whose first bytes have come.
pub(crate) enum Begun {
    /// Without TLS.
    Plain(Socket, Version),
    /// With TLS; with the name in the certificate of the client.
    Tls(Box<TlsStream<Socket>>, Version, Option<Arc<str>>),
}

/// Whether requests of a connection came with TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Without, at a listener that has none.
    Plain,
    /// With TLS.
    Tls,
    /// Without, at a listener that demands it.
    Unprotected,
}

impl Begun {
    /// Waits until the client has sent enough to tell how it speaks, and completes the handshake. `None` when the
    /// handshake fails.
    pub(crate) async fn of(mut stream: Socket, tls: Option<&TlsDoor>) -> Option<Self> {
        if let Some(door) = tls
            && has_handshake(&mut stream).await
        {
            let stream = door.accept(stream).await?;
            let session = stream.get_ref().1;
            let version = if session.alpn_protocol() == Some(b"h2") { Version::HTTP_2 } else { Version::HTTP_11 };
            let shown = session.peer_certificates().and_then(<[_]>::first);
            let name = shown.and_then(|certificate| client_certificate::name(certificate)).map(Arc::from);
            return Some(Self::Tls(Box::new(stream), version, name));
        }
        let version = spoken(&mut stream).await;
        Some(Self::Plain(stream, version))
    }
}

async fn has_handshake(stream: &mut Socket) -> bool {
    let mut first = [0];
    matches!(stream.peek(&mut first).await, Ok(1)) && first[0] == HANDSHAKE
}

/// Waits until the client has sent enough to tell HTTP/1 from HTTP/2 (RFC 9113, section 3.4). The data is peeked at,
/// and can still be read.
async fn spoken(stream: &mut Socket) -> Version {
    const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut said = [0; PREFACE.len()];
    loop {
        match stream.peek(&mut said).await {
            Ok(count) if count > 0 && said[..count] == PREFACE[..count] => {
                if count == PREFACE.len() {
                    return Version::HTTP_2;
                }
                // The data stays readable, so only a timer can wait for more.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            // Errors of the connection are found by the code that reads from it.
            _ => return Version::HTTP_11,
        }
    }
}
