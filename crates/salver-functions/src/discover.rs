//! What `salver serve DIRECTORY` serves beside files of rows: every file of R or Python in its directory `functions`.
//! Only there, since to serve a file of user code is to run it.

use std::path::{Path, PathBuf};

use salver_model::Name;
use salver_model::functions::Language;
use salver_model::spec::FunctionSpec;

/// The directory in a served one whose files are run.
const DIRECTORY: &str = "functions";

/// A file of functions for each file of R or Python directly in `functions` of `dir`, by name. What can't be read is
/// passed over; of two with one name the first counts.
#[must_use]
pub fn discover(dir: &Path) -> Vec<FunctionSpec> {
    let files = std::fs::read_dir(dir.join(DIRECTORY)).into_iter().flatten().flatten().map(|entry| entry.path());
    // Hidden ones are what editors and tools leave behind.
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
