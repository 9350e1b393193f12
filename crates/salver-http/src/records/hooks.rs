//! Functions before and after requests for records: the first may change a request, refuse it or respond to it, the
//! second receives the response and may change it. Their arguments and results are described in `docs/records.md`.
//!
//! They see every request that reads or writes rows here. Changes that could bypass them are refused: transactions over
//! several tables, bulk loads, and GraphQL mutations.

mod answer;
mod reply;
mod values;

use bytes::Bytes;
use http::{HeaderMap, Method, Response, header};
use salver_model::records::Document;
use salver_model::spec::{Customization, DatabaseSpec};
use salver_model::{Code, Error, Result};

use self::answer::Said;
use self::reply::HookReply;
use self::values::{body_json, caller_json, query_json, text_json, written_body, written_query};
use super::databases::path;
use super::{body, respond};
use crate::body::Body;
use crate::dialect::{Dialect, php};
use crate::refuse::refuse;
use crate::request_context::RequestContext;
use crate::request_context::parameters;
use crate::routes::records::RecordsTarget;

/// Headers that describe the original bytes of a response.
const OF_THE_BYTES: [header::HeaderName; 5] =
    [header::CONTENT_TYPE, header::CONTENT_ENCODING, header::VARY, header::ETAG, header::CACHE_CONTROL];

/// The functions of one request.
#[derive(Debug)]
pub(super) struct Hooks {
    functions: Customization,
    operation: &'static str,
    table: String,
    /// Whether the response is processed as JSON: for the function after it, or to convert it for a client that uses
    /// XML.
    wraps: bool,
}

/// A request as passed on by the function before it.
#[derive(Debug)]
pub(super) struct RequestOverride {
    query: String,
    headers: HeaderMap,
    /// The body.
    pub(super) body: Bytes,
    /// The value passed from the function before to the one after, as JSON.
    environment: Option<String>,
}

/// The result of the function before a request.
#[derive(Debug)]
pub(super) enum HookOutcome {
    /// The request continues.
    Go(RequestOverride),
    /// The request is finished with this response.
    Answered(Response<Body>),
}

impl Hooks {
    /// Returns the functions of a request for `target`, if there are any.
    pub(super) fn of(context: &RequestContext<'_>, target: &RecordsTarget<'_>) -> Option<Self> {
        if context.app.service.databases().iter().all(|database| database.spec().customization.is_none()) {
            return None;
        }
        let (table, by_key) = match target {
            RecordsTarget::Table(table) | RecordsTarget::Map(table) => (table, false),
            RecordsTarget::Row(table, _) | RecordsTarget::MapRow(table, _) => (table, true),
            _ => return None,
        };
        let operation = match *context.method {
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "increment",
            Method::DELETE => "delete",
            _ if by_key => "read",
            _ => "list",
        };
        let (entry, inside) = context.app.service.database_with(table).ok()?;
        let functions = entry.spec().customization.clone()?;
        let wraps = functions.after.is_some() || php::wants_xml(context.query);
        Some(Self { functions, operation, table: inside.to_owned(), wraps })
    }

    /// Calls the function before the request.
    ///
    /// # Errors
    /// `InvalidBody`, and the errors of the function.
    pub(super) async fn before(&self, context: &RequestContext<'_>, bytes: Bytes) -> Result<HookOutcome> {
        let xml = php::wants_xml(context.query);
        let (mut going, mut pairs) = (self.going(context, bytes), parameters(context.query)?);
        if xml {
            // XML is converted to JSON at the boundary.
            pairs.retain(|(name, _)| name != "format");
            going.query = written_query(&pairs);
            if !going.body.is_empty() {
                going.body = written_body(&body::read(&going.body, true)?).into();
            }
        }
        let Some(function) = &self.functions.before else { return Ok(HookOutcome::Go(going)) };
        let values = [
            ("operation", text_json(self.operation)),
            ("table", text_json(&self.table)),
            ("method", text_json(context.method.as_str())),
            ("path", text_json(path(context))),
            ("query", query_json(&pairs)),
            ("body", body_json(&going.body)?.into_owned()),
            ("caller", caller_json(context)),
        ];
        let mut told = match answer::ask(context, function, &values, &going.body).await? {
            Said::Refused(response) => return Ok(HookOutcome::Answered(response)),
            Said::Told(bytes) => HookReply::before(function, &bytes)?,
        };
        if told.status.is_some() {
            let json = told.body.take().unwrap_or_else(|| "null".to_owned());
            return Ok(HookOutcome::Answered(finish(context, &json, &told, None).await?));
        }
        if let Some(mut query) = told.query.take() {
            // The function can't override the client's choice of format.
            query.retain(|(name, _)| name != "format");
            going.query = written_query(&query);
        }
        if let Some(json) = told.body.take() {
            going.body = json.into();
        }
        going.environment = told.environment.take();
        Ok(HookOutcome::Go(going))
    }

