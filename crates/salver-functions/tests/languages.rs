//! The tests that are written in the languages themselves: of the runtime in R, and of the host in Python.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

/// Runs a program in the crate's directory, and shows what it says when it fails.
fn passes(program: &str, arguments: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let done = Command::new(program).args(arguments).current_dir(root).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    assert!(done.status.success(), "{program} {}:\n{}", arguments.join(" "), String::from_utf8_lossy(&said));
}

#[test]
fn the_runtime_in_r() {
    passes("Rscript", &["tests/r/run.R"]);
}

#[test]
fn the_host_in_python() {
    passes("python3", &["-B", "-m", "unittest", "discover", "-s", "python/tests", "-t", "python/tests"]);
}
