//! TLS, asked by curl: what it speaks, what comes without it, and certificates that change under load.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::process::Process;

const ROWS: &str = "id,name\n1,ann\n2,bob\n";
const SETTINGS: &str = "[server]\ntls_certificate = \"cert.pem\"\ntls_key = \"key.pem\"\n";

/// A certificate for this machine and its key, as PEM.
fn certificate() -> (String, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(directory.path())
        .output()
        .expect("openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = |name: &str| std::fs::read_to_string(directory.path().join(name)).expect("a file");
    (text("cert.pem"), text("key.pem"))
}

/// A server with TLS, and all certificates that its clients trust.
struct Served {
    process: Process,
    trusted: PathBuf,
    _directory: tempfile::TempDir,
}

impl Served {
    fn new(settings: &str) -> Self {
        let (cert, key) = certificate();
        let files = [("cert.pem", cert.as_str()), ("key.pem", &key), ("people.csv", ROWS)];
        let process = Process::started_with(&format!("{SETTINGS}{settings}"), &files);
        let directory = tempfile::tempdir().expect("a directory");
        let trusted = directory.path().join("trusted.pem");
        std::fs::write(&trusted, cert).expect("a file");
        let served = Self { process, trusted, _directory: directory };
        let until = Instant::now() + Duration::from_secs(60);
        while !served.curl(&["-f"], "/ready").is_ok_and(|text| text.contains("\"ready\":true")) {
            assert!(Instant::now() < until, "the server is not ready");
            std::thread::sleep(Duration::from_millis(20));
        }
        served
    }

    /// What curl says; its error otherwise.
    fn curl(&self, options: &[&str], target: &str) -> Result<String, String> {
        let url = format!("https://{}{target}", self.process.address());
        curl(&[&["--cacert", self.trusted.to_str().expect("a path")], options, &[&url]].concat())
    }

    /// Replaces a file as tools that renew certificates do.
    fn put(&self, name: &str, text: &str) {
        let path = self.process.directory().join(name);
        let beside = path.with_extension("new");
        std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &path)).expect("a file");
    }

    /// The certificate that the server shows, as text.
    fn shown(&self) -> String {
        let output = Command::new("openssl")
            .args(["s_client", "-connect", self.process.address(), "-servername", "localhost"])
            .stdin(std::process::Stdio::null())
            .output()
            .expect("openssl");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let begin = text.find("-----BEGIN CERTIFICATE-----").unwrap_or_else(|| panic!("no certificate: {text}"));
        let end = text[begin..].find("-----END CERTIFICATE-----").expect("its end");
        text[begin..begin + end].split_whitespace().collect()
    }
}

