//! Finds the datasets of `salver serve DIRECTORY`: every supported file of a directory is one.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Name, Result};

use crate::delta_source::{LOG, is_table};
use crate::location::{
    files_below, format_of_path, is_compression, is_link_to_hidden, is_skipped, partition_of, unreadable,
};
use crate::source;

/// The default directory of streams, beside the configuration; its files are not datasets.
const STREAMS: &str = "salver-data";

/// Returns a dataset for each supported file directly in `dir`, for each further sheet of a workbook among them, and
/// for each of its directories that is a table of Delta Lake or whose files all have the same format; sorted by name.
/// If `dir` is a table itself, it is the only one. The second list has an error for each directory that was skipped
/// because it can't be read.
///
/// # Errors
/// [`Code::Source`] if `dir` can't be listed.
pub fn discover(dir: &Path) -> Result<(Vec<DatasetSpec>, Vec<Error>)> {
    discover_beside(dir, &[], &|_| true)
}

/// Does the same for the paths that are settled, which are asked for as absolute ones. The datasets that are `known`
/// stay what they are, with their names, as long as their paths are there.
///
/// # Errors
/// [`Code::Source`] if `dir` can't be listed.
pub fn discover_beside(
    dir: &Path,
    known: &[DatasetSpec],
    is_settled: &dyn Fn(&Path) -> bool,
) -> Result<(Vec<DatasetSpec>, Vec<Error>)> {
    let mut paths = paths_in(dir)?;
    // A pipe would be read for ever.
    paths.retain(|path| !is_left_out(path) && (path.is_dir() || path.is_file()) && is_settled(path));
    paths.sort();
    let is_there = |spec: &&DatasetSpec| {
        spec.sources
            .first()
            .is_some_and(|source| paths.binary_search_by(|path| path.as_path().cmp(Path::new(source))).is_ok())
    };
    let mut specs: Vec<DatasetSpec> = known.iter().filter(is_there).cloned().collect();
    let known: HashSet<&Path> = known.iter().filter_map(|spec| spec.sources.first()).map(Path::new).collect();
    let mut taken: HashSet<String> = specs.iter().map(|spec| spec.name.to_string()).collect();
    let (mut left_out, mut books) = (Vec::new(), Vec::new());
    for path in paths.iter().filter(|path| !known.contains(path.as_path())) {
        let is_dataset = if path.is_dir() { is_dataset(path) } else { Ok(format_of_path(path).is_some()) };
        match is_dataset {
            Ok(true) => {}
            Ok(false) => continue,
            Err(why) => {
                left_out.push(why);
                continue;
            }
        }
        let name = free_name(&stem(path), path, &mut taken);
        let source = source_of(path)?;
        books.extend(source::further_sheets(path).into_iter().map(|sheet| (path, name.clone(), source.clone(), sheet)));
        specs.push(DatasetSpec::new(Name::new(&name)?, vec![source]));
    }
    // The names of files come first, so that none changes because of a sheet.
    for (path, book, source, sheet) in books {
        specs.push(sheet_of(&book, (path, source, sheet), &mut taken)?);
    }
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((specs, left_out))
}

/// Returns a dataset for each sheet of the workbook at `path` behind the one that is read if none is named, called
/// after the file and the sheet; none for other files.
///
/// # Errors
/// [`Code::Source`] if the path is not UTF-8.
pub fn further_sheets(path: &Path) -> Result<Vec<DatasetSpec>> {
    let (book, sheets) = (stem(path), source::further_sheets(path));
    let mut taken = HashSet::from([book.clone()]);
    sheets.into_iter().map(|sheet| sheet_of(&book, (path, source_of(path)?, sheet), &mut taken)).collect()
}

/// Returns a path as the source of a dataset.
fn source_of(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::new(Code::Source, format!("the name of `{}` is not UTF-8", path.display())).with_hint("rename the file")
    })
}

/// Returns what may be datasets in a directory: what is directly in it, or itself if it is a table.
fn paths_in(dir: &Path) -> Result<Vec<PathBuf>> {
    if is_table(dir) {
        return Ok(vec![absolute(dir.to_owned())]);
    }
    let entries = std::fs::read_dir(dir).map_err(|cause| unreadable(dir, &cause))?;
    entries.map(|entry| entry.map(|entry| absolute(entry.path())).map_err(|cause| unreadable(dir, &cause))).collect()
}

/// Returns the dataset of a further sheet of a workbook.
fn sheet_of(
    book: &str,
    (path, source, sheet): (&Path, String, String),
    taken: &mut HashSet<String>,
) -> Result<DatasetSpec> {
    let name = free_name(&format!("{book}_{}", sheet.replace('/', "_")), path, taken);
    let mut spec = DatasetSpec::new(Name::new(&name)?, vec![source]);
    spec.sheet.sheet = Some(sheet);
    Ok(spec)
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Returns whether what is at `path` is no dataset, whatever it contains.
fn is_left_out(path: &Path) -> bool {
    is_skipped(path) || is_link_to_hidden(path) || path.ends_with(STREAMS)
}

/// Size and age of a file, or of all files below a directory: a difference says that somebody writes there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    files: u64,
    bytes: u64,
    newest: Option<SystemTime>,
}

impl Stamp {
    /// Returns the stamp of what may be a dataset; `None` if it is none.
    fn of(path: &Path) -> Option<Self> {
        let files = match path.is_dir() {
            // A table is whole as soon as it has a commit.
            true if is_table(path) => vec![path.join(LOG)],
            true => files_below(path).ok()?,
            false => vec![format_of_path(path).filter(|_| path.is_file()).map(|_| path.to_owned())?],
        };
        let mut stamp = Self::default();
        for metadata in files.iter().filter_map(|file| std::fs::metadata(file).ok()) {
            stamp.files += 1;
            stamp.bytes = stamp.bytes.wrapping_add(metadata.len());
            stamp.newest = stamp.newest.max(metadata.modified().ok());
        }
        (stamp.files > 0).then_some(stamp)
    }
}

/// Returns what may be datasets directly in `dir`, as absolute paths with their stamps. For those that are known the
/// name suffices, so that a look costs little.
///
/// # Errors
/// [`Code::Source`] if `dir` can't be listed.
pub fn look(dir: &Path, is_known: &dyn Fn(&Path) -> bool) -> Result<BTreeMap<PathBuf, Option<Stamp>>> {
    let mut found = BTreeMap::new();
    for path in paths_in(dir)? {
        if is_known(&path) {
            found.insert(path, None);
        } else if !is_left_out(&path)
            && let Some(stamp) = Stamp::of(&path)
        {
            found.insert(path, Some(stamp));
        }
    }
    Ok(found)
}

/// Returns whether a directory is one dataset: it is a table, all files below it have one format, or it is partitioned.
fn is_dataset(dir: &Path) -> Result<bool> {
    if is_table(dir) {
        return Ok(true);
    }
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
