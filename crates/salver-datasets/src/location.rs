//! Resolves a dataset's `sources` to files, URLs, objects, spreadsheets of Google or streams. It looks at names,
//! directories and listings, never into files.

mod objects;
mod walk;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use salver_model::spec::{DatasetSpec, GoogleSheetSource, Reserve, SourceFormat};
use salver_model::{Code, Error, Result};
use salver_text::percent;

use crate::buckets::{Buckets, ListedObject};
use crate::delta_source::DeltaSource;

pub(crate) use walk::{files_below, is_link_to_hidden, is_skipped};

/// Suffixes of compressed files. They are only removed from names; the compression is detected from the bytes.
const COMPRESSION_SUFFIXES: [&str; 7] = ["gz", "gzip", "bz2", "xz", "zst", "zstd", "lzma"];

/// Origin of a source's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file on disk.
    File(PathBuf),
    /// An http(s) URL.
    Url(String),
    /// An object of an object store.
    Object(Arc<ListedObject>),
    /// A spreadsheet of Google.
    GoogleSheet(GoogleSheetSource),
    /// A table of Delta Lake.
    Delta(DeltaSource),
    /// Standard input.
    Stdin,
}

impl Origin {
    /// Returns the name for messages, without the parts of a URL that may be secret.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Url(url) => crate::fetch::shown(url),
            Self::Object(object) => object.address.to_string(),
            Self::GoogleSheet(sheet) => sheet.to_string(),
            Self::Delta(table) => table.to_string(),
            Self::Stdin => "standard input".to_owned(),
        }
    }
}

/// One source to read.
#[derive(Clone, Debug)]
pub(crate) struct SourceLocation {
    /// Its origin.
    pub(crate) origin: Origin,
    /// Its format; `None` if it must be detected from the bytes.
    pub(crate) format: Option<SourceFormat>,
    /// `key=value` directories below the dataset's root, outermost first.
    pub(crate) partitions: Vec<(String, String)>,
}

impl SourceLocation {
    /// Returns the location of a table, whose files its log names.
    fn of_table(table: DeltaSource) -> Self {
        Self { origin: Origin::Delta(table), format: Some(SourceFormat::Delta), partitions: Vec::new() }
    }
}

/// Resolves the sources of `spec`, in order.
///
/// # Errors
/// [`Code::Source`] if a source matches nothing, can't be listed, or has no known format; [`Code::Forbidden`] if it is
/// declared for another purpose.
pub(crate) fn resolve(spec: &DatasetSpec, buckets: &Buckets) -> Result<Vec<SourceLocation>> {
    let mut places = Vec::new();
    for source in &spec.sources {
        let before = places.len();
        match DeltaSource::of_source(spec, source)? {
            Some(table) => places.push(SourceLocation::of_table(table)),
            None if Buckets::has(source) => objects::resolve(buckets, spec, source, &mut places)?,
            None => resolve_one(spec, source, &mut places)?,
        }
        let found = places.split_off(before);
        places.extend(unreserved(spec, source, found)?);
    }
    if places.is_empty() {
        return Err(Error::new(Code::Source, format!("`{}` has no source", spec.name))
            .with_hint("say `source = \"path/to/file.csv\"`"));
    }
    if places.len() > 1
        && let Some(table) = places.iter().find(|place| matches!(place.origin, Origin::Delta(_)))
    {
        let label = table.origin.label();
        return Err(Error::new(
            Code::Source,
            format!("`{label}` is a Delta table, and `{}` has other sources", spec.name),
        )
        .with_hint("serve each table as a dataset of its own, and join them with a view"));
    }
    Ok(places)
}

/// Removes files that are declared for another purpose. They are skipped if other files match too, as in a directory,
/// and refused if none do.
fn unreserved(spec: &DatasetSpec, source: &str, places: Vec<SourceLocation>) -> Result<Vec<SourceLocation>> {
    let file = |place: &SourceLocation| match &place.origin {
        Origin::File(path) => Some(path.clone()),
        Origin::Url(_) | Origin::Object(_) | Origin::GoogleSheet(_) | Origin::Delta(_) | Origin::Stdin => None,
    };
    let files: Vec<PathBuf> = places.iter().filter_map(file).collect();
    let mut are_reserved = spec.reserved.are_reserved(&files).into_iter();
    let is_kept = |place: &SourceLocation| file(place).is_none() || are_reserved.next() == Some(false);
    let kept: Vec<SourceLocation> = places.into_iter().filter(is_kept).collect();
    if kept.is_empty() {
        return Err(Error::new(
            Code::Forbidden,
            format!("`{source}` is declared for another purpose, and is not a dataset"),
        )
        .with_hint("databases, streams, functions, users, keys and settings are not served as rows"));
    }
    Ok(kept)
}

