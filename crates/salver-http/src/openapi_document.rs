//! An OpenAPI document while it is written (<https://spec.openapis.org/oas/v3.1.0>): its paths, components and tags,
//! each kept once under its name. What is written for 3.0 becomes 3.1 in a document of that version.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ahash::{AHashMap, AHashSet};
use serde_json::{Map, Value as Json, json};

use crate::auth::CurrentAuth;

/// Where components are.
const COMPONENTS: &str = "#/components/";

/// Version of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenapiVersion {
    /// One of 3.0, by its whole number.
    V3_0(&'static str),
    /// 3.1, in which schemas are those of JSON Schema, and operations get an id and what their part says.
    V3_1,
}

/// What is common to the operations and components that are written next.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentPart {
    /// Prefix of the names of components and of the ids of operations.
    pub(crate) names: &'static str,
    /// Prefix of paths.
    pub(crate) paths: &'static str,
    /// Tag of operations; `None` for those that they have.
    pub(crate) tag: Option<&'static str>,
    /// Responses of operations besides their own, by status.
    pub(crate) responses: Map<String, Json>,
    /// Whether of one value or an array of such values, the one is described, which generators of clients make a type
    /// of, and not both, of which they make none.
    pub(crate) singular: bool,
}

/// An OpenAPI document.
#[derive(Clone, Debug)]
pub(crate) struct OpenapiDocument {
    version: OpenapiVersion,
    head: Map<String, Json>,
    tags: Map<String, Json>,
    paths: Map<String, Json>,
    components: Map<String, Json>,
    part: DocumentPart,
    /// Ids of the operations.
    ids: AHashSet<String>,
    /// Paths by what they are without the names of their parameters, which distinguish none (section 4.8.8).
    shapes: AHashMap<String, String>,
    /// Tags that operations have.
    tags_used: BTreeSet<String>,
    /// Length of the operations and components that were written, in bytes, and how long they may become.
    bytes: usize,
    bytes_max: usize,
}

impl OpenapiDocument {
    /// Creates a document of the API at `server`, a URL or path.
    pub(crate) fn new(version: OpenapiVersion, title: &str, server: &str) -> Self {
        let number = if let OpenapiVersion::V3_0(number) = version { number } else { "3.1.0" };
        let mut head = Map::new();
        head.insert("openapi".to_owned(), number.into());
        head.insert("info".to_owned(), json!({ "title": title, "version": env!("CARGO_PKG_VERSION") }));
        head.insert("servers".to_owned(), json!([{ "url": server }]));
        Self {
            version,
            head,
            tags: Map::new(),
            paths: Map::new(),
            components: Map::new(),
            part: DocumentPart::default(),
            ids: AHashSet::new(),
            shapes: AHashMap::new(),
            tags_used: BTreeSet::new(),
            bytes: 0,
            bytes_max: usize::MAX,
        }
    }

    /// Sets the description of the API.
    pub(crate) fn set_description(&mut self, text: &str) {
        if let Some(Json::Object(info)) = self.head.get_mut("info") {
            info.insert("description".to_owned(), text.into());
        }
    }

    /// Bounds what is written from now on to so many bytes. Beyond it, [`OpenapiDocument::is_full`] is true.
    pub(crate) fn set_room(&mut self, bytes: usize) {
        self.bytes_max = self.bytes.saturating_add(bytes);
    }

