//! Answers for paths and methods that nothing is served at.

use http::{HeaderValue, Method, Response, StatusCode, header};
use salver_model::{Caller, Code, Error};

use crate::app::App;
use crate::body::Body;
use crate::dialect::Refusal;
use crate::exit;
use crate::request_target::below_base;
use crate::routes::{self, Family};

/// What may have an address of its own.
const METRICS: &str = "/metrics";

/// Answers a request for a path that has these methods only.
pub(crate) fn refuse_method(method: &Method, methods: &str, family: Family) -> Result<Response<Body>, Refusal> {
    match *method {
        Method::OPTIONS => Ok(options(methods, family)),
        _ => Err(Refusal::of_method(method, methods)),
    }
}

/// Answers OPTIONS of a path with these methods.
pub(crate) fn options(methods: &str, family: Family) -> Response<Body> {
    let mut response = exit::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    if let Ok(methods) = HeaderValue::from_str(methods) {
        headers.insert(header::ALLOW, methods.clone());
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(family.request_headers()));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

/// The error for a path at which there is nothing for the caller.
pub(crate) fn nothing_at(app: &App, path: &str, caller: Option<&Caller>) -> Error {
    let shown: String = path.chars().take(200).collect();
    let may_know =
        |name: &str| caller.is_some_and(|caller| caller.grants.as_ref().is_none_or(|grants| grants.knows(name)));
    // It has an address of its own.
    let is_apart = |path: &str| app.options.metrics.is_some() && path == METRICS;
    let suggested = below_base(app, path).and_then(|path| {
        let own = routes::suggestion(path, |pattern| !is_apart(pattern));
        own.or_else(|| app.declared().suggestion(path, may_know))
    });
    Error::new(Code::NotFound, format!("there is nothing at {shown}"))
        .with_hint("`/` lists what is served; tables are at `/api/tables/{name}`")
        .with_hint_if(suggested)
}

/// The error for a path at the address that `/metrics` has for itself.
pub(crate) fn nothing_at_metrics(path: &str) -> Error {
    let shown: String = path.chars().take(200).collect();
    Error::new(Code::NotFound, format!("there is nothing at {shown}"))
        .with_hint("`/metrics`, `/health` and `/ready` are served at this address, everything else at `server.listen`")
}

/// The error for ROAPI's changes of the catalog.
pub(crate) fn read_only() -> Error {
    Error::new(Code::ReadOnly, "Write operation is not allowed in read-only mode")
        .with_hint("tables come from the configuration and are reloaded when their sources change")
}