fn resolve_one(spec: &DatasetSpec, source: &str, places: &mut Vec<SourceLocation>) -> Result<()> {
    if source == "-" {
        places.push(SourceLocation { origin: Origin::Stdin, format: spec.format, partitions: Vec::new() });
        return Ok(());
    }
    if GoogleSheetSource::is_meant(source) {
        let sheet = GoogleSheetSource::of_source(source).ok_or_else(|| {
            Error::new(Code::Source, format!("`{source}` names no spreadsheet of Google"))
                .with_hint("write `gsheets://ID` with the id, or the address of the page as it is")
        })?;
        let format = Some(SourceFormat::GoogleSheet);
        places.push(SourceLocation { origin: Origin::GoogleSheet(sheet), format, partitions: Vec::new() });
        return Ok(());
    }
    if source.starts_with("http://") || source.starts_with("https://") {
        let path = source.split(['?', '#']).next().unwrap_or(source);
        let name = path.rsplit('/').next().unwrap_or(path);
        let format = spec.format.or_else(|| format_of_name(name));
        places.push(SourceLocation { origin: Origin::Url(source.to_owned()), format, partitions: Vec::new() });
        return Ok(());
    }
    if let Some((scheme, _)) = source.split_once("://").filter(|(scheme, _)| *scheme != "file") {
        return Err(Error::new(Code::Source, format!("`{source}`: `{scheme}://` is not a source that can be read"))
            .with_hint(
                "use a path, a glob, `http://`, `https://`, `s3://`, `gs://`, `az://`, `gsheets://`, or `-` for standard input",
            ));
    }
    let path = match source.strip_prefix("file://") {
        Some(rest) => PathBuf::from(percent::decode(rest.strip_prefix("localhost").unwrap_or(rest))),
        None => PathBuf::from(source),
    };
    match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() => of_directory(spec, &path, places),
        Ok(_) => {
            let format = match spec.format {
                Some(format) => format,
                None => format_of_path(&path).ok_or_else(|| unknown_format(&path))?,
            };
            places.push(SourceLocation { origin: Origin::File(path), format: Some(format), partitions: Vec::new() });
            Ok(())
        }
        Err(_) if source.contains(['*', '?', '[']) => of_glob(spec, &path, places),
        Err(cause) => Err(unreadable(&path, &cause)),
    }
}

fn of_directory(spec: &DatasetSpec, root: &Path, places: &mut Vec<SourceLocation>) -> Result<()> {
    let files = files_below(root)?;
    let format = match spec.format {
        Some(format) => Some(format),
        None => walk::commonest_format(&files),
    };
    let Some(format) = format else {
        return Err(Error::new(Code::Source, format!("`{}` holds no file that can be read", root.display()))
            .with_hint(
                "supported suffixes: csv tsv json ndjson parquet arrow arrows avro xlsx xls xlsb ods, \
                 each also compressed",
            ));
    };
    let before = places.len();
    for file in files {
        if format_of_path(&file) == Some(format) {
            let partitions = partitions_of(spec, root, &file);
            places.push(SourceLocation { origin: Origin::File(file), format: Some(format), partitions });
        }
    }
    if places.len() == before {
        return Err(Error::new(Code::Source, format!("`{}` holds no {} file", root.display(), word(format)))
            .with_hint("check `format` and the suffixes of the files"));
    }
    Ok(())
}

fn of_glob(spec: &DatasetSpec, pattern: &Path, places: &mut Vec<SourceLocation>) -> Result<()> {
    let text = pattern.to_string_lossy();
    let options =
        glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
    let paths = glob::glob_with(&text, options).map_err(|cause| {
        Error::new(Code::Source, format!("`{text}` is not a glob pattern: {}", cause.msg))
            .with_hint("`*` and `?` match within a name, `**` any directories, `[ab]` one of the characters")
    })?;
    let mut files: Vec<PathBuf> = paths.filter_map(std::result::Result::ok).filter(|path| path.is_file()).collect();
    let root: PathBuf =
        pattern.components().take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '['])).collect();
    files.retain(|file| {
        let below = file.strip_prefix(&root).unwrap_or(file);
        below.components().all(|part| !is_skipped(Path::new(part.as_os_str()))) && !walk::is_link_to_hidden(file)
    });
    files.sort();
    // A pattern like `data/*` matches directories of mixed content; files of unknown format are skipped if others can
    // be read.
    let readable = files.iter().any(|file| format_of_path(file).is_some());
    let before = places.len();
    for file in files {
        let format = spec.format.or_else(|| format_of_path(&file));
        if format.is_none() && readable {
            continue;
        }
        let format = format.ok_or_else(|| unknown_format(&file))?;
        let partitions = partitions_of(spec, &root, &file);
        places.push(SourceLocation { origin: Origin::File(file), format: Some(format), partitions });
    }
    if places.len() == before {
        return Err(Error::new(Code::Source, format!("no file matches `{text}`")).with_hint(
            "check the pattern; a relative one starts at the directory of the configuration, or the current one",
        ));
    }
    Ok(())
}

