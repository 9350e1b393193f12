//! What the server listens on: an address, a Unix socket, or sockets that were opened by somebody else; of the last
//! there may be several.

#[cfg(unix)]
mod socket_file;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::task::{Context, Poll};

use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;

use crate::peer::Peer;
use crate::socket::Socket;

/// Sockets that connections come in by.
#[derive(Debug)]
pub struct Listener {
    // Before the file: fields are dropped in this order, and the file is removed when nobody listens any more.
    sockets: Vec<ListeningSocket>,
    /// Number of the first socket that is for `/metrics` alone, as are those after it.
    metrics_from: usize,
    /// The one that is asked first for the next connection, so that none has to wait for another.
    next: usize,
    /// The file of a Unix socket, which is removed on drop.
    #[cfg(unix)]
    _file: Option<socket_file::SocketFile>,
}

#[derive(Debug)]
enum ListeningSocket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener),
}

/// Where a server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Addresses.
    pub addresses: Vec<SocketAddr>,
    /// Files of Unix sockets; empty for one without a name.
    pub files: Vec<PathBuf>,
}

impl Places {
    /// Returns an address that others than this machine can reach, if there is one.
    #[must_use]
    pub fn exposed(&self) -> Option<SocketAddr> {
        self.addresses.iter().copied().find(|address| !address.ip().to_canonical().is_loopback())
    }
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::of(vec![ListeningSocket::Tcp(listener)])
    }
}

impl Listener {
    fn of(sockets: Vec<ListeningSocket>) -> Self {
        Self {
            metrics_from: sockets.len(),
            sockets,
            next: 0,
            #[cfg(unix)]
            _file: None,
        }
    }

    /// Listens on `address`, a host and a port.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn bind(address: &str) -> io::Result<Self> {
        TcpListener::bind(address).await.map(Self::from)
    }

    /// Listens on a Unix socket, whose file has the permissions `mode` and is removed on drop. A file that a server
    /// left behind is replaced. Call it inside the runtime.
    ///
    /// # Errors
    /// `AddrInUse` if another server answers there, `AlreadyExists` for a file that is no socket, and those of the
    /// system.
    #[cfg(unix)]
    pub fn bind_unix(path: &std::path::Path, mode: u32) -> io::Result<Self> {
        let (listener, file) = socket_file::bind(path, mode)?;
        let listener = UnixListener::from_std(listener)?;
        Ok(Self { _file: Some(file), ..Self::of(vec![ListeningSocket::Unix(listener)]) })
    }

    /// Takes over sockets that somebody else opened. Call it inside the runtime.
    ///
    /// # Errors
    /// `InvalidInput` for none, and for what is not a stream socket that listens; those of the system.
    #[cfg(unix)]
    pub fn take_over(descriptors: Vec<std::os::fd::OwnedFd>) -> io::Result<Self> {
        let sockets: Vec<_> = descriptors.into_iter().map(taken_over).collect::<io::Result<_>>()?;
        if sockets.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no socket"));
        }
        Ok(Self::of(sockets))
    }

    /// Adds what another listens on, where `/metrics` is served alone.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Self) -> Self {
        self.sockets.extend(metrics.sockets);
        self
    }

    /// Returns where it listens.
    ///
    /// # Errors
    /// Those of the system.
    pub fn places(&self) -> io::Result<Places> {
        places(&self.sockets[..self.metrics_from])
    }

    /// Returns where `/metrics` is served alone; `None` if it is not.
    ///
    /// # Errors
    /// Those of the system.
    pub fn metrics_places(&self) -> io::Result<Option<Places>> {
        let sockets = &self.sockets[self.metrics_from..];
        if sockets.is_empty() { Ok(None) } else { places(sockets).map(Some) }
    }

    /// Waits for the next connection. It can be dropped before that, and no connection is lost.
    pub(crate) async fn accept(&mut self) -> io::Result<(Socket, Peer)> {
        std::future::poll_fn(|context| self.poll_accept(context)).await
    }

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(Socket, Peer)>> {
        let count = self.sockets.len();
        for at in (0..count).map(|step| (self.next + step) % count) {
            let accepted = match &self.sockets[at] {
                ListeningSocket::Tcp(listener) => listener
                    .poll_accept(context)
                    .map_ok(|(stream, address)| (Socket::Tcp(stream), Peer::at(address.ip()))),
                #[cfg(unix)]
                ListeningSocket::Unix(listener) => listener.poll_accept(context).map_ok(|(stream, _)| {
                    let user = stream.peer_cred().ok().map(|credentials| credentials.uid());
                    (Socket::unix(stream), Peer::local(user))
                }),
            };
            if accepted.is_ready() {
                self.next = (at + 1) % count;
                let is_metrics = at >= self.metrics_from;
                return accepted.map_ok(|(socket, peer)| (socket, if is_metrics { peer.at_metrics() } else { peer }));
            }
        }
        Poll::Pending
    }
}

