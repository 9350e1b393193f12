//! `/api/openapi`: an OpenAPI 3.0 document of the tables that the caller sees, in PHP-CRUD-API's structure, with what
//! that omits: errors, batches, GeoJSON, increments and Salver's own parameters. The document of everything that is
//! served has the same descriptions of tables.

mod component;
mod parameter;

use std::sync::Arc;

use http::Response;
use salver_model::ports::Database;
use salver_model::records::{ColumnKind, DatabaseSchema, ForeignKey, Operation, TableInfo, TableKind};
use salver_model::spec::DatabaseKind;
use salver_model::{Caller, Result};
use serde_json::{Value as Json, json};

use super::respond;
use crate::body::Body;
use crate::dialect::php;
use crate::openapi_document::{OpenapiDocument, OpenapiVersion, json_content, reference};
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
    /// Whether integers of every column have 64 bits.
    is_long: bool,
    names: TableNames,
}

/// The names of a table in a document.
#[derive(Clone, Debug)]
pub(crate) struct TableNames {
    /// Name in paths.
    pub(crate) path: String,
    /// Name in names of components and ids of operations.
    pub(crate) component: String,
    /// Whether requests are described of which the responses have other types: those with `returning`, which are rows
    /// instead of keys and numbers, and those for several keys.
    pub(crate) is_wide: bool,
}

impl TableNames {
    /// Returns the names in PHP-CRUD-API's document.
    fn as_in_php(table: &str) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
        Self { path: table.to_owned(), component: table.chars().map(plain).collect(), is_wide: true }
    }
}

/// Responds with the document.
pub(super) async fn answer(context: &RequestContext<'_>) -> Result<Response<Body>> {
    let server = format!("{}/api", context.app.options.base_path);
    let mut document = OpenapiDocument::new(OpenapiVersion::V3_0("3.0.0"), "Salver", &server);
    describe_components(&mut document);
    for database in context.databases().await? {
        let documented = context.app.service.visible_schema(context.caller, &database, Operation::Document).await?;
        describe(&mut document, (&database, context.caller), &documented, TableNames::as_in_php);
        for table in documented.tables() {
            document.tag(&table.name, Some(&format!("{} operations", table.name)));
        }
    }
    describe_fixed_paths(&mut document);
    let document = document.finish(&context.app.auth);
    respond::text(context, &document.to_string(), php::wants_xml(context.query)).await
}

/// Describes what operations on the tables of a database refer to.
pub(crate) fn describe_components(document: &mut OpenapiDocument) {
    document.components("schemas", component::fixed_schemas());
    document.components("responses", component::fixed_responses());
    document.components("parameters", parameter::all());
}

/// Describes the tables of a database, as far as the caller sees them, under the names that `named` gives them, and
/// returns the operations that there are.
pub(crate) fn describe(
    document: &mut OpenapiDocument,
    (database, caller): (&Arc<dyn Database>, &Caller),
    documented: &DatabaseSchema,
    named: impl Fn(&str) -> TableNames,
) -> Vec<Operation> {
    let mut there = Vec::new();
    for (operation, word, method, by_key) in OPERATIONS {
        if operation.writes() && !database.spec().writable {
            continue;
        }
        let schema = documented_part(&database.visible(caller, operation), documented);
        for table in schema.tables() {
            let has_it = (operation == Operation::List || !table.key.is_empty())
                && (!operation.writes() || table.kind == TableKind::Table);
            if document.is_full() {
                return there;
            }
            if has_it {
                there.push(operation);
                let names = named(&table.name);
                // PHP-CRUD-API says of those of SQLite that they have 32 bits.
                let is_long = database.spec().kind == DatabaseKind::Sqlite && !names.is_wide;
                let shown = Shown { table, schema: &schema, operation, word, method, by_key, is_long, names };
                describe_operation(document, &shown);
            }
        }
    }
    there
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

/// Sets the member `name` of an object.
fn put(object: &mut Json, name: &str, value: Json) {
    if let Json::Object(members) = object {
        members.insert(name.to_owned(), value);
    }
}

fn describe_operation(document: &mut OpenapiDocument, shown: &Shown<'_>) {
    let TableNames { path: name, component: key, .. } = &shown.names;
    let component = format!("{}-{key}", shown.word);
    if shown.operation != Operation::Delete {
        document.component("schemas", &component, component::schema(shown));
    }
    if matches!(shown.operation, Operation::List | Operation::Read) {
        document.component("responses", &component, component::response(shown, key));
    }
    if matches!(shown.operation, Operation::Create | Operation::Update | Operation::Increment) {
        document.component("requestBodies", &component, component::request_body(shown, key));
    }
    let below = if shown.by_key { "/{id}" } else { "" };
    document.operation(&format!("/records/{name}{below}"), shown.method, operation(shown, key));
    let has_geometry = shown.table.columns.iter().any(|column| column.kind == ColumnKind::Geometry);
    if has_geometry && matches!(shown.operation, Operation::List | Operation::Read) {
        document.operation(&format!("/geojson/{name}{below}"), "get", geojson(shown, key));
    }
}

fn operation(shown: &Shown<'_>, key: &str) -> Json {
    let word = shown.word;
    let mut object = json!({});
    let columns = shown.table.key.len();
    let parameter = |name: &&str| match *name {
        "pk" if columns > 1 => parameter::composite_key(columns, shown.names.is_wide),
        name => reference("parameters", name),
    };
    let is_described = |name: &&&str| shown.names.is_wide || **name != "returning";
    let parameters: Vec<Json> = parameter::of(shown.operation).iter().filter(is_described).map(parameter).collect();
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
        Operation::Create if columns > 1 => "pk_object".to_owned(),
        Operation::Create if component::has_numbered_key(shown.table) => "pk_integer".to_owned(),
        Operation::Create => "pk_string".to_owned(),
        Operation::List | Operation::Read => format!("{word}-{key}"),
        _ => "rows_affected".to_owned(),
    };
    let mut responses = json!({ "200": reference("responses", &done) });
    if matches!(shown.operation, Operation::List | Operation::Read) {
        put(&mut responses, "304", json!({ "description": "nothing changed since the response with this entity tag" }));
    }
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

/// Describes the paths that do not belong to a table.
fn describe_fixed_paths(document: &mut OpenapiDocument) {
    let transact = json!({
        "tags": ["transactions"],
        "operationId": "transact",
        "description": "several changes of any tables of one database, all or none",
        "parameters": [reference("parameters", "idempotency_key")],
        "requestBody": { "required": true, "content": json_content(reference("schemas", "operations")) },
        "responses": {
            "200": { "description": "the answer of each operation",
                "content": json_content(json!({ "type": "array", "items": {} })) },
            "400": reference("responses", "bad_request"),
            "422": reference("responses", "invalid"),
            "424": reference("responses", "undone"),
            "503": reference("responses", "unavailable"),
        },
    });
    document.operation("/records", "post", transact);
    let times = json!({
        "type": "object", "required": ["db", "cache"],
        "properties": { "db": { "type": "integer" }, "cache": { "type": "integer" } },
    });
    let ping = json!({
        "tags": ["status"],
        "operationId": "ping",
        "description": "how long the database takes to answer nothing, in microseconds",
        "responses": {
            "200": { "description": "microseconds", "content": json_content(times) },
            "503": reference("responses", "unavailable"),
        },
    });
    document.operation("/status/ping", "get", ping);
    document.tag("transactions", None);
    document.tag("status", None);
}
