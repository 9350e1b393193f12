//! What clients of ArangoDB ask around a cursor: which databases and collections there are, and how many documents.
//! Entries are its collections; there is one database, whatever it is called.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use http::{Method, Response, StatusCode};
use salver_model::{Query, Version};
use salver_service::Snapshot;
use serde_json::{Value as Json, json};

use super::Call;
use super::answer::{self, JSON};
use super::body;
use super::route::About;
use crate::auth::Logins;
use crate::body::Body;
use crate::cursor_state::Failure;
use crate::exchange::parameters;

/// Answers a question about collections: all of them, one, or something of one.
pub(super) async fn collections(call: &Call<'_>, path: &str) -> Result<Response<Body>, Failure> {
    only_get(call.method, "collections")?;
    let (name, question) = path.split_once('/').unwrap_or((path, ""));
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
    if name.is_empty() {
        let snapshot = call.app.service.snapshot_settled().await;
        let all: Vec<Json> = snapshot.entries().map(|entry| one(entry.name.as_str())).collect();
        return Ok(told(json!({ "error": false, "code": 200, "result": all })));
    }
    let snapshot = call.app.service.snapshot_with(&name).await;
    let version = resolve(&snapshot, &name)?;
    let mut shown = one(&name);
    for (member, value) in [("error", json!(false)), ("code", json!(200))] {
        shown[member] = value;
    }
    match question {
        "" => {}
        "properties" => add_properties(&mut shown),
        "count" => {
            add_properties(&mut shown);
            let asked = Query { limit: Some(0), count: true, ..Query::default() };
            let rows = call.app.service.read_live(call.caller, &snapshot, &name, &asked).await?;
            shown["count"] = rows.total.unwrap_or(0).into();
        }
        "revision" => {
            add_properties(&mut shown);
            shown["revision"] = version.to_string().into();
        }
        "shards" | "checksum" | "figures" | "responsibleShard" => {
            return Err(Failure::not_implemented(format!(
                "`{question}` of a collection is not told here; `properties`, `count` and `revision` are"
            )));
        }
        _ => return Err(Failure::nowhere()),
    }
    Ok(told(shown))
}

/// Answers a question about databases.
pub(super) fn databases(call: &Call<'_>, path: &str) -> Result<Response<Body>, Failure> {
    only_get(call.method, "databases")?;
    let name = call.database.unwrap_or("_system");
    let result = match path {
        "" | "user" => json!([name]),
        "current" => json!({ "id": "1", "name": name, "path": "none", "isSystem": name == "_system" }),
        _ => return Err(Failure::nowhere()),
    };
    Ok(told(json!({ "error": false, "code": 200, "result": result })))
}

/// Answers a question about the server.
pub(super) fn server(call: &Call<'_>, about: About) -> Result<Response<Body>, Failure> {
    only_get(call.method, "the server")?;
    let wants_details = || {
        let given = parameters(call.query).unwrap_or_default();
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

/// Answers `POST /_open/auth`: name and password for a token.
pub(super) async fn log_in(call: &Call<'_>, sent: &[u8]) -> Result<Response<Body>, Failure> {
    if *call.method != Method::POST {
        return Err(Failure::method_not_supported());
    }
    let members = body::Members::read(sent)?;
    let text = |name: &str| members.get(name).and_then(Json::as_str);
    let (Some(name), Some(password)) = (text("username"), text("password")) else {
        return Err(Failure::bad("expecting string for 'username' and 'password'"));
    };
    let token = match &call.app.auth {
        // Nobody looks at it.
        None => Logins::new()?.issue(name, ""),
        Some(auth) => auth.log_in(name, password, call.address).await?,
    };
    Ok(told(json!({ "jwt": token })))
}

fn resolve(snapshot: &Arc<Snapshot>, name: &str) -> Result<Version, Failure> {
    match snapshot.resolve(name) {
        Ok(table) => Ok(table.describe().version),
        Err(error) => Err(Failure::of_entry(&error, name, ("", ""))),
    }
}

/// What ArangoDB tells of every collection. Ids are names: clients take both.
fn one(name: &str) -> Json {
    json!({
        "id": name, "name": name, "globallyUniqueId": name, "status": 3, "statusString": "loaded", "type": 2,
        "isSystem": false,
    })
}

/// What ArangoDB tells of one beside that.
fn add_properties(shown: &mut Json) {
    shown["waitForSync"] = true.into();
    shown["cacheEnabled"] = false.into();
    shown["keyOptions"] = json!({ "allowUserKeys": false, "type": "traditional" });
    shown["schema"] = Json::Null;
    shown["writeConcern"] = 1.into();
}

/// Refuses to change anything.
fn only_get(method: &Method, what: &str) -> Result<(), Failure> {
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(Failure::read_only(format!("{what} can't be changed here: rows are written at /api/records"))),
    }
}

fn told(json: Json) -> Response<Body> {
    answer::whole(StatusCode::OK, JSON, json.to_string().into_bytes())
}