fn curl(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("curl").args(["-sS", "--max-time", "30"]).args(arguments).output().expect("curl");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[test]
fn both_versions_of_both() {
    let served = Served::new("[[stream]]\nname = \"clicks\"\n");
    let written = "\n%{http_version} %{ssl_verify_result}";
    for (options, version) in [
        (vec!["--http1.1"], "1.1"),
        (vec!["--http2"], "2"),
        (vec!["--tlsv1.2", "--tls-max", "1.2"], "2"),
        (vec!["--tlsv1.3"], "2"),
    ] {
        let options = [options.as_slice(), &["-w", written]].concat();
        let said = served.curl(&options, "/api/tables/people?filter%5Bid%5D=2").expect("an answer");
        assert_eq!(said, format!("[{{\"id\":2,\"name\":\"bob\"}}]\n{version} 0"), "{options:?}");
    }
    let old = served.curl(&["--tlsv1.0", "--tls-max", "1.1"], "/health");
    assert!(old.is_err(), "TLS 1.1: {old:?}");
    let whole = served.curl(&[], "/api/tables/people").expect("rows");
    for version in ["--http1.1", "--http2"] {
        let head = served.curl(&["-f", "-I", version], "/api/tables/people").expect("a head");
        let length = format!("content-length: {}\r\n", whole.len());
        assert!(head.to_ascii_lowercase().contains(&length), "{head}");
    }
    // One connection for several requests, with bodies in both directions.
    let events = r#"{"a":1}"#;
    let many = served.curl(&["-d", events, "-H", "content-type: application/json"], "/api/streams/clicks");
    let many: serde_json::Value = serde_json::from_str(&many.expect("an answer")).expect("JSON");
    assert_eq!((&many["taken"], &many["quarantined"]), (&1.into(), &0.into()), "{many}");
    let large = served.curl(&["-d", "select i, repeat('x', 1000) t from range(20000) r(i)"], "/api/sql").expect("rows");
    assert!(large.len() > 20_000_000 && large.ends_with(']'), "{} bytes", large.len());
}

#[test]
fn without_tls() {
    for (settings, status) in [("", "400"), ("ssl_redirect = true\n", "301")] {
        let served = Served::new(settings);
        let url = format!("http://{}/api/tables/people?limit=1", served.process.address());
        let said = curl(&["-w", "\n%{http_code} %{redirect_url}", &url]).expect("an answer");
        let (body, end) = said.rsplit_once('\n').expect("two lines");
        if status == "301" {
            assert_eq!(end, format!("301 {}", url.replacen("http", "https", 1)));
            // And over TLS there is nothing to send on.
            assert!(served.curl(&["-f"], "/health").is_ok());
        } else {
            assert_eq!(end.trim(), "400");
            assert!(body.contains("this port speaks TLS") && body.contains("https://"), "{body}");
        }
        let posted = curl(&["-w", "\n%{http_code}", "-d", "select 1", &url]).expect("an answer");
        assert!(posted.ends_with(if status == "301" { "308" } else { "400" }), "{posted}");
        let foreign = curl(&["-w", "\n%{http_code}", "-H", "host: evil.example", &url]).expect("an answer");
        assert!(foreign.ends_with("403") && !foreign.contains("https://evil"), "{foreign}");
        // Also in HTTP/2, and for what is no HTTP at all.
        let second = curl(&["--http2-prior-knowledge", "-w", "\n%{http_code}", &url]).expect("an answer");
        assert!(second.ends_with(status), "{second}");
        let mut raw = TcpStream::connect(served.process.address()).expect("a connection");
        raw.write_all(b"\x16\x03\x01\x00\x05hello").expect("bytes");
        let mut answer = Vec::new();
        let _ = raw.read_to_end(&mut answer);
        assert!(!answer.windows(4).any(|four| four == b"HTTP"), "{answer:?}");
    }
}

/// Pages that came without TLS are somebody's on the way, also those of the same host.
#[test]
fn pages_without_tls_are_foreign() {
    let served = Served::new("[[stream]]\nname = \"clicks\"\n");
    for (scheme, status) in [("https", "200"), ("http", "403")] {
        let origin = format!("origin: {scheme}://{}", served.process.address());
        let options = ["-w", "\n%{http_code}", "-H", &origin, "-d", "{\"a\":1}"];
        let said = served.curl(&options, "/api/streams/clicks").expect("an answer");
        assert!(said.ends_with(status), "{origin}: {said}");
    }
}

/// A client that says it came over TLS, or not, is not believed: the server knows.
#[test]
fn cookies_are_for_tls_alone() {
    let served = Served::new("xsrf = true\n[[database]]\nname = \"app\"\nurl = \"sqlite:app.db\"\nwritable = true\n");
    let said = served.curl(&["-i", "-H", "x-forwarded-proto: http"], "/api/records/none").expect("an answer");
    assert!(said.contains("XSRF-TOKEN=") && said.contains("; Secure"), "{said}");
}

#[test]
fn certificates_change_under_load() {
    let served = Served::new("");
    let (cert, key) = certificate();
    let first = std::fs::read_to_string(&served.trusted).expect("a file");
    std::fs::write(&served.trusted, format!("{first}{cert}")).expect("a file");
    let plain = |pem: &str| pem.split("-----END").next().expect("a part").split_whitespace().collect::<String>();
    assert_eq!(served.shown(), plain(&first));
    let (done, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let said = served.curl(&["-f"], "/api/tables/people?limit=1");
                    if said.as_deref() != Ok("[{\"id\":1,\"name\":\"ann\"}]") {
                        done.store(true, Ordering::Relaxed);
                        panic!("{said:?}");
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // The key comes later than the certificate, and between them nothing that is good.
        served.put("cert.pem", &cert);
        std::thread::sleep(Duration::from_millis(1_500));
        served.put("key.pem", "-----BEGIN PRIVATE KEY-----\nbroken");
        std::thread::sleep(Duration::from_millis(1_500));
        assert_eq!(served.shown(), plain(&first), "the last good one stays");
        served.put("key.pem", &key);
        let until = Instant::now() + Duration::from_secs(30);
        while served.shown() != plain(&cert) && Instant::now() < until && !done.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(served.shown(), plain(&cert));
    assert!(count.load(Ordering::Relaxed) > 20, "{count:?} requests");
}

#[test]
fn files_that_are_wrong() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    let ((cert, key), (_, other)) = (certificate(), certificate());
    std::fs::write(at("people.csv"), ROWS).expect("a file");
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    for (cert, key, said) in [
        (cert.as_str(), Some(other.as_str()), "is not that of the certificate in"),
        (cert.as_str(), None, "key.pem can't be read: "),
        (cert.as_str(), Some(encrypted), "key.pem has a password"),
        (key.as_str(), Some(key.as_str()), "cert.pem has no certificate"),
        (cert.as_str(), Some(cert.as_str()), "key.pem has no private key"),
    ] {
        let _ = std::fs::remove_file(at("key.pem"));
        std::fs::write(at("cert.pem"), cert).expect("a file");
        key.iter().for_each(|key| std::fs::write(at("key.pem"), key).expect("a file"));
        std::fs::write(at("salver.toml"), SETTINGS).expect("a file");
        for command in ["serve", "check"] {
            let (ended, told) = run(command, directory.path());
            assert!(!ended && told.contains(said) && told.contains("hint: "), "{command}, {said}: {told}");
        }
    }
    for odd in ["/dev/zero", "."] {
        std::fs::write(at("salver.toml"), format!("[server]\ntls_certificate = \"{odd}\"\ntls_key = \"key.pem\"\n"))
            .expect("a file");
        let (ended, told) = run("check", directory.path());
        assert!(!ended && told.contains("is not a file"), "{odd}: {told}");
    }
    std::fs::write(at("salver.toml"), SETTINGS).expect("a file");
    std::fs::write(at("cert.pem"), "x".repeat(2_000_000)).expect("a file");
    let (ended, told) = run("check", directory.path());
    assert!(!ended && told.contains("has more than 1048576 bytes"), "{told}");
    std::fs::write(at("salver.toml"), "[server]\ntls_key = \"key.pem\"\n").expect("a file");
    let (ended, told) = run("check", directory.path());
    assert!(!ended && told.contains("`tls_key` needs `tls_certificate`"), "{told}");
    std::fs::write(at("salver.toml"), "[server]\nssl_redirect = true\n").expect("a file");
    let (ended, told) = run("check", directory.path());
    assert!(!ended && told.contains("`ssl_redirect` needs"), "{told}");
}

/// Commands trust a server of one's own when they are told to, and say so at once otherwise.
#[test]
fn commands() {
    let served = Served::new("[[stream]]\nname = \"clicks\"\n");
    let url = format!("https://{}", served.process.address());
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("events.ndjson"), "{\"a\":1}\n{\"a\":2}\n").expect("a file");
    let trusted = served.trusted.to_str().expect("a path");
    let ingest = |options: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_salver"))
            .args(["ingest", "clicks", "events.ndjson", "--url", &url])
            .args(options)
            .current_dir(directory.path())
            .output()
            .expect("the program is there");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    };
    let (ended, said) = ingest(&[]);
    assert!(!ended && said.contains("UnknownIssuer") && said.contains("--cacert"), "{said}");
    let (ended, said) = ingest(&["--cacert", "none.pem"]);
    assert!(!ended && said.contains("none.pem can't be read"), "{said}");
    let (ended, said) = ingest(&["--cacert", trusted]);
    assert!(ended, "{said}");
    let rows = served.curl(&["-d", "select count(*) n from clicks"], "/api/sql").expect("rows");
    assert_eq!(rows, "[{\"n\":2}]");
}

/// Whether a command succeeds in this directory, and what it says.
fn run(command: &str, directory: &Path) -> (bool, String) {
    let mut arguments = vec![command, "--config", "salver.toml"];
    if command == "serve" {
        arguments.extend(["--listen", "127.0.0.1:0", "."]);
    }
    let output = Command::new(env!("CARGO_BIN_EXE_salver"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the program is there");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}
