//! The rows of the table of routes as operations. What the table does not say of them (parameters, bodies, responses)
//! is in the files of `assets/openapi`, as OpenAPI has it, with two short forms: a text among `parameters` or
//! `responses` names a shared one, and `errors` lists the statuses of refusals. A file has an operation by its method
//! and path.

use std::sync::LazyLock;

use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::error_responses;
use super::seen::Seen;
use crate::dialect::Dialect;
use crate::openapi_document::{OpenapiDocument, json_content, reference};
use crate::routes::own::OwnTarget;
use crate::routes::records::{AccountStep, RecordsTarget};
use crate::routes::{self, RouteRow, RouteTarget, When};

/// What tells apart the operations of people who read the document, in the order of the document.
const TAGS: [(&str, &str); 13] = [
    ("Catalog", "What is served: the entries and their schemas."),
    ("Datasets", "Rows of entries of every kind, filtered, sorted, grouped and in pages."),
    ("SQL", "Statements over all entries. They only read."),
    ("GraphQL", "Documents over all entries, with mutations of writable tables."),
    ("Key-value", "Single values by their keys."),
    ("Records", "Rows of databases, which can be changed, in the protocol of PHP-CRUD-API."),
    ("Exports", "All rows of an entry as they were at one moment, in one body or in streams."),
    ("Streams", "Events: appended, followed and read in pages."),
    ("Functions", "Functions in R and Python, called by name or at their own routes, and their jobs."),
    ("Cursors", "Results in batches, in the protocol of ArangoDB."),
    ("Confluent", "Streams in the protocol of Confluent's REST Proxy."),
    ("Accounts", "Logging in and out."),
    ("Operations", "The state of the server."),
];

/// What a file says of a family of routes.
#[derive(Debug, Default, Deserialize)]
struct Door {
    /// Tag of operations that have none of their own.
    tag: String,
    /// Descriptions of the parameters in paths, by name.
    values: Map<String, Json>,
    /// Operations, by method and path.
    operations: Map<String, Json>,
}

/// The files of the doors.
struct Doors {
    own: Door,
    records: Door,
    exports: Door,
    streams: Door,
    functions: Door,
    arangodb: Door,
    confluent: Door,
}

macro_rules! asset {
    ($name:literal) => {
        // A test reads them, too, so that none is malformed.
        serde_json::from_str(include_str!(concat!("../../assets/openapi/", $name, ".json"))).unwrap_or_default()
    };
}

static DOORS: LazyLock<Doors> = LazyLock::new(|| Doors {
    own: asset!("own"),
    records: asset!("records"),
    exports: asset!("exports"),
    streams: asset!("streams"),
    functions: asset!("functions"),
    arangodb: asset!("arangodb"),
    confluent: asset!("confluent"),
});
static COMPONENTS: LazyLock<Map<String, Json>> = LazyLock::new(|| asset!("components"));

