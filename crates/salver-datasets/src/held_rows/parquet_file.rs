//! An open Parquet file. It is read by position only, so that any number of readers can share it. The parts of an
//! object are fetched when they are read for the first time.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::FieldRef;
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, PageIndexPolicy};
use parquet::file::reader::{ChunkReader, Length};
use salver_model::ports::HeldFile;
use salver_model::{Code, Error, Result};

use super::shared_chunks::SharedRanges;
use crate::buckets::{CachedObject, Pinned, unavailable};
use crate::file_stamp::{self, Stamp};
use crate::source::distinct_names;

/// Largest page index that is read, by its size in the file, in bytes. With a larger one, page headers are read
/// instead.
const INDEX_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes read at first for a page header; few are longer.
const HEAD_BYTES: usize = 1024;
/// Bytes of a column chunk of an object that are fetched ahead of a reader that takes page after page.
const AHEAD_BYTES: u64 = 4 * 1024 * 1024;
/// The same of what lies between column chunks.
const LITTLE_AHEAD_BYTES: u64 = 64 * 1024;

/// An open file.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// Its name in messages.
    pub(super) name: String,
    place: Place,
    /// Its length when it was loaded.
    pub(super) bytes: u64,
    /// Its stamp at that time; `None` for a converted copy of Salver's own, which is never changed.
    stamp: Option<Stamp>,
    footer: Mutex<Option<Arc<Footer>>>,
    /// Byte ranges that several readers share.
    shared: SharedRanges,
}

/// Where the bytes of a file are.
#[derive(Debug)]
enum Place {
    Disk(File),
    Object(Arc<CachedObject>),
}

/// The metadata of a file.
#[derive(Debug)]
pub(super) struct Footer {
    /// Columns and row groups.
    pub(super) metadata: ArrowReaderMetadata,
    /// The columns' names as the dataset has them: no two are equal.
    pub(super) names: Vec<String>,
    /// The first row of each row group, followed by the number of rows.
    pub(super) starts: Vec<u64>,
    indexed: Mutex<Option<Option<ArrowReaderMetadata>>>,
}

impl Footer {
    /// Returns the file's top-level columns that hold `fields`, in the order of the file.
    pub(super) fn roots(&self, fields: &[FieldRef]) -> Vec<usize> {
        let place = |field: &FieldRef| self.names.iter().position(|own| own == field.name());
        let mut roots: Vec<usize> = fields.iter().filter_map(place).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }
}

impl OpenFile {
    /// Opens the file at `path`, which had the stamp `stamp` when it was loaded.
    pub(super) fn open(path: &Path, stamp: Option<Stamp>) -> Result<Self> {
        let name = file_stamp::name(path);
        let file = File::open(path).map_err(|cause| file_stamp::changed(&name).with_source(cause))?;
        let about = file.metadata().map_err(|cause| file_stamp::changed(&name).with_source(cause))?;
        if stamp.is_some_and(|stamp| !stamp.is_of(&about)) {
            return Err(file_stamp::changed(&name));
        }
        Ok(Self {
            name,
            place: Place::Disk(file),
            bytes: about.len(),
            stamp,
            footer: Mutex::new(None),
            shared: SharedRanges::default(),
        })
    }

    /// Returns a file whose parts are fetched when they are read.
    pub(super) fn remote(object: &Arc<CachedObject>) -> Self {
        Self {
            name: object.name().to_owned(),
            bytes: object.bytes(),
            place: Place::Object(Arc::clone(object)),
            stamp: None,
            footer: Mutex::new(None),
            shared: SharedRanges::default(),
        }
    }

    /// Reads the bytes of `range`, shared with other readers. Blocks.
    pub(super) fn range(self: &Arc<Self>, range: &Range<u64>) -> Result<Bytes, ParquetError> {
        let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        self.shared.get(range, || match &self.place {
            // Exactly these: the engine knows what it needs.
            Place::Object(object) if range.end <= self.bytes => Ok(object.read(range.clone()).map_err(external)?),
            _ => Pages(Arc::clone(self)).get_bytes(range.start, length),
        })
    }

    /// Fetches what is missing of an object's ranges, all at a time, and keeps it as long as the result lives. Blocks.
    pub(super) fn prepare(&self, ranges: &[Range<u64>]) -> Result<Option<Pinned>> {
        let Place::Object(object) = &self.place else { return Ok(None) };
        if ranges.iter().any(|range| range.end > self.bytes || range.start > range.end) {
            return Ok(None);
        }
        object.prepare(ranges).map(Some).map_err(|cause| self.failed(cause))
    }

