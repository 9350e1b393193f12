//! Checkpoints in Parquet, as the actions of a log: one a row.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use arrow::json::LineDelimitedWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::SchemaDescriptor;
use salver_model::Result;
use salver_model::spec::SourceFormat;

use super::action::Action;
use super::fault;
use crate::source::{self, Input};

/// Most rows of a batch.
const BATCH_ROWS: u64 = 1_024;
/// Bytes of a column of a batch, as far as the file tells.
const BATCH_BYTES: u64 = 128 * 1024 * 1024;
/// What is read of a row: columns, or members of them. The statistics of files are most of a checkpoint.
const READ: [(&str, &[&str]); 4] = [
    ("add", &["path", "partitionValues", "modificationTime", "deletionVector"]),
    ("metaData", &[]),
    ("protocol", &[]),
    ("sidecar", &["path"]),
];

/// Passes the actions of a file to `each`, with the bytes that were decoded for them; `label` is its name in messages.
pub(super) fn actions(path: &Path, label: &str, each: &mut dyn FnMut(Action, u64) -> Result<()>) -> Result<()> {
    let input = Input {
        label: label.to_owned(),
        path: path.to_owned(),
        format: SourceFormat::Parquet,
        partitions: Vec::new(),
        dir: None,
        object: None,
    };
    source::guarded(&input, || {
        let metadata = source::parquet::load(&input)?;
        let unreadable = |cause: &dyn std::fmt::Display| fault::damaged(label, cause);
        let file = File::open(path).map_err(|cause| crate::location::unreadable(path, &cause))?;
        check(metadata.schema()).map_err(|why| fault::damaged(label, why))?;
        let mask = wanted(metadata.parquet_schema());
        let rows = batch_rows(metadata.metadata(), &mask, &file).map_err(|cause| unreadable(&cause))?;
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_projection(mask)
            .with_batch_size(rows)
            .build()
            .map_err(|cause| unreadable(&cause))?;
        let mut text = Vec::new();
        for batch in batches {
            let batch = batch.map_err(|cause| unreadable(&cause))?;
            text.clear();
            let mut writer = LineDelimitedWriter::new(&mut text);
            writer.write(&batch).and_then(|()| writer.finish()).map_err(|cause| unreadable(&cause))?;
            let mut bytes = text.len() as u64;
            for action in serde_json::Deserializer::from_slice(&text).into_iter() {
                each(action.map_err(|cause| unreadable(&cause))?, std::mem::take(&mut bytes))?;
            }
        }
        Ok(())
    })
}

/// Refuses columns without which files would be overlooked. A file with sidecars may have no files of its own.
fn check(schema: &Schema) -> Result<(), String> {
    for (column, members) in READ {
        let Ok(field) = schema.field_with_name(column) else { continue };
        let DataType::Struct(own) = field.data_type() else {
            return Err(format!("its column `{column}` is no struct"));
        };
        if !members.contains(&"path") {
            continue;
        }
        let path = own.find("path").map(|(_, path)| match path.data_type() {
            DataType::Dictionary(_, values) => values.as_ref(),
            other => other,
        });
        if !matches!(path, Some(DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)) {
            return Err(format!("its column `{column}` has no text `path`"));
        }
    }
    match ["add", "sidecar"].iter().any(|column| schema.field_with_name(column).is_ok()) {
        true => Ok(()),
        false => Err("it has no column `add`".to_owned()),
    }
}

/// Returns the rows of a batch. A few bytes of a file may stand for long texts, each once in a dictionary and many
/// times in rows, and so few rows are read at once where texts may be long.
fn batch_rows(metadata: &ParquetMetaData, mask: &ProjectionMask, file: &File) -> Result<usize, ParquetError> {
    let file = Arc::new(file.try_clone()?);
    let mut widest = 1;
    for group in metadata.row_groups() {
        let rows = u64::try_from(group.num_rows()).unwrap_or(0).max(1);
        let read = group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
        for (_, chunk) in read {
            let count = |number: i64| u64::try_from(number).unwrap_or(0);
            let average = count(chunk.uncompressed_size()) / rows;
            let values = count(chunk.num_values()).div_ceil(rows).max(1);
            widest = widest.max(average).max(values.saturating_mul(dictionary_bytes(&file, chunk)?));
        }
    }
    Ok(usize::try_from((BATCH_BYTES / widest).clamp(1, BATCH_ROWS)).unwrap_or(1))
}

/// Returns the bytes of the dictionary of a column, which no text of it exceeds.
fn dictionary_bytes(file: &Arc<File>, chunk: &ColumnChunkMetaData) -> Result<u64, ParquetError> {
    let mut pages = SerializedPageReader::new(Arc::clone(file), chunk, usize::MAX, None)?;
    if !pages.peek_next_page()?.is_some_and(|page| page.is_dict) {
        return Ok(0);
    }
    Ok(match pages.get_next_page()? {
        Some(Page::DictionaryPage { buf, .. }) => buf.len() as u64,
        _ => 0,
    })
}

/// Returns the columns that are read.
fn wanted(schema: &SchemaDescriptor) -> ProjectionMask {
    let is_wanted = |leaf: &usize| {
        let path = schema.column(*leaf);
        let parts = path.path().parts();
        let Some((_, members)) = READ.iter().find(|(column, _)| parts.first().is_some_and(|own| own == column)) else {
            return false;
        };
        members.is_empty() || parts.get(1).is_some_and(|own| members.contains(&own.as_str()))
    };
    ProjectionMask::leaves(schema, (0..schema.num_columns()).filter(is_wanted))
}
