//! What the setup of the tests installs outside of the checkout.

use std::path::PathBuf;

/// The file or folder at `path` in the cache, if it is there.
pub(crate) fn installed(path: &str) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("salver").join(path)).filter(|path| path.exists())
}
