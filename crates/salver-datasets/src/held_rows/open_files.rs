//! The open files of a dataset, and the metadata of each from when it was loaded.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arrow::datatypes::{Field, FieldRef, SchemaRef};
use datafusion::common::ScalarValue;
use parquet::file::metadata::RowGroupMetaData;
use salver_model::{Error, Result};
use tempfile::TempDir;
use tokio::sync::OwnedSemaphorePermit;

use super::parquet_file::OpenFile;
use crate::file_stamp::{self, Stamp};
use crate::residency::{ParquetFile, Remote};

/// Metadata of the files from when they were loaded.
#[derive(Debug)]
pub(super) struct Sources {
    /// The dataset's columns.
    pub(super) schema: SchemaRef,
    /// For each column its place among the partition columns; `None` if it is stored in the files.
    pub(super) partitions: Vec<Option<usize>>,
    /// The first row of each file, followed by the number of rows.
    pub(super) starts: Vec<u64>,
    files: Vec<OpenedFile>,
    /// The directory of a converted copy, kept while it is read.
    _kept: Option<Arc<TempDir>>,
}

#[derive(Debug)]
struct OpenedFile {
    path: PathBuf,
    stamp: Option<Stamp>,
    /// The values of the partition columns.
    values: Vec<ScalarValue>,
    /// The object whose parts it has.
    remote: Remote,
    /// Whether plans need another footer than its own, once that was read.
    needs_plain: OnceLock<bool>,
}

/// The open files, for exports and for plans of the engine. Of a dataset with very many files only the first ones are
/// kept open; the others are opened for each read, which fails if they were replaced by then.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Metadata of the files.
    pub(super) sources: Arc<Sources>,
    kept: Vec<Arc<OpenFile>>,
    _places: Option<OwnedSemaphorePermit>,
}

/// A row group of a file.
#[derive(Debug)]
pub(crate) struct RowGroup {
    pub(crate) rows: usize,
    /// The byte of the file by which the engine says to which part of the file it belongs.
    pub(crate) offset: i64,
}

impl RowGroup {
    fn of(group: &RowGroupMetaData) -> Self {
        let first = group.columns().first();
        let offset = first.map(|column| column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset()));
        Self { rows: usize::try_from(group.num_rows()).unwrap_or(0), offset: offset.unwrap_or(0) }
    }
}

impl Sources {
    /// Returns the metadata of a dataset's files; some of the columns `schema` are `partition_columns`.
    pub(super) fn new(
        schema: &SchemaRef,
        files: &[ParquetFile],
        partition_columns: &[Field],
        kept: Option<Arc<TempDir>>,
    ) -> Result<Self> {
        let mut starts = vec![0];
        let mut rows = 0;
        let mut sources = Vec::with_capacity(files.len());
        for file in files {
            rows += file.rows;
            starts.push(rows);
            let found = std::fs::metadata(&file.path).ok().filter(|about| about.len() == file.bytes);
            let about = found.ok_or_else(|| file_stamp::changed(&file_stamp::name(&file.path)))?;
            sources.push(OpenedFile {
                path: file.path.clone(),
                // The parts of an object are never changed, like a converted copy.
                stamp: (kept.is_none() && file.remote.0.is_none()).then(|| Stamp::of(&about)),
                values: file.partition_values.clone(),
                remote: file.remote.clone(),
                needs_plain: OnceLock::new(),
            });
        }
        let partition = |field: &FieldRef| partition_columns.iter().position(|own| own.name() == field.name());
        let partitions = schema.fields().iter().map(partition).collect();
        Ok(Self { schema: Arc::clone(schema), partitions, starts, files: sources, _kept: kept })
    }

    /// Returns the number of files.
    pub(super) fn count(&self) -> usize {
        self.files.len()
    }

    /// Returns whether only parts of some file are on disk.
    pub(super) fn is_remote(&self) -> bool {
        self.files.iter().any(|file| file.remote.0.is_some())
    }

