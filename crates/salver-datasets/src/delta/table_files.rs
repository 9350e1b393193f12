//! A table at a version, as files that datasets are read from.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::StringArray;
use arrow::datatypes::{Field, Schema};
use salver_model::spec::{DatasetSpec, Reserve, SourceFormat};
use salver_model::{Code, Error, Result, Version};
use salver_text::percent;

use super::action::{Add, VectorDescriptor};
use super::commit_time::version_at;
use super::file_rows::FileReader;
use super::inside::Inside;
use super::log::{Log, Segment};
use super::place::{DataListing, Place, WholeFile};
use super::replay::Snapshot;
use super::schema::{Column, TableSchema};
use super::{deletion_vector, fault, protocol, replay};
use crate::buckets::{Buckets, CachedObject};
use crate::delta_source::{DeltaSource, WantedVersion};
use crate::hive_partitions::Partitions;
use crate::source::{Input, Sink, Stop};

/// A table at a version.
#[derive(Debug)]
pub(crate) struct DeltaTable {
    root: String,
    version: u64,
    columns: Vec<Column>,
    /// The indexes of the partition columns, whose values are in the log.
    partitions: Vec<usize>,
    /// How columns have other names in files than in the table, if they do.
    mapping: Option<Mapping>,
    is_widened: bool,
    files: Vec<TableFile>,
}

/// How columns are found in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mapping {
    Name,
    Id,
}

/// One file of a table.
#[derive(Debug)]
struct TableFile {
    input: Input,
    /// The values of the partition columns, as text.
    values: Vec<Option<String>>,
    vector: Option<Vector>,
}

/// The deletion vector of a file, and where it is.
#[derive(Debug)]
struct Vector {
    descriptor: VectorDescriptor,
    file: Option<VectorFile>,
}

#[derive(Debug)]
enum VectorFile {
    Disk(PathBuf),
    Object(Arc<CachedObject>),
}

/// Returns what tells whether a table has the rows that it had. Of a version that is named it is no question, and
/// nothing is looked at. Blocks.
///
/// # Errors
/// [`Code::Source`] if there is no table.
pub(crate) fn version_tag(source: &DeltaSource, spec: &DatasetSpec, buckets: &Buckets) -> Result<Version> {
    if let WantedVersion::Number(number) = source.wanted {
        return Ok(named(number));
    }
    let place = Place::of(source, spec, buckets);
    let (_, segment) = found(source, &place)?;
    Ok(tag(source, &segment))
}

/// Reads the log of a table and finds its files, with what tells its version. Blocks.
///
/// # Errors
/// [`Code::Source`] if there is no such table or version, if the log is damaged or files are missing, or if it needs
/// what can't be read; [`Code::Forbidden`] if a file is declared for another purpose.
pub(crate) fn open(source: &DeltaSource, spec: &DatasetSpec, buckets: &Buckets) -> Result<(DeltaTable, Version)> {
    let place = Place::of(source, spec, buckets);
    let (log, segment) = found(source, &place)?;
    let Snapshot { protocol, metadata, files } = replay::snapshot(&place, &log, &source.root, &segment)?;
    let root = source.root.as_str();
    protocol::check(root, &protocol)?;
    if metadata.format.provider.as_deref().is_some_and(|provider| provider != "parquet") {
        return Err(fault::unsupported(root, "files other than Parquet", "write a copy of it"));
    }
    let configuration = metadata.configuration.unwrap_or_default();
    let mapping = match configuration.get("delta.columnMapping.mode").and_then(Option::as_deref) {
        None | Some("none") => None,
        Some("name") => Some(Mapping::Name),
        Some("id") => Some(Mapping::Id),
        Some(other) => {
            let what = format!("the column mapping `{other}`");
            return Err(fault::unsupported(root, &what, "the modes `name` and `id` can be read"));
        }
    };
    let TableSchema { columns, is_widened } = TableSchema::parse(root, &metadata.schema_string, mapping.is_some())?;
    let partitions = partition_columns(root, &columns, &metadata.partition_columns.unwrap_or_default())?;
    let mut table = DeltaTable {
        root: root.to_owned(),
        version: segment.version,
        columns,
        partitions,
        mapping,
        is_widened,
        files: Vec::new(),
    };
    let inside = source
        .directory()
        .map(|directory| Inside::of(&directory).map_err(|cause| crate::location::unreadable(&directory, &cause)));
    let inside = inside.transpose()?;
    let finder = Finder { source, spec, buckets, listing: place.data()?, inside, version: segment.version };
    table.files = files.iter().map(|add| finder.file(add, &table)).collect::<Result<_>>()?;
    finder.check_reserved(&table)?;
    Ok((table, tag(source, &segment)))
}

