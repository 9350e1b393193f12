//! Schemas, responses and request bodies of the OpenAPI document.

use salver_model::records::{ColumnInfo, ColumnKind, Operation, TableInfo};
use serde_json::{Map, Value as Json, json};

use super::{Shown, put};
use crate::openapi_document::{json_content as content, reference};

/// Returns the possible errors of an operation, by status.
pub(super) fn failures(operation: Operation) -> &'static [(&'static str, &'static str)] {
    match operation {
        Operation::List => {
            &[("400", "bad_request"), ("403", "forbidden"), ("404", "not_found"), ("503", "unavailable")]
        }
        Operation::Read => &[("400", "bad_request"), ("404", "not_found"), ("503", "unavailable")],
        _ => &[
            ("400", "bad_request"),
            ("403", "forbidden"),
            ("404", "not_found"),
            ("409", "conflict"),
            ("412", "changed"),
            ("422", "invalid"),
            ("424", "undone"),
            ("503", "unavailable"),
        ],
    }
}

/// Returns the responses that do not belong to a table.
pub(super) fn fixed_responses() -> Json {
    let one_or_more = |schema: Json| {
        let many = json!({ "type": "array", "items": schema });
        content(json!({ "oneOf": [schema, many] }))
    };
    let number = json!({ "type": "integer", "format": "int64" });
    let mut responses = json!({
        "pk_integer": { "description": "inserted primary key value (integer); an array for a batch",
            "content": one_or_more(number.clone()) },
        "pk_string": { "description": "inserted primary key value (string); an array for a batch",
            "content": one_or_more(json!({ "type": "string" })) },
        "pk_object": { "description": "inserted primary key values, by column; an array for a batch",
            "content": one_or_more(json!({ "type": "object", "additionalProperties": true })) },
        "rows_affected": { "description": "number of rows affected (integer); an array for a batch",
            "content": one_or_more(number) },
        "undone": { "description": "a record of the batch failed, and all of it was undone; what became of each",
            "content": content(json!({ "type": "array", "items": reference("schemas", "error") })) },
        "geojson-list": { "description": "a GeoJSON feature collection",
            "content": content(reference("schemas", "feature_collection")) },
        "geojson-read": { "description": "a GeoJSON feature", "content": content(reference("schemas", "feature")) },
        "bad_request": { "description": "a parameter of Salver's own, or of a strict request, can't be understood",
            "content": content(reference("schemas", "problem")) },
    });
    for (name, description) in [
        ("forbidden", "the operation, the page or the caller is not allowed"),
        ("not_found", "there is no such table, column, record or key"),
        ("conflict", "a unique key exists already, or a constraint forbids it"),
        ("changed", "the record is not what `If-Match` says"),
        ("invalid", "the body can't be read, does not fit the keys, or does not pass the checks of the columns"),
        ("unavailable", "the database can't be reached or is overloaded; try again"),
    ] {
        let schema = reference("schemas", if name == "changed" { "problem" } else { "error" });
        put(&mut responses, name, json!({ "description": description, "content": content(schema) }));
    }
    responses
}

