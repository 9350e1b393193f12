//! `/openapi.json`: one OpenAPI 3.1 document of everything that the caller may ask for (<https://spec.openapis.org/oas/v3.1.0>).
//!
//! `doors` describes the rows of the table of routes, `error_responses` how they refuse, and `seen` which of them there
//! are for the caller. The entries have paths of their own, with their columns and parameters as schemas: `table`,
//! `stream`, and what the documents of records and of functions have.

mod doors;
mod error_responses;
mod query;
mod row_schema;
mod seen;
mod stream;
mod table;

use http::Response;
use salver_model::limits::OPENAPI_ENTRIES_BYTES_MAX;
use salver_model::{Result, Version};
use salver_text::percent;
use serde_json::{Map, Value as Json};

use self::seen::Seen;
use crate::body::Body;
use crate::dialect::Dialect;
use crate::openapi_document::{DocumentPart, OpenapiDocument, OpenapiVersion, component_name, reference};
use crate::records::TableNames;
use crate::request_context::RequestContext;
use crate::{functions, records, respond};

const MEDIA_TYPE: &str = "application/json";

/// What holds of every path.
const DESCRIPTION: &str = "What this server serves, as far as you may see it. HEAD is answered wherever GET is, and \
    OPTIONS everywhere. Responses are compressed as `Accept-Encoding` asks. Errors of Salver's own paths have one \
    form, `Problem`; the paths of other systems have theirs.";
/// What else is said where entries have no paths of their own.
const TOO_MANY: &str = "There are too many entries here to describe the paths of each: put its name in place of the \
    parameter. `/api/schema/{name}` has the columns of an entry, and `/` lists all.";
/// Statuses of refusals besides those of the operations themselves, of the descriptions that other documents share.
const REFUSALS: [u16; 4] = [401, 403, 429, 500];

/// Responds with the document.
pub(crate) async fn answer(context: &RequestContext<'_>) -> Result<Response<Body>> {
    let seen = Seen::of(context).await?;
    let text = described(context, &seen).to_string();
    let version = context.answer_version(Version::of(&text), MEDIA_TYPE);
    let (_, response) = respond::document(context, MEDIA_TYPE, text.into_bytes(), version, Some(Vec::new())).await?;
    Ok(response)
}

/// Returns the document.
fn described(context: &RequestContext<'_>, seen: &Seen) -> Json {
    let base = context.app.options.base_path.as_str();
    let mut document = OpenapiDocument::new(OpenapiVersion::V3_1, "Salver", if base.is_empty() { "/" } else { base });
    document.set_description(DESCRIPTION);
    doors::describe(&mut document, seen);
    let mut whole = document.clone();
    whole.set_room(OPENAPI_ENTRIES_BYTES_MAX);
    describe_entries(context, seen, &mut whole);
    if whole.is_full() {
        document.set_description(&format!("{DESCRIPTION}\n\n{TOO_MANY}"));
    } else {
        document = whole;
    }
    document.finish(&context.app.auth)
}

/// Describes the paths of every entry, until the document is full. Whatever else has paths of its own is
/// described here, in a file of its own.
fn describe_entries(context: &RequestContext<'_>, seen: &Seen, document: &mut OpenapiDocument) {
    for entry in seen.read.entries() {
        if document.is_full() {
            return;
        }
        if let Some(description) = seen.documented(entry) {
            table::describe(document, &description);
        }
    }
    for query in &seen.queries {
        if document.is_full() {
            return;
        }
        query::describe(document, query);
    }
    for consumer in context.app.service.consumers(context.caller) {
        if document.is_full() {
            return;
        }
        stream::describe(document, context.caller, consumer.spec());
    }
    describe_records(context, seen, document);
    if seen.functions && !document.is_full() {
        let responses = refusals(document, Dialect::Salver);
        document.begin(DocumentPart { names: "functions.", tag: Some("Functions"), responses, ..Default::default() });
        functions::describe(context, document);
        document.begin(DocumentPart::default());
    }
}

/// Describes the tables of databases, under the names by which they are found. `returning` is told of any table, so
/// that generators of clients have one type for the response of each operation.
fn describe_records(context: &RequestContext<'_>, seen: &Seen, document: &mut OpenapiDocument) {
    if seen.databases.is_empty() {
        return;
    }
    let responses = refusals(document, Dialect::Php { xml: false });
    document.begin(DocumentPart { names: "records.", paths: "/api", tag: Some("Records"), responses, singular: true });
    records::describe_components(document);
    for database in &seen.databases {
        let named = |table: &str| {
            let name = seen.name_of(&context.app.service, database, table);
            TableNames { path: percent::encode(&name), component: component_name(&name), is_wide: false }
        };
        records::describe(document, (&database.own, context.caller), &database.documented, named);
    }
    document.begin(DocumentPart::default());
    for database in &seen.databases {
        for table in database.documented.tables() {
            let name = seen.name_of(&context.app.service, database, &table.name);
            describe_changes(document, &name);
        }
    }
}

/// Describes the changes of the rows that match a filter, of a table whose rows can be changed so by key.
fn describe_changes(document: &mut OpenapiDocument, name: &str) {
    let path = format!("/api/records/{}", percent::encode(name));
    for (method, word) in [("put", "Update"), ("patch", "Increment"), ("delete", "Delete")] {
        let by_key = document.operation_at(&format!("{path}/{{id}}"), method);
        let (Some(by_key), Some(any)) = (by_key, document.operation_at("/api/records/{table}", method)) else {
            continue;
        };
        let mut operation = any.clone();
        operation["operationId"] = format!("{}_matching.{}", word.to_lowercase(), component_name(name)).into();
        operation["summary"] = format!("{word} the rows of `{name}` that match a filter.").into();
        if let Some(Json::Array(parameters)) = operation.get_mut("parameters") {
            let rows = reference("parameters", "returning");
            parameters.retain(|parameter| parameter["in"] != "path" && *parameter != rows);
        }
        if let Some(body) = by_key.get("requestBody") {
            operation["requestBody"] = body.clone();
        }
        document.operation(&path, method, operation);
    }
}

/// Returns the responses of the usual refusals.
fn refusals(document: &mut OpenapiDocument, dialect: Dialect) -> Map<String, Json> {
    let statuses = REFUSALS.into_iter().map(Some).chain([None]);
    let refusal = |status: Option<u16>| {
        let name = status.map_or_else(|| "default".to_owned(), |status| status.to_string());
        (name, error_responses::reference_to(document, dialect, status))
    };
    statuses.map(refusal).collect()
}
