//! What a newcomer does on the demo in the first minutes, in a browser: `walk.mjs`, where the setup of the tests could
//! install Chromium and the packages that drive it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::demo::{demo, runs};
use super::super::node;
use super::super::server::Server;

const WALK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/console/walk.mjs");
/// Where pictures of the screens stay, for whoever wants to see what a test saw.
const PICTURES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/console");
const KEY: &str = "a-long-random-text-for-this-walk";

/// The directory of the packages, if everything is there that the walk needs.
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn home() -> Option<PathBuf> {
    let home = node::home("playwright-core").and(node::home("axe-core"));
    let home = home.filter(|_| runs("node") && runs("chromium"));
    if home.is_none() {
        eprintln!("left out: Chromium or its packages of npm are not there; `xtask/setup.sh test` installs them");
    }
    home
}

/// Walks, and sees that all was well.
fn walk(home: &Path, server: &Server, key: Option<&str>) {
    let mut command = Command::new("node");
    command.arg(WALK).arg(format!("http://{}", server.address())).arg(PICTURES).args(key).current_dir(home);
    let done = command.output().expect("Node");
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said.trim(), "well", "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_newcomer_finds_and_changes_everything() {
    let Some(home) = home() else { return };
    walk(&home, &demo(""), None);
}

#[test]
fn nothing_is_shown_before_a_key_is_given() {
    let Some(home) = home() else { return };
    walk(&home, &demo(&format!("\n[auth]\napi_keys = [\"team:{KEY}\"]\n")), Some(KEY));
}