/// Returns the schemas that do not belong to a table.
pub(super) fn fixed_schemas() -> Json {
    let text = json!({ "type": "string" });
    json!({
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": { "type": "integer", "description": "1001 no table, 1003 no record, 1009 duplicate key, ..." },
                "message": text,
                "details": { "type": "object", "additionalProperties": text },
            },
        },
        "problem": {
            "type": "object",
            "required": ["code", "error", "message"],
            "properties": { "code": { "type": "integer" }, "error": text, "message": text, "hint": text },
        },
        "operations": {
            "type": "object",
            "required": ["operations"],
            "properties": { "operations": { "type": "array", "items": {
                "type": "object",
                "description": "one of create, update, increment, delete and upsert names the table",
                "properties": {
                    "create": text, "update": text, "increment": text, "delete": text, "upsert": text,
                    "id": {},
                    "record": { "type": "object", "additionalProperties": true,
                        "description": "a value may be {\"$ref\": \"0.id\"}, a column an earlier operation made" },
                    "returning": { "type": "array", "items": text },
                    "on": { "type": "array", "items": text },
                    "ignore": { "type": "boolean" },
                    "if_match": text,
                },
            } } },
        },
        "feature": {
            "type": "object",
            "required": ["type", "properties", "geometry"],
            "properties": {
                "type": { "type": "string", "enum": ["Feature"] },
                "id": {},
                "properties": { "type": "object", "additionalProperties": true },
                "geometry": { "type": "object", "additionalProperties": true, "nullable": true },
            },
        },
        "feature_collection": {
            "type": "object",
            "required": ["type", "features"],
            "properties": {
                "type": { "type": "string", "enum": ["FeatureCollection"] },
                "features": { "type": "array", "items": reference("schemas", "feature") },
                "results": { "type": "integer", "format": "int64" },
            },
        },
    })
}

/// Returns the schema of a table's rows, for one operation.
pub(super) fn schema(shown: &Shown<'_>) -> Json {
    let mut properties = Map::new();
    for (at, column) in shown.table.columns.iter().enumerate() {
        // A change by key does not read the key in its body.
        let is_passed_over = !shown.names.is_wide && shown.table.key.contains(&at);
        let can_be_there = match shown.operation {
            Operation::Update | Operation::Increment if is_passed_over => false,
            Operation::Increment => column.kind.is_numeric() && !column.generated,
            Operation::Create | Operation::Update => !column.generated,
            _ => true,
        };
        if can_be_there {
            properties.insert(column.name.clone(), property(shown, at, column));
        }
    }
    let row = match properties.is_empty() {
        // Generators of clients have no type for an object without members, but one for numbers by name.
        true => json!({ "type": "object", "maxProperties": 0, "additionalProperties": { "type": "number" } }),
        false => json!({ "type": "object", "properties": properties }),
    };
    if shown.operation != Operation::List {
        return row;
    }
    json!({
        "type": "object",
        "required": ["records"],
        "properties": {
            "results": { "type": "integer", "format": "int64" },
            "records": { "type": "array", "items": row },
            "next": { "type": "string", "nullable": true },
        },
    })
}

fn property(shown: &Shown<'_>, at: usize, column: &ColumnInfo) -> Json {
    let mut property = kind(column, shown.is_long);
    if !column.words.is_empty() && !column.native.starts_with("set(") {
        put(&mut property, "enum", json!(column.words));
    }
    if column.nullable {
        put(&mut property, "nullable", true.into());
    }
    if let Some(comment) = &column.comment {
        put(&mut property, "description", json!(comment));
    }
    let is_key = shown.table.key.contains(&at);
    if shown.operation == Operation::Create && is_key && column.auto_increment {
        put(&mut property, "readOnly", true.into());
    }
    if is_key {
        put(&mut property, "x-primary-key", true.into());
        let tables = shown.schema.tables().iter();
        let referenced: Vec<String> = tables
            .flat_map(|table| {
                let keys = table.foreign_keys.iter().filter(|key| key.target == shown.table.name);
                keys.flat_map(|key| key.columns.iter().map(|at| format!("{}.{}", table.name, table.columns[*at].name)))
            })
            .collect();
        put(&mut property, "x-referenced", json!(referenced));
    }
    if let Some(key) = shown.table.foreign_keys.iter().find(|key| key.columns == [at]) {
        put(&mut property, "x-references", json!(key.target));
    }
    property
}

