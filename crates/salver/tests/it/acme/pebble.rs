//! Pebble, the authority for tests of those who made Let's Encrypt: it checks names as that does, by a connection, to
//! which names lead that are known here alone.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};

use super::{curl, free_address};
use crate::it::served::until;

/// As `xtask/setup.sh` has it.
const VERSION: &str = "2.10.3";

/// A running authority; ends with the value.
pub(super) struct Pebble {
    child: Child,
    directory: tempfile::TempDir,
    address: String,
    management: String,
    way: Arc<Way>,
}

/// Where the connections go by which names are checked.
#[derive(Default)]
struct Way {
    target: Mutex<Option<String>>,
    changed: Condvar,
}

impl Way {
    fn target(&self) -> String {
        let mut target = self.target.lock().unwrap();
        loop {
            match &*target {
                Some(found) => return found.clone(),
                None => target = self.changed.wait(target).unwrap(),
            }
        }
    }
}

impl Pebble {
    /// Starts an authority whose certificates are valid for so many seconds; `None` where it is not installed.
    #[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
    pub(super) fn start(valid_s: u64) -> Option<Self> {
        let Some(program) = program() else {
            eprintln!("left out: Pebble is not there; with Go, `xtask/setup.sh test` installs it");
            return None;
        };
        let way = Arc::new(Way::default());
        let (port, names) = (relay(Arc::clone(&way)), names());
        let directory = tempfile::tempdir().expect("a directory");
        certificate(directory.path());
        // Another process may take a port before Pebble does.
        let (child, address, management) = (0..5)
            .find_map(|_| run(&program, directory.path(), (port, valid_s), &names))
            .expect("the authority starts");
        Some(Self { child, directory, address, management, way })
    }

    /// What of `[server]` names it.
    pub(super) fn settings(&self) -> String {
        let trusted = self.directory.path().join("cert.pem");
        format!("acme_directory = \"https://{}/dir\"\nacme_ca = \"{}\"\n", self.address, trusted.display())
    }

    /// Lets it find an address under every name.
    pub(super) fn leads_to(&self, address: &str) {
        *self.way.target.lock().unwrap() = Some(address.to_owned());
        self.way.changed.notify_all();
    }

    /// A file with the certificate that those that it makes lead to.
    pub(super) fn root(&self) -> PathBuf {
        let path = self.directory.path().join("root.pem");
        let trusted = self.directory.path().join("cert.pem");
        let url = format!("https://{}/roots/0", self.management);
        let root = curl(&["-f", "--cacert", trusted.to_str().expect("a path"), &url]).expect("a root");
        std::fs::write(&path, root).expect("a file");
        path
    }

    /// Ends it.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        self.kill();
    }
}

fn program() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?;
    Some(cache.join(format!("salver/pebble/{VERSION}/pebble"))).filter(|program| program.exists())
}

/// Starts the program; `None` when it ends before it answers.
fn run(program: &Path, directory: &Path, (port, valid_s): (u16, u64), names: &str) -> Option<(Child, String, String)> {
    let (address, management) = (free_address(), free_address());
    let settings = serde_json::json!({ "pebble": {
        "listenAddress": address,
        "managementListenAddress": management,
        "certificate": directory.join("cert.pem"),
        "privateKey": directory.join("key.pem"),
        "httpPort": 1,
        "tlsPort": port,
        "retryAfter": { "authz": 1, "order": 1 },
        "keyAlgorithm": "ecdsa",
        "profiles": { "default": { "description": "for tests", "validityPeriod": valid_s } },
    } });
    let path = directory.join("pebble.json");
    std::fs::write(&path, settings.to_string()).expect("a file");
    let mut child = Command::new(program)
        .arg("-config")
        .arg(&path)
        .args(["-dnsserver", names])
        .env("PEBBLE_VA_NOSLEEP", "1")
        .env("PEBBLE_AUTHZREUSE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the authority");
    let trusted = directory.join("cert.pem");
    let trusted = trusted.to_str().expect("a path");
    let answers = |url: String| curl(&["-f", "--cacert", trusted, &url]).is_ok();
    let mut has_ended = false;
    until("the authority answers", || {
        has_ended = matches!(child.try_wait(), Ok(Some(_)));
        has_ended || answers(format!("https://{address}/dir")) && answers(format!("https://{management}/roots/0"))
    });
    if has_ended { None } else { Some((child, address, management)) }
}

/// Makes the certificate of the authority's own pages.
fn certificate(directory: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=pebble", "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(directory)
        .output()
        .expect("openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Passes connections on to where names lead, as soon as that is known. Returns the port.
fn relay(way: Arc<Way>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let way = Arc::clone(&way);
            std::thread::spawn(move || {
                let Ok(server) = TcpStream::connect(way.target()) else { return };
                let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { return };
                std::thread::spawn(move || pass(from, to));
                pass(server, client);
            });
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// A server of names that knows 127.0.0.1 under each. Returns its address.
fn names() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            std::thread::spawn(move || name(connection));
        }
    });
    address
}

/// Answers the queries of a connection (RFC 1035, sections 4.1 and 4.2.2).
fn name(mut connection: TcpStream) -> Option<()> {
    loop {
        let mut length = [0; 2];
        connection.read_exact(&mut length).ok()?;
        let mut query = vec![0; usize::from(u16::from_be_bytes(length))];
        connection.read_exact(&mut query).ok()?;
        // The question: labels until an empty one, then type and class.
        let end = 12 + query.get(12..)?.iter().position(|byte| *byte == 0)? + 5;
        let question = query.get(12..end)?;
        let is_address = question[question.len() - 4..] == [0, 1, 0, 1];
        let mut answer = query[..2].to_vec();
        answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_address), 0, 0, 0, 0]);
        answer.extend(question);
        if is_address {
            answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
        }
        let length = u16::try_from(answer.len()).ok()?.to_be_bytes();
        connection.write_all(&[length.as_slice(), &answer].concat()).ok()?;
    }
}
