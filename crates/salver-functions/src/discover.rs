//! Discovery of functions for `salver serve DIRECTORY`: every file of R or Python in its directory `functions`. No
//! other directory is searched, since serving a file of user code runs it.

use std::path::{Path, PathBuf};

use salver_model::Name;
use salver_model::functions::Language;
use salver_model::spec::FunctionSpec;

/// Subdirectory of a served directory whose files are run.
const DIRECTORY: &str = "functions";

/// Returns a spec for each file of R or Python directly in `functions` of `dir`, by name. Unreadable files are skipped;
/// of two with the same name the first is used.
#[must_use]
pub fn discover(dir: &Path) -> Vec<FunctionSpec> {
    let files = std::fs::read_dir(dir.join(DIRECTORY)).into_iter().flatten().flatten().map(|entry| entry.path());
    // Hidden files are leftovers of editors and tools.
    let is_shown = |path: &PathBuf| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'));
    let mut specs: Vec<FunctionSpec> =
        files.filter(is_shown).filter(|path| path.is_file()).filter_map(|path| spec(&path)).collect();
    specs.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.file.cmp(&b.file)));
    specs.dedup_by(|a, b| a.name == b.name);
    specs
}

fn spec(path: &Path) -> Option<FunctionSpec> {
    let language = Language::of_file(path)?;
    let name = Name::new(path.file_stem()?.to_str()?).ok()?;
    Some(FunctionSpec::new(name, std::path::absolute(path).ok()?, language))
}
