//! Checks of sources without opening them: standard input is read only once, files exist, and a discovered file is not
//! already part of a declared dataset.

use std::path::Path;

use salver_model::spec::{DatasetSpec, TableVersion};

use crate::mistake::{Findings, Mistake};
use crate::raw::Table;
use crate::setting_place::SettingPlace;

/// Returns a source as a path, without the version of a table, unless it is standard input or a URL.
pub(crate) fn as_path(source: &str) -> Option<&Path> {
    if source == "-" || source.contains("://") {
        return None;
    }
    let root = TableVersion::of_source(source).map_or(source, |version| version.root);
    Some(Path::new(if Path::new(source).exists() { source } else { root }))
}

fn is_glob(source: &str) -> bool {
    source.contains(['*', '?', '['])
}

/// Checks that at most one source is standard input.
pub(super) fn standard_input_once(datasets: &[DatasetSpec], tables: &[&Table], findings: &mut Findings) {
    let mut taken = None;
    for (spec, table) in datasets.iter().zip(tables) {
        for _ in spec.sources.iter().filter(|source| *source == "-") {
            match taken {
                None => taken = Some(&spec.name),
                Some(first) => {
                    let message = format!("`{first}` already reads standard input");
                    let mistake = Mistake::new(table.place_of("source"), message);
                    findings.mistake(mistake.with_hint("give one of them a file"));
                }
            }
        }
    }
}

/// Warns of missing files: they may appear later, and the rest can be served until then.
pub(super) fn warn_of_missing(datasets: &[DatasetSpec], tables: &[&Table], findings: &mut Findings) {
    for (spec, table) in datasets.iter().zip(tables) {
        for source in &spec.sources {
            let Some(path) = as_path(source).filter(|path| !path.exists()) else { continue };
            let place = table.place_of("source");
            if !is_glob(source) {
                // The message's place already quotes the command line.
                let message = match place {
                    SettingPlace::CommandLine(_) => format!("there is no file `{source}`"),
                    _ => format!("`{}`: there is no file `{source}`", spec.name),
                };
                findings.warning(Mistake::new(place, message).with_hint_if(neighbour(path)));
            } else if !is_matched(source) {
                findings.warning(Mistake::new(place, format!("`{}`: no file matches `{source}`", spec.name)));
            }
        }
    }
}

/// Returns whether every source of the dataset is a path that does not exist.
pub(super) fn is_missing(spec: &DatasetSpec) -> bool {
    let is_there = |source: &String| match as_path(source) {
        Some(path) => path.exists() || is_glob(source) && is_matched(source),
        None => true,
    };
    !spec.sources.iter().any(is_there)
}

fn is_matched(pattern: &str) -> bool {
    glob::glob(pattern).is_ok_and(|mut found| found.next().is_some())
}

/// Returns the file in the same directory with the most similar name.
fn neighbour(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names: Vec<String> = std::fs::read_dir(directory)
        .ok()?
        .take(10_000)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let near = salver_model::suggest::nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", directory.join(near).display()))
}

/// Returns whether `found` and `declared` share files: a discovered file is one of a declared dataset's, or a
/// discovered directory contains one.
pub(super) fn cover(declared: &DatasetSpec, found: &DatasetSpec) -> bool {
    found.sources.iter().filter_map(|source| as_path(source)).any(|path| {
        let Ok(path) = path.canonicalize() else { return false };
        declared.sources.iter().filter_map(|source| as_path(source)).any(|source| {
            let whole =
                source.canonicalize().is_ok_and(|source| path.starts_with(&source) || source.starts_with(&path));
            let matched = || {
                let pattern = std::path::absolute(source).ok().and_then(|s| Some(s.to_str()?.to_owned()));
                pattern.and_then(|p| glob::Pattern::new(&p).ok()).is_some_and(|p| p.matches_path(&path))
            };
            let fixed = || {
                let wild = source.components().position(|part| is_glob(&part.as_os_str().to_string_lossy()));
                let fixed: std::path::PathBuf = source.components().take(wild.unwrap_or(0)).collect();
                wild.is_some() && fixed.canonicalize().is_ok_and(|fixed| fixed.starts_with(&path))
            };
            whole || matched() || fixed()
        })
    })
}
