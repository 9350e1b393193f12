//! Where the programs of databases lie, and who runs them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The user and group `nobody`: database servers refuse to run as root.
pub(super) const UNPRIVILEGED: u32 = 65534;

/// Whether this process is root's.
pub(super) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The program called `name`; Debian keeps those of PostgreSQL apart, by version.
///
/// # Panics
///
/// When there is none.
pub(super) fn program(name: &str) -> PathBuf {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().parse().unwrap_or(0), entry.path().join("bin")))
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    let others = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/libexec", "/opt/homebrew/bin"];
    versions
        .into_iter()
        .map(|(_, path)| path)
        .chain(others.iter().map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("the program `{name}` is missing; `sh xtask/setup.sh test` installs it"))
}

/// A command line of `program` for a user who is not root.
pub(super) fn unprivileged(program: &Path, arguments: &[String]) -> Vec<String> {
    let mut command = Vec::new();
    if is_root() {
        let user = format!("--reuid={UNPRIVILEGED}");
        let group = format!("--regid={UNPRIVILEGED}");
        command.extend(["setpriv", user.as_str(), group.as_str(), "--clear-groups", "--"].map(str::to_owned));
    }
    command.push(program.display().to_string());
    command.extend_from_slice(arguments);
    command
}