/// Returns the indexes of the partition columns.
fn partition_columns(root: &str, columns: &[Column], names: &[String]) -> Result<Vec<usize>> {
    let damaged = |name: &str, why: &str| {
        fault::damaged(format!("{root}/_delta_log"), format!("the partition column `{}` is {why}", fault::cut(name)))
    };
    let places: HashMap<&str, usize> =
        columns.iter().enumerate().map(|(index, column)| (column.name.as_str(), index)).collect();
    let mut seen = HashSet::new();
    let position = |name: &String| match places.get(name.as_str()) {
        Some(index) if seen.insert(*index) => Ok(*index),
        Some(_) => Err(damaged(name, "named twice")),
        None => Err(damaged(name, "not in its schema")),
    };
    names.iter().map(position).collect()
}

/// Finds the version that is wanted, and the files of the log that make it.
fn found(source: &DeltaSource, place: &Place<'_>) -> Result<(Log, Segment)> {
    let root = &source.root;
    let log = match source.wanted {
        WantedVersion::Latest => Log::latest(place, root)?,
        WantedVersion::Number(_) | WantedVersion::At(_) => Log::whole(place, root)?,
    };
    let version = match source.wanted {
        WantedVersion::Latest => log.last(),
        WantedVersion::Number(number) => number,
        WantedVersion::At(at) => version_at(place, &log, root, at)?,
    };
    let segment = log.segment(version)?;
    Ok((log, segment))
}

fn named(number: u64) -> Version {
    Version::of(&("delta", number))
}

/// A table that is made again may have the number of a version twice, and so the file of the log counts, too.
fn tag(source: &DeltaSource, segment: &Segment) -> Version {
    if let WantedVersion::Number(number) = source.wanted {
        return named(number);
    }
    let last = segment.commits.last().map(|(_, file)| file).or(segment.checkpoint.last());
    Version::of(&("delta", segment.version, last.map(super::place::LogFile::version)))
}

/// Finds the files that a log names.
struct Finder<'a> {
    source: &'a DeltaSource,
    spec: &'a DatasetSpec,
    buckets: &'a Buckets,
    /// The objects below the table, if it is in an object store.
    listing: Option<DataListing>,
    /// Its directory, if it is in one.
    inside: Option<Inside>,
    version: u64,
}