impl Door {
    fn of(target: &RouteTarget<'_>) -> &'static Self {
        match target {
            RouteTarget::Own(_) => &DOORS.own,
            RouteTarget::Records(_) => &DOORS.records,
            RouteTarget::Exports(_) => &DOORS.exports,
            RouteTarget::Streams(_) => &DOORS.streams,
            RouteTarget::Functions(_) => &DOORS.functions,
            RouteTarget::ArangoDb(_) => &DOORS.arangodb,
            RouteTarget::Confluent(_) => &DOORS.confluent,
        }
    }

    /// Returns what it says of an operation; nothing if the operation is not there.
    fn operation(&self, method: &Method, path: &str) -> Map<String, Json> {
        let found = self.operations.get(&format!("{method} {path}"));
        let found = found.or_else(|| self.operations.get(&format!("ANY {path}")));
        found.and_then(Json::as_object).cloned().unwrap_or_default()
    }
}

/// Describes every route at which there is something for the caller.
pub(super) fn describe(document: &mut OpenapiDocument, seen: &Seen) {
    for (name, description) in TAGS {
        document.tag(name, Some(description));
    }
    for (kind, components) in &*COMPONENTS {
        document.components(kind, components.clone());
    }
    document.component("schemas", "ErrorWord", error_responses::words());
    for row in routes::rows() {
        let target = row.target_of_any();
        for method in methods(row).filter(|method| seen.has(&target, method)) {
            for path in paths(row) {
                describe_row(document, seen, (row, &target), &method, &path);
            }
        }
    }
}

/// Returns the methods of a row that are documented.
pub(super) fn methods(row: &RouteRow) -> impl Iterator<Item = Method> {
    let all = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let methods = row.methods;
    all.into_iter().filter(move |method| methods.allows(method))
}

/// Returns the paths of a row that are documented, with parameters as OpenAPI writes them. Those that begin with a
/// database of ArangoDB lead to the same as without it, and those with a slash at the end as without that.
pub(super) fn paths(row: &RouteRow) -> impl Iterator<Item = String> {
    let is_own = |path: &&&str| !path.starts_with("/_db/") && (path.len() < 2 || !path.ends_with('/'));
    row.paths.iter().filter(is_own).map(|path| path.replace("{*", "{"))
}

fn describe_row(
    document: &mut OpenapiDocument,
    seen: &Seen,
    (row, target): (&RouteRow, &RouteTarget<'_>),
    method: &Method,
    path: &str,
) {
    let word = method.as_str().to_lowercase();
    // OpenAPI has one operation for a method and path, whatever else a row asks for.
    if document.operation_at(path, &word).is_some() {
        let asked = match row.when {
            When::Parameter(name) => format!("with `{name}`"),
            When::Number(name) => format!("where `{name}` is a number"),
            When::Always => "also".to_owned(),
        };
        document.amend(path, &word, &format!("{} ({asked})", row.summary));
        return;
    }
    let door = Door::of(target);
    let documented = row.paths.first().map(|path| path.replace("{*", "{")).unwrap_or_default();
    let mut operation = door.operation(method, &documented);
    // An id is that of one operation.
    if path != documented {
        operation.shift_remove("operationId");
    }
    operation.insert("summary".to_owned(), row.summary.into());
    operation.entry("tags").or_insert_with(|| json!([door.tag]));
    if let (RouteTarget::Records(RecordsTarget::Account(step)), Some(fields)) = (target, &seen.account_fields)
        && let Some(body) = account_body(*step, fields)
    {
        operation.insert("requestBody".to_owned(), body);
    }
    add_parameters(&mut operation, door, path);
    if let RouteTarget::Own(OwnTarget::Look(..)) = target {
        name_stores(&mut operation, seen);
    }
    let dialect = target.family().dialect("");
    add_responses(document, &mut operation, dialect, seen.has_auth);
    document.operation(path, &word, operation.into());
}

/// Returns the body of a request about the caller's own account, whose members the settings name.
fn account_body(step: AccountStep, fields: &[String; 3]) -> Option<Json> {
    let count = match step {
        AccountStep::Login | AccountStep::Register => 2,
        AccountStep::Password => 3,
        AccountStep::Logout | AccountStep::Me => return None,
    };
    let names = &fields[..count];
    let properties: Map<String, Json> = names.iter().map(|name| (name.clone(), json!({ "type": "string" }))).collect();
    let schema = json!({ "type": "object", "required": names, "properties": properties });
    Some(json!({ "required": true, "content": json_content(schema) }))
}

/// Adds the parameters in the path, and writes those out that are shared.
fn add_parameters(operation: &mut Map<String, Json>, door: &Door, path: &str) {
    let inside = path.split(['{', '}']).skip(1).step_by(2).map(|name| {
        let mut parameter = json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
        if let Some(description) = door.values.get(name) {
            parameter["description"] = description.clone();
        }
        parameter
    });
    let own = operation.shift_remove("parameters").and_then(|own| own.as_array().cloned()).unwrap_or_default();
    let own = own.into_iter().map(|parameter| match parameter {
        Json::String(name) => reference("parameters", &name),
        parameter => parameter,
    });
    let parameters: Vec<Json> = inside.chain(own).collect();
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), parameters.into());
    }
}

