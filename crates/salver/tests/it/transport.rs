//! What the server listens on, and whose connection it is: Unix sockets, sockets of systemd, the PROXY protocol, and
//! how many connections one address has.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output};

use super::served::{PATIENCE, Served, until};
use super::server::Answer;
use crate::client::Client;
use crate::process::Process;

const PROGRAM: &str = env!("CARGO_BIN_EXE_salver");
const ROWS: &str = "id,name\n1,ann\n2,bob\n";

/// A directory with something to serve.
fn directory(settings: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in [("people.csv", ROWS), ("salver.toml", settings)] {
        std::fs::write(directory.path().join(name), text).expect("a file");
    }
    directory
}

fn serve(directory: &Path, listen: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--listen", listen]).arg(directory);
    command
}

/// What a server says that does not start.
#[track_caller]
fn refusal(mut command: Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("the program is there");
    assert!(!status.success());
    String::from_utf8(stderr).expect("text")
}

/// The end of a test's connection.
trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

fn request(target: &str, host: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
}

/// Sends bytes, and reads until the server closes; an answer with status 0 is none.
fn exchange(mut stream: impl Stream, bytes: &[u8]) -> Answer {
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Answer::parse(&answer)
}

fn unix(path: &Path, target: &str, host: &str) -> Answer {
    let stream = UnixStream::connect(path).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    exchange(stream, request(target, host).as_bytes())
}

#[test]
fn a_unix_socket() {
    let directory = directory("[server]\nsocket_mode = \"0640\"\naccess_log = true\n");
    let path = directory.path().join("salver.sock");
    let listen = format!("unix:{}", path.display());
    // What a server left behind that was killed.
    drop(UnixListener::bind(&path).expect("a socket"));
    let mut served = Served::start(serve(directory.path(), &listen));
    assert_eq!(served.place, listen);
    assert_eq!(std::fs::metadata(&path).expect("the socket").permissions().mode() & 0o7777, 0o640);
    until("the server is ready", || unix(&path, "/ready", "localhost").status == 200);
    let answer = unix(&path, "/api/tables/people?limit=1", "localhost");
    assert_eq!((answer.status, answer.text()), (200, "[{\"id\":1,\"name\":\"ann\"}]"));
    // The rules are those of a server on loopback, and who comes by the socket is on this machine.
    assert_eq!(unix(&path, "/api/tables/people", "evil.example").status, 403);
    assert!(unix(&path, "/ready", "localhost").json()["held"].is_array());
    let own = Command::new("id").arg("-u").output().expect("id");
    let own = String::from_utf8(own.stdout).expect("a number");
    served.until_logged(&format!("address=unix:{}", own.trim()));
    // HTTP/2, for which the first bytes are looked at before they are read.
    let socket = path.to_str().expect("a path");
    for version in ["--http2-prior-knowledge", "--http1.1"] {
        let said = Command::new("curl")
            .args(["-sS", "--max-time", "60", version, "-w", "\n%{http_version}", "--unix-socket", socket])
            .args(["-d", "select name from people where id = 2", "http://localhost/api/sql"])
            .output()
            .expect("curl");
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.starts_with("[{\"name\":\"bob\"}]\n"), "{version}: {said}");
        assert!(said.ends_with(if version == "--http1.1" { "1.1" } else { "2" }), "{version}: {said}");
    }
    let second = refusal(serve(directory.path(), &listen));
    assert!(second.contains("another server answers there") && second.contains("hint: "), "{second}");
    assert_eq!(unix(&path, "/health", "localhost").status, 200, "and it does");
    served.signal("-TERM");
    assert!(served.child.wait().expect("its end").success());
    assert!(!path.exists());
    // One that is killed leaves its file, and the next takes the place.
    let mut killed = Served::start(serve(directory.path(), &listen));
    killed.child.kill().expect("it is killed");
    killed.child.wait().expect("its end");
    assert!(path.exists());
    let next = Served::start(serve(directory.path(), &listen));
    assert_eq!(unix(&path, "/health", "localhost").status, 200);
    drop(next);
    std::fs::remove_file(&path).expect("the socket");
    std::fs::write(&path, "precious").expect("a file");
    let refused = refusal(serve(directory.path(), &listen));
    assert!(refused.contains("a file that is no socket is there"), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), "precious");
    let nowhere = refusal(serve(directory.path(), "unix:/nowhere/at/all.sock"));
    assert!(nowhere.contains("its directory is not there"), "{nowhere}");
}