impl Finder<'_> {
    fn file(&self, add: &Add, table: &DeltaTable) -> Result<TableFile> {
        let (label, path, object) = self.found(&percent::decode(&add.path))?;
        let none = HashMap::new();
        let written = add.partition_values.as_ref().unwrap_or(&none);
        let value = |index: &usize| {
            let text = written.get(&table.columns[*index].physical).cloned().flatten();
            // No text and none at all are both null.
            text.filter(|text| !text.is_empty())
        };
        let values = table.partitions.iter().map(value).collect();
        let vector = add.vector().map(|vector| self.vector(vector)).transpose()?;
        let format = SourceFormat::Parquet;
        let input = Input { label, path, format, partitions: Vec::new(), dir: None, object };
        Ok(TableFile { input, values, vector })
    }

    fn vector(&self, descriptor: &VectorDescriptor) -> Result<Vector> {
        let file = match deletion_vector::file_of(&self.source.root, descriptor)? {
            None => None,
            Some(path) => {
                // An absolute path is a URL, and one that is made of a UUID is not.
                let path = if descriptor.storage_type == "p" { percent::decode(&path) } else { path };
                Some(match self.found(&path)? {
                    (_, _, Some(object)) => VectorFile::Object(object),
                    (_, path, None) => VectorFile::Disk(path),
                })
            }
        };
        Ok(Vector { descriptor: descriptor.clone(), file })
    }

    /// Returns the name for messages, the path on disk and the object of a file of the table.
    fn found(&self, path: &str) -> Result<(String, PathBuf, Option<Arc<CachedObject>>)> {
        let root = &self.source.root;
        let below = below(self.source, path).ok_or_else(|| fault::outside(root, path))?;
        let gone = || fault::vanished(root, self.version, &below);
        if let Some(listing) = &self.listing {
            let listed = listing.get(&below).ok_or_else(gone)?;
            let object = self.buckets.object(self.spec, listed)?;
            return Ok((listing.label(&below), object.path().to_owned(), Some(object)));
        }
        let path = self.source.directory().unwrap_or_default().join(&below);
        if !path.is_file() {
            return Err(gone());
        }
        if let Some(inside) = &self.inside
            && !inside.has_file(&path).map_err(|cause| crate::location::unreadable(&path, &cause))?
        {
            return Err(fault::outside(root, &below));
        }
        let label = path.display().to_string();
        Ok((label, std::path::absolute(&path).unwrap_or(path), None))
    }

    fn check_reserved(&self, table: &DeltaTable) -> Result<()> {
        if self.listing.is_some() {
            return Ok(());
        }
        let paths: Vec<PathBuf> = table.files.iter().map(|file| file.input.path.clone()).collect();
        let reserved = self.spec.reserved.are_reserved(&paths);
        let Some((_, file)) = reserved.into_iter().zip(&table.files).find(|(is_reserved, _)| *is_reserved) else {
            return Ok(());
        };
        let message = format!("`{}` is declared for another purpose, and is not a dataset", file.input.label);
        Err(Error::new(Code::Forbidden, message)
            .with_hint("databases, streams, functions, users, keys and settings are not served as rows"))
    }
}

/// Returns the path below the table; `None` if the file is outside of it.
fn below(source: &DeltaSource, path: &str) -> Option<String> {
    let root = &source.root;
    let is_absolute = path.starts_with('/') || path.starts_with("file:") || path.contains("://");
    let below = if is_absolute {
        let spelt = path.replacen("s3a://", "s3://", 1);
        let plain = match spelt.strip_prefix("file:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None => &spelt,
        };
        let own = match source.directory() {
            Some(directory) => std::path::absolute(directory).ok()?.to_str()?.trim_end_matches('/').to_owned(),
            None => root.clone(),
        };
        plain.strip_prefix(&own)?.strip_prefix('/')?.to_owned()
    } else {
        path.to_owned()
    };
    let parts: Vec<&str> = below.split('/').filter(|part| *part != ".").collect();
    let is_inside = !parts.is_empty() && parts.iter().all(|part| !matches!(*part, "" | ".."));
    is_inside.then(|| parts.join("/"))
}

impl DeltaTable {
    /// Returns the files to read, in order.
    pub(crate) fn inputs(&self) -> Vec<Input> {
        self.files.iter().map(|file| file.input.clone()).collect()
    }

    /// Returns whether each file is one to one rows of the table, with its columns.
    pub(crate) fn is_plain(&self) -> bool {
        self.mapping.is_none() && !self.is_widened && self.files.iter().all(|file| file.vector.is_none())
    }

    /// Returns the columns that are in files.
    pub(crate) fn stored(&self) -> Schema {
        Schema::new(self.stored_columns().into_iter().map(field).collect::<Vec<_>>())
    }

