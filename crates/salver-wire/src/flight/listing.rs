//! What is told of the catalog: its one catalog and schema, its tables and views as their caller sees them.

use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use arrow_flight::sql::{Command, CommandGetDbSchemas, CommandGetTables};
use salver_model::like::Pattern;
use salver_model::{EntryKind, Error, Permission, Result};
use salver_service::reception::Welcome;

use super::catalog::{CATALOG, SCHEMA, is_catalog, repeated, text, texts};
use super::outflow::portable;
use super::prepared::written;
use super::{key_listing, server_facts};

/// Types of tables.
const TABLE: &str = "TABLE";
const VIEW: &str = "VIEW";

/// Returns the columns of what a command lists; `None` if it lists nothing.
///
/// # Errors
/// `Internal`.
pub(super) fn columns(command: &Command) -> Result<Option<SchemaRef>> {
    Ok(Some(match command {
        Command::CommandGetCatalogs(_) => texts(&[("catalog_name", false)]),
        Command::CommandGetDbSchemas(_) => texts(&[("catalog_name", true), ("db_schema_name", false)]),
        Command::CommandGetTableTypes(_) => texts(&[("table_type", false)]),
        Command::CommandGetTables(asked) => tables_columns(asked.include_schema),
        Command::CommandGetSqlInfo(_) => server_facts::sql_info(&[])?.schema(),
        Command::CommandGetXdbcTypeInfo(_) => server_facts::type_info(None)?.schema(),
        other => match key_listing::columns(other) {
            Some(columns) => columns,
            None => return Ok(None),
        },
    }))
}

/// Returns what a command lists for a caller; `None` if it lists nothing.
///
/// # Errors
/// `Internal`.
pub(super) fn rows(command: &Command, welcome: &Welcome) -> Result<Option<RecordBatch>> {
    Ok(Some(match command {
        Command::CommandGetSqlInfo(asked) => server_facts::sql_info(&asked.info)?,
        Command::CommandGetXdbcTypeInfo(asked) => server_facts::type_info(asked.data_type)?,
        Command::CommandGetTables(asked) => tables(asked, welcome)?,
        Command::CommandGetCatalogs(_) => batch(columns(command)?, vec![text([CATALOG])])?,
        Command::CommandGetTableTypes(_) => batch(columns(command)?, vec![text([TABLE, VIEW])])?,
        Command::CommandGetDbSchemas(asked) => {
            let count = usize::from(has_schema(asked));
            batch(columns(command)?, vec![text(repeated(CATALOG, count)), text(repeated(SCHEMA, count))])?
        }
        other => match key_listing::columns(other) {
            Some(columns) => key_listing::rows(other, &columns, welcome)?,
            None => return Ok(None),
        },
    }))
}

fn has_schema(asked: &CommandGetDbSchemas) -> bool {
    is_catalog(asked.catalog.as_deref()) && is_like(asked.db_schema_filter_pattern.as_deref(), SCHEMA)
}

fn is_like(pattern: Option<&str>, name: &str) -> bool {
    pattern.is_none_or(|pattern| Pattern::new(pattern, false).matches(name))
}

fn tables(asked: &CommandGetTables, welcome: &Welcome) -> Result<RecordBatch> {
    let snapshot = welcome.service.snapshot(&welcome.caller, Permission::Sql);
    let is_here = is_catalog(asked.catalog.as_deref()) && is_like(asked.db_schema_filter_pattern.as_deref(), SCHEMA);
    let pattern = asked.table_name_filter_pattern.as_deref().map(|pattern| Pattern::new(pattern, false));
    let is_wanted = |kind: &str| asked.table_types.is_empty() || asked.table_types.iter().any(|own| own == kind);
    let kinds = [TABLE, VIEW].map(is_wanted);
    let (mut names, mut types) = (Vec::new(), Vec::new());
    let mut schemas = BinaryBuilder::new();
    for entry in snapshot.entries().filter(|_| is_here) {
        let Some(table) = entry.table() else { continue };
        let is_view = table.describe().kind == EntryKind::View;
        let name = entry.name.as_str();
        if !kinds[usize::from(is_view)] || pattern.as_ref().is_some_and(|pattern| !pattern.matches(name)) {
            continue;
        }
        names.push(name.to_owned());
        types.push(if is_view { VIEW } else { TABLE });
        if asked.include_schema {
            schemas.append_value(written(portable(&table.describe().schema).schema())?);
        }
    }
    let count = names.len();
    let mut columns = vec![
        text(repeated(CATALOG, count)),
        text(repeated(SCHEMA, count)),
        text(names.iter().map(String::as_str)),
        text(types),
    ];
    if asked.include_schema {
        columns.push(Arc::new(schemas.finish()));
    }
    batch(Some(tables_columns(asked.include_schema)), columns)
}

fn tables_columns(include_schema: bool) -> SchemaRef {
    let own = [("catalog_name", true), ("db_schema_name", true), ("table_name", false), ("table_type", false)];
    let columns = texts(&own);
    if !include_schema {
        return columns;
    }
    let schema = Field::new("table_schema", DataType::Binary, false);
    let fields = columns.fields().iter().cloned().chain([Arc::new(schema)]);
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn batch(schema: Option<SchemaRef>, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    let schema = schema.ok_or_else(|| Error::internal("what is listed has no columns"))?;
    RecordBatch::try_new(schema, columns)
        .map_err(|cause| Error::internal("what is listed does not fit its columns").with_source(cause))
}
