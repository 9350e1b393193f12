//! The stores: moto for S3, fake-gcs-server for Google, Azurite for Azure. Each is started once and shared, and a test
//! has a bucket of its own. They end with the test process.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::hmac;

use crate::client::Client;

/// The secret that servers are told.
pub(super) const SECRET: &str = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d";
/// As `xtask/setup.sh` has it.
const GCS_VERSION: &str = "1.56.1";
/// Azurite's own account, and its key, which are public.
const ACCOUNT: &str = "devstoreaccount1";
const ACCOUNT_KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
/// Any time: Azurite asks for one.
const DATE: &str = "x-ms-date";
/// How long a server may take to start.
const PATIENCE: Duration = Duration::from_secs(120);

/// A system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    S3,
    Google,
    Azure,
}

impl System {
    pub(super) const ALL: [Self; 3] = [Self::S3, Self::Google, Self::Azure];
}

/// A fresh bucket.
#[derive(Debug)]
pub(super) struct Store {
    system: System,
    address: String,
    bucket: String,
}

/// A running server. A shell waits for the end of the test process and ends it then.
struct Running {
    address: String,
    _shell: Mutex<Child>,
}

impl Store {
    /// A bucket of the system's server; `None` where that is not installed.
    pub(super) fn of(system: System) -> Option<Self> {
        static SERVERS: [OnceLock<Option<Running>>; 3] = [const { OnceLock::new() }; 3];
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let server = SERVERS[system as usize].get_or_init(|| start(system)).as_ref()?;
        let bucket = format!("bucket-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let store = Self { system, address: server.address.clone(), bucket };
        store.create();
        Some(store)
    }

    /// Where its server is.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The source for a key or a pattern.
    pub(super) fn source(&self, key: &str) -> String {
        let scheme = match self.system {
            System::S3 => "s3",
            System::Google => "gs",
            System::Azure => "az",
        };
        format!("{scheme}://{}/{key}", self.bucket)
    }

    /// The settings by which it is reached, by way of `address` if that is given.
    pub(super) fn settings(&self, address: Option<&str>) -> String {
        let address = address.unwrap_or(&self.address);
        match self.system {
            System::S3 => {
                format!("store_endpoint = \"http://{address}\"\nstore_key_id = \"key\"\nstore_secret = \"{SECRET}\"\n")
            }
            System::Google => format!("store_endpoint = \"http://{address}\"\nstore_anonymous = true\n"),
            System::Azure => format!(
                "store_endpoint = \"http://{address}/{ACCOUNT}\"\nstore_account = \"{ACCOUNT}\"\n\
                 store_secret = \"{ACCOUNT_KEY}\"\n"
            ),
        }
    }

    fn create(&self) {
        let bucket = &self.bucket;
        match self.system {
            System::S3 => self.send("PUT", &format!("/{bucket}"), b""),
            System::Google => {
                self.send("POST", "/storage/v1/b?project=test", format!("{{\"name\":\"{bucket}\"}}").as_bytes());
            }
            System::Azure => self.send("PUT", &format!("/{ACCOUNT}/{bucket}?restype=container"), b""),
        }
    }

    /// Writes an object.
    pub(super) fn put(&self, key: &str, bytes: &[u8]) {
        let (bucket, name) = (&self.bucket, encoded(key));
        match self.system {
            System::S3 => self.send("PUT", &format!("/{bucket}/{name}"), bytes),
            System::Google => {
                let name = name.replace('/', "%2F");
                self.send("POST", &format!("/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"), bytes);
            }
            System::Azure => self.send("PUT", &format!("/{ACCOUNT}/{bucket}/{name}"), bytes),
        }
    }

    /// Deletes an object.
    pub(super) fn delete(&self, key: &str) {
        let (bucket, name) = (&self.bucket, encoded(key));
        match self.system {
            System::S3 => self.send("DELETE", &format!("/{bucket}/{name}"), b""),
            System::Google => {
                self.send("DELETE", &format!("/storage/v1/b/{bucket}/o/{}", name.replace('/', "%2F")), b"");
            }
            System::Azure => self.send("DELETE", &format!("/{ACCOUNT}/{bucket}/{name}"), b""),
        }
    }

    fn send(&self, method: &str, target: &str, body: &[u8]) {
        // moto asks who it is and believes it.
        let signed =
            "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
        let mut headers = match self.system {
            System::S3 => {
                vec![("authorization", signed.to_owned()), ("content-type", "application/octet-stream".into())]
            }
            System::Google => vec![("content-type", "application/json".to_owned())],
            System::Azure => azure_headers(method, target, body.len()),
        };
        let headers: Vec<(&str, &str)> = headers.iter_mut().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = Client::new(&self.address).send(method, target, &headers, Some(body)).expect("an answer");
        assert!((200..300).contains(&answer.status), "{method} {target}: {} {}", answer.status, answer.body);
    }
}

/// The headers of a request to Azurite, with their signature.
fn azure_headers(method: &str, target: &str, length: usize) -> Vec<(&'static str, String)> {
    let date = http_date();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut resource = format!("/{ACCOUNT}{path}");
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        resource.push('\n');
        resource.push_str(&pair.replacen('=', ":", 1));
    }
    let is_blob = method == "PUT" && query.is_empty();
    let kind = if is_blob { "x-ms-blob-type:BlockBlob\n" } else { "" };
    let length = if length == 0 { String::new() } else { length.to_string() };
    let text =
        format!("{method}\n\n\n{length}\n\n\n\n\n\n\n\n\n{kind}{DATE}:{date}\nx-ms-version:2021-08-06\n{resource}");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &BASE64_STANDARD.decode(ACCOUNT_KEY).expect("a key"));
    let signature = BASE64_STANDARD.encode(hmac::sign(&key, text.as_bytes()));
    let mut headers = vec![
        (DATE, date),
        ("x-ms-version", "2021-08-06".to_owned()),
        ("authorization", format!("SharedKey {ACCOUNT}:{signature}")),
    ];
    if is_blob {
        headers.push(("x-ms-blob-type", "BlockBlob".to_owned()));
    }
    headers
}

