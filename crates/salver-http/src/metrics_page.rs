//! `/metrics`: what is measured, in Prometheus' text format. Requests are counted as they come; everything else
//! (permits, entries, streams, workers) is looked up when it is asked for.

mod process;
mod state;

use std::sync::LazyLock;

use http::{HeaderMap, Response, StatusCode};

use crate::app::App;
use crate::body::Body;
use crate::exit;
use crate::metrics::{Exposition, MEDIA_TYPE};
use crate::security_headers;

/// Responds with everything that is measured.
pub(crate) fn answer(app: &App) -> Response<Body> {
    static HEAD: LazyLock<HeaderMap> = LazyLock::new(|| security_headers::head_of_data(MEDIA_TYPE));
    let mut out = Exposition::default();
    out.family("salver_build_info", "gauge", "The version of the server.");
    out.sample("", &[("version", env!("CARGO_PKG_VERSION"))], 1_u64);
    app.metrics.write(&mut out);
    state::write(app, &mut out);
    process::write(&mut out);
    let mut response = exit::reply(StatusCode::OK, Body::Full(out.finish().into()));
    response.headers_mut().clone_from(&HEAD);
    response
}
