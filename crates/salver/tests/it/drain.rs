//! How a server ends: what is being sent goes out whole, over HTTP/1 and HTTP/2, and new requests get nowhere.

use std::fs::File;
use std::process::{Child, Command};

use super::served::{PATIENCE, until};
use crate::process::Process;

/// Starts to take a large answer, slowly, into a file of the server's directory.
fn take(process: &Process, version: &str) -> Child {
    let into = File::create(process.directory().join(version)).expect("a file");
    Command::new("curl")
        .args(["-sS", "--max-time", "60", "--limit-rate", "2M", version])
        .arg(format!("http://{}/api/tables/long?format=csv", process.address()))
        .stdout(into)
        .spawn()
        .expect("curl")
}

#[test]
fn answers_go_out_whole() {
    let rows: String = (0..40_000).map(|n| format!("{n},{}\n", "x".repeat(100))).collect();
    let long = format!("id,text\n{rows}");
    let settings = format!("[limits]\ndrain_ms_max = \"{}s\"\n", PATIENCE.as_secs());
    let mut process = Process::with(&settings, &[("long.csv", long.as_str())]);
    let versions = ["--http1.1", "--http2-prior-knowledge"];
    let taking = versions.map(|version| take(&process, version));
    let begun = |version: &str| std::fs::metadata(process.directory().join(version)).is_ok_and(|file| file.len() > 0);
    until("both have begun", || versions.into_iter().all(begun));
    let sent = Command::new("kill").args(["-TERM", &process.pid().to_string()]).status().expect("kill");
    assert!(sent.success());
    for (mut curl, version) in taking.into_iter().zip(versions) {
        assert!(curl.wait().expect("its end").success(), "{version}");
        let taken = std::fs::read_to_string(process.directory().join(version)).expect("the answer");
        assert!(taken == long, "{version}: {} bytes of {}", taken.len(), long.len());
    }
    until("it has ended", || !process.is_alive());
}