    /// Returns the names of all columns, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Returns the partition columns with their values, of the types that `spec` declares or the table has.
    ///
    /// # Errors
    /// [`Code::Source`] if a value is not of the type.
    pub(crate) fn partitions(&self, spec: &DatasetSpec) -> Result<Partitions> {
        let labels: Vec<&str> = self.files.iter().map(|file| file.input.label.as_str()).collect();
        let mut partitions = Partitions::none(self.files.len());
        for (place, index) in self.partitions.iter().enumerate() {
            let mut field = field(&self.columns[*index]);
            if let Some(declared) = spec.schema.iter().find(|column| column.name == *field.name()) {
                field = Field::new(&declared.name, declared.data_type.clone(), declared.nullable);
            }
            let texts: StringArray = self.files.iter().map(|file| file.values[place].as_deref()).collect();
            partitions.add(field, &texts, &labels).map_err(|error| match error.code {
                Code::Source => fault::wrong_value(error),
                _ => error,
            })?;
        }
        Ok(partitions)
    }

    /// Passes the rows of a file to `sink`, with the columns that are in files. Blocks.
    ///
    /// # Errors
    /// [`Stop`], and the errors of `sink`.
    pub(crate) fn read(&self, file: usize, sink: Sink<'_>) -> Result<(), Stop> {
        let TableFile { input, vector, .. } = &self.files[file];
        let _parts = input.object.as_ref().map(CachedObject::whole).transpose()?;
        let deleted = vector.as_ref().map(|vector| self.deleted(vector)).transpose()?;
        let reader = FileReader { columns: self.stored_columns(), by_id: self.mapping == Some(Mapping::Id) };
        reader.read(input, deleted.as_ref(), sink)
    }

    /// Describes it for people.
    pub(crate) fn words(&self) -> String {
        format!("{} (Delta, version {})", self.root, self.version)
    }

    fn deleted(&self, vector: &Vector) -> Result<roaring::RoaringTreemap> {
        let file = match &vector.file {
            None => None,
            Some(VectorFile::Disk(path)) => Some(WholeFile::of_disk(path)),
            Some(VectorFile::Object(object)) => Some(WholeFile::of_object(object)?),
        };
        deletion_vector::rows(&self.root, &vector.descriptor, file.as_ref())
    }

    fn stored_columns(&self) -> Vec<&Column> {
        let partitions: HashSet<usize> = self.partitions.iter().copied().collect();
        let all = self.columns.iter().enumerate();
        all.filter(|(index, _)| !partitions.contains(index)).map(|(_, column)| column).collect()
    }
}

fn field(column: &Column) -> Field {
    Field::new(&column.name, column.kind.data_type(), true)
}

#[cfg(test)]
mod tests {
    use super::{DeltaSource, below};

    #[test]
    fn files_are_inside() {
        let table = DeltaSource::latest("s3://b/t/");
        for (path, expected) in [
            ("p=1/a.parquet", Some("p=1/a.parquet")),
            ("s3://b/t/a.parquet", Some("a.parquet")),
            ("s3a://b/t/p=1/a.parquet", Some("p=1/a.parquet")),
            ("s3://b/tt/a.parquet", None),
            ("s3://b/t/../u/a.parquet", None),
            ("../u/a.parquet", None),
            ("/etc/a.parquet", None),
            ("file:///etc/a.parquet", None),
            ("p=1//a.parquet", None),
            ("./p=1/./a.parquet", Some("p=1/a.parquet")),
            (".", None),
            ("", None),
        ] {
            assert_eq!(below(&table, path).as_deref(), expected, "{path}");
        }
        let table = DeltaSource::latest("/srv/t");
        assert_eq!(below(&table, "file:///srv/t/a.parquet").as_deref(), Some("a.parquet"));
        assert_eq!(below(&table, "file:/srv/t/a.parquet").as_deref(), Some("a.parquet"));
        assert_eq!(below(&table, "/srv/t/a.parquet").as_deref(), Some("a.parquet"));
        assert_eq!(below(&table, "/srv/u/a.parquet"), None);
        assert_eq!(below(&table, "/srv/t/../u/a.parquet"), None);
    }
}
