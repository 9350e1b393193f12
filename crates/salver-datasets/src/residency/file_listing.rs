//! Finds the files of a dataset, and determines the version of their content.

use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use salver_model::spec::{DatasetSpec, SourceFormat};
use salver_model::{Code, Error, Result, Version};

use crate::buckets::{self, Buckets, CachedObject};
use crate::delta::{self, DeltaTable};
use crate::delta_source::DeltaSource;
use crate::fetch;
use crate::file_stamp::inode;
use crate::google_sheets;
use crate::location::{self, Origin, SourceLocation};
use crate::source::{Input, sniffed, unpacked};

/// The files, ready to be read.
pub(super) struct Gathered {
    pub(super) inputs: Vec<Input>,
    pub(super) version: Version,
    /// The table of Delta Lake whose files they are.
    pub(super) table: Option<DeltaTable>,
}

/// Resolves the files, downloads remote ones, fetches what is read first of objects, and decompresses files that can't
/// be read compressed.
pub(super) fn gather(spec: &DatasetSpec, buckets: &Buckets, data_dir: &Path) -> Result<Gathered> {
    let mut inputs = Vec::new();
    let mut stamps = Vec::new();
    for SourceLocation { origin, format, partitions } in location::resolve(spec, buckets)? {
        let label = origin.label();
        if let Origin::Delta(source) = &origin {
            // It is the only one.
            return of_table(source, spec, buckets);
        }
        let mut object = None;
        let (path, dir, stamp, told) = match &origin {
            Origin::File(path) => (path.clone(), None, stamp(path)?, None),
            Origin::Url(url) => {
                let fetched = fetch::download(url, &spec.headers, data_dir)?;
                (fetched.path, Some(fetched.dir), fetched.tag, fetched.format)
            }
            Origin::GoogleSheet(sheet) => {
                let fetched = google_sheets::fetch(spec, sheet, data_dir)?;
                (fetched.path, Some(fetched.dir), fetched.tag, None)
            }
            Origin::Object(listed) => {
                let cached = object.insert(buckets.object(spec, listed)?);
                (cached.path().to_owned(), None, listed.version(), None)
            }
            Origin::Stdin => {
                let fetched = fetch::stdin(data_dir)?;
                (fetched.path, Some(fetched.dir), fetched.tag, None)
            }
            Origin::Delta(_) => continue,
        };
        stamps.push((label.clone(), stamp));
        let format = match format.or(told) {
            Some(format) => format,
            None if origin == Origin::Stdin => sniffed(&path).map_err(|cause| location::unreadable(&path, &cause))?,
            None => {
                return Err(Error::new(Code::Source, format!("can't tell the format of `{label}`")).with_hint(
                    "say it: `format = \"csv\"` (or tsv, json, ndjson, geojson, parquet, arrow, arrows, avro, xlsx)",
                ));
            }
        };
        // Absolute, so that it is found later even if the working directory changes.
        let path = std::path::absolute(&path).unwrap_or(path);
        inputs.push(Input { label, path, format, partitions, dir, object });
    }
    let (footers, others): (Vec<&Input>, Vec<&Input>) =
        inputs.iter().partition(|input| input.format == SourceFormat::Parquet);
    buckets::fetch_footers(footers.into_iter().filter_map(|input| input.object.clone()).collect())?;
    fetch_ahead(others, buckets)?;
    let inputs = inputs.into_iter().map(|input| unpacked(input, data_dir)).collect::<Result<_>>()?;
    Ok(Gathered { inputs, version: version(spec, &stamps), table: None })
}

/// Finds the files of a table, and fetches what is read first of objects.
fn of_table(source: &DeltaSource, spec: &DatasetSpec, buckets: &Buckets) -> Result<Gathered> {
    let (table, tag) = delta::open(source, spec, buckets)?;
    let inputs = table.inputs();
    if table.is_plain() {
        buckets::fetch_footers(inputs.iter().filter_map(|input| input.object.clone()).collect())?;
    }
    Ok(Gathered { inputs, version: version(spec, &[(source.to_string(), tag)]), table: Some(table) })
}

/// Fetches the objects of `inputs` as a whole, several at a time, if they leave room on disk for others; else each is
/// fetched when it is read.
pub(super) fn fetch_ahead<'i>(inputs: impl IntoIterator<Item = &'i Input>, buckets: &Buckets) -> Result<()> {
    let objects: Vec<Arc<CachedObject>> = inputs.into_iter().filter_map(|input| input.object.clone()).collect();
    let bytes: u64 = objects.iter().map(|object| object.bytes()).sum();
    if objects.is_empty() || bytes > buckets.bytes_max()? / 2 {
        return Ok(());
    }
    buckets::fetch_whole(objects)
}

/// Returns the version that [`gather`] would find, without downloading if the server sends validators.
pub(super) fn probe(spec: &DatasetSpec, buckets: &Buckets, data_dir: &Path) -> Result<Version> {
    let mut stamps = Vec::new();
    for SourceLocation { origin, .. } in location::resolve(spec, buckets)? {
        let stamp = match &origin {
            Origin::File(path) => stamp(path)?,
            Origin::Url(url) => fetch::tag(url, &spec.headers)?,
            Origin::GoogleSheet(sheet) => google_sheets::fetch(spec, sheet, data_dir)?.tag,
            Origin::Object(listed) => listed.version(),
            Origin::Delta(source) => delta::version_tag(source, spec, buckets)?,
            Origin::Stdin => fetch::stdin(data_dir)?.tag,
        };
        stamps.push((origin.label(), stamp));
    }
    Ok(version(spec, &stamps))
}

/// Returns the version, if all sources are local files and can be found.
pub(super) fn local_version(spec: &DatasetSpec, buckets: &Buckets) -> Option<Version> {
    let is_file = |source: &String| !source.contains("://") && source != "-";
    if spec.sources.iter().all(is_file) { probe(spec, buckets, &std::env::temp_dir()).ok() } else { None }
}

fn version(spec: &DatasetSpec, stamps: &[(String, Version)]) -> Version {
    // The debug form has every setting that affects the rows, including settings added later.
    let object_store = spec.object_store.without_credentials();
    let settings = DatasetSpec { headers: Vec::new(), object_store, refresh: None, ..spec.clone() };
    Version::of(&(format!("{settings:?}"), stamps))
}

fn stamp(path: &Path) -> Result<Version> {
    let found = std::fs::metadata(path).map_err(|cause| location::unreadable(path, &cause))?;
    let changed = found.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|age| age.as_nanos());
    Ok(Version::of(&(found.len(), changed, inode(&found))))
}

/// Returns whether every input is a Parquet file.
pub(super) fn is_parquet(inputs: &[Input]) -> bool {
    inputs.iter().all(|input| input.format == SourceFormat::Parquet)
}

/// Returns the directory of downloaded or decompressed files, if there is at most one.
pub(super) fn kept_dir(inputs: &[Input]) -> Option<Option<Arc<tempfile::TempDir>>> {
    let mut dirs = inputs.iter().filter_map(|input| input.dir.clone());
    let first = dirs.next();
    dirs.next().is_none().then_some(first)
}
