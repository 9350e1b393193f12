//! What neither rustc, rustfmt nor clippy checks. Each check is a function from the tree to complaints, and each has a
//! test on an example that must fail.

mod architecture;
mod cycles;
mod exceptions;
mod layers;
mod limits;
pub(crate) mod links;
mod lockfile;
mod names;
mod pages;
mod ports;
mod shape;
mod source;
mod words;

use crate::tree::Tree;
use exceptions::Exceptions;

/// Where the reviewed exceptions stand.
const EXCEPTIONS: &str = "xtask/exceptions.toml";

/// Runs every check and reports all complaints together.
pub(crate) fn run(tree: &Tree) -> Result<(), String> {
    let exceptions = Exceptions::parse(tree.file(EXCEPTIONS).map_or("", |file| &file.text))?;
    let mut complaints = Vec::new();
    complaints.extend(architecture::check(tree));
    complaints.extend(layers::check(tree)?);
    complaints.extend(layers::check_table(tree));
    complaints.extend(cycles::check(tree, &exceptions));
    complaints.extend(shape::check(tree, &exceptions));
    complaints.extend(names::check(tree));
    complaints.extend(names::check_short_cuts(tree));
    complaints.extend(words::check(tree));
    complaints.extend(limits::check(tree));
    complaints.extend(links::check(tree));
    complaints.extend(pages::check(tree));
    complaints.extend(ports::check(tree));
    complaints.extend(lockfile::check(tree)?);
    if complaints.is_empty() {
        return Ok(());
    }
    complaints.sort();
    Err(format!("{}\ntidy: {} complaints", complaints.join("\n"), complaints.len()))
}
