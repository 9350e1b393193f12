//! Certificates from an authority: got, kept over a restart, renewed, and what happens when there is none.

mod pebble;

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use self::pebble::Pebble;
use super::served::{Served, until};

const ROWS: &str = "id,name\n1,ann\n2,bob\n";
const NAMES: [&str; 2] = ["data.example.org", "other.example.org"];
const DAY_S: u64 = 86_400;

/// A directory with something to serve.
fn directory(settings: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = format!(
        "[server]\nacme_domains = [\"{}\", \"{}\"]\nmetrics_listen = \"127.0.0.1:0\"\n{settings}",
        NAMES[0], NAMES[1]
    );
    for (name, text) in [("people.csv", ROWS), ("salver.toml", &settings)] {
        std::fs::write(directory.path().join(name), text).expect("a file");
    }
    directory
}

fn start(directory: &Path) -> Served {
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    command.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory);
    Served::start(command)
}

fn address(served: &Served) -> &str {
    served.place.strip_prefix("https://").expect("TLS")
}

/// What `/metrics` says at its own address.
fn metrics(served: &Served) -> String {
    served.until_logged("`/metrics` is served at ");
    let log = served.logged();
    let url = log.split("`/metrics` is served at ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a URL");
    curl(&["-f", url]).expect("measurements")
}

/// The value of a sample.
fn sample(page: &str, name: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

fn curl(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("curl").args(["-sS", "--max-time", "30"]).args(arguments).output().expect("curl");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Asks the server by a name, and trusts a root alone.
fn ask(served: &Served, root: &Path, name: &str) -> Result<String, String> {
    let (host, port) = address(served).rsplit_once(':').expect("a port");
    let (url, resolved) = (format!("https://{name}:{port}/api/version"), format!("{name}:{port}:{host}"));
    curl(&["-f", "--resolve", &resolved, "--cacert", root.to_str().expect("a path"), &url])
}

/// The certificate that the server shows, if it shows one.
fn shown(served: &Served, options: &[&str]) -> Option<String> {
    let output = Command::new("openssl")
        .args(["s_client", "-connect", address(served), "-servername", NAMES[0]])
        .args(options)
        .stdin(Stdio::null())
        .output()
        .expect("openssl");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let begin = text.find("-----BEGIN CERTIFICATE-----")?;
    let end = text[begin..].find("-----END CERTIFICATE-----")?;
    Some(text[begin..begin + end].split_whitespace().collect())
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

#[test]
fn a_certificate_outlives_the_authority() {
    let Some(mut pebble) = Pebble::start(90 * DAY_S) else { return };
    let directory = directory(&format!("acme_contact = \"ops@example.org\"\n{}", pebble.settings()));
    let served = start(directory.path());
    pebble.leads_to(address(&served));
    served.until_logged("made a certificate for data.example.org, other.example.org");
    let root = pebble.root();
    for name in NAMES {
        let said = ask(&served, &root, name);
        assert!(said.as_ref().is_ok_and(|said| said.contains(env!("CARGO_PKG_VERSION"))), "{name}: {said:?}");
    }
    assert!(ask(&served, &root, "third.example.org").is_err());
    let first = shown(&served, &[]).expect("a certificate");
    // Whoever asks as an authority does learns nothing, and gets no connection.
    assert_eq!(shown(&served, &["-alpn", "acme-tls/1"]), None);
    assert_eq!(shown(&served, &["-alpn", "h2,acme-tls/1"]).as_ref(), Some(&first));
    let page = metrics(&served);
    assert_eq!(sample(&page, "salver_certificate_requests_total{result=\"success\"}"), Some(1.0), "{page}");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time").as_secs_f64();
    let ends = sample(&page, "salver_certificate_expiry_timestamp_seconds").expect("a time");
    assert!(ends > now + 80.0 * DAY_S as f64 && ends < now + 91.0 * DAY_S as f64, "{ends}");
    let kept = directory.path().join("salver-data/acme");
    let mode = |path: &Path| std::fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&kept), 0o700);
    for name in ["account.json", "certificate.pem"] {
        assert_eq!(mode(&kept.join(name)), 0o600, "{name}");
    }
    drop(served);
    // Without the authority there is still the certificate.
    pebble.kill();
    let again = start(directory.path());
    assert_eq!(shown(&again, &[]), Some(first));
    let said = ask(&again, &root, NAMES[0]);
    assert!(said.is_ok(), "{said:?}");
    assert_eq!(sample(&metrics(&again), "salver_certificate_requests_total{result=\"failure\"}"), Some(0.0));
    drop(again);
    // One that is damaged counts as none, and ends nothing.
    std::fs::write(kept.join("certificate.pem"), "-----BEGIN CERTIFICATE-----\n").expect("a file");
    let damaged = start(directory.path());
    damaged.until_logged("is left out");
    damaged.until_logged("there is no certificate");
    assert_eq!(shown(&damaged, &[]), None);
}

#[test]
fn a_certificate_is_renewed() {
    let Some(pebble) = Pebble::start(15) else { return };
    // The authority has no certificate of a client to show.
    let directory = directory(&format!("tls_client_ca = \"ca.pem\"\n{}", pebble.settings()));
    std::fs::copy(pebble.root(), directory.path().join("ca.pem")).expect("a file");
    let served = start(directory.path());
    pebble.leads_to(address(&served));
    served.until_logged("made a certificate for");
    let first = shown(&served, &[]).expect("a certificate");
    until("another certificate", || shown(&served, &[]).is_some_and(|other| other != first));
    let kept = directory.path().join("salver-data/acme/certificate.pem");
    until("the one that is shown is kept", || {
        let kept: String = std::fs::read_to_string(&kept).expect("a file").split_whitespace().collect();
        shown(&served, &[]).is_some_and(|shown| kept.contains(&shown))
    });
}

#[test]
fn names_that_lead_elsewhere() {
    let Some(pebble) = Pebble::start(90 * DAY_S) else { return };
    let directory = directory(&pebble.settings());
    let served = start(directory.path());
    // Another server, which closes each connection.
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    pebble.leads_to(&other.local_addr().expect("an address").to_string());
    std::thread::spawn(move || other.incoming().for_each(drop));
    served.until_logged("does not take the names for this server's");
    served.until_logged("there is no certificate, and no connection with TLS until there is one");
    until("a failure", || {
        let failures = "salver_certificate_requests_total{result=\"failure\"}";
        sample(&metrics(&served), failures) == Some(1.0)
    });
    assert_eq!(shown(&served, &[]), None);
    assert!(!metrics(&served).contains("salver_certificate_expiry_timestamp_seconds"));
}

#[test]
fn an_authority_that_is_away() {
    let away = free_address();
    let directory = directory(&format!("acme_directory = \"https://{away}/dir\"\n"));
    let mut served = start(directory.path());
    served.until_logged("there is no certificate");
    assert_eq!(shown(&served, &[]), None);
    // What came without TLS is told so, as ever.
    let url = format!("http://{}/health", address(&served));
    let said = curl(&[&url]).expect("an answer");
    assert!(said.contains("this port speaks TLS"), "{said}");
    served.signal("-TERM");
    assert!(served.child.wait().expect("its end").success());
}
