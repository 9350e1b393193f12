//! What is told of keys: the columns that identify the rows of an entry. Relations between tables are told at no wire.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use arrow_flight::sql::{Command, CommandGetPrimaryKeys};
use salver_model::{Error, Permission, Result};
use salver_service::reception::Welcome;

use super::catalog::{CATALOG, SCHEMA, is_catalog, repeated, text};

/// Returns the columns of what a command lists; `None` if it does not list keys.
pub(super) fn columns(command: &Command) -> Option<SchemaRef> {
    let fields: Vec<(&str, DataType, bool)> = match command {
        Command::CommandGetPrimaryKeys(_) => vec![
            ("catalog_name", DataType::Utf8, true),
            ("db_schema_name", DataType::Utf8, true),
            ("table_name", DataType::Utf8, false),
            ("column_name", DataType::Utf8, false),
            ("key_name", DataType::Utf8, true),
            ("key_sequence", DataType::Int32, false),
        ],
        Command::CommandGetExportedKeys(_)
        | Command::CommandGetImportedKeys(_)
        | Command::CommandGetCrossReference(_) => vec![
            ("pk_catalog_name", DataType::Utf8, true),
            ("pk_db_schema_name", DataType::Utf8, true),
            ("pk_table_name", DataType::Utf8, false),
            ("pk_column_name", DataType::Utf8, false),
            ("fk_catalog_name", DataType::Utf8, true),
            ("fk_db_schema_name", DataType::Utf8, true),
            ("fk_table_name", DataType::Utf8, false),
            ("fk_column_name", DataType::Utf8, false),
            ("key_sequence", DataType::Int32, false),
            ("fk_key_name", DataType::Utf8, true),
            ("pk_key_name", DataType::Utf8, true),
            ("update_rule", DataType::UInt8, false),
            ("delete_rule", DataType::UInt8, false),
        ],
        _ => return None,
    };
    let fields = fields.into_iter().map(|(name, data_type, nullable)| Field::new(name, data_type, nullable));
    Some(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

/// Returns what a command lists for a caller.
///
/// # Errors
/// `Internal`.
pub(super) fn rows(command: &Command, columns: &SchemaRef, welcome: &Welcome) -> Result<RecordBatch> {
    let Command::CommandGetPrimaryKeys(asked) = command else {
        return Ok(RecordBatch::new_empty(Arc::clone(columns)));
    };
    let key = key_of(asked, welcome);
    let count = key.len();
    let arrays: Vec<ArrayRef> = vec![
        text(repeated(CATALOG, count)),
        text(repeated(SCHEMA, count)),
        text(std::iter::repeat_n(asked.table.as_str(), count)),
        text(key.iter().map(String::as_str)),
        Arc::new(StringArray::from_iter(std::iter::repeat_n(None::<&str>, count))),
        Arc::new(Int32Array::from_iter_values(key.iter().zip(1..).map(|(_, place)| place))),
    ];
    RecordBatch::try_new(Arc::clone(columns), arrays)
        .map_err(|cause| Error::internal("keys do not fit their columns").with_source(cause))
}

/// Returns the columns that identify the rows of a table.
fn key_of(asked: &CommandGetPrimaryKeys, welcome: &Welcome) -> Vec<String> {
    let is_here = is_catalog(asked.catalog.as_deref()) && asked.db_schema.as_deref().is_none_or(|name| name == SCHEMA);
    let snapshot = welcome.service.snapshot(&welcome.caller, Permission::Sql);
    let table = snapshot.entry(&asked.table).and_then(|entry| entry.table()).filter(|_| is_here);
    table.map(|table| table.describe().key.clone()).unwrap_or_default()
}
