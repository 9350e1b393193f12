//! An address that `/metrics` has for itself.

use std::process::Command;

use super::served::{Served, until};
use crate::client::{Answer, Client};

const ROWS: &str = "id,name\n1,ann\n2,bob\n";
const KEY: &str = "a-key-0123456789abcdef";

/// A server with such an address.
struct Apart {
    served: Served,
    metrics: String,
    _directory: tempfile::TempDir,
}

impl Apart {
    fn start(settings: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = format!("[server]\nmetrics_listen = \"127.0.0.1:0\"\n{settings}");
        for (name, text) in [("people.csv", ROWS), ("salver.toml", &settings)] {
            std::fs::write(directory.path().join(name), text).expect("a file");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory.path());
        let served = Served::start(command);
        let said = "`/metrics` is served at http://";
        served.until_logged(said);
        let log = served.logged();
        let metrics = log.split(said).nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned();
        let apart = Self { served, metrics, _directory: directory };
        let base = if settings.contains("base_path") { "/data" } else { "" };
        until("the server is ready", || apart.at_metrics("GET", &format!("{base}/ready"), &[]).status != 503);
        apart
    }

    fn at_metrics(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        Client::new(&self.metrics).send(method, target, headers, None).expect("an answer")
    }

    fn at_main(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        let address = self.served.place.split("://").nth(1).and_then(|rest| rest.split('/').next()).expect("a place");
        Client::new(address).send(method, target, headers, None).expect("an answer")
    }
}

#[test]
fn measurements_are_there_alone() {
    let apart = Apart::start("");
    for (method, target, main, metrics) in [
        ("GET", "/metrics", 404, 200),
        ("HEAD", "/metrics", 404, 200),
        ("POST", "/metrics", 404, 405),
        ("OPTIONS", "/metrics", 404, 204),
        ("GET", "/metrics/", 404, 404),
        ("GET", "/health", 200, 200),
        ("GET", "/ready", 200, 200),
        ("GET", "/", 200, 404),
        ("GET", "/api/tables/people", 200, 404),
        ("GET", "/api/version", 200, 404),
        ("GET", "/health/../api/tables/people", 404, 404),
        ("DELETE", "/health", 405, 405),
        ("GET", "/api/sql?q=select%201", 200, 404),
    ] {
        let at_main = apart.at_main(method, target, &[]);
        assert_eq!(at_main.status, main, "{method} {target}: {at_main:?}");
        let at_metrics = apart.at_metrics(method, target, &[]);
        assert_eq!(at_metrics.status, metrics, "{method} {target}: {at_metrics:?}");
    }
    // No hint leads to where the client is already.
    let at_main = apart.at_main("GET", "/metrics", &[]).body;
    assert!(at_main.contains("there is nothing at /metrics") && !at_main.contains("`/metrics`"), "{at_main}");
    for target in ["/api/sql?q=select%201", "/metric", "/"] {
        let hint = apart.at_metrics("GET", target, &[]).body;
        assert!(hint.contains("everything else at `server.listen`") && !hint.contains("did you mean"), "{hint}");
    }
    // What is asked for at one is counted for both.
    let page = apart.at_metrics("GET", "/metrics", &[]).body;
    assert!(page.contains("route=\"/api/tables/{name}\""), "{page}");
    // A page whose name was made to lead here reads nothing.
    let asked = Command::new("curl")
        .args(["-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: evil.example"])
        .arg(format!("http://{}/metrics", apart.metrics))
        .output()
        .expect("curl");
    assert_eq!(String::from_utf8_lossy(&asked.stdout), "403");
}

#[test]
fn what_holds_at_both() {
    let auth = format!("[auth]\napi_keys = [\"prometheus:{KEY}\"]\n");
    let settings = "reverse_proxy = true\nssl_redirect = true\nbase_path = \"/data\"\nproxy_protocol = [\"127.0.0.1\"]\n\
                    firewall = [\"127.0.0.1\"]\n";
    let apart = Apart::start(&format!("{settings}{auth}"));
    let key = ("x-api-key", KEY);
    // Neither a redirect nor a header of the PROXY protocol, and the base path as ever.
    assert_eq!(apart.at_metrics("GET", "/data/metrics", &[key]).status, 200);
    assert_eq!(apart.at_metrics("GET", "/metrics", &[key]).status, 404);
    assert_eq!(apart.at_metrics("GET", "/data/metrics", &[]).status, 401);
    assert_eq!(apart.at_metrics("GET", "/data/health", &[]).status, 200);
    // No proxy stands there whose word would count.
    assert_eq!(apart.at_metrics("GET", "/data/metrics", &[key, ("x-forwarded-for", "203.0.113.9")]).status, 200);
    let blocked = Apart::start("reverse_proxy = true\nfirewall = [\"203.0.113.9\"]\n");
    assert_eq!(blocked.at_metrics("GET", "/metrics", &[("x-forwarded-for", "203.0.113.9")]).status, 403);
    assert_eq!(blocked.at_main("GET", "/api/version", &[("x-forwarded-for", "203.0.113.9")]).status, 200);
}

#[test]
fn an_address_that_is_taken() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address");
    let directory = tempfile::tempdir().expect("a directory");
    let settings = format!("[server]\nmetrics_listen = \"{address}\"\n");
    std::fs::write(directory.path().join("salver.toml"), settings).expect("a file");
    std::fs::write(directory.path().join("people.csv"), "id\n1\n").expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
    let output = command.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory.path()).output().expect("an end");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains(&format!("can't listen on {address} for `/metrics`")), "{told}");
}
