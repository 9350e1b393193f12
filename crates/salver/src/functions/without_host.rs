//! Stands for `host` in a program that runs no functions.

use std::path::Path;
use std::sync::Arc;

use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use salver_model::{Code, Error, Result};
use tokio::task::JoinHandle;

/// Finds no files.
pub(crate) fn discover(_: &Path) -> Vec<FunctionSpec> {
    Vec::new()
}

/// Checks nothing.
///
/// # Errors
/// None.
pub(crate) fn check(_: &FunctionSpec) -> Result<()> {
    Ok(())
}

/// Opens no file.
///
/// # Errors
/// Returns `Config`.
pub(super) fn open_file(_: &FunctionSpec) -> Result<(Arc<dyn Functions>, JoinHandle<()>)> {
    Err(Error::new(Code::Config, "this program was built without `functions`")
        .with_hint("build it with the feature `functions`, or leave the [[function]] out"))
}
