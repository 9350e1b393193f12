//! A server of the demo, in a folder of its own.

use std::path::Path;
use std::process::Command;

use super::server::Server;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/demo");

/// Whether a program is there.
pub(crate) fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success())
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
pub(crate) fn demo(settings: &str) -> Server {
    Server::run_by(Command::new(env!("CARGO_BIN_EXE_salver")), settings, &[], |directory| {
        copy(Path::new(DEMO), directory);
        let file = directory.join("salver.toml");
        let mut toml = std::fs::read_to_string(&file).expect("the settings of the demo");
        if !runs("Rscript") {
            toml = toml.replace("[[function]]\nfile = \"functions/maths.R\"\n", "");
        }
        std::fs::write(&file, toml + settings).expect("the settings");
    })
}