fn partitions_of(spec: &DatasetSpec, root: &Path, file: &Path) -> Vec<(String, String)> {
    if !spec.partitions {
        return Vec::new();
    }
    let below = file.strip_prefix(root).unwrap_or(file).parent().unwrap_or(Path::new(""));
    below.components().filter_map(|part| partition_of(part.as_os_str().to_str()?)).collect()
}

/// Parses `year=2026` into key and value.
pub(crate) fn partition_of(directory: &str) -> Option<(String, String)> {
    let (key, value) = directory.split_once('=')?;
    (!key.is_empty()).then(|| (percent::decode(key), percent::decode(value)))
}

/// Returns the format by the name, without a compression suffix.
pub(crate) fn format_of_name(name: &str) -> Option<SourceFormat> {
    let (rest, suffix) = name.rsplit_once('.')?;
    if is_compression(suffix) {
        return SourceFormat::of_suffix(rest.rsplit_once('.')?.1);
    }
    SourceFormat::of_suffix(suffix)
}

/// Returns the format by the file's name.
pub(crate) fn format_of_path(path: &Path) -> Option<SourceFormat> {
    format_of_name(path.file_name()?.to_str()?)
}

/// Returns whether the suffix is that of a compressed file.
pub(crate) fn is_compression(suffix: &str) -> bool {
    COMPRESSION_SUFFIXES.iter().any(|known| known.eq_ignore_ascii_case(suffix))
}

/// Returns the format's name in messages.
pub(crate) fn word(format: SourceFormat) -> &'static str {
    match format {
        SourceFormat::Csv => "CSV",
        SourceFormat::Tsv => "TSV",
        SourceFormat::Json => "JSON",
        SourceFormat::NdJson => "NDJSON",
        SourceFormat::GeoJson => "GeoJSON",
        SourceFormat::Parquet => "Parquet",
        SourceFormat::ArrowFile => "Arrow",
        SourceFormat::ArrowStream => "Arrow stream",
        SourceFormat::Avro => "Avro",
        SourceFormat::Sheet => "spreadsheet",
        SourceFormat::GoogleSheet => "Google spreadsheet",
        SourceFormat::Delta => "Delta",
    }
}

fn unknown_format(path: &Path) -> Error {
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default().to_ascii_lowercase();
    let error = Error::new(Code::Source, format!("can't tell the format of `{}` from its name", path.display()));
    match suffix.as_str() {
        "db" | "db3" | "sqlite" | "sqlite3" => {
            return error.with_hint("a database of SQLite is a [[database]], with `url = \"sqlite:FILE\"`");
        }
        "duckdb" | "ddb" => {
            return error.with_hint("DuckDB writes its tables to files: `EXPORT DATABASE 'exported' (FORMAT parquet)`");
        }
        _ => {}
    }
    error.with_hint("say it: `format = \"csv\"` (or tsv, json, ndjson, geojson, parquet, arrow, arrows, avro, xlsx)")
}

/// Returns the error for a path that can't be read.
pub(crate) fn unreadable(path: &Path, cause: &std::io::Error) -> Error {
    let shown = path.display();
    if cause.kind() != std::io::ErrorKind::NotFound {
        return Error::new(Code::Source, format!("can't read `{shown}`: {cause}"))
            .with_hint("check that the user who runs the server may read it");
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let hint = if parent.is_dir() {
        let names: Vec<String> = std::fs::read_dir(parent)
            .map(|dir| {
                dir.flatten().take(10_000).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
            })
            .unwrap_or_default();
        let wanted = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        salver_model::suggest::nearest(&wanted, names.iter().map(String::as_str))
            .map(|near| format!("did you mean `{near}`?"))
    } else {
        let kind = path.components().next_back().is_some_and(|part| matches!(part, Component::ParentDir));
        (!kind).then(|| format!("the directory `{}` does not exist either", parent.display()))
    };
    Error::new(Code::Source, format!("there is no file `{shown}`")).with_hint_if(hint.or_else(|| {
        Some("check the path; a relative one starts at the directory of the configuration, or the current one".into())
    }))
}

#[cfg(test)]
mod tests {
    use super::partition_of;

    #[test]
    fn partitions_are_decoded_where_they_are_encoded() {
        for (directory, key, value) in [("k=a%20b", "k", "a b"), ("k=%+1", "k", "%+1"), ("a%3Db=1=2", "a=b", "1=2")] {
            assert_eq!(partition_of(directory), Some((key.to_owned(), value.to_owned())));
        }
        assert_eq!(partition_of("=1"), None);
    }
}