/// Returns where sockets listen.
fn places(sockets: &[ListeningSocket]) -> io::Result<Places> {
    let mut places = Places::default();
    for socket in sockets {
        match socket {
            ListeningSocket::Tcp(listener) => places.addresses.push(listener.local_addr()?),
            #[cfg(unix)]
            ListeningSocket::Unix(listener) => {
                let address = listener.local_addr()?;
                places.files.push(address.as_pathname().map(PathBuf::from).unwrap_or_default());
            }
        }
    }
    Ok(places)
}

/// Takes over one socket.
#[cfg(unix)]
fn taken_over(descriptor: std::os::fd::OwnedFd) -> io::Result<ListeningSocket> {
    use std::os::fd::AsRawFd;

    let number = descriptor.as_raw_fd();
    let unfit = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("descriptor {number} {why}"));
    let socket = socket2::Socket::from(descriptor);
    let kind = socket.r#type().map_err(|_| unfit("is not a socket"))?;
    if kind != socket2::Type::STREAM {
        return Err(unfit("is not a stream socket"));
    }
    let address = socket.local_addr()?;
    // The backlog is that of whoever opened it. A socket that does not listen would never bring a connection.
    if !is_listening(&socket) {
        return Err(unfit("does not listen"));
    }
    socket.set_cloexec(true)?;
    socket.set_nonblocking(true)?;
    if address.is_unix() {
        Ok(ListeningSocket::Unix(UnixListener::from_std(socket.into())?))
    } else if address.as_socket().is_some() {
        Ok(ListeningSocket::Tcp(TcpListener::from_std(socket.into())?))
    } else {
        Err(unfit("is neither of the internet nor a Unix socket"))
    }
}

/// Returns whether a socket listens; where the system does not tell, it is taken for granted.
#[cfg(any(target_os = "android", target_os = "linux", target_os = "freebsd", target_os = "fuchsia"))]
fn is_listening(socket: &socket2::Socket) -> bool {
    socket.is_listener().unwrap_or(false)
}

/// Returns whether a socket listens; where the system does not tell, it is taken for granted.
#[cfg(all(unix, not(any(target_os = "android", target_os = "linux", target_os = "freebsd", target_os = "fuchsia"))))]
fn is_listening(_: &socket2::Socket) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::fd::OwnedFd;

    use super::Listener;

    #[tokio::test]
    async fn what_can_be_taken_over() {
        let directory = std::env::temp_dir();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap();
        let connected: OwnedFd = std::net::TcpStream::connect(address).unwrap().into();
        let datagrams: OwnedFd = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().into();
        let file: OwnedFd = std::fs::File::open(directory).unwrap().into();
        for (descriptor, why) in
            [(connected, "does not listen"), (datagrams, "is not a stream socket"), (file, "is not a socket")]
        {
            let error = Listener::take_over(vec![descriptor]).unwrap_err();
            assert!(error.to_string().ends_with(why), "{error}");
        }
        assert!(Listener::take_over(Vec::new()).is_err());
        let other = std::net::TcpListener::bind("[::1]:0").or_else(|_| std::net::TcpListener::bind("127.0.0.2:0"));
        let mut listener = Listener::take_over(vec![tcp.into(), other.unwrap().into()]).unwrap();
        let places = listener.places().unwrap();
        assert_eq!(places.exposed(), None);
        // Connections of both come, also when one has many.
        let many: Vec<_> = (0..3).map(|_| std::net::TcpStream::connect(places.addresses[0]).unwrap()).collect();
        let one = std::net::TcpStream::connect(places.addresses[1]).unwrap();
        let mut own = Vec::new();
        for _ in 0..=many.len() {
            let (socket, _) = listener.accept().await.unwrap();
            if let crate::socket::Socket::Tcp(stream) = socket {
                own.push(stream.peer_addr().unwrap());
            }
        }
        assert!(own.contains(&one.local_addr().unwrap()), "{own:?}");
    }
}
