//! Applications as others write them: files of Python in `python`, each with requests and what they must be answered.
//!
//! A file of requests has blocks with empty lines between them: method and target, header fields, the body behind `>`,
//! the status behind `=`, and of the answer all lines behind `|`, parts behind `~`, and what is not in it behind `!`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::it::server::Server;

/// The least number of applications that there must be, so that no test is lost unnoticed.
const APPLICATIONS: usize = 20;

/// A request, and what it must be answered.
#[derive(Default)]
struct Exchange<'t> {
    method: &'t str,
    target: &'t str,
    headers: Vec<(&'t str, &'t str)>,
    body: Vec<&'t str>,
    status: u16,
    whole: Vec<&'t str>,
    parts: Vec<&'t str>,
    absent: Vec<&'t str>,
}

impl<'t> Exchange<'t> {
    fn read(block: &'t str) -> Self {
        let mut lines = block.lines();
        let (method, target) = lines.next().and_then(|line| line.split_once(' ')).expect("a method and a target");
        let mut exchange = Self { method, target, ..Self::default() };
        for line in lines {
            let text = line.get(2..).unwrap_or_default();
            match line.as_bytes().first() {
                Some(b'>') => exchange.body.push(text),
                Some(b'=') => exchange.status = text.parse().expect("a status"),
                Some(b'|') => exchange.whole.push(text),
                Some(b'~') => exchange.parts.push(text),
                Some(b'!') => exchange.absent.push(text),
                _ => exchange.headers.push(line.split_once(": ").expect("a header field")),
            }
        }
        exchange
    }

    /// Asks, and returns what is wrong with the answer.
    fn mistake(&self, server: &Server) -> Option<String> {
        let body = self.body.join("\r\n");
        let answer = server.ask(self.method, self.target, &self.headers, body.as_bytes());
        let text = answer.text();
        let is_right = answer.status == self.status
            && (self.whole.is_empty() || text == self.whole.join("\n"))
            && self.parts.iter().all(|part| text.contains(part))
            && !self.absent.iter().any(|part| text.contains(part));
        (!is_right).then(|| format!("{} {} {body:?}: {} {text}", self.method, self.target, answer.status))
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/functions/python")
}

/// The files there with this suffix, sorted.
fn files(suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory()).expect("the directory of applications");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|own| own == suffix));
    paths.sort();
    paths
}

fn served() -> Server {
    Server::prepared("", &[], |directory| {
        let functions = directory.join("functions");
        fs::create_dir(&functions).expect("a directory");
        for path in files("py") {
            fs::copy(&path, functions.join(path.file_name().expect("a name"))).expect("a copy");
        }
    })
}

#[test]
fn applications_of_others_are_answered_as_they_are_written() {
    let server = served();
    let states = server.get("/ready").json();
    let requests = files("txt");
    assert!(requests.len() >= APPLICATIONS, "{requests:?}");
    let mut mistakes = Vec::new();
    for path in &requests {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        assert_eq!(states["functions"][name]["state"], "ready", "{name}: {states}");
        let text = fs::read_to_string(path).expect("requests");
        let blocks = text.trim_end_matches('\n').split("\n\n");
        mistakes.extend(blocks.filter_map(|block| Exchange::read(block).mistake(&server)));
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn a_module_beside_a_file_that_changes_is_loaded_again() {
    let server = served();
    assert_eq!(server.get("/shop/price/200").text(), "180");
    let pricing = server.file("functions/pricing.py");
    fs::write(&pricing, "def discounted(cents, percent):\n    return cents\n").expect("a file");
    server.until(|server| server.get("/shop/price/200").text() == "200");
    // One that can't be loaded leaves what was there, until it can.
    fs::write(&pricing, "def discounted(cents, percent:\n").expect("a file");
    server.until(|server| server.get("/ready").json()["functions"]["shop"]["state"] == "stale");
    assert_eq!(server.get("/shop/price/200").text(), "200");
    fs::write(&pricing, "def discounted(cents, percent):\n    return 1\n").expect("a file");
    server.until(|server| server.get("/shop/price/200").text() == "1");
    // One that says more of who may call it, and can't be loaded, does not leave it.
    fs::write(&pricing, "def discounted(cents, percent:\n    raise HTTPError(403)\n").expect("a file");
    server.until(|server| server.get("/ready").json()["functions"]["shop"]["state"] == "failed");
    assert_ne!(server.get("/shop/price/200").status, 200);
    assert_eq!(server.post("/api/functions/shop/stock", "{}").status, 503);
    fs::write(&pricing, "def discounted(cents, percent):\n    return 2\n").expect("a file");
    server.until(|server| server.get("/shop/price/200").text() == "2");
}

#[test]
fn what_code_says_when_it_cannot_be_loaded_is_for_the_log() {
    const SECRET: &str = "postgres://app:hunter2@db.internal/shop";
    let python = format!("def reach_vault():\n    raise RuntimeError('{SECRET}')\n\n\nreach_vault()\n");
    let r = format!("reach_vault <- function() stop('{SECRET}')\nreach_vault()\n");
    let ends = format!("import os, sys\nprint('{SECRET}', file=sys.stderr, flush=True)\nos._exit(3)\n");
    let files =
        [("functions/p.py", python.as_bytes()), ("functions/r.R", r.as_bytes()), ("functions/e.py", ends.as_bytes())];
    let server = Server::of(&files);
    for name in ["p", "r", "e"] {
        let refused = server.post(&format!("/api/functions/{name}/f"), "");
        assert_eq!((refused.status, refused.json()["error"].as_str()), (503, Some("entry_unavailable")), "{name}");
        assert!(refused.text().contains(&format!("`{name}`")), "{}", refused.text());
        let state = &server.get("/ready").json()["functions"][name];
        assert_eq!(state["state"], "failed", "{state}");
        for target in ["/ready", "/api/functions", "/", &format!("/api/functions/{name}")] {
            let answer = server.get(target);
            for secret in ["hunter2", "db.internal", "Traceback", "RuntimeError", "reach_vault"] {
                assert!(!answer.text().contains(secret), "{secret} at {target}: {}", answer.text());
            }
        }
        assert!(
            !refused.text().contains("db.internal") && !refused.text().contains("reach_vault"),
            "{}",
            refused.text()
        );
    }
}
