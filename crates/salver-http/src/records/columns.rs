//! `/api/columns`: the schema in PHP-CRUD-API's format, and changes of it.

use std::sync::Arc;

use http::{Method, Response};
use salver_model::limits::NEW_COLUMNS_MAX;
use salver_model::ports::Database;
use salver_model::records::{
    ColumnDefinition, ColumnInfo, DatabaseSchema, Definition, Field, Operation, Record, TableDefinition, TableInfo,
    TableKind,
};
use salver_model::{Code, Error, Result};
use serde_json::{Map, Value as Json};

use super::body::{self, unreadable};
use super::databases::nowhere;
use super::json::Reader;
use super::respond;
use crate::body::Body;
use crate::dialect::php;
use crate::request_context::RequestContext;
use crate::routes::records::RecordsTarget;

/// Responds with a part of the schema.
pub(super) async fn show(context: &RequestContext<'_>, target: &RecordsTarget<'_>) -> Result<Response<Body>> {
    let json = match target {
        RecordsTarget::SchemaTable(table) => {
            let (schema, at) = table_of(context, table, None).await?;
            table_json(&schema.tables()[at])
        }
        RecordsTarget::SchemaColumn(table, column) => {
            let (schema, at) = table_of(context, table, Some(column)).await?;
            let table = &schema.tables()[at];
            let at = table.column(column).ok_or_else(|| no_column(column))?;
            column_json(table, at)
        }
        _ => {
            let mut tables = Vec::new();
            for database in context.databases().await? {
                let schema = visible(context, &database).await?;
                tables.extend(schema.tables().iter().map(table_json));
            }
            Json::Object(Map::from_iter([("tables".to_owned(), Json::Array(tables))]))
        }
    };
    respond::text(context, &json.to_string(), php::wants_xml(context.query)).await
}

/// Returns the schema that is visible to the caller.
async fn visible(context: &RequestContext<'_>, database: &Arc<dyn Database>) -> Result<Arc<DatabaseSchema>> {
    context.app.service.visible_schema(context.caller, database, Operation::Reflect).await
}

/// Returns the schema and the index of the table called `name`; the schema is reloaded when the table is unknown.
async fn table_of(
    context: &RequestContext<'_>,
    name: &str,
    column: Option<&str>,
) -> Result<(Arc<DatabaseSchema>, usize)> {
    let (database, name) = context.database(name).await?;
    let find = |schema: &DatabaseSchema| {
        let at = schema.position(name)?;
        (column.is_none_or(|column| schema.tables()[at].column(column).is_some())).then_some(at)
    };
    let schema = visible(context, &database).await?;
    if let Some(at) = find(&schema) {
        return Ok((schema, at));
    }
    context.app.service.refresh_schemas(context.caller, std::slice::from_ref(&database)).await?;
    let schema = visible(context, &database).await?;
    match (schema.position(name), column) {
        (None, _) => Err(Error::new(Code::UnknownTable, format!("Table '{name}' not found"))),
        (Some(at), _) => Ok((schema, at)),
    }
}

fn no_column(name: &str) -> Error {
    Error::new(Code::UnknownColumn, format!("Column '{name}' not found"))
}

fn table_json(table: &TableInfo) -> Json {
    let mut object = named(&table.real_name, &table.name);
    let kind = if table.kind == TableKind::View { "view" } else { "table" };
    object.insert("type".to_owned(), kind.into());
    let columns = (0..table.columns.len()).map(|at| column_json(table, at)).collect();
    object.insert("columns".to_owned(), Json::Array(columns));
    Json::Object(object)
}

fn named(real: &str, outside: &str) -> Map<String, Json> {
    let mut object = Map::new();
    object.insert("name".to_owned(), real.into());
    if outside != real {
        object.insert("alias".to_owned(), outside.into());
    }
    object
}

/// Describes a column. Members that are zero, false or empty are omitted.
fn column_json(table: &TableInfo, at: usize) -> Json {
    let column: &ColumnInfo = &table.columns[at];
    let mut object = named(&column.real_name, &column.name);
    object.insert("type".to_owned(), column.kind.word().into());
    for (name, number) in [("length", column.length), ("precision", column.precision), ("scale", column.scale)] {
        if let Some(number) = number.filter(|number| *number > 0) {
            object.insert(name.to_owned(), number.into());
        }
    }
    // PostgreSQL reports every column of a view as nullable; PHP-CRUD-API reports none.
    let nullable = column.nullable && table.kind == TableKind::Table;
    for (name, holds) in [("nullable", nullable), ("pk", table.key.contains(&at))] {
        if holds {
            object.insert(name.to_owned(), true.into());
        }
    }
    if let Some(key) = table.foreign_keys.iter().find(|key| key.columns == [at]) {
        object.insert("fk".to_owned(), key.target.as_str().into());
    }
    Json::Object(object)
}