/// Returns the schema of a column, of which integers have 64 bits at least if they are long.
fn kind(column: &ColumnInfo, is_long: bool) -> Json {
    let text = |format: &str, pattern: String| {
        let mut object = json!({ "type": "string" });
        if !format.is_empty() {
            put(&mut object, "format", format.into());
        }
        if let Some(length) = column.length {
            put(&mut object, "maxLength", length.into());
        }
        if !pattern.is_empty() {
            put(&mut object, "pattern", pattern.into());
        }
        object
    };
    let bounded = |bound: Option<u32>| bound.map_or("*".to_owned(), |bound| format!("{{0,{bound}}}"));
    match column.kind {
        ColumnKind::Varchar => text("", format!("^.{}$", bounded(column.length))),
        ColumnKind::Uuid => text("uuid", String::new()),
        ColumnKind::Clob => text("large-string", String::new()),
        ColumnKind::Json => json!({}),
        ColumnKind::Boolean => json!({ "type": "boolean" }),
        ColumnKind::Integer if !is_long => {
            json!({ "type": "integer", "format": "int32", "minimum": i32::MIN, "maximum": i32::MAX })
        }
        ColumnKind::Integer | ColumnKind::BigInt => {
            json!({ "type": "integer", "format": "int64", "minimum": i64::MIN, "maximum": i64::MAX })
        }
        ColumnKind::Float => json!({ "type": "number", "format": "float" }),
        ColumnKind::Double => json!({ "type": "number", "format": "double" }),
        ColumnKind::Decimal => {
            let (precision, scale) = (column.precision.unwrap_or(19), column.scale.unwrap_or(4));
            let whole = precision.saturating_sub(scale).max(1);
            let fraction = if scale > 0 { format!("(\\.[0-9]{{1,{scale}}})?") } else { String::new() };
            json!({ "type": "string", "format": "decimal", "pattern": format!("^-?[0-9]{{1,{whole}}}{fraction}$") })
        }
        ColumnKind::Date => text("date", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$".to_owned()),
        ColumnKind::Time => text("time", "^[0-9]{2}:[0-9]{2}:[0-9]{2}$".to_owned()),
        ColumnKind::Timestamp => {
            text("date-time", "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$".to_owned())
        }
        // No length: it counts bytes, and their encoding is longer.
        ColumnKind::Varbinary => json!({ "type": "string", "format": "byte", "pattern": "^[A-Za-z0-9+/]*=*$" }),
        ColumnKind::Blob => json!({ "type": "string", "format": "large-byte", "pattern": "^[A-Za-z0-9+/]*=*$" }),
        ColumnKind::Geometry => {
            text("geometry", "^(POINT|LINESTRING|POLYGON|MULTIPOINT|MULTILINESTRING|MULTIPOLYGON)\\s*\\(.*$".to_owned())
        }
    }
}

/// Returns the response of a list or a read.
pub(super) fn response(shown: &Shown<'_>, key: &str) -> Json {
    let schema = reference("schemas", &format!("{}-{key}", shown.word));
    let name = &shown.table.name;
    if shown.operation == Operation::List {
        return json!({ "description": format!("list of {name} records"), "content": content(schema) });
    }
    let many = json!({ "type": "array", "items": schema });
    json!({
        "description": format!("single {name} record; an array for several keys"),
        "headers": {
            "ETag": { "schema": { "type": "string" }, "description": "the state of the record, for If-Match" },
        },
        "content": content(json!({ "oneOf": [schema, many] })),
    })
}

/// Returns the body of a create, an update or an increment.
pub(super) fn request_body(shown: &Shown<'_>, key: &str) -> Json {
    let schema = reference("schemas", &format!("{}-{key}", shown.word));
    let name = &shown.table.name;
    let many = json!({ "type": "array", "items": schema });
    json!({
        "description": format!("single {name} record; an array for a batch"),
        "required": true,
        "content": {
            "application/json": { "schema": { "oneOf": [schema.clone(), many] } },
            "application/x-www-form-urlencoded": { "schema": schema },
        },
    })
}

/// Returns whether the key of new rows is an integer.
pub(super) fn has_numbered_key(table: &TableInfo) -> bool {
    table.single_key().is_some_and(|at| matches!(table.columns[at].kind, ColumnKind::Integer | ColumnKind::BigInt))
}
