//! What a newcomer does on the demo in the first minutes, in a browser: `walk.mjs`, where the setup of the tests could
//! install Chromium and the packages that drive it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::node;
use super::super::server::Server;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/demo");
const WALK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/console/walk.mjs");
/// Where pictures of the screens stay, for whoever wants to see what a test saw.
const PICTURES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/console");
const KEY: &str = "a-long-random-text-for-this-walk";

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success())
}

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

/// Copies the demo, without what a server of it has left there.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("the demo") {
        let path = entry.expect("the demo").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if name == "salver-data" || name.starts_with("blog.db") {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).expect("a copy");
        }
    }
}

/// A server of the demo, with these settings besides.
fn demo(settings: &str) -> Server {
    Server::run_by(Command::new(env!("CARGO_BIN_EXE_salver")), "", &[], |directory| {
        copy(Path::new(DEMO), directory);
        let file = directory.join("salver.toml");
        let mut toml = std::fs::read_to_string(&file).expect("the settings of the demo");
        if !runs("Rscript") {
            toml = toml.replace("[[function]]\nfile = \"functions/maths.R\"\n", "");
        }
        std::fs::write(&file, toml + settings).expect("the settings");
    })
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