/// A server to which `descriptor` is handed over as systemd does it.
pub(super) fn activated(directory: &Path, descriptor: OwnedFd, listen: &str, variables: &str) -> Command {
    let script = format!("exec 3<&0 0</dev/null; export {variables}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, PROGRAM, "serve", "--listen", listen]).arg(directory).stdin(descriptor);
    command
}

/// What a service manager is told.
struct Manager(UnixDatagram);

impl Manager {
    fn at(path: &Path) -> Self {
        let told = UnixDatagram::bind(path).expect("a socket");
        told.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        Self(told)
    }

    /// The next message, of any kind.
    #[track_caller]
    fn any(&self) -> String {
        let mut buffer = [0; 1_000];
        let count = self.0.recv(&mut buffer).expect("a message");
        String::from_utf8(buffer[..count].to_vec()).expect("text")
    }

    /// The next message of those that say where the server is in its life.
    #[track_caller]
    fn next(&self) -> String {
        loop {
            let message = self.any();
            if !message.starts_with("STATUS=") && message != "WATCHDOG=1" {
                return message;
            }
        }
    }
}

#[test]
fn systemd() {
    let directory = directory("");
    let manager = Manager::at(&directory.path().join("notify"));
    let receive = || manager.next();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    // A client that comes before the server is there waits for it.
    let early = TcpStream::connect(address).expect("a connection");
    early.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    let mut command = activated(directory.path(), listener.into(), "systemd", "LISTEN_PID=$$ LISTEN_FDS=1");
    command.env("NOTIFY_SOCKET", directory.path().join("notify"));
    let mut served = Served::start(command);
    assert_eq!(served.place, format!("http://{address}"));
    assert_eq!(receive(), "READY=1");
    let host = address.to_string();
    let rows = exchange(early, request("/api/tables/people?limit=1", &host).as_bytes());
    assert_eq!((rows.status, rows.text()), (200, "[{\"id\":1,\"name\":\"ann\"}]"), "loaded when it is ready");
    for settings in ["", "what is no setting"] {
        std::fs::write(directory.path().join("salver.toml"), settings).expect("a file");
        served.signal("-HUP");
        let reloading = receive();
        let time = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").map(str::parse::<u64>);
        assert!(matches!(time, Some(Ok(1..))), "{reloading}");
        assert_eq!(receive(), "READY=1", "{settings}");
    }
    served.signal("-TERM");
    assert_eq!(receive(), "STOPPING=1");
    assert!(served.child.wait().expect("its end").success());
}

/// What systemd shows of a server, and by what it knows that it is alive.
#[test]
fn the_state_and_the_watchdog_of_systemd() {
    let directory = directory("");
    std::fs::write(directory.path().join("broken.json"), "{").expect("a file");
    let manager = Manager::at(&directory.path().join("notify"));
    let mut command = serve(directory.path(), "127.0.0.1:0");
    command.env("NOTIFY_SOCKET", directory.path().join("notify")).env("WATCHDOG_USEC", "200000");
    let mut served = Served::start(command);
    let (mut states, mut alive) = (Vec::new(), 0);
    while alive < 5 || states.last().is_none_or(|state| state != "STATUS=1 entry is served, 1 can't be loaded") {
        match manager.any() {
            message if message == "WATCHDOG=1" => alive += 1,
            message if message.starts_with("STATUS=") => states.push(message),
            message => assert_eq!(message, "READY=1"),
        }
    }
    // What comes later is told, too.
    std::fs::write(directory.path().join("pets.csv"), "id\n1\n").expect("a file");
    served.signal("-HUP");
    while manager.any() != "STATUS=2 entries are served, 1 can't be loaded" {}
    served.signal("-TERM");
    while manager.any() != "STOPPING=1" {}
    assert!(served.child.wait().expect("its end").success());
    // What is meant for another process is not answered, and what is no time is said.
    for (name, value) in [("WATCHDOG_PID", "1"), ("WATCHDOG_USEC", "soon")] {
        let manager = Manager::at(&directory.path().join(name));
        let mut command = serve(directory.path(), "127.0.0.1:0");
        command.env("NOTIFY_SOCKET", directory.path().join(name)).env("WATCHDOG_USEC", "200000").env(name, value);
        let mut served = Served::start(command);
        if value == "soon" {
            served.until_logged("WATCHDOG_USEC is no time");
        }
        served.signal("-TERM");
        loop {
            match manager.any() {
                message if message == "STOPPING=1" => break,
                message => assert_ne!(message, "WATCHDOG=1"),
            }
        }
        assert!(served.child.wait().expect("its end").success());
    }
}

#[test]
fn a_unix_socket_of_systemd() {
    let directory = directory("");
    let path = directory.path().join("salver.sock");
    let descriptor = || OwnedFd::from(UnixListener::bind(&path).expect("a socket"));
    // Taken also where the settings name something else.
    let variables = "LISTEN_PID=$$ LISTEN_FDS=1";
    let served = Served::start(activated(directory.path(), descriptor(), "127.0.0.1:0", variables));
    assert_eq!(served.place, format!("unix:{}", path.display()));
    assert_eq!(unix(&path, "/health", "localhost").status, 200);
    let mut served = served;
    served.signal("-TERM");
    assert!(served.child.wait().expect("its end").success());
    assert!(path.exists(), "it belongs to systemd");
    std::fs::remove_file(&path).expect("the socket");
    std::fs::write(directory.path().join("salver.toml"), "[server]\nfirewall = [\"10.0.0.0/8\"]\n").expect("a file");
    let refused = refusal(activated(directory.path(), descriptor(), "systemd", variables));
    assert!(refused.contains("`server.firewall` would let nobody in"), "{refused}");
}

#[test]
fn what_systemd_did_not_mean() {
    let directory = directory("");
    let file = || OwnedFd::from(std::fs::File::open(directory.path().join("people.csv")).expect("a file"));
    let tcp = || TcpListener::bind("127.0.0.1:0").expect("a free port");
    let alone = refusal(serve(directory.path(), "systemd"));
    assert!(alone.contains("handed over no socket") && alone.contains("hint: "), "{alone}");
    for (variables, descriptor, expected) in [
        ("LISTEN_PID=1 LISTEN_FDS=1", tcp().into(), "handed over no socket"),
        ("LISTEN_PID=$$ LISTEN_FDS=0", tcp().into(), "handed over no socket"),
        ("LISTEN_PID=$$ LISTEN_FDS=1", file(), "descriptor 3 is not a socket"),
        ("LISTEN_PID=$$ LISTEN_FDS=200", tcp().into(), "more than a server listens on"),
        ("LISTEN_PID=$$ LISTEN_FDS=64", tcp().into(), "not all of these descriptors are open"),
        ("LISTEN_PID=$$ LISTEN_FDS=-1", tcp().into(), "which is no number"),
        ("LISTEN_PID=$$", tcp().into(), "which is no number"),
    ] {
        let told = refusal(activated(directory.path(), descriptor, "systemd", variables));
        assert!(told.contains(expected), "{variables}: {told}");
    }
    let other = tcp();
    let connected = TcpStream::connect(other.local_addr().expect("an address")).expect("a connection");
    let told = refusal(activated(directory.path(), connected.into(), "systemd", "LISTEN_PID=$$ LISTEN_FDS=1"));
    assert!(told.contains("descriptor 3 does not listen"), "{told}");
    // What is meant for another process is left alone.
    let listener = tcp();
    let own = listener.local_addr().expect("its address");
    let served =
        Served::start(activated(directory.path(), listener.into(), "127.0.0.1:0", "LISTEN_PID=1 LISTEN_FDS=1"));
    assert_ne!(served.place, format!("http://{own}"));
    // Nobody listens there to be told anything, and the server serves.
    let mut command = serve(directory.path(), "127.0.0.1:0");
    command.env("NOTIFY_SOCKET", directory.path().join("nobody"));
    let served = Served::start(command);
    served.until_logged("can't be told `READY=1`");
}

/// A connection from another address of this machine, which stands for that of a proxy.
fn from_proxy(to: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from(([127, 0, 0, 2], 0)).into()).expect("another address of loopback");
    socket.connect(&to.into()).expect("a connection");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    stream
}