    /// Returns whether the files are copies that belong to this process.
    #[cfg(feature = "ballista")]
    pub(super) fn are_copies(&self) -> bool {
        self._kept.is_some()
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns those of `columns` that are stored in files, though not every file may have them.
    pub(super) fn fields(&self, columns: &[usize]) -> Vec<FieldRef> {
        let own = columns.iter().filter(|column| self.partition(**column).is_none());
        own.filter_map(|column| self.schema.fields().get(*column).cloned()).collect()
    }

    /// Returns the place of a column among the partition columns; `None` if it is stored in the files.
    pub(super) fn partition(&self, column: usize) -> Option<usize> {
        self.partitions.get(column).copied().flatten()
    }

    /// Returns the number of the file that has a row.
    pub(super) fn file_of(&self, row: u64) -> usize {
        self.starts.partition_point(|start| *start <= row).saturating_sub(1)
    }

    /// Returns the value of a partition column, by its index among them, for a file.
    pub(super) fn value(&self, file: usize, partition: usize) -> Option<&ScalarValue> {
        self.files.get(file)?.values.get(partition)
    }
}

impl Opened {
    /// Opens the files, as many as `places` has permits for.
    pub(super) fn new(sources: &Arc<Sources>, places: Option<OwnedSemaphorePermit>) -> Result<Self> {
        let count = places.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let kept = sources.files[..count].iter().map(|file| file.open().map(Arc::new)).collect::<Result<_>>()?;
        Ok(Self { sources: Arc::clone(sources), kept, _places: places })
    }

    /// Returns a file by its number. Blocks.
    pub(super) fn file(&self, number: usize) -> Result<Arc<OpenFile>> {
        match self.kept(number) {
            Some(open) => Ok(Arc::clone(open)),
            None => self.sources.files[number].open().map(Arc::new),
        }
    }

    /// Returns a file by a number that may be out of range. Blocks.
    pub(super) fn numbered(&self, number: usize) -> Result<Arc<OpenFile>> {
        if number >= self.sources.count() {
            return Err(Error::internal("a plan reads a file that its dataset does not have"));
        }
        self.file(number)
    }

    /// Returns the place where it is kept whether plans need another footer than a file's own.
    pub(super) fn needs_plain(&self, number: usize) -> Option<&OnceLock<bool>> {
        self.sources.files.get(number).map(|file| &file.needs_plain)
    }

    /// Returns whether only parts of some file are on disk.
    pub(crate) fn is_remote(&self) -> bool {
        self.sources.is_remote()
    }

    /// Returns the row groups of a file, whose footer is read once. Blocks.
    pub(crate) fn row_groups(&self, number: usize) -> Result<Vec<RowGroup>> {
        let footer = self.numbered(number)?.footer()?;
        let groups = footer.metadata.metadata().row_groups().iter();
        Ok(groups.map(RowGroup::of).collect())
    }

    /// Returns a file by its number if it is kept open.
    pub(super) fn kept(&self, number: usize) -> Option<&Arc<OpenFile>> {
        self.kept.get(number)
    }

    /// Refuses the dataset if a file that is not kept open differs from the one that was loaded.
    pub(crate) fn check_others(&self) -> Result<()> {
        let holds = |file: &OpenedFile| {
            let about = std::fs::metadata(&file.path);
            file.stamp.is_none_or(|stamp| about.is_ok_and(|about| stamp.is_of(&about)))
        };
        let others = self.sources.files.get(self.kept.len()..).unwrap_or_default();
        match others.iter().find(|file| !holds(file)) {
            None => Ok(()),
            Some(file) => Err(file_stamp::changed(&file_stamp::name(&file.path))),
        }
    }
}

impl OpenedFile {
    fn open(&self) -> Result<OpenFile> {
        match &self.remote.0 {
            Some(object) => Ok(OpenFile::remote(object)),
            None => OpenFile::open(&self.path, self.stamp),
        }
    }
}