    /// Returns the unchanged request.
    fn going(&self, context: &RequestContext<'_>, body: Bytes) -> RequestOverride {
        let mut headers = context.headers.clone();
        if self.wraps {
            headers.remove(header::IF_NONE_MATCH);
            headers.remove(header::ACCEPT_ENCODING);
        }
        RequestOverride { query: context.query.to_owned(), headers, body, environment: None }
    }

    /// Calls the function after the request, with the response to the request that was passed on.
    ///
    /// # Errors
    /// The errors of the function; the request has been executed by then.
    pub(super) async fn after(
        &self,
        context: &RequestContext<'_>,
        answered: Result<Response<Body>>,
        going: &RequestOverride,
    ) -> Result<Response<Body>> {
        if !self.wraps {
            return answered;
        }
        let response = answered.unwrap_or_else(|error| refuse(context.app, Dialect::Php { xml: false }, error));
        let (head, body) = response.into_parts();
        let bytes = answer::collected(body).await?;
        let json =
            String::from_utf8(bytes).map_err(|error| Error::internal("an answer is not text").with_source(error))?;
        let mut told = HookReply::default();
        if let Some(function) = &self.functions.after {
            let values = [
                ("operation", text_json(self.operation)),
                ("table", text_json(&self.table)),
                ("status", head.status.as_u16().to_string()),
                ("body", if json.is_empty() { "null".to_owned() } else { json.clone() }),
                ("environment", going.environment.clone().unwrap_or_else(|| "null".to_owned())),
            ];
            let late = |error| too_late(error, self.operation);
            told = match answer::ask(context, function, &values, &Bytes::new()).await.map_err(late)? {
                Said::Refused(response) => return Ok(response),
                Said::Told(bytes) => HookReply::after(function, &bytes).map_err(late)?,
            };
        }
        let json = told.body.take().unwrap_or(json);
        finish(context, &json, &told, Some(&head)).await
    }
}

impl RequestOverride {
    /// Returns the context with the changed query and headers.
    pub(super) fn context<'a>(&'a self, whole: &'a RequestContext<'a>) -> RequestContext<'a> {
        whole.changed(&self.query, &self.headers)
    }
}

/// Refuses an operation that would bypass the functions.
///
/// # Errors
/// `Unsupported`.
pub(super) fn refuse_past(spec: &DatabaseSpec, operation: &str) -> Result<()> {
    if spec.customization.is_none() {
        return Ok(());
    }
    Err(Error::new(Code::Unsupported, format!("Operation '{operation}' not supported"))
        .with_hint(format!("the functions `before` and `after` of `{}` see one request at a time", spec.name)))
}

/// Builds the response to the client. `told` has the changes of a function, `head` the headers of the original
/// response.
async fn finish(
    context: &RequestContext<'_>,
    json: &str,
    told: &HookReply,
    head: Option<&http::response::Parts>,
) -> Result<Response<Body>> {
    let document = Document::whole(php::as_php(json).into_bytes());
    let mut response = respond::document(context, document, php::wants_xml(context.query), None).await?;
    if let Some(head) = head {
        *response.status_mut() = head.status;
        for (name, value) in head.headers.iter().filter(|(name, _)| !OF_THE_BYTES.contains(name)) {
            response.headers_mut().append(name, value.clone());
        }
    }
    if let Some(status) = told.status {
        *response.status_mut() = status;
    }
    for (name, value) in &told.headers {
        response.headers_mut().insert(name, value.clone());
    }
    Ok(response)
}

/// Marks an error of the function after a change, which can't be rolled back any more.
fn too_late(error: Error, operation: &str) -> Error {
    if matches!(operation, "list" | "read") {
        return error;
    }
    let message = format!("{}, after the request was answered", error.message);
    Error::new(error.code, message)
        .with_hint("the change may have been made or not; check before you repeat it")
        .with_source(error)
}
