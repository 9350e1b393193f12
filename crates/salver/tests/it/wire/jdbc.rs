//! PostgreSQL's driver of Java, where there is Java and the setup of the tests could fetch the driver.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::server;

/// The release that `xtask/setup.sh` fetches.
const RELEASE: &str = "42.7.8";

/// The driver, if it is there.
fn driver() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let jar = cache.join(format!("salver/jdbc/{RELEASE}/postgresql-{RELEASE}.jar"));
    Some(jar).filter(|jar| jar.exists())
}

/// Whether Java is there, with the compiler that runs a program from its source.
fn has_java() -> bool {
    let done = Command::new("java").args(["--list-modules"]).output();
    done.is_ok_and(|done| String::from_utf8_lossy(&done.stdout).contains("jdk.compiler"))
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn jdbc() {
    let Some(driver) = driver().filter(|_| has_java()) else {
        eprintln!("left out: Java or its driver are not there; `xtask/setup.sh test` installs them");
        return;
    };
    let server = server("");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wire/jdbc/Client.java");
    let mut java = Command::new("java");
    java.arg("-cp").arg(driver).arg(program).args([&format!("{}/salver", server.postgres()), "ann"]);
    let done = java.output().expect("it is there");
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said.trim(), "well", "{}", String::from_utf8_lossy(&done.stderr));
}
