//! Checkpoints: the state of a table as one file, so that readers need not read every commit.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::json::{LineDelimitedWriter, ReaderBuilder};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::AnyError;
use super::action::Action;

/// Rows of a batch.
const BATCH_ROWS: usize = 1_024;
/// Columns that are read of a checkpoint.
const READ: [&str; 5] = ["txn", "add", "remove", "metaData", "protocol"];

/// Returns a checkpoint with these actions, and their number.
///
/// # Errors
/// Fails when they are none that a checkpoint can have.
pub(super) fn encode(actions: impl Iterator<Item = Action>) -> Result<(Vec<u8>, u64), AnyError> {
    let schema = schema();
    let mut decoder = ReaderBuilder::new(Arc::clone(&schema)).with_batch_size(BATCH_ROWS).build_decoder()?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    let mut count = 0;
    for action in actions {
        count += 1;
        decoder.serialize(&[action])?;
        if decoder.len() >= BATCH_ROWS
            && let Some(batch) = decoder.flush()?
        {
            writer.write(&batch)?;
        }
    }
    if let Some(batch) = decoder.flush()? {
        writer.write(&batch)?;
    }
    Ok((writer.into_inner()?, count))
}

/// Passes the actions of a checkpoint to `each`.
///
/// # Errors
/// Fails when the file can't be read, and when `each` does.
pub(super) fn read(path: &Path, each: &mut dyn FnMut(Action) -> Result<(), AnyError>) -> Result<(), AnyError> {
    let file = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let mask = ProjectionMask::columns(file.parquet_schema(), READ);
    let batches = file.with_projection(mask).with_batch_size(BATCH_ROWS).build()?;
    let mut text = Vec::new();
    for batch in batches {
        text.clear();
        let mut writer = LineDelimitedWriter::new(&mut text);
        writer.write(&batch?)?;
        writer.finish()?;
        for action in serde_json::Deserializer::from_slice(&text).into_iter() {
            each(action?)?;
        }
    }
    Ok(())
}

fn schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let long = |name: &str| Field::new(name, DataType::Int64, true);
    let int = |name: &str| Field::new(name, DataType::Int32, true);
    let flag = |name: &str| Field::new(name, DataType::Boolean, true);
    let object = |name: &str, fields: Vec<Field>| Field::new(name, DataType::Struct(fields.into()), true);
    let map = |name: &str| {
        let entry = Fields::from(vec![Field::new("key", DataType::Utf8, false), text("value")]);
        let entries = Field::new("key_value", DataType::Struct(entry), false);
        Field::new(name, DataType::Map(Arc::new(entries), false), true)
    };
    let partitions = Field::new("partitionColumns", DataType::List(Arc::new(text("element"))), true);
    Arc::new(Schema::new(vec![
        object("txn", vec![text("appId"), long("version"), long("lastUpdated")]),
        object(
            "add",
            vec![
                text("path"),
                map("partitionValues"),
                long("size"),
                long("modificationTime"),
                flag("dataChange"),
                text("stats"),
            ],
        ),
        object(
            "remove",
            vec![
                text("path"),
                long("deletionTimestamp"),
                flag("dataChange"),
                flag("extendedFileMetadata"),
                map("partitionValues"),
                long("size"),
            ],
        ),
        object(
            "metaData",
            vec![
                text("id"),
                text("name"),
                object("format", vec![text("provider"), map("options")]),
                text("schemaString"),
                partitions,
                map("configuration"),
                long("createdTime"),
            ],
        ),
        object("protocol", vec![int("minReaderVersion"), int("minWriterVersion")]),
    ]))
}

#[cfg(test)]
mod tests {
    use super::super::action::{Action, Add, Metadata, Remove, Transaction};
    use super::super::state::TableState;
    use super::{encode, read};

    #[test]
    fn what_is_written_is_read() {
        let metadata = Metadata {
            id: "x".to_owned(),
            schema_string: "{}".to_owned(),
            configuration: [("k".to_owned(), Some("v".to_owned()))].into(),
            created_time: Some(7),
            ..Metadata::default()
        };
        let add = Add { path: "a".to_owned(), size: 3, stats: Some("{}".to_owned()), ..Add::default() };
        let txn = Transaction { app_id: "b".to_owned(), version: 9, last_updated: None };
        let mut actions: Vec<Action> = vec![TableState::protocol().into(), metadata.into(), txn.into()];
        actions.extend((0..3_000).map(|n| Action::from(Add { path: format!("{n}"), ..add.clone() })));
        actions.push(Remove { path: add.path, deletion_timestamp: 5, size: 3, ..Remove::default() }.into());
        let (bytes, count) = encode(actions.iter().cloned()).expect("a checkpoint");
        assert_eq!(count, 3_004);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), bytes).expect("a file");
        let mut found = Vec::new();
        let each = &mut |action: Action| {
            found.push(serde_json::to_string(&action)?);
            Ok(())
        };
        read(file.path(), each).expect("a checkpoint");
        let expected: Vec<_> = actions.iter().map(|action| serde_json::to_string(action).expect("text")).collect();
        assert_eq!(found, expected);
    }
}
