//! The requests that ArangoDB's clients send besides those for cursors: databases, collections and numbers of
//! documents. Entries are collections; there is one database, under any name.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use http::{Response, StatusCode};
use salver_model::{Permission, Query, Version};
use salver_service::Snapshot;
use serde_json::{Value as Json, json};

use super::answer;
use super::body;
use crate::auth::Logins;
use crate::body::Body;
use crate::dialect::arangodb::JSON;
use crate::dialect::{Refusal, arangodb};
use crate::exit;
use crate::request_context::{RequestContext, parameters};
use crate::routes::arangodb::About;
use crate::segment::segment;

/// Responds with the list of collections.
pub(super) async fn collections(context: &RequestContext<'_>) -> Result<Response<Body>, Refusal> {
    let snapshot = context.app.service.snapshot_settled(context.caller, Permission::Export).await;
    let all: Vec<Json> = snapshot.entries().map(|entry| one(entry.name.as_str())).collect();
    Ok(told(json!({ "error": false, "code": 200, "result": all })))
}

/// Responds with a collection, or with one of its properties.
pub(super) async fn collection(
    context: &RequestContext<'_>,
    name: &str,
    question: Option<&str>,
) -> Result<Response<Body>, Refusal> {
    let name = segment(name);
    let snapshot = context.app.service.snapshot_with(context.caller, Permission::Export, &name).await;
    let version = resolve(&snapshot, &name)?;
    let mut shown = one(&name);
    for (member, value) in [("error", json!(false)), ("code", json!(200))] {
        shown[member] = value;
    }
    match question.unwrap_or_default() {
        "" => {}
        "properties" => add_properties(&mut shown),
        "count" => {
            add_properties(&mut shown);
            let asked = Query { limit: Some(0), count: true, ..Query::default() };
            let rows = context.app.service.read_live(context.caller, &snapshot, &name, &asked).await?;
            shown["count"] = rows.total.unwrap_or(0).into();
        }
        "revision" => {
            add_properties(&mut shown);
            shown["revision"] = version.to_string().into();
        }
        question @ ("shards" | "checksum" | "figures" | "responsibleShard") => {
            return Err(arangodb::not_implemented(format!(
                "`{question}` of a collection is not told here; `properties`, `count` and `revision` are"
            )));
        }
        _ => return Err(arangodb::nowhere()),
    }
    Ok(told(shown))
}

/// Responds to a request about databases.
pub(super) fn databases(named: Option<&str>, question: Option<&str>) -> Result<Response<Body>, Refusal> {
    let name = named.unwrap_or("_system");
    let result = match question.unwrap_or_default() {
        "" | "user" => json!([name]),
        "current" => json!({ "id": "1", "name": name, "path": "none", "isSystem": name == "_system" }),
        _ => return Err(arangodb::nowhere()),
    };
    Ok(told(json!({ "error": false, "code": 200, "result": result })))
}

/// Responds to a request about the server.
pub(super) fn server(context: &RequestContext<'_>, about: About) -> Result<Response<Body>, Refusal> {
    let wants_details = || {
        let given = parameters(context.query).unwrap_or_default();
        given.iter().any(|(name, value)| name == "details" && value == "true")
    };
    Ok(told(match about {
        About::Version => {
            let mut version = json!({ "server": "salver", "license": "community", "version": answer::INTERFACE });
            if wants_details() {
                version["details"] = json!({ "mode": "server", "salver": env!("CARGO_PKG_VERSION") });
            }
            version
        }
        About::Availability | About::Mode => json!({ "error": false, "code": 200, "mode": "readonly" }),
        About::Role => json!({ "error": false, "code": 200, "role": "SINGLE" }),
        About::Engine => json!({ "name": "salver", "supports": {} }),
        About::Time => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            json!({ "error": false, "code": 200, "time": now.as_secs_f64() })
        }
    }))
}

/// Handles `POST /_open/auth`, which exchanges a name and a password for a token.
pub(super) async fn log_in(context: &RequestContext<'_>, sent: &[u8]) -> Result<Response<Body>, Refusal> {
    let members = body::Members::read(sent)?;
    let text = |name: &str| members.get(name).and_then(Json::as_str);
    let (Some(name), Some(password)) = (text("username"), text("password")) else {
        return Err(arangodb::bad("expecting string for 'username' and 'password'"));
    };
    let token = match context.app.auth.load() {
        // Without authentication the token is never checked.
        None => Logins::new()?.issue(name, ""),
        Some(auth) => auth.log_in(name, password, context.address()).await?,
    };
    Ok(told(json!({ "jwt": token })))
}

fn resolve(snapshot: &Arc<Snapshot>, name: &str) -> Result<Version, Refusal> {
    match snapshot.resolve(name) {
        Ok(table) => Ok(table.describe().version),
        Err(error) => Err(arangodb::of_entry(error, name, ("", ""))),
    }
}

/// Returns the attributes common to all collections. The id is the name, since clients accept both.
fn one(name: &str) -> Json {
    json!({
        "id": name, "name": name, "globallyUniqueId": name, "status": 3, "statusString": "loaded", "type": 2,
        "isSystem": false,
    })
}

/// Adds the attributes of a collection's properties.
fn add_properties(shown: &mut Json) {
    shown["waitForSync"] = true.into();
    shown["cacheEnabled"] = false.into();
    shown["keyOptions"] = json!({ "allowUserKeys": false, "type": "traditional" });
    shown["schema"] = Json::Null;
    shown["writeConcern"] = 1.into();
}

fn told(json: Json) -> Response<Body> {
    exit::unstored(StatusCode::OK, JSON, Body::Full(json.to_string().into()))
}
