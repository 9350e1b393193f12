//! Clients that openapi-generator makes of `/openapi.json`, for Python and for TypeScript: it has nothing to complain
//! of, they compile, and each does with a running server what `client.py` and `client.ts` say.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::super::demo::{demo, runs};
use super::super::installed::installed;
use super::super::node;
use super::super::server::Server;

const JAR: &str = "openapi-generator/7.25.0/openapi-generator-cli-7.25.0.jar";
const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/openapi");

/// The generator, if it can run.
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn generator() -> Option<PathBuf> {
    let jar = installed(JAR).filter(|_| runs("java"));
    if jar.is_none() {
        eprintln!("left out: Java or openapi-generator is not there; `xtask/setup.sh test` installs them");
    }
    jar
}

#[track_caller]
fn succeeded(done: &Output) -> String {
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    said
}

/// Makes the client of a server's document, with this generator, in `target`.
fn generate(jar: &Path, server: &Server, generator: &str, target: &Path) {
    std::fs::write(target.join("openapi.json"), server.get("/openapi.json").body).expect("the document");
    let mut java = Command::new("java");
    java.arg("-jar").arg(jar).args(["generate", "-g", generator, "-i", "openapi.json", "-o", "."]);
    let done = java.current_dir(target).output().expect("Java");
    let said = succeeded(&done) + &String::from_utf8_lossy(&done.stderr);
    let complaints: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("WARN") || line.contains("ERROR"))
        .filter(|line| !is_known(line))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Whether the generator says this whatever the document is (the first two come for one of three lines), or of a name
/// that its language has already, as the parameters `or` and `not`.
fn is_known(line: &str) -> bool {
    ["OpenAPI 3.1 support is still in beta", "Failed to get the schema name: null", "cannot be used as"]
        .iter()
        .any(|known| line.contains(known))
}

fn url(server: &Server) -> String {
    format!("http://{}", server.address())
}

#[test]
fn python() {
    let Some(jar) = generator() else { return };
    let (server, target) = (demo(""), tempfile::tempdir().expect("a directory"));
    generate(&jar, &server, "python", target.path());
    let python = |arguments: &[&str]| {
        let mut python = Command::new("python3");
        python.args(arguments).env("PYTHONPATH", target.path()).current_dir(target.path());
        succeeded(&python.output().expect("Python"))
    };
    python(&["-m", "compileall", "-q", "openapi_client"]);
    let said = python(&["-W", "error::SyntaxWarning", &format!("{HERE}/client.py"), &url(&server)]);
    assert_eq!(said.trim(), "well");
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn typescript() {
    let Some(jar) = generator() else { return };
    let Some(home) = node::home("typescript").filter(|_| runs("node")) else {
        eprintln!("left out: Node or TypeScript is not there; `xtask/setup.sh test` installs it");
        return;
    };
    let (server, target) = (demo(""), tempfile::tempdir().expect("a directory"));
    generate(&jar, &server, "typescript-fetch", target.path());
    for name in ["client.ts", "tsconfig.json"] {
        std::fs::copy(Path::new(HERE).join(name), target.path().join(name)).expect("a copy");
    }
    let mut compiler = Command::new("node");
    compiler.arg(home.join("node_modules/typescript/bin/tsc")).args(["--project", "tsconfig.json"]);
    succeeded(&compiler.current_dir(target.path()).output().expect("Node"));
    let mut client = Command::new("node");
    client.args(["built/client.js", &url(&server)]).current_dir(target.path());
    assert_eq!(succeeded(&client.output().expect("Node")).trim(), "well");
}
