//! The English of the documents, read by Vale: spelling, words that stand twice, and the few rules of `xtask/vale`.

use std::process::Command;

use crate::cache;
use crate::tree::Tree;

/// The program, where `setup.sh` puts it.
pub(crate) const READER: &str = "vale/3.21.0/vale";

/// Reads every document but the list of changes, whose older parts stay as they were written.
pub(crate) fn run(tree: &Tree) -> Result<(), String> {
    let reader = cache::installed(READER).ok_or("Vale is not installed: `xtask/setup.sh test` does it")?;
    let pages = tree.with_suffix(".md").map(|file| file.path.as_str());
    let pages = pages.filter(|path| *path == "README.md" || path.starts_with("docs/"));
    let read = Command::new(reader)
        .args(["--config", "xtask/vale/vale.ini", "--output", "line", "--no-global"])
        .args(pages)
        .current_dir(&tree.root)
        .output()
        .map_err(|error| format!("can't run Vale: {error}"))?;
    let said = String::from_utf8_lossy(&read.stdout);
    // It ends well with what is less than an error, and nothing that it finds is less here.
    if read.status.success() && said.trim().is_empty() {
        return Ok(());
    }
    Err(format!("{said}{}", String::from_utf8_lossy(&read.stderr)))
}
