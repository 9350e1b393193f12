//! The index of what is served: `GET /` for programs, as JSON, and `GET /plain`, a page without scripts. Never empty.

mod page;

pub(crate) use page::answer as plain;

use http::Response;
use salver_model::Permission;
use salver_text::percent;
use serde_json::{Map, Value as Json, json};

use crate::body::Body;
use crate::functions;
use crate::request_context::RequestContext;
use crate::status;

/// Responds with the index.
pub(crate) fn answer(context: &RequestContext<'_>) -> Response<Body> {
    let base = &context.app.options.base_path;
    let snapshot = context.app.service.snapshot(context.caller, Permission::Read);
    let mut entries = Map::new();
    for entry in snapshot.entries() {
        let mut shown = status::describe(entry);
        if let (Json::Object(object), Some(table)) = (&mut shown, entry.table()) {
            let name = percent::encode(entry.name.as_str());
            let columns: Vec<Json> = table
                .describe()
                .schema
                .fields()
                .iter()
                .map(|field| json!({ "name": field.name(), "type": field.data_type().to_string() }))
                .collect();
            object.insert("columns".to_owned(), columns.into());
            object.insert("rows_url".to_owned(), format!("{base}/api/tables/{name}").into());
            object.insert("schema_url".to_owned(), format!("{base}/api/schema/{name}").into());
        }
        entries.insert(entry.name.to_string(), shown);
    }
    let stores: Map<String, Json> = snapshot
        .stores()
        .iter()
        .map(|store| {
            let path = percent::encode(store.name.as_str());
            (store.name.to_string(), format!("{base}/api/kv/{path}/{{key}}").into())
        })
        .collect();
    let app = context.app;
    let edits = app.options.query_editor.is_some() && app.service.may_edit_queries(context.caller);
    let mut index = json!({
        "salver": env!("CARGO_PKG_VERSION"),
        "entries": entries,
        "stores": stores,
        "doors": {
            "rest": format!("{base}/api/tables/{{name}}"),
            "sql": format!("{base}/api/sql"),
            "graphql": format!("{base}/api/graphql"),
            "queries": format!("{base}/api/queries"),
            "schema": format!("{base}/api/schema"),
            "ready": format!("{base}/ready"),
            "health": format!("{base}/health"),
        },
    });
    if edits {
        index["edits_queries"] = true.into();
    }
    // Only what is there for the caller: whoever reads this need not ask for what is not.
    if functions::are_there_for(context) {
        index["doors"]["functions"] = format!("{base}/api/functions").into();
    }
    if context.app.has_provider() || context.app.has_accounts() {
        index["doors"]["me"] = format!("{base}/api/me").into();
    }
    // Who asks, and how one may be known here: a page that is told need not find it out by what is refused.
    if let Some(methods) = app.auth.methods() {
        index["auth"] = methods.into();
        let identity = context.caller.identity().map(str::to_owned);
        if let Some(caller) = identity.or_else(|| context.caller.attribute("auth")) {
            index["caller"] = caller.into();
        }
    }
    status::json_response(&index)
}
