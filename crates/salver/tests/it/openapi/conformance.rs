//! What `/openapi.json` says, held against what the server does, by Schemathesis: it makes requests of the document,
//! good and bad ones, and checks every response with all checks that it has.

use std::process::Command;

use super::super::demo::demo;

/// How many requests of each kind are made of an operation by chance, besides those that its bounds ask for.
const EXAMPLES: &str = "3";

#[test]
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn the_server_does_what_the_document_says() {
    let version = Command::new("python3").args(["-m", "schemathesis.cli", "--version"]).output();
    if !version.is_ok_and(|done| done.status.success()) {
        eprintln!("left out: Schemathesis is not there; `xtask/setup.sh test` installs it");
        return;
    }
    let (server, folder) = (demo(""), tempfile::tempdir().expect("a directory"));
    let mut run = Command::new("python3");
    run.args(["-m", "schemathesis.cli", "run", &format!("http://{}/openapi.json", server.address())]);
    run.args(["--checks", "all", "--max-examples", EXAMPLES, "--generation-deterministic", "--no-color"]);
    let done = run.current_dir(folder.path()).output().expect("Python");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}
