//! Writes events as a Parquet file of the table.

use std::ops::Range;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use salver_model::{Code, Error, Result};

use super::AnyError;
use super::action::{Add, file_name};
use super::rows::EventRows;
use super::statistics::statistics;
use super::table_dir::TableDir;
use crate::clock::now_ms;
use crate::table::sidecar::GROUP_ROWS;

/// Memory, in bytes, at which a row group is written regardless of its number of rows.
const GROUP_BYTES: usize = 64 * 1024 * 1024;

/// Writes a new file with the events at these offsets, durable and part of no commit; `None` when there are none.
/// Blocks.
///
/// # Errors
/// Returns `Source` when the log can't be read, and `StreamUnavailable` when the file can't be written.
pub(super) fn write(dir: &TableDir, rows: &EventRows<'_>, offsets: &Range<u64>) -> Result<Option<Add>> {
    let name = file_name(offsets)?;
    let path = dir.root().join(&name);
    let failed = |error: AnyError| {
        let message = format!("can't write a file in `{}`: {error}", dir.root().display());
        Error::new(Code::StreamUnavailable, message).with_source(error)
    };
    let file = dir.create(&path).map_err(|error| failed(error.into()))?;
    let options = ArrowWriterOptions::new().with_properties(properties()).with_skip_arrow_metadata(true);
    let schema = std::sync::Arc::clone(rows.columns.schema());
    let mut writer = ArrowWriter::try_new_with_options(file, schema, options).map_err(|error| failed(error.into()))?;
    rows.read(offsets.clone(), &mut |batch| {
        let mut write = || {
            writer.write(batch)?;
            let is_full = writer.in_progress_rows() >= GROUP_ROWS || writer.in_progress_size() >= GROUP_BYTES;
            if is_full { writer.flush() } else { Ok(()) }
        };
        write().map_err(|error: parquet::errors::ParquetError| failed(error.into()))
    })?;
    let mut finish = || -> std::result::Result<Option<Add>, AnyError> {
        let metadata = writer.finish()?;
        if metadata.file_metadata().num_rows() == 0 {
            super::table_dir::remove(&path)?;
            return Ok(None);
        }
        let file = writer.inner();
        dir.crash.pass()?;
        file.sync_all()?;
        dir.crash.pass()?;
        dir.sync()?;
        Ok(Some(Add {
            path: name.clone(),
            size: i64::try_from(file.metadata()?.len())?,
            modification_time: now_ms(),
            stats: Some(statistics(&metadata, rows.columns.schema())),
            ..Add::default()
        }))
    };
    finish().map_err(failed)
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .build()
}
