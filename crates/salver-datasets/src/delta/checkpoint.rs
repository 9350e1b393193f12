//! Checkpoints in Parquet, as the actions of a log: one a row.

use std::fs::File;
use std::path::Path;

use arrow::json::LineDelimitedWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::schema::types::SchemaDescriptor;
use salver_model::Result;
use salver_model::spec::SourceFormat;

use super::action::Action;
use super::fault;
use crate::source::{self, Input};

/// Rows of a batch.
const BATCH_ROWS: usize = 1_024;
/// What is read of a row: columns, or members of them. The statistics of files are most of a checkpoint.
const READ: [(&str, &[&str]); 4] = [
    ("add", &["path", "partitionValues", "modificationTime", "deletionVector"]),
    ("metaData", &[]),
    ("protocol", &[]),
    ("sidecar", &["path"]),
];

/// Passes the actions of a file to `each`; `label` is its name in messages.
pub(super) fn actions(path: &Path, label: &str, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<()> {
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
        let mask = wanted(metadata.parquet_schema());
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|cause| unreadable(&cause))?;
        let mut text = Vec::new();
        for batch in batches {
            let batch = batch.map_err(|cause| unreadable(&cause))?;
            text.clear();
            let mut writer = LineDelimitedWriter::new(&mut text);
            writer.write(&batch).and_then(|()| writer.finish()).map_err(|cause| unreadable(&cause))?;
            for action in serde_json::Deserializer::from_slice(&text).into_iter() {
                each(action.map_err(|cause| unreadable(&cause))?)?;
            }
        }
        Ok(())
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
