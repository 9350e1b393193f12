//! Files below a directory, in a stable order.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use salver_model::limits::{DATASET_DEPTH_MAX, DATASET_FILES_MAX};
use salver_model::spec::SourceFormat;
use salver_model::{Code, Error, Result};

use crate::delta_source::is_table;

/// Returns every file below `root`, sorted by path, except hidden files, those whose name begins with `_`, and those of
/// tables of Delta Lake in directories below it.
pub(crate) fn files_below(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    walk(root, 0, &mut seen, &mut files)?;
    files.sort();
    Ok(files)
}

fn walk(dir: &Path, depth: usize, seen: &mut HashSet<PathBuf>, files: &mut Vec<PathBuf>) -> Result<()> {
    // A symbolic link may form a cycle; each real directory is read once.
    if depth > DATASET_DEPTH_MAX || !dir.canonicalize().is_ok_and(|real| seen.insert(real)) {
        return Ok(());
    }
    let entries = std::fs::read_dir(dir).map_err(|cause| super::unreadable(dir, &cause))?;
    for entry in entries {
        let path = entry.map_err(|cause| super::unreadable(dir, &cause))?.path();
        if is_skipped(&path) || is_link_to_hidden(&path) {
            continue;
        }
        if path.is_dir() {
            // The files of a table are not its rows without its log.
            if is_table(&path) {
                continue;
            }
            walk(&path, depth + 1, seen, files)?;
        } else if path.is_file() {
            files.push(path);
        }
        if files.len() > DATASET_FILES_MAX {
            return Err(Error::new(
                Code::Source,
                format!("`{}` holds more than {DATASET_FILES_MAX} files", dir.display()),
            )
            .with_hint("name a smaller directory, or merge the files"));
        }
    }
    Ok(())
}

/// Prefix of the directories in which running processes of this program keep converted and spilled files.
const RUN_PREFIX: &str = "salver-run-";

/// Returns whether the name marks a file that is not data: hidden, left by a tool (`_SUCCESS`), or of a running
/// process.
pub(crate) fn is_skipped(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_none_or(|name| name.starts_with(['.', '_']) || name.starts_with(RUN_PREFIX))
}

/// Returns whether the file is a link to a hidden one, which stays hidden under another name.
pub(crate) fn is_link_to_hidden(path: &Path) -> bool {
    let is_hidden = |real: PathBuf| real.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    path.is_symlink() && path.canonicalize().is_ok_and(is_hidden)
}

/// Returns the most frequent format of the files; on a tie, the first in the list of formats.
pub(crate) fn commonest_format(files: &[PathBuf]) -> Option<SourceFormat> {
    let mut counts: Vec<(SourceFormat, usize)> = Vec::new();
    for format in files.iter().filter_map(|file| super::format_of_path(file)) {
        match counts.iter_mut().find(|(known, _)| *known == format) {
            Some((_, count)) => *count += 1,
            None => counts.push((format, 1)),
        }
    }
    let place = |format: SourceFormat| SourceFormat::SUFFIXES.iter().position(|(_, known)| *known == format);
    counts
        .into_iter()
        .max_by_key(|(format, count)| (*count, std::cmp::Reverse(place(*format))))
        .map(|(format, _)| format)
}
