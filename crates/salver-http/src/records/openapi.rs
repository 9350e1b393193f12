//! `/api/openapi`: an OpenAPI 3.0 document of the tables that the caller sees, in PHP-CRUD-API's structure, with what
//! that omits: errors, batches, GeoJSON, increments and Salver's own parameters.

mod component;
mod parameter;

use http::Response;
use salver_model::Result;
use salver_model::records::{ColumnKind, DatabaseSchema, ForeignKey, Operation, TableInfo, TableKind};
use serde_json::{Map, Value as Json, json};

use super::respond;
use crate::body::Body;
use crate::dialect::php;
use crate::request_context::RequestContext;

/// The operations: kind, word, method, and whether the path has a key.
const OPERATIONS: [(Operation, &str, &str, bool); 6] = [
    (Operation::List, "list", "get", false),
    (Operation::Create, "create", "post", false),
    (Operation::Read, "read", "get", true),
    (Operation::Update, "update", "put", true),
    (Operation::Delete, "delete", "delete", true),
    (Operation::Increment, "increment", "patch", true),
];

/// A table, as seen by one operation.
struct Shown<'a> {
    table: &'a TableInfo,
    schema: &'a DatabaseSchema,
    operation: Operation,
    word: &'static str,
    method: &'static str,
    by_key: bool,
}

impl Shown<'_> {
    /// Returns the table's name as a key of components.
    fn key(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
        self.table.name.chars().map(plain).collect()
    }
}

/// Responds with the document.
pub(super) async fn answer(context: &RequestContext<'_>) -> Result<Response<Body>> {
    let base = format!("{}/api", context.app.options.base_path);
    let mut document = json!({
        "openapi": "3.0.0",
        "info": { "title": "Salver", "version": env!("CARGO_PKG_VERSION") },
        "servers": [{ "url": base }],
        "paths": {},
        "components": {
            "schemas": component::fixed_schemas(),
            "responses": component::fixed_responses(),
            "requestBodies": {},
            "parameters": parameter::all(),
        },
        "tags": [],
    });
    let caller = context.caller;
    for database in context.databases().await? {
        let documented = context.app.service.visible_schema(caller, &database, Operation::Document).await?;
        let writable = database.spec().writable;
        for (operation, word, method, by_key) in OPERATIONS {
            if operation.writes() && !writable {
                continue;
            }
            let schema = documented_part(&database.visible(caller, operation), &documented);
            for table in schema.tables() {
                let has_it = (operation == Operation::List || !table.key.is_empty())
                    && (!operation.writes() || table.kind == TableKind::Table);
                if has_it {
                    add(&mut document, &Shown { table, schema: &schema, operation, word, method, by_key });
                }
            }
        }
        for table in documented.tables() {
            push(
                &mut document["tags"],
                json!({ "name": table.name, "description": format!("{} operations", table.name) }),
            );
        }
    }
    fixed_paths(&mut document);
    context.app.auth.describe(&mut document);
    respond::text(context, &document.to_string(), php::wants_xml(context.query)).await
}

/// Returns the part of a schema that may be documented: columns too can be kept from documents alone.
fn documented_part(schema: &DatabaseSchema, documented: &DatabaseSchema) -> DatabaseSchema {
    let part = |table: &TableInfo| {
        let documented = documented.table(&table.name)?;
        let is_documented = |index: &usize| documented.column(&table.columns[*index].name).is_some();
        let kept: Vec<usize> = (0..table.columns.len()).filter(is_documented).collect();
        let moved = |list: &[usize]| {
            list.iter().map(|index| kept.iter().position(|own| own == index)).collect::<Option<Vec<usize>>>()
        };
        let mut own = table.clone();
        own.columns = kept.iter().map(|index| table.columns[*index].clone()).collect();
        own.key = moved(&table.key).unwrap_or_default();
        own.unique = table.unique.iter().filter_map(|list| moved(list)).collect();
        let keys = table.foreign_keys.iter().filter(|key| {
            documented.foreign_keys.iter().any(|own| {
                let names = |table: &TableInfo, at: &[usize]| {
                    at.iter().map(|at| table.columns[*at].name.clone()).collect::<Vec<_>>()
                };
                own.target == key.target && names(documented, &own.columns) == names(table, &key.columns)
            })
        });
        let keys = keys.filter_map(|key| Some(ForeignKey { columns: moved(&key.columns)?, ..key.clone() }));
        own.foreign_keys = keys.collect();
        Some(own)
    };
    DatabaseSchema::new(schema.tables().iter().filter_map(part).collect(), schema.stamp())
}

fn push(array: &mut Json, value: Json) {
    if let Json::Array(items) = array {
        items.push(value);
    }
}

/// Sets the member `name` of an object.
fn put(object: &mut Json, name: &str, value: Json) {
    if let Json::Object(members) = object {
        members.insert(name.to_owned(), value);
    }
}