/// Changes a part of the schema.
pub(super) async fn change(
    context: &RequestContext<'_>,
    target: RecordsTarget<'_>,
    bytes: &[u8],
) -> Result<Response<Body>> {
    let record = match *context.method {
        Method::DELETE => Record::new(),
        _ => {
            let read = body::read(bytes, php::wants_xml(context.query))?;
            if read.batch {
                return Err(unreadable());
            }
            read.records.into_iter().next().ok_or_else(unreadable)?
        }
    };
    let (database, definition) = match (target, context.method) {
        (RecordsTarget::Schema, &Method::POST) => {
            (creator(context).await?, Definition::CreateTable(table_of_record(&record)?))
        }
        (RecordsTarget::SchemaTable(name), method) => {
            let (database, table) = context.database(&name).await?;
            let table = table.to_owned();
            let definition = match *method {
                Method::PUT => Definition::UpdateTable { table, to: table_of_record(&record)? },
                Method::POST => Definition::CreateColumn { table, column: column_of_record(&record)? },
                Method::DELETE => Definition::DropTable { table },
                _ => return Err(nowhere(context)),
            };
            (database, definition)
        }
        (RecordsTarget::SchemaColumn(name, column), method) => {
            let (database, table) = context.database(&name).await?;
            let table = table.to_owned();
            let definition = match *method {
                Method::PUT => {
                    Definition::UpdateColumn { table, column: column.into_owned(), to: column_of_record(&record)? }
                }
                Method::DELETE => Definition::DropColumn { table, column: column.into_owned() },
                _ => return Err(nowhere(context)),
            };
            (database, definition)
        }
        _ => return Err(nowhere(context)),
    };
    if !database.spec().definable {
        // As in PHP-CRUD-API, where this controller is disabled unless it is listed.
        return Err(nowhere(context));
    }
    context.app.service.define(context.caller, &database, &definition).await?;
    respond::text(context, "true", php::wants_xml(context.query)).await
}

/// Returns the database for a new table without a database: the first whose schema may be changed.
async fn creator(context: &RequestContext<'_>) -> Result<Arc<dyn Database>> {
    let mut databases = context.databases().await?.into_iter();
    databases.find(|database| database.spec().definable).ok_or_else(|| nowhere(context))
}

fn table_of_record(record: &Record) -> Result<TableDefinition> {
    let mut table = TableDefinition::default();
    for (name, field) in record {
        match (name.as_str(), field) {
            ("name", Field::Text(text)) => table.name = Some(text.clone()),
            ("columns", Field::Json(text)) => {
                let (columns, batch) =
                    Reader::whole(text, |reader| reader.records(NEW_COLUMNS_MAX)).ok_or_else(unreadable)?;
                if !batch {
                    return Err(unreadable());
                }
                table.columns = columns.iter().map(column_of_record).collect::<Result<_>>()?;
            }
            _ => {}
        }
    }
    Ok(table)
}

fn column_of_record(record: &Record) -> Result<ColumnDefinition> {
    let mut column = ColumnDefinition::default();
    for (name, field) in record {
        match name.as_str() {
            "name" => column.name = text(field),
            "type" => column.kind = text(field),
            "length" => column.length = number(field)?,
            "precision" => column.precision = number(field)?,
            "scale" => column.scale = number(field)?,
            "nullable" => column.nullable = boolean(field),
            "pk" => column.pk = boolean(field),
            "fk" => column.fk = Some(text(field).unwrap_or_default()),
            _ => {}
        }
    }
    Ok(column)
}

fn text(field: &Field) -> Option<String> {
    match field {
        Field::Text(text) | Field::Number(text) => Some(text.clone()),
        _ => None,
    }
}

fn number(field: &Field) -> Result<Option<u32>> {
    match text(field) {
        None => Ok(None),
        Some(text) => text.trim().parse().map(Some).map_err(|error| {
            Error::new(Code::InvalidValue, format!("`{text}` is not a length, precision or scale: {error}"))
        }),
    }
}

fn boolean(field: &Field) -> Option<bool> {
    match field {
        Field::Bool(value) => Some(*value),
        Field::Number(text) | Field::Text(text) => Some(!matches!(text.as_str(), "" | "0" | "false")),
        _ => None,
    }
}
