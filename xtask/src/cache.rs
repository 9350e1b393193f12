//! What `setup.sh` installs for the checks, outside of the checkout.

use std::path::PathBuf;
use std::{env, fs};

/// The file or folder at `path` in the cache, if it was installed.
pub(crate) fn installed(path: &str) -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("salver").join(path)).filter(|path| fs::exists(path).unwrap_or(false))
}
