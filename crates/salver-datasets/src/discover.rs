//! Finds the datasets of `salver serve DIRECTORY`: every supported file of a directory is one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Name, Result};

use crate::location::{
    files_below, format_of_path, is_compression, is_link_to_hidden, is_skipped, partition_of, unreadable,
};

/// The default directory of streams, beside the configuration; its files are not datasets.
const STREAMS: &str = "salver-data";

/// Returns a dataset for each supported file directly in `dir`, and one for each of its directories whose files all
/// have the same format; sorted by name. The second list has an error for each directory that was skipped because it
/// can't be read.
///
/// # Errors
/// [`Code::Source`] if `dir` can't be listed.
pub fn discover(dir: &Path) -> Result<(Vec<DatasetSpec>, Vec<Error>)> {
    let entries = std::fs::read_dir(dir).map_err(|cause| unreadable(dir, &cause))?;
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| !is_skipped(path) && !is_link_to_hidden(path) && !path.ends_with(STREAMS))
        .collect();
    paths.sort();
    let mut found = Vec::new();
    let mut left_out = Vec::new();
    for path in paths {
        let is_dataset = if path.is_dir() { is_dataset(&path) } else { Ok(format_of_path(&path).is_some()) };
        match is_dataset {
            Ok(true) => found.push((stem(&path), path)),
            Ok(false) => {}
            Err(why) => left_out.push(why),
        }
    }
    let mut taken = HashSet::new();
    let mut specs = Vec::with_capacity(found.len());
    for (stem, path) in found {
        let name = free_name(&stem, &path, &mut taken);
        let source = std::path::absolute(&path).unwrap_or(path);
        let source = source.to_str().map(str::to_owned).ok_or_else(|| {
            Error::new(Code::Source, format!("the name of `{}` is not UTF-8", source.display()))
                .with_hint("rename the file")
        })?;
        specs.push(DatasetSpec::new(Name::new(&name)?, vec![source]));
    }
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((specs, left_out))
}

/// Returns whether a directory is one dataset: all files below it have one format, or it is partitioned.
fn is_dataset(dir: &Path) -> Result<bool> {
    let files = files_below(dir)?;
    let mut formats: Vec<_> = files.iter().filter_map(|file| format_of_path(file)).collect();
    formats.dedup();
    let is_partitioned = files.iter().filter(|file| format_of_path(file).is_some()).all(|file| {
        let below = file.strip_prefix(dir).unwrap_or(file);
        below.components().next().and_then(|part| partition_of(part.as_os_str().to_str()?)).is_some()
    });
    let has_one = formats.first().is_some_and(|first| formats.iter().all(|format| format == first));
    Ok(has_one || (is_partitioned && !formats.is_empty()))
}

/// Returns the file name without the suffixes of compression and format.
fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if path.is_dir() {
        return name;
    }
    let name = match name.rsplit_once('.') {
        Some((rest, suffix)) if is_compression(suffix) => rest.to_owned(),
        _ => name,
    };
    name.rsplit_once('.').map_or(name.clone(), |(stem, _)| stem.to_owned())
}

/// Returns the stem; if it is taken, the stem with the format appended, then with a number.
fn free_name(stem: &str, path: &Path, taken: &mut HashSet<String>) -> String {
    let mut clean: String = stem.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned();
    while clean.len() > salver_model::limits::NAME_BYTES_MAX - 16 {
        clean.pop();
    }
    if clean.is_empty() {
        "unnamed".clone_into(&mut clean);
    }
    let mut parts: Vec<String> = path
        .file_name()
        .map(|name| name.to_string_lossy().rsplit('.').map(str::to_ascii_lowercase).collect())
        .unwrap_or_default();
    parts.retain(|part| !is_compression(part));
    let suffix = parts.into_iter().next().filter(|_| !path.is_dir()).unwrap_or_else(|| "dir".to_owned());
    let mut name = clean.clone();
    let mut number = 1;
    while !taken.insert(name.clone()) {
        name = if number == 1 { format!("{clean}_{suffix}") } else { format!("{clean}_{suffix}_{number}") };
        number += 1;
    }
    name
}
