//! Opens what the server listens on: an address, a Unix socket, or what the service manager hands over.

use std::io;
use std::net::SocketAddr;

use salver_config::{Listen, Server};
use salver_http::Listener;
use salver_model::{Code, Error, Result};

use crate::socket_activation::Activated;

/// Listens as the settings say; on what was `activated`, if there is something, and where `/metrics` is served alone.
///
/// # Errors
/// `Config`.
pub(crate) async fn open(server: &Server, activated: Activated) -> Result<Listener> {
    let listener = open_main(server, activated).await?;
    let Some(address) = &server.metrics_listen else { return Ok(listener) };
    let metrics = Listener::bind(address).await.map_err(|error| {
        Error::new(Code::Config, format!("can't listen on {address} for `/metrics`: {error}"))
            .with_hint("`server.metrics_listen` is a free address of this machine, like \"127.0.0.1:9090\"")
            .with_source(error)
    })?;
    Ok(listener.with_metrics(metrics))
}

async fn open_main(server: &Server, activated: Activated) -> Result<Listener> {
    if !activated.is_empty() {
        if server.listen != Listen::Systemd {
            tracing::info!("listening on what the service manager handed over, in place of {}", server.listen);
        }
        return take_over(activated);
    }
    match &server.listen {
        Listen::Address(address) => Listener::bind(address).await.map_err(|error| cannot_listen(address, &error)),
        Listen::Unix(path) => unix(path, server.socket_mode),
        Listen::Systemd => Err(Error::new(Code::Config, "systemd handed over no socket to listen on")
            .with_hint("start the server by the socket unit of its service, or set `server.listen` to an address")),
    }
}

#[cfg(unix)]
fn take_over(activated: Activated) -> Result<Listener> {
    Listener::take_over(activated).map_err(|error| {
        Error::new(Code::Config, format!("can't listen on what systemd handed over: {error}"))
            .with_hint("use `ListenStream=` in the socket unit, and no `Accept=yes`")
    })
}

#[cfg(not(unix))]
fn take_over(_: Activated) -> Result<Listener> {
    Err(Error::internal("nothing can be handed over"))
}

#[cfg(unix)]
fn unix(path: &std::path::Path, mode: u32) -> Result<Listener> {
    Listener::bind_unix(path, mode).map_err(|error| {
        let (why, hint) = match error.kind() {
            io::ErrorKind::AddrInUse => ("another server answers there".to_owned(), "end it, or choose another path"),
            io::ErrorKind::AlreadyExists => {
                ("a file that is no socket is there".to_owned(), "choose another path, or move the file away")
            }
            io::ErrorKind::NotFound => {
                ("its directory is not there".to_owned(), "make it first, like systemd does with `RuntimeDirectory=`")
            }
            io::ErrorKind::PermissionDenied => (
                "it is not permitted".to_owned(),
                "choose a directory that the user of this program may write to, and no file of another user",
            ),
            _ => (error.to_string(), "choose a path on a local disk, like `--listen unix:/tmp/salver.sock`"),
        };
        Error::new(Code::Config, format!("can't listen on unix:{}: {why}", path.display())).with_hint(hint)
    })
}

#[cfg(not(unix))]
fn unix(path: &std::path::Path, _: u32) -> Result<Listener> {
    Err(Error::new(Code::Config, format!("can't listen on unix:{}: there are no Unix sockets here", path.display()))
        .with_hint("use an address, like `--listen 127.0.0.1:8080`"))
}

/// The error that a server can't listen there.
pub(crate) fn cannot_listen(listen: &str, error: &io::Error) -> Error {
    let (why, hint) = match error.kind() {
        io::ErrorKind::AddrInUse => {
            let free = match listen.parse::<SocketAddr>() {
                Ok(address) => SocketAddr::new(address.ip(), address.port().checked_add(1).unwrap_or(0)).to_string(),
                Err(_) => "127.0.0.1:8081".to_owned(),
            };
            let hint = format!("choose another with `--listen {free}`, or any free port with `--listen 127.0.0.1:0`");
            ("another program listens there".to_owned(), hint)
        }
        io::ErrorKind::PermissionDenied => (
            "it is not permitted".to_owned(),
            "ports below 1024 are for root; try `--listen 127.0.0.1:8080`".to_owned(),
        ),
        _ => (error.to_string(), "an address of this machine is needed, like `--listen 127.0.0.1:8080`".to_owned()),
    };
    Error::new(Code::Config, format!("can't listen on {listen}: {why}")).with_hint(hint)
}
