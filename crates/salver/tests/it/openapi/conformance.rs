//! What `/openapi.json` says, held against what the server does, by Schemathesis: it makes requests of the document,
//! good and bad ones, and checks each response. All of its checks are made, of every operation. `hooks.py` has the
//! values that are good where a schema can only say that they are texts.

use std::process::Command;

use super::super::demo::demo;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/openapi");

#[test]
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn responses_are_those_that_the_document_describes() {
    let version = Command::new("python3").args(["-m", "schemathesis.cli", "--version"]).output();
    if !version.is_ok_and(|done| done.status.success()) {
        eprintln!("left out: Schemathesis is not there; `xtask/setup.sh test` installs it");
        return;
    }
    let (server, folder) = (demo(""), tempfile::tempdir().expect("a directory"));
    let mut run = Command::new("python3");
    run.args(["-m", "schemathesis.cli", "run", &format!("http://{}/openapi.json", server.address())]);
    // One worker: Python 3.11 parses code in several threads with errors, of which Schemathesis tells as failures.
    run.args(["--checks", "all", "--phases", "examples,coverage,fuzzing", "--max-examples", "3", "--workers", "1"]);
    run.args(["--generation-deterministic", "--continue-on-failure", "--no-color"]);
    run.env("SCHEMATHESIS_HOOKS", "hooks").env("PYTHONPATH", HERE).env("PYTHONDONTWRITEBYTECODE", "1");
    let done = run.current_dir(folder.path()).output().expect("Python");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}
