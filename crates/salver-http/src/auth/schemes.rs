//! The authentication methods in the words of OpenAPI (<https://spec.openapis.org/oas/v3.1.0#security-scheme-object>),
//! and in those of `caller.auth`.

use http::{HeaderName, header};
use serde_json::{Map, Value as Json, json};

use super::{Auth, CERTIFICATE, CurrentAuth};

impl CurrentAuth {
    /// Adds the ways to authenticate to an OpenAPI document: each alone suffices. Without any, it stays as it is.
    pub(crate) fn describe(&self, document: &mut Json) {
        let Some(auth) = self.load() else { return };
        let mut schemes = auth.schemes();
        // OpenAPI 3.0 has no word for it.
        if auth.certificates && document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")) {
            let certificate = json!({ "type": "mutualTLS", "description": "A certificate of the client." });
            schemes.insert("certificate".to_owned(), certificate);
        }
        let mut ways: Vec<Json> = schemes.keys().map(|name| json!({ name: [] })).collect();
        if !auth.required {
            ways.push(json!({}));
        }
        document["security"] = ways.into();
        document["components"]["securitySchemes"] = schemes.into();
    }

    /// Returns the methods by which callers can prove who they are, in the words of `caller.auth`; `None` where nobody
    /// is asked.
    pub(crate) fn methods(&self) -> Option<Vec<&'static str>> {
        let auth = self.load()?;
        let methods = [
            ("api_key", auth.key_header.is_some()),
            ("jwt", auth.jwt.is_some()),
            ("basic", auth.basic.is_some()),
            ("user", auth.users.as_ref().is_some_and(|users| users.spec.login)),
            ("oidc", auth.oidc.is_some()),
            (CERTIFICATE, auth.certificates),
        ];
        Some(methods.into_iter().filter(|(_, is_there)| *is_there).map(|(method, _)| method).collect())
    }
}

impl Auth {
    /// Returns the methods that every version of OpenAPI can express, by name.
    fn schemes(&self) -> Map<String, Json> {
        let mut schemes = Map::new();
        let in_header = |name: &HeaderName, description: &str| {
            let name = name.as_str();
            json!({ "type": "apiKey", "in": "header", "name": name, "description": description })
        };
        let bearer = || json!({ "type": "http", "scheme": "bearer" });
        if let Some(name) = &self.key_header {
            schemes.insert("apiKey".to_owned(), in_header(name, "An API key."));
            schemes.insert("bearer".to_owned(), bearer());
        }
        for name in self.jwt.iter().flat_map(|(_, names)| names) {
            if name == header::AUTHORIZATION {
                let token = json!({ "type": "http", "scheme": "bearer", "bearerFormat": "JWT" });
                schemes.insert("bearer".to_owned(), token);
            } else {
                schemes.insert("token".to_owned(), in_header(name, "`Bearer`, and a token."));
            }
        }
        if self.basic.is_some() {
            schemes.insert("basic".to_owned(), json!({ "type": "http", "scheme": "basic" }));
        }
        if let Some(cookie) = &self.session_cookie {
            schemes.insert("session".to_owned(), json!({ "type": "apiKey", "in": "cookie", "name": cookie }));
        }
        schemes
    }
}