    /// Returns whether more was written than there is room for, so that what writes it should stop.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes > self.bytes_max
    }

    /// Begins a part.
    pub(crate) fn begin(&mut self, part: DocumentPart) {
        self.part = part;
    }

    /// Adds a tag.
    pub(crate) fn tag(&mut self, name: &str, description: Option<&str>) {
        let tag = match description {
            Some(text) => json!({ "name": name, "description": text }),
            None => json!({ "name": name }),
        };
        self.tags.entry(name).or_insert(tag);
    }

    /// Adds a component of a kind such as `schemas`, unless there is one of that name.
    pub(crate) fn component(&mut self, kind: &str, name: &str, mut component: Json) {
        self.translate(&mut component);
        self.count(name, &component);
        let name = format!("{}{name}", self.part.names);
        if let Json::Object(named) = self.components.entry(kind).or_insert_with(|| json!({})) {
            named.entry(name).or_insert(component);
        }
    }

    /// Adds all members of an object as components of a kind.
    pub(crate) fn components(&mut self, kind: &str, components: Json) {
        if let Json::Object(members) = components {
            for (name, component) in members {
                self.component(kind, &name, component);
            }
        }
    }

    /// Adds an operation. Of two with the same method and path, the first one is reached, and stays.
    pub(crate) fn operation(&mut self, path: &str, method: &str, mut operation: Json) {
        let mut path = format!("{}{path}", self.part.paths);
        self.translate(&mut operation);
        if self.version == OpenapiVersion::V3_1 {
            path = self.same_path(path, &mut operation);
        }
        if self.operation_at(&path, method).is_some() {
            return;
        }
        if self.version == OpenapiVersion::V3_1 {
            self.complete(&path, method, &mut operation);
        }
        self.count(&path, &operation);
        self.paths.entry(path).or_insert_with(|| json!({}))[method] = operation;
    }

    /// Returns an operation.
    pub(crate) fn operation_at(&self, path: &str, method: &str) -> Option<&Json> {
        self.paths.get(path)?.get(method)
    }

    /// Adds a paragraph to the description of an operation.
    pub(crate) fn amend(&mut self, path: &str, method: &str, text: &str) {
        let Some(operation) = self.paths.get_mut(path).and_then(|item| item.get_mut(method)) else { return };
        let mut description = operation["description"].as_str().map(|own| format!("{own}\n\n")).unwrap_or_default();
        description.push_str(text);
        operation["description"] = description.into();
    }

    /// Returns the document, with the ways to authenticate.
    pub(crate) fn finish(self, auth: &CurrentAuth) -> Json {
        let Self { version, head: mut document, tags, paths, components, tags_used, .. } = self;
        document.insert("paths".to_owned(), paths.into());
        if !components.is_empty() {
            document.insert("components".to_owned(), components.into());
        }
        let is_used = |name: &str| version != OpenapiVersion::V3_1 || tags_used.contains(name);
        let tags: Vec<Json> = tags.into_iter().filter(|(name, _)| is_used(name)).map(|(_, tag)| tag).collect();
        if !tags.is_empty() {
            document.insert("tags".to_owned(), tags.into());
        }
        let mut document = Json::Object(document);
        auth.describe(&mut document);
        document
    }

    fn count(&mut self, name: &str, written: &Json) {
        if self.bytes_max != usize::MAX {
            self.bytes += name.len() + written.to_string().len();
        }
    }

    /// Returns the path that is there already under other names of its parameters, if one is, and names the parameters
    /// of the operation as it does.
    fn same_path(&mut self, path: String, operation: &mut Json) -> String {
        let shape = path.split('/').map(|part| if is_parameter(part) { "{}" } else { part });
        let known = self.shapes.entry(shape.collect::<Vec<_>>().join("/")).or_insert_with(|| path.clone()).clone();
        if known == path {
            return path;
        }
        let names: AHashMap<&str, &str> = path.split('/').zip(known.split('/')).collect();
        let parameters = operation.get_mut("parameters").and_then(Json::as_array_mut);
        for parameter in parameters.into_iter().flatten() {
            let name = parameter["name"].as_str().map(|name| format!("{{{name}}}"));
            let renamed = name.as_deref().and_then(|name| names.get(name)).filter(|_| parameter["in"] == "path");
            if let Some(renamed) = renamed {
                parameter["name"] = renamed.trim_matches(['{', '}']).into();
            }
        }
        known
    }

    /// Adds to an operation what its part says, and its id.
    fn complete(&mut self, path: &str, method: &str, operation: &mut Json) {
        let wanted = operation["operationId"].as_str().map_or_else(|| plain_id(method, path), str::to_owned);
        let wanted = format!("{}{wanted}", self.part.names);
        let mut id = wanted.clone();
        let mut number = 2;
        while !self.ids.insert(id.clone()) {
            id = format!("{wanted}_{number}");
            number += 1;
        }
        operation["operationId"] = id.into();
        if let Some(tag) = self.part.tag {
            operation["tags"] = json!([tag]);
        }
        let tags = operation["tags"].as_array().into_iter().flatten().filter_map(Json::as_str);
        self.tags_used.extend(tags.map(str::to_owned));
        if let Some(responses) = operation.get_mut("responses").and_then(Json::as_object_mut) {
            for (status, response) in &self.part.responses {
                responses.entry(status).or_insert_with(|| response.clone());
            }
        }
    }

    /// Makes what was written for 3.0 fit into this document and part.
    fn translate(&self, written: &mut Json) {
        if self.version != OpenapiVersion::V3_1 {
            return;
        }
        match written {
            Json::Object(members) => {
                if members.get("nullable") == Some(&Json::Bool(true)) {
                    members.shift_remove("nullable");
                    allow_null(members);
                }
                if self.part.singular {
                    describe_one(members);
                }
                // As PHP-CRUD-API writes times, with a space and without a zone, they are none of RFC 3339.
                let is_time = |format: &Json| format == "date-time" || format == "time";
                if members.contains_key("pattern") && members.get("format").is_some_and(is_time) {
                    members.shift_remove("format");
                }
                if let Some(Json::String(target)) = members.get_mut("$ref") {
                    self.direct(target);
                }
                members.values_mut().for_each(|member| self.translate(member));
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.translate(item)),
            _ => {}
        }
    }

    /// Directs a reference to a component of this part.
    fn direct(&self, target: &mut String) {
        let named = target.strip_prefix(COMPONENTS).and_then(|rest| rest.split_once('/'));
        if let Some((kind, name)) = named.filter(|_| !self.part.names.is_empty()) {
            *target = format!("{COMPONENTS}{kind}/{}{name}", self.part.names);
        }
    }
}

