//! Parsing of a loaded file's offer, a JSON description of its interface.

use std::path::PathBuf;

use salver_model::functions::{Endpoint, Interface, Matching, Parameter, ParameterKind};
use salver_model::limits::FUNCTION_FILES_MAX;
use serde::Deserialize;
use serde_json::Value as Json;

/// Parses the text of an offer.
///
/// # Errors
/// Returns the problem with the text.
pub(crate) fn read(text: &[u8]) -> serde_json::Result<Interface> {
    serde_json::from_slice::<Offer>(text).map(Interface::from)
}

#[derive(Deserialize)]
struct Offer {
    application: bool,
    title: Option<String>,
    description: Option<String>,
    #[serde(default)]
    endpoints: Vec<Offered>,
    #[serde(default)]
    files: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Offered {
    function: String,
    method: Option<String>,
    path: Option<String>,
    #[serde(default)]
    prefix: bool,
    #[serde(default)]
    parameters: Vec<ManifestParameter>,
    summary: Option<String>,
    description: Option<String>,
    #[serde(default)]
    pure: bool,
    #[serde(default)]
    result: ManifestType,
    #[serde(default)]
    vectorized: bool,
    #[serde(default)]
    gathers: bool,
    #[serde(default)]
    request: bool,
    answer: Option<Json>,
}

#[derive(Deserialize)]
struct ManifestParameter {
    name: String,
    #[serde(default)]
    kind: ManifestType,
    #[serde(default)]
    list: bool,
    #[serde(default)]
    required: bool,
    #[serde(default)]
    table: bool,
    #[serde(default)]
    texts: bool,
    description: Option<String>,
    schema: Option<Json>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ManifestType {
    #[default]
    Any,
    Boolean,
    Integer,
    Number,
    Text,
    Object,
    Bytes,
}

impl From<Offer> for Interface {
    fn from(offer: Offer) -> Self {
        let Offer { application, title, description, endpoints, mut files } = offer;
        files.truncate(FUNCTION_FILES_MAX);
        let endpoints = endpoints.into_iter().map(Endpoint::from).collect();
        Self { application, endpoints, title, description, load: 0, files }
    }
}

impl From<Offered> for Endpoint {
    fn from(offered: Offered) -> Self {
        let Offered { function, method, path, prefix, parameters, summary, description, pure, .. } = offered;
        let gathers = offered.gathers && parameters.iter().all(ManifestParameter::is_plain);
        Self {
            function,
            // A route without a method accepts all of them.
            route: path.map(|path| (method.unwrap_or_else(|| "*".to_owned()), path)),
            matching: if prefix { Matching::Prefix } else { Matching::Exact },
            parameters: parameters.into_iter().map(Parameter::from).collect(),
            summary,
            description,
            pure,
            result: offered.result.into(),
            vectorized: offered.vectorized,
            gathers,
            takes_request: offered.request,
            answer_schema: offered.answer.as_ref().map(Json::to_string),
        }
    }
}

impl ManifestParameter {
    /// Returns whether it takes a single value that can be in a column.
    fn is_plain(&self) -> bool {
        !self.list && !matches!(self.kind, ManifestType::Object | ManifestType::Bytes)
    }
}

impl From<ManifestParameter> for Parameter {
    fn from(taken: ManifestParameter) -> Self {
        let ManifestParameter { name, kind, list, required, table, texts, description, schema } = taken;
        let schema = schema.as_ref().map(Json::to_string);
        Self { name, kind: kind.into(), list, required, table, texts, description, schema }
    }
}

impl From<ManifestType> for ParameterKind {
    fn from(kind: ManifestType) -> Self {
        match kind {
            ManifestType::Any => Self::Any,
            ManifestType::Boolean => Self::Boolean,
            ManifestType::Integer => Self::Integer,
            ManifestType::Number => Self::Number,
            ManifestType::Text => Self::Text,
            ManifestType::Object => Self::Object,
            ManifestType::Bytes => Self::Bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use salver_model::functions::{Matching, ParameterKind};

    use super::read;

    #[test]
    fn an_offer() {
        let text = br#"{"application": false, "title": null, "description": "d", "endpoints": [
            {"function": "fib", "method": "GET", "path": "/fib", "prefix": true, "pure": true, "summary": "s",
             "description": null, "result": "number", "vectorized": true, "gathers": true, "request": true,
             "parameters": [
                {"name": "n", "kind": "integer", "list": true, "required": true, "table": true,
                 "description": "of what"}]},
            {"function": "g", "method": null, "path": null, "prefix": false, "parameters": [], "summary": null,
             "description": null, "pure": false}]}"#;
        let interface = read(text).unwrap();
        assert_eq!((interface.application, interface.description.as_deref()), (false, Some("d")));
        let [fib, g] = &interface.endpoints[..] else { panic!("two endpoints") };
        assert_eq!(fib.route, Some(("GET".to_owned(), "/fib".to_owned())));
        assert_eq!((fib.matching, fib.pure, fib.summary.as_deref()), (Matching::Prefix, true, Some("s")));
        assert!(fib.takes_request && !g.takes_request);
        assert_eq!((fib.result, fib.vectorized), (ParameterKind::Number, true));
        assert_eq!((g.result, g.vectorized), (ParameterKind::Any, false));
        assert!(!g.gathers && !fib.gathers, "one does not say so, the other takes a list");
        let n = &fib.parameters[0];
        assert_eq!((n.kind, n.list, n.required, n.table), (ParameterKind::Integer, true, true, true));
        assert_eq!((g.function.as_str(), &g.route, g.matching), ("g", &None, Matching::Exact));
        assert!(read(b"{}").is_err());
    }
}
