//! Packages of npm, where the setup of the tests could install them.

use std::path::PathBuf;

use super::installed::installed;

/// The directory from which programs of Node find `package`, if it is there.
pub(crate) fn home(package: &str) -> Option<PathBuf> {
    installed("node").filter(|home| home.join("node_modules").join(package).exists())
}