/// Returns a reference to a component.
pub(crate) fn reference(kind: &str, name: &str) -> Json {
    json!({ "$ref": format!("{COMPONENTS}{kind}/{name}") })
}

/// Returns the content of a body of JSON.
pub(crate) fn json_content(schema: Json) -> Json {
    json!({ "application/json": { "schema": schema } })
}

/// Returns the name of a component for a name of any letters. Different names have different ones.
pub(crate) fn component_name(name: &str) -> String {
    let mut written = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'-' => written.push_str("--"),
            b'.' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => written.push(char::from(byte)),
            // Writing to a string does not fail.
            _ => drop(write!(written, "-{byte:02x}")),
        }
    }
    written
}

fn is_parameter(part: &str) -> bool {
    part.starts_with('{') && part.ends_with('}')
}

/// Returns the id of an operation that has none of its own.
fn plain_id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(method).chain(words).collect::<Vec<_>>().join("_")
}

/// Makes a schema of one value or an array of such values that of the one.
fn describe_one(schema: &mut Map<String, Json>) {
    let Some([one, many]) = schema.get("oneOf").and_then(Json::as_array).map(Vec::as_slice) else { return };
    if *many == json!({ "type": "array", "items": one })
        && let Json::Object(one) = one.clone()
    {
        *schema = one;
    }
}