    /// Reads `length` bytes for a reader that takes one page after the other.
    fn paged(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let end = start + length as u64;
        match &self.place {
            Place::Disk(file) => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, start)?;
                Ok(bytes.into())
            }
            Place::Object(object) => {
                let ahead = if object.has(&(start..end)) { end } else { end.max(self.ahead(start)) };
                Ok(object.read(start..ahead).map_err(external)?.slice(..length))
            }
        }
    }

    /// Returns up to where an object is fetched for a reader that is at `at`.
    fn ahead(&self, at: u64) -> u64 {
        // Who reads the footer has it locked.
        let footer = self.footer.try_lock().ok().and_then(|footer| footer.clone());
        let chunks = footer.iter().flat_map(|footer| footer.metadata.metadata().row_groups());
        let ranges = chunks.flat_map(|group| group.columns()).map(ColumnChunkMetaData::byte_range);
        let chunk = ranges.map(|(start, bytes)| start..start.saturating_add(bytes)).find(|range| range.contains(&at));
        let end = chunk.map_or(at + LITTLE_AHEAD_BYTES, |range| range.end.min(at + AHEAD_BYTES));
        end.min(self.bytes)
    }

    /// Fails if the file was overwritten.
    pub(super) fn check(&self) -> Result<()> {
        let Some(stamp) = self.stamp else { return Ok(()) };
        let Place::Disk(file) = &self.place else { return Ok(()) };
        let is_same = file.metadata().is_ok_and(|about| stamp.is_of(&about));
        if is_same { Ok(()) } else { Err(overwritten(&self.name)) }
    }

    /// Returns the error for a failed read: that the file was overwritten if so, that its store is at fault, or else
    /// that it is damaged.
    pub(super) fn failed(&self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        let cause = cause.into();
        if let Some(error) = unavailable(&self.name, &*cause) {
            return error.with_source(cause);
        }
        self.check().err().unwrap_or_else(|| file_stamp::damaged(&self.name)).with_source(cause)
    }

    /// Returns the footer, which is read once.
    pub(super) fn footer(self: &Arc<Self>) -> Result<Arc<Footer>> {
        let mut footer = self.footer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(footer) = &*footer {
            return Ok(Arc::clone(footer));
        }
        let metadata = self.load(PageIndexPolicy::Skip).map_err(|cause| self.failed(cause))?;
        self.check()?;
        let mut starts = vec![0];
        let mut rows = 0_u64;
        for group in metadata.metadata().row_groups() {
            rows = rows.saturating_add(u64::try_from(group.num_rows()).unwrap_or(0));
            starts.push(rows);
        }
        let names = distinct_names(metadata.schema().fields().iter().map(|field| field.name().clone()).collect());
        let read = Arc::new(Footer { metadata, names, starts, indexed: Mutex::new(None) });
        *footer = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Returns the footer's metadata with the page index, if the file has one that is not too large.
    pub(super) fn indexed(self: &Arc<Self>, footer: &Footer) -> ArrowReaderMetadata {
        let mut indexed = footer.indexed.lock().unwrap_or_else(PoisonError::into_inner);
        let indexed = indexed.get_or_insert_with(|| {
            let columns = footer.metadata.metadata().row_groups().iter().flat_map(|group| group.columns());
            let lengths =
                columns.map(|column| column.offset_index_length().and_then(|bytes| u64::try_from(bytes).ok()));
            let bytes = lengths.sum::<Option<u64>>()?;
            // The page index is optional, so an invalid one is no error.
            if bytes <= INDEX_BYTES { self.load(PageIndexPolicy::Optional).ok() } else { None }
        });
        indexed.as_ref().unwrap_or(&footer.metadata).clone()
    }

    fn load(self: &Arc<Self>, pages: PageIndexPolicy) -> Result<ArrowReaderMetadata, ParquetError> {
        let options =
            ArrowReaderOptions::new().with_column_index_policy(PageIndexPolicy::Skip).with_offset_index_policy(pages);
        ArrowReaderMetadata::load(&Pages(Arc::clone(self)), options).and_then(crate::source::parquet::readable)
    }
}

impl HeldFile for OpenFile {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, out: &mut [u8], at: u64) -> Result<()> {
        match &self.place {
            Place::Disk(file) => file.read_exact_at(out, at).map_err(|cause| self.failed(cause))?,
            Place::Object(_) => {
                out.copy_from_slice(&self.paged(at, out.len()).map_err(|cause| self.failed(cause))?);
            }
        }
        // Checked after reading, so that no overwritten bytes are returned.
        self.check()
    }
}

fn overwritten(name: &str) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{name}` was overwritten while its rows were held"))
        .with_hint("write files under another name and move them to their place when they are complete")
}

/// The file as the Parquet library's `ChunkReader`.
#[derive(Clone, Debug)]
pub(super) struct Pages(pub(super) Arc<OpenFile>);

impl Length for Pages {
    fn len(&self) -> u64 {
        self.0.bytes
    }
}

impl ChunkReader for Pages {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::with_capacity(HEAD_BYTES, From { file: Arc::clone(&self.0), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // Checked before allocating: a damaged file may have any length.
        if start.checked_add(length as u64).is_none_or(|end| end > self.0.bytes) {
            return Err(ParquetError::EOF(format!("{length} bytes at byte {start}, behind the end of the file")));
        }
        self.0.paged(start, length)
    }
}

fn external(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// The bytes from a position on.
#[derive(Debug)]
pub(super) struct From {
    file: Arc<OpenFile>,
    at: u64,
}

impl Read for From {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = match &self.file.place {
            Place::Disk(file) => file.read_at(out, self.at)?,
            Place::Object(_) => {
                let left = usize::try_from(self.file.bytes.saturating_sub(self.at)).unwrap_or(usize::MAX);
                let count = out.len().min(left);
                let bytes = self.file.paged(self.at, count).map_err(io::Error::other)?;
                out[..count].copy_from_slice(&bytes);
                count
            }
        };
        self.at += count as u64;
        Ok(count)
    }
}
