//! Stands for `host` in a program that runs no functions.

use std::path::Path;
use std::sync::Arc;

use salver_config::Checked;
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use tokio::task::JoinSet;

/// Finds no files.
pub(crate) fn discover(_: &Path) -> Vec<FunctionSpec> {
    Vec::new()
}

/// Logs that the files of `checked` are left out.
pub(crate) fn open(checked: &Checked, _: &mut JoinSet<()>) -> Vec<Arc<dyn Functions>> {
    for spec in &checked.functions {
        tracing::error!(name = %spec.name, "functions are left out: this program was built without `functions`");
    }
    Vec::new()
}
