//! `/metrics`: what is measured, in Prometheus' text format. Requests are counted as they come; everything else
//! (permits, entries, streams, workers) is looked up when it is asked for.

mod process;
mod state;

use http::{HeaderValue, Response, StatusCode};
use salver_model::access::METRICS;
use salver_model::{Code, Error, Permission, Result};

use crate::body::Body;
use crate::exit;
use crate::metrics::{Exposition, MEDIA_TYPE};
use crate::request_context::RequestContext;

/// Responds with everything that is measured.
///
/// # Errors
/// `Forbidden` for a caller whom the access rules don't permit it.
pub(crate) fn answer(context: &RequestContext<'_>) -> Result<Response<Body>> {
    let app = context.app;
    if !context.caller.may(Permission::Administer, METRICS) {
        return Err(Error::new(Code::Forbidden, "you may not see the server's measurements")
            .with_hint(format!("an [[access]] with `administer` for the entry `{METRICS}` permits it")));
    }
    let mut out = Exposition::default();
    out.family("salver_build_info", "gauge", "The version of the server.");
    out.sample("", &[("version", env!("CARGO_PKG_VERSION"))], 1_u64);
    app.metrics.write(&mut out);
    state::write(app, context.caller, &mut out);
    process::write(&mut out);
    Ok(exit::unstored(StatusCode::OK, HeaderValue::from_static(MEDIA_TYPE), Body::Full(out.finish().into())))
}