/// Returns the member `name` of an object, created if it is missing.
fn entry<'j>(object: &'j mut Json, name: &str) -> &'j mut Json {
    let member = &mut object[name];
    if member.is_null() {
        *member = Json::Object(Map::new());
    }
    member
}

fn add(document: &mut Json, shown: &Shown<'_>) {
    let (key, name, word) = (shown.key(), &shown.table.name, shown.word);
    let components = entry(document, "components");
    if shown.operation != Operation::Delete {
        put(entry(components, "schemas"), &format!("{word}-{key}"), component::schema(shown));
    }
    if matches!(shown.operation, Operation::List | Operation::Read) {
        put(entry(components, "responses"), &format!("{word}-{key}"), component::response(shown, &key));
    }
    if matches!(shown.operation, Operation::Create | Operation::Update | Operation::Increment) {
        put(entry(components, "requestBodies"), &format!("{word}-{key}"), component::request_body(shown, &key));
    }
    let path = if shown.by_key { format!("/records/{name}/{{id}}") } else { format!("/records/{name}") };
    let paths = entry(document, "paths");
    put(entry(paths, &path), shown.method, operation(shown, &key));
    let has_geometry = shown.table.columns.iter().any(|column| column.kind == ColumnKind::Geometry);
    if has_geometry && matches!(shown.operation, Operation::List | Operation::Read) {
        let path = if shown.by_key { format!("/geojson/{name}/{{id}}") } else { format!("/geojson/{name}") };
        put(entry(paths, &path), "get", geojson(shown, &key));
    }
}

fn reference(kind: &str, name: &str) -> Json {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

fn operation(shown: &Shown<'_>, key: &str) -> Json {
    let word = shown.word;
    let mut object = json!({});
    let parameters: Vec<Json> =
        parameter::of(shown.operation).iter().map(|name| reference("parameters", name)).collect();
    if !parameters.is_empty() {
        put(&mut object, "parameters", Json::Array(parameters));
    }
    if matches!(shown.operation, Operation::Create | Operation::Update | Operation::Increment) {
        put(&mut object, "requestBody", reference("requestBodies", &format!("{word}-{key}")));
    }
    put(&mut object, "tags", json!([shown.table.name]));
    put(&mut object, "operationId", json!(format!("{word}_{key}")));
    put(&mut object, "description", json!(format!("{word} {}", shown.table.name)));
    let done = match shown.operation {
        Operation::Create if component::has_numbered_key(shown.table) => "pk_integer".to_owned(),
        Operation::Create => "pk_string".to_owned(),
        Operation::List | Operation::Read => format!("{word}-{key}"),
        _ => "rows_affected".to_owned(),
    };
    let mut responses = json!({ "200": reference("responses", &done) });
    for (status, name) in component::failures(shown.operation) {
        put(&mut responses, status, reference("responses", name));
    }
    put(&mut object, "responses", responses);
    object
}

fn geojson(shown: &Shown<'_>, key: &str) -> Json {
    let many = !shown.by_key;
    let mut names = parameter::of(shown.operation).to_vec();
    names.push("geometry");
    if many {
        names.extend(["bbox", "tile"]);
    }
    let parameters: Vec<Json> = names.iter().map(|name| reference("parameters", name)).collect();
    let mut responses = json!({ "200": reference("responses", if many { "geojson-list" } else { "geojson-read" }) });
    for (status, name) in component::failures(shown.operation) {
        put(&mut responses, status, reference("responses", name));
    }
    json!({
        "parameters": parameters,
        "tags": [shown.table.name],
        "operationId": format!("geojson_{}_{key}", shown.word),
        "description": format!("{} {} as GeoJSON", shown.word, shown.table.name),
        "responses": responses,
    })
}

/// Adds the paths that do not belong to a table.
fn fixed_paths(document: &mut Json) {
    let paths = entry(document, "paths");
    put(
        paths,
        "/records",
        json!({ "post": {
        "tags": ["transactions"],
        "operationId": "transact",
        "description": "several changes of any tables of one database, all or none",
        "parameters": [reference("parameters", "idempotency_key")],
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": reference("schemas", "operations") } },
        },
        "responses": {
            "200": { "description": "the answer of each operation",
                "content": { "application/json": { "schema": { "type": "array", "items": {} } } } },
            "400": reference("responses", "bad_request"),
            "422": reference("responses", "invalid"),
            "424": reference("responses", "undone"),
            "503": reference("responses", "unavailable"),
        },
    } }),
    );
    put(
        paths,
        "/status/ping",
        json!({ "get": {
        "tags": ["status"],
        "operationId": "ping",
        "description": "how long the database takes to answer nothing, in microseconds",
        "responses": {
            "200": { "description": "microseconds", "content": { "application/json": { "schema": {
                "type": "object", "required": ["db", "cache"],
                "properties": { "db": { "type": "integer" }, "cache": { "type": "integer" } },
            } } } },
            "503": reference("responses", "unavailable"),
        },
    } }),
    );
    push(&mut document["tags"], json!({ "name": "transactions" }));
    push(&mut document["tags"], json!({ "name": "status" }));
}
