//! Collects batches: in memory as chunks while there is room, else on disk as Parquet.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, IntervalUnit, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use salver_model::{Code, Error, Result};
use tempfile::TempDir;

use super::chunks::Chunks;
use super::{Budget, Content, ParquetFile, Remote, Reservation};
use crate::source::Stop;
use crate::source::parquet::wide_columns;

/// Rows of a row group of a converted copy.
const GROUP_ROWS: usize = 128 * 1024;
/// Bytes after which a row group ends, even if it has fewer rows.
const GROUP_BYTES: usize = 256 * 1024 * 1024;

/// The action when there is no room in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhenFull {
    /// Continues on disk.
    Convert,
    /// Stops; the caller can scan the files in place.
    Stop,
    /// Fails.
    Fail,
}

/// Collects batches.
pub(super) struct Collector {
    schema: SchemaRef,
    data_dir: PathBuf,
    when_full: WhenFull,
    bytes_max: u64,
    rows: u64,
    store: Store,
}

enum Store {
    Memory(Chunks),
    Disk(Box<Disk>),
}

/// The result of a collection.
pub(super) struct Collected {
    pub(super) content: Content,
    pub(super) rows: u64,
    pub(super) memory_bytes: u64,
    pub(super) reservation: Option<Reservation>,
}

impl Collector {
    /// Returns a collector that starts in memory and reserves at most `bytes_max` of the budget.
    pub(super) fn in_memory(
        schema: &SchemaRef,
        budget: &Arc<Budget>,
        data_dir: &Path,
        when_full: WhenFull,
        bytes_max: u64,
    ) -> Result<Self> {
        Ok(Self {
            schema: SchemaRef::clone(schema),
            data_dir: data_dir.to_owned(),
            when_full,
            bytes_max,
            rows: 0,
            store: Store::Memory(Chunks::new(budget)?),
        })
    }

    /// Returns a collector that writes to disk from the start.
    pub(super) fn on_disk(schema: &SchemaRef, data_dir: &Path) -> Result<Self> {
        let store = Store::Disk(Box::new(Disk::create(schema, data_dir)?));
        let (schema, data_dir) = (SchemaRef::clone(schema), data_dir.to_owned());
        Ok(Self { schema, data_dir, when_full: WhenFull::Convert, bytes_max: 0, rows: 0, store })
    }

    /// Appends a batch of the collector's schema.
    pub(super) fn push(&mut self, batch: RecordBatch) -> Result<(), Stop> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.rows += batch.num_rows() as u64;
        let memory = match &mut self.store {
            Store::Disk(disk) => return Ok(disk.write(&batch)?),
            Store::Memory(memory) => memory,
        };
        if memory.push(batch, self.bytes_max)? {
            return Ok(());
        }
        match self.when_full {
            WhenFull::Stop => Err(Stop::Full),
            WhenFull::Fail => Err(Error::new(Code::OutOfMemory, "the rows don't fit into the memory for datasets")
                .with_hint("set `memory = \"auto\"` for the dataset, or raise `limits.memory_bytes_max`")
                .into()),
            WhenFull::Convert => {
                let mut disk = Disk::create(&self.schema, &self.data_dir)?;
                memory.drain().try_for_each(|batch| disk.write(&batch))?;
                self.store = Store::Disk(Box::new(disk));
                Ok(())
            }
        }
    }

    /// Finishes the collection.
    pub(super) fn finish(self) -> Result<Collected> {
        match self.store {
            Store::Memory(memory) => {
                let (chunks, reservation) = memory.finish()?;
                Ok(Collected {
                    content: Content::Resident { schema: self.schema, chunks },
                    rows: self.rows,
                    memory_bytes: reservation.bytes(),
                    reservation: Some(reservation),
                })
            }
            Store::Disk(disk) => {
                let (file, dir) = disk.finish(self.rows)?;
                Ok(Collected {
                    content: Content::Parquet {
                        schema: self.schema,
                        files: vec![file],
                        partition_columns: Vec::new(),
                        kept: Some(dir),
                    },
                    rows: self.rows,
                    memory_bytes: 0,
                    reservation: None,
                })
            }
        }
    }
}

struct Disk {
    dir: TempDir,
    path: PathBuf,
    schema: SchemaRef,
    writer: ArrowWriter<File>,
}

impl Disk {
    fn create(schema: &SchemaRef, data_dir: &Path) -> Result<Self> {
        if let Some(field) = schema.fields().iter().find(|field| !fits_parquet(field.data_type())) {
            let message = format!("column `{}` is {}, which can't be kept on disk", field.name(), field.data_type());
            return Err(Error::new(Code::Source, message).with_hint(
                "keep the dataset in memory with `memory = \"always\"`, or declare another type in `schema`",
            ));
        }
        let dir = crate::fetch::scratch(data_dir)?;
        let path = dir.path().join("rows.parquet");
        let level = ZstdLevel::try_new(1).map_err(|cause| Error::internal("zstd has no level 1").with_source(cause))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .build();
        let writer = File::create(&path)
            .map_err(parquet::errors::ParquetError::from)
            .and_then(|file| ArrowWriter::try_new(file, SchemaRef::clone(schema), Some(properties)))
            .map_err(|cause| disk_error(&path, cause))?;
        Ok(Self { dir, path, schema: SchemaRef::clone(schema), writer })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|cause| disk_error(&self.path, cause))?;
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.writer.flush().map_err(|cause| disk_error(&self.path, cause))?;
        }
        Ok(())
    }

    fn finish(self, rows: u64) -> Result<(ParquetFile, Arc<TempDir>)> {
        let footer = self.writer.close().map_err(|cause| disk_error(&self.path, cause))?;
        let bytes = std::fs::metadata(&self.path).map_or(0, |found| found.len());
        let wide = wide_columns(&footer, &self.schema);
        Ok((
            ParquetFile { path: self.path, rows, bytes, wide, partition_values: Vec::new(), remote: Remote::default() },
            Arc::new(self.dir),
        ))
    }
}

/// Returns whether Parquet has an equivalent type; its writer panics on unions.
fn fits_parquet(data_type: &DataType) -> bool {
    match data_type {
        DataType::Union(..) | DataType::Interval(IntervalUnit::MonthDayNano) => false,
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => *scale >= 0,
        DataType::Struct(fields) => fields.iter().all(|field| fits_parquet(field.data_type())),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => fits_parquet(item.data_type()),
        _ => true,
    }
}

fn disk_error(path: &Path, cause: parquet::errors::ParquetError) -> Error {
    Error::new(Code::Source, format!("can't keep the rows in `{}`: {cause}", path.display()))
        .with_hint(
            "check the space on the disk of `--data-dir`, and that every column's type can be written as Parquet",
        )
        .with_source(cause)
}
