//! Writes the rows of a segment as Parquet.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use salver_model::{Code, Error, Result};

use super::footer::footer_bytes;
use super::{BASE, END, GROUP_ROWS, SUM_BYTES, SUMS};
use crate::event::OWN_COLUMNS;
use crate::log::Segment;
use crate::private_files;
use crate::table::frame_rows::{FrameReader, FrameSource};
use crate::table::layout::{ID, Layout, OFFSET, OWN, Wanted};
use crate::table::{BATCH_BYTES, BATCH_ROWS};

/// Extension of an unfinished file.
pub(in crate::table) const NEW: &str = "parquet-new";

/// Memory, in bytes, at which a row group is written regardless of its number of rows: each reader has one in memory.
const GROUP_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a page, about.
const PAGE_BYTES: u64 = 1024 * 1024;
/// Values after which the length of a page is checked, where they are short.
const PAGE_VALUES: u64 = 1024;

/// Writes the file atomically, unless `stop` is set meanwhile. Blocks.
///
/// # Errors
/// Returns `Source` when the segment is damaged, and `StreamUnavailable` when the file cannot be written.
pub(in crate::table) fn write(segment: &Arc<Segment>, layout: &Arc<Layout>, stop: &AtomicBool) -> Result<()> {
    let path = segment.parquet_path();
    let new = path.with_extension(NEW);
    let failed = |error: AnyError| {
        Error::new(Code::StreamUnavailable, format!("can't write `{}`", path.display())).with_source(error)
    };
    let offsets = segment.base()..segment.end();
    let columns = columns(layout);
    let wanted = Wanted::new(Arc::clone(layout), &columns);
    let file =
        Summed { file: private_files::create(&new).map_err(|error| failed(error.into()))?, kept: Vec::new(), at: 0 };
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&wanted.schema), Some(properties(segment)))
        .map_err(|error| failed(error.into()))?;
    let mut rows = FrameReader::new(FrameSource::Closed(Arc::clone(segment)), offsets.clone(), wanted);
    let (mut sums, mut count) = (Vec::new(), 0);
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(failed("the stream is closing".into()));
        }
        let batch = rows.next(BATCH_ROWS, BATCH_BYTES)?;
        let is_end = batch.is_none();
        if let Some(batch) = batch {
            count += batch.num_rows() as u64;
            writer.write(&batch).map_err(|error| failed(error.into()))?;
        }
        let is_full = writer.in_progress_rows() >= GROUP_ROWS || writer.in_progress_size() >= GROUP_BYTES;
        if is_end || is_full {
            end_group(&mut writer, &mut sums).map_err(failed)?;
        }
        if is_end {
            break;
        }
    }
    if count != offsets.end - offsets.start {
        return Err(Error::new(Code::Source, format!("`{}` lacks events", segment.path().display())));
    }
    for (key, value) in [(BASE, offsets.start.to_string()), (END, offsets.end.to_string()), (SUMS, sums.join(","))] {
        writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }
    let mut finish = || -> std::result::Result<(), AnyError> {
        writer.write_all(&[0; SUM_BYTES])?;
        writer.finish()?;
        writer.sync()?;
        let Summed { file, kept, at } = writer.inner();
        let footer = kept.get(SUM_BYTES..).unwrap_or_default();
        if footer.len() as u64 != footer_bytes(footer).ok_or("the footer is not there")? {
            return Err("there is something between the rows and the footer".into());
        }
        file.write_all_at(&crc32fast::hash(footer).to_le_bytes(), *at)?;
        file.sync_all()?;
        Ok(fs::rename(&new, &path)?)
    };
    finish().map_err(failed)
}

/// Returns every column except those that are all null so far, whose types are not known yet.
fn columns(layout: &Layout) -> Vec<usize> {
    let all = 0..layout.schema.fields().len();
    all.filter(|index| *index < OWN || layout.shape.has_values(index - OWN)).collect()
}

fn properties(segment: &Segment) -> WriterProperties {
    // The length of a page is checked after so many values: a reader has a page in memory.
    let row_bytes = segment.bytes() / (segment.end() - segment.base()).max(1);
    let values = (PAGE_BYTES / row_bytes.max(1)).clamp(1, PAGE_VALUES);
    // Offsets and ids increase by one, which these encodings compress to almost nothing.
    let (offset, id) = (ColumnPath::from(OWN_COLUMNS[OFFSET]), ColumnPath::from(OWN_COLUMNS[ID]));
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_data_page_size_limit(PAGE_BYTES as usize)
        .set_write_batch_size(values as usize)
        .set_column_dictionary_enabled(offset.clone(), false)
        .set_column_encoding(offset, Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled(id.clone(), false)
        .set_column_encoding(id, Encoding::DELTA_BYTE_ARRAY)
        .build()
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Finishes a row group, and computes the checksums of its column chunks.
fn end_group(writer: &mut ArrowWriter<Summed>, sums: &mut Vec<String>) -> std::result::Result<(), AnyError> {
    let before = writer.flushed_row_groups().len();
    writer.flush()?;
    writer.sync()?;
    let ranges: Vec<_> = writer.flushed_row_groups()[before..]
        .iter()
        .flat_map(|group| group.columns().iter().map(parquet::file::metadata::ColumnChunkMetaData::byte_range))
        .collect();
    let file = writer.inner_mut();
    for (start, length) in ranges {
        let start = start.checked_sub(file.at).and_then(|start| usize::try_from(start).ok()).unwrap_or(usize::MAX);
        let chunk = file.kept.get(start..start.saturating_add(length as usize)).ok_or("a column chunk is not there")?;
        sums.push(format!("{:08x}", crc32fast::hash(chunk)));
    }
    file.at += file.kept.len() as u64;
    file.kept.clear();
    Ok(())
}

/// File that keeps its latest writes.
struct Summed {
    file: File,
    kept: Vec<u8>,
    /// Position of `kept` in the file.
    at: u64,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.kept.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