/// Says which key-value stores there are.
fn name_stores(operation: &mut Map<String, Json>, seen: &Seen) {
    let stores: Vec<&str> = seen.read.stores().iter().map(|store| store.name.as_str()).collect();
    for parameter in operation.get_mut("parameters").and_then(Json::as_array_mut).into_iter().flatten() {
        if parameter["name"] == "store" {
            parameter["schema"]["enum"] = json!(stores);
        }
    }
}

/// Adds the responses of refusals, in the order of their statuses.
fn add_responses(document: &mut OpenapiDocument, operation: &mut Map<String, Json>, dialect: Dialect, has_auth: bool) {
    let errors = operation.shift_remove("errors").unwrap_or_default();
    let errors = errors.as_array().into_iter().flatten().filter_map(|status| status.as_u64()?.try_into().ok());
    let own = operation.shift_remove("responses").and_then(|own| own.as_object().cloned()).unwrap_or_default();
    let mut responses: Vec<(String, Json)> = own
        .into_iter()
        .map(|(status, response)| match response {
            Json::String(name) => (status, reference("responses", &name)),
            response => (status, response),
        })
        .collect();
    let is_open = operation.get("security").is_some();
    let usual = [403, 429, 500, 503].into_iter().chain((has_auth && !is_open).then_some(401));
    for status in errors.chain(usual).map(Some).chain([None]) {
        let name = status.map_or_else(|| "default".to_owned(), |status: u16| status.to_string());
        if !responses.iter().any(|(own, _)| *own == name) {
            responses.push((name, error_responses::reference_to(document, dialect, status)));
        }
    }
    responses.sort_by(|(one, _), (other, _)| one.cmp(other));
    operation.insert("responses".to_owned(), responses.into_iter().collect::<Map<_, _>>().into());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value as Json};

    use super::{COMPONENTS, Door, TAGS, methods, paths};
    use crate::routes::{self, When};

    #[test]
    fn the_files_describe_every_row_and_nothing_else() {
        assert!(["parameters", "responses", "schemas"].iter().all(|kind| COMPONENTS[*kind].is_object()));
        let mut used = BTreeSet::new();
        let mut doors: Vec<&'static Door> = Vec::new();
        for row in routes::rows() {
            let target = row.target_of_any();
            let door = Door::of(&target);
            assert!(TAGS.iter().any(|(tag, _)| *tag == door.tag), "{}", door.tag);
            if !doors.iter().any(|own| std::ptr::eq(*own, door)) {
                doors.push(door);
            }
            let first = paths(row).next().unwrap();
            for name in paths(row)
                .flat_map(|path| path.split(['{', '}']).skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
            {
                assert!(door.values.contains_key(&name), "{first}: nothing says what `{name}` is");
            }
            // What it says of these is said of the row without a condition.
            if row.when != When::Always {
                continue;
            }
            for method in methods(row) {
                let key = format!("{method} {first}");
                let any = format!("ANY {first}");
                let key = if door.operations.contains_key(&key) { key } else { any };
                assert!(door.operations.contains_key(&key), "{method} {first} is described nowhere");
                used.insert(format!("{} {key}", door.tag));
            }
        }
        for door in doors {
            for (key, operation) in &door.operations {
                assert!(used.contains(&format!("{} {key}", door.tag)), "there is no row for {key}");
                assert!(operation["responses"].is_object(), "{key}");
                let tags = operation.get("tags").and_then(Json::as_array).cloned().unwrap_or_default();
                assert!(tags.iter().all(|tag| TAGS.iter().any(|(own, _)| tag == own)), "{key}");
                for (kind, named) in shared(operation) {
                    assert!(COMPONENTS[kind].get(&named).is_some(), "{key}: there is no {named} in {kind}");
                }
            }
        }
    }

    /// Returns the shared parameters and responses that an operation names.
    fn shared(operation: &Json) -> Vec<(&'static str, String)> {
        let none = Map::new();
        let text = |json: &Json| json.as_str().map(str::to_owned);
        let parameters = operation.get("parameters").and_then(Json::as_array).into_iter().flatten().filter_map(text);
        let responses = operation["responses"].as_object().unwrap_or(&none).values().filter_map(text);
        parameters.map(|name| ("parameters", name)).chain(responses.map(|name| ("responses", name))).collect()
    }
}