fn from_here(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    stream
}

fn first(source: &str) -> Vec<u8> {
    format!("PROXY TCP4 {source} 10.0.0.1 4711 80\r\n").into_bytes()
}

/// A header of version 2 with some extensions, of a connection over IPv6 from 2001:db8::7.
fn second() -> Vec<u8> {
    let mut addresses = vec![0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
    addresses.extend([0; 20]);
    addresses.extend([4; 1_500]);
    let length = u16::try_from(addresses.len()).expect("a length").to_be_bytes();
    [b"\r\n\r\n\0\r\nQUIT\n\x21\x21".as_slice(), &length, &addresses].concat()
}

/// A header of version 2 for a connection of the proxy's own.
const LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00";

#[test]
fn the_proxy_protocol() {
    let directory = directory(
        "[server]\nproxy_protocol = [\"127.0.0.2\"]\nfirewall = [\"192.0.2.0/24\", \"2001:db8::/32\", \"127.0.0.1\"]\n\
         access_log = true\n[limits]\nhead_ms_max = 1000\n[[role]]\nname = \"near\"\naddresses = [\"192.0.2.7\"]\n\
         [[access]]\nroles = [\"near\"]\nentries = [\"*\"]\n",
    );
    let served = Served::start(serve(directory.path(), "127.0.0.1:0"));
    let address: SocketAddr = served.place.strip_prefix("http://").and_then(|text| text.parse().ok()).expect("a place");
    until("the server is ready", || {
        exchange(from_here(address), request("/ready", "localhost").as_bytes()).status == 200
    });
    let get = request("/api/tables/people?limit=1", "localhost").into_bytes();
    let with = |header: &[u8]| exchange(from_proxy(address), &[header, &get].concat());
    // The address of the header is the client's, for access rules and the firewall, which see no other.
    for (header, status) in [
        (first("192.0.2.7"), 200),
        (first("192.0.2.8"), 404),
        (first("198.51.100.1"), 403),
        (second(), 404),
        (LOCAL.to_vec(), 403),
        (b"PROXY UNKNOWN\r\n".to_vec(), 403),
    ] {
        assert_eq!(with(&header).status, status, "{}", String::from_utf8_lossy(&header));
    }
    served.until_logged("address=192.0.2.7");
    served.until_logged("address=2001:db8::7");
    served.until_logged("address=127.0.0.2");
    // A proxy without a header says nothing of whose connection it is.
    for bytes in
        [get.clone(), b"PROXY TCP4 192.0.2.7\r\n".to_vec(), [b"PROXY TCP4 x y 1 2\r\n", get.as_slice()].concat()]
    {
        assert_eq!(exchange(from_proxy(address), &bytes).body, b"", "{}", String::from_utf8_lossy(&bytes));
    }
    // One that never ends is given up.
    assert_eq!(exchange(from_proxy(address), b"PROXY TCP4 192.0.2.7 10.").body, b"");
    assert_eq!(exchange(from_proxy(address), &second()[..20]).body, b"");
    // One that comes in parts is whole in the end, and what follows it is not touched.
    let mut parts = from_proxy(address);
    parts.set_nodelay(true).expect("an option");
    let bytes = [second(), request("/health", "localhost").into_bytes()].concat();
    for part in bytes.chunks(400) {
        parts.write_all(part).expect("bytes");
        parts.flush().expect("bytes");
    }
    assert_eq!(exchange(parts, b"").status, 200);
    // Nobody else is believed.
    let other = exchange(from_here(address), &[first("192.0.2.7"), get.clone()].concat());
    assert_ne!(other.status, 200, "{other:?}");
    assert_eq!(exchange(from_here(address), &get).status, 404, "without a role");
}

#[test]
fn the_proxy_protocol_at_a_unix_socket() {
    let directory = directory("[server]\nproxy_protocol = [\"unix\"]\nfirewall = [\"192.0.2.0/24\"]\n");
    let path = directory.path().join("salver.sock");
    let _served = Served::start(serve(directory.path(), &format!("unix:{}", path.display())));
    let with = |header: &[u8], target: &str| {
        let stream = UnixStream::connect(&path).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        exchange(stream, &[header, request(target, "localhost").as_bytes()].concat())
    };
    until("the server is ready", || with(LOCAL, "/ready").status == 200);
    assert_eq!(with(&first("192.0.2.7"), "/api/tables/people").status, 200);
    assert_eq!(with(&first("198.51.100.1"), "/api/tables/people").status, 403);
    assert_eq!(with(LOCAL, "/api/tables/people").status, 403, "without an address");
    assert_eq!(with(b"", "/health").body, b"");
}

#[test]
fn connections_of_one_address() {
    let directory =
        directory("[server]\nproxy_protocol = [\"127.0.0.2\"]\n[limits]\nconnections_per_address_max = 2\n");
    let served = Served::start(serve(directory.path(), "127.0.0.1:0"));
    let address: SocketAddr = served.place.strip_prefix("http://").and_then(|text| text.parse().ok()).expect("a place");
    let ask = |stream: &mut BufReader<TcpStream>| {
        stream.get_mut().write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").is_ok() && {
            let mut line = String::new();
            let is_answered = stream.read_line(&mut line).is_ok_and(|_| line.starts_with("HTTP/1.1 200"));
            while is_answered && line != "\r\n" {
                line.clear();
                stream.read_line(&mut line).expect("a head");
            }
            let mut body = [0; 2];
            is_answered && stream.read_exact(&mut body).is_ok()
        }
    };
    let open = |source: &str| {
        let mut stream = from_proxy(address);
        stream.write_all(&first(source)).expect("a header");
        let mut stream = BufReader::new(stream);
        assert!(ask(&mut stream), "{source}");
        stream
    };
    let others: Vec<_> = ["192.0.2.8", "192.0.2.8", "127.0.0.1", "127.0.0.1", "127.0.0.1"].map(open).into();
    let own = ["192.0.2.7", "192.0.2.7", "192.0.2.7"].map(open);
    let [mut oldest, mut second, mut third] = own;
    // It was closed for the third, and nobody else's was.
    assert!(!ask(&mut oldest) && ask(&mut second) && ask(&mut third));
    for mut other in others {
        assert!(ask(&mut other));
    }
}

/// Only the operator's proxy says that a client used TLS.
#[test]
fn who_says_that_a_client_used_tls() {
    let stream = "[[stream]]\nname = \"clicks\"\n";
    for (settings, scheme) in [("", "http"), ("[server]\nreverse_proxy = true\n", "https")] {
        let process = Process::start(&format!("{settings}{stream}"));
        let headers = [("x-forwarded-proto", "https"), ("content-type", "application/vnd.kafka.v2+json")];
        let body = b"{\"name\":\"one\",\"format\":\"json\"}";
        let made =
            Client::new(process.address()).send("POST", "/consumers/g", &headers, Some(body)).expect("an answer");
        assert_eq!(made.status, 200, "{made:?}");
        let base = format!("{scheme}://{}/consumers/g/instances/one", process.address());
        assert_eq!(made.json()["base_uri"], base, "{settings}");
    }
}
