//! Packages of npm, where the setup of the tests could install them.

use std::path::PathBuf;

/// The directory from which programs of Node find `package`, if it is there.
pub(crate) fn home(package: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("salver/node")).filter(|home| home.join("node_modules").join(package).exists())
}