/// The time as HTTP writes it, by the system's own tool.
fn http_date() -> String {
    let told = Command::new("date").args(["-u", "+%a, %d %b %Y %H:%M:%S GMT"]).env("LC_ALL", "C").output();
    String::from_utf8(told.expect("a date").stdout).expect("text").trim().to_owned()
}

/// A key as it stands in the path of a URL.
pub(super) fn encoded(key: &str) -> String {
    let mut text = String::new();
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

fn cache() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    cache.unwrap_or_default().join("salver")
}

/// The program of a system's server, and its arguments for a port.
fn command(system: System, port: u16) -> (PathBuf, Vec<String>) {
    let port = port.to_string();
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    match system {
        System::S3 => (cache().join("python/bin/moto_server"), words(&["-H", "127.0.0.1", "-p", &port])),
        System::Google => {
            let host = format!("127.0.0.1:{port}");
            let arguments =
                ["-scheme", "http", "-host", "127.0.0.1", "-port", &port, "-public-host", &host, "-backend", "memory"];
            (cache().join("gcs").join(GCS_VERSION).join("fake-gcs-server"), words(&arguments))
        }
        System::Azure => {
            let arguments = [
                "--blobHost",
                "127.0.0.1",
                "--blobPort",
                &port,
                "--inMemoryPersistence",
                "--silent",
                "--skipApiVersionCheck",
                "--disableTelemetry",
            ];
            (cache().join("node/node_modules/.bin/azurite-blob"), words(&arguments))
        }
    }
}

/// Starts a server; `None` where it is not installed.
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn start(system: System) -> Option<Running> {
    if !command(system, 0).0.exists() {
        eprintln!("left out: there is no server for {system:?}; `xtask/setup.sh test` installs it");
        return None;
    }
    // Another process may take a port before the server does.
    let running = (0..5).find_map(|_| run(system));
    Some(running.unwrap_or_else(|| panic!("the server for {system:?} does not start")))
}

fn run(system: System) -> Option<Running> {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let (program, arguments) = command(system, port);
    let mut shell = Command::new("sh")
        .args(["-c", "\"$@\" >/dev/null 2>&1 </dev/null & server=$!; read -r _; kill -9 $server", "guard"])
        .arg(program)
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let address = format!("127.0.0.1:{port}");
    let patience = Instant::now() + PATIENCE;
    let is_up = || Client::new(&address).send("GET", "/", &[], None).is_ok();
    while !(TcpStream::connect(&address).is_ok() && is_up()) {
        if Instant::now() > patience {
            let _ = shell.kill().and_then(|()| shell.wait().map(drop));
            return None;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(Running { address, _shell: Mutex::new(shell) })
}