/// Adds null to what a schema of one type allows, in the words of 3.1. Generators of clients read a list of types where
/// all of them are plain, and `anyOf` otherwise.
pub(crate) fn allow_null(schema: &mut Map<String, Json>) {
    let word = schema.get("type").and_then(Json::as_str).map(str::to_owned);
    if let Some(Json::Array(values)) = schema.get_mut("enum") {
        values.push(Json::Null);
    }
    match word.as_deref() {
        None | Some("null") => {}
        Some("object" | "array") => {
            let whole = Json::Object(std::mem::take(schema));
            schema.insert("anyOf".to_owned(), json!([whole, { "type": "null" }]));
        }
        Some(word) => {
            schema.insert("type".to_owned(), json!([word, "null"]));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DocumentPart, OpenapiDocument, OpenapiVersion, component_name, reference};
    use crate::auth::CurrentAuth;

    #[test]
    fn names_of_components_differ_as_their_names_do() {
        for (name, expected) in
            [("orders", "orders"), ("a.b_c", "a.b_c"), ("a-b", "a--b"), ("a b", "a-20b"), ("ö", "-c3-b6")]
        {
            assert_eq!(component_name(name), expected);
        }
        assert_ne!(component_name("a-20b"), component_name("a b"));
    }

    #[test]
    fn what_is_written_for_3_0_becomes_3_1() {
        let mut document = OpenapiDocument::new(OpenapiVersion::V3_1, "Test", "/");
        let responses = json!({ "400": { "description": "wrong" } }).as_object().unwrap().clone();
        document.begin(DocumentPart { names: "p.", paths: "/api", tag: Some("Part"), responses, singular: true });
        document.tag("Part", Some("A part."));
        document.tag("Other", None);
        let row = json!({ "type": "object", "properties": {
            "a": { "type": "string", "enum": ["x"], "nullable": true }, "nullable": { "type": "integer" },
            "b": { "type": "object", "nullable": true },
            "c": { "oneOf": [{ "type": "integer" }, { "type": "array", "items": { "type": "integer" } }] },
            "d": { "type": "string", "format": "time", "pattern": "^[0-9]{2}$" },
        } });
        document.component("schemas", "row", row);
        let get = |name: &str| {
            json!({
                "parameters": [{ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }],
                "responses": { "200": { "description": "it", "content": {
                    "application/json": { "schema": reference("schemas", "row") },
                } } },
            })
        };
        document.operation("/users/{id}", "get", get("id"));
        document.operation("/users/{name}", "get", get("name"));
        document.operation("/users/{name}", "delete", get("name"));
        let document = document.finish(&CurrentAuth::default());
        let row = &document["components"]["schemas"]["p.row"]["properties"];
        assert_eq!(row["a"], json!({ "type": ["string", "null"], "enum": ["x", null] }));
        assert_eq!(row["nullable"], json!({ "type": "integer" }));
        assert_eq!(row["c"], json!({ "type": "integer" }));
        assert_eq!(row["d"], json!({ "type": "string", "pattern": "^[0-9]{2}$" }));
        assert_eq!(row["b"], json!({ "anyOf": [{ "type": "object" }, { "type": "null" }] }));
        assert_eq!(document["paths"].as_object().unwrap().len(), 1, "{document}");
        let item = &document["paths"]["/api/users/{id}"];
        assert_eq!(item["get"]["operationId"], "p.get_api_users_id");
        assert_eq!(item["delete"]["parameters"][0]["name"], "id");
        assert_eq!(item["get"]["responses"]["400"]["description"], "wrong");
        let schema = &item["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        assert_eq!(schema["$ref"], "#/components/schemas/p.row");
        assert_eq!(document["tags"], json!([{ "name": "Part", "description": "A part." }]));
    }

    #[test]
    fn what_is_written_is_bounded() {
        let mut document = OpenapiDocument::new(OpenapiVersion::V3_1, "Test", "/");
        document.operation("/a", "get", json!({ "responses": {} }));
        document.set_room(100);
        assert!(!document.is_full());
        document.operation("/b", "get", json!({ "summary": "x".repeat(100), "responses": {} }));
        assert!(document.is_full());
    }
}
