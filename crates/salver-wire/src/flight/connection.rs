//! The life of a connection: it begins with TLS where the client wants it, then its calls are answered side by side,
//! until the client leaves or the server ends.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use salver_model::limits::STARTUP_MS_MAX;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::Shared;
use super::admission::{self, Peer};

/// First byte of a TLS handshake, with which HTTP/2 can't begin.
const HANDSHAKE: u8 = 22;
/// Longest time until a connection has made its first call.
const PATIENCE: Duration = Duration::from_millis(STARTUP_MS_MAX);

/// Serves a connection.
pub(super) async fn serve(stream: TcpStream, address: IpAddr, shared: &Arc<Shared>, ended: watch::Receiver<bool>) {
    let Some(place) = shared.places.take(address) else {
        tracing::debug!("a connection of Arrow Flight is refused: there are as many as `limits.connections_max` says");
        return;
    };
    match tokio::time::timeout(PATIENCE, wants_tls(&stream, shared)).await {
        Ok(Some(false)) => run(stream, Peer { address, is_secure: false }, shared, ended).await,
        Ok(Some(true)) => {
            let Some(tls) = &shared.tls else { return };
            match tokio::time::timeout(PATIENCE, tls.accept(stream)).await {
                Ok(Ok(stream)) => run(stream, Peer { address, is_secure: true }, shared, ended).await,
                Ok(Err(error)) => tracing::debug!("no TLS: {error}"),
                Err(_) => {}
            }
        }
        Ok(None) | Err(_) => {}
    }
    drop(place);
}

/// Returns whether the client begins with TLS, which the server can; `None` if it leaves.
async fn wants_tls(stream: &TcpStream, shared: &Shared) -> Option<bool> {
    if shared.tls.is_none() {
        return Some(false);
    }
    let mut first = [0];
    (stream.peek(&mut first).await.ok()? == 1).then_some(first[0] == HANDSHAKE)
}

/// Answers the calls of a connection.
async fn run<S>(stream: S, peer: Peer, shared: &Arc<Shared>, mut ended: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let has_asked = Arc::new(AtomicBool::new(false));
    let (asked, own) = (Arc::clone(&has_asked), Arc::clone(shared));
    let service = service_fn(move |request| {
        asked.store(true, Ordering::Relaxed);
        let shared = Arc::clone(&own);
        async move { admission::answer(request, peer, &shared).await }
    });
    let mut connection = std::pin::pin!(shared.http.serve_connection(TokioIo::new(stream), service));
    let mut patience = std::pin::pin!(tokio::time::sleep(PATIENCE));
    let (mut is_new, mut is_ending) = (true, false);
    loop {
        tokio::select! {
            done = connection.as_mut() => {
                if let Err(error) = done {
                    tracing::debug!("a connection of Arrow Flight broke off: {error}");
                }
                return;
            }
            () = &mut patience, if is_new => {
                if !has_asked.load(Ordering::Relaxed) {
                    return;
                }
                is_new = false;
            }
            _ = ended.wait_for(|ended| *ended), if !is_ending => {
                connection.as_mut().graceful_shutdown();
                is_ending = true;
            }
        }
    }
}
