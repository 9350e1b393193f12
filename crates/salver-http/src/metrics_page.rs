//! `/metrics`: what is measured, in Prometheus' text format. Requests are counted as they come; everything else
//! (permits, entries, streams, workers) is looked up when it is asked for.

mod process;
mod state;

use http::{HeaderValue, Response, StatusCode};

use crate::app::App;
use crate::body::Body;
use crate::exit;
use crate::metrics::{Exposition, MEDIA_TYPE};

/// Responds with everything that is measured.
pub(crate) fn answer(app: &App) -> Response<Body> {
    let mut out = Exposition::default();
    out.family("salver_build_info", "gauge", "The version of the server.");
    out.sample("", &[("version", env!("CARGO_PKG_VERSION"))], 1_u64);
    app.metrics.write(&mut out);
    state::write(app, &mut out);
    process::write(&mut out);
    exit::unstored(StatusCode::OK, HeaderValue::from_static(MEDIA_TYPE), Body::Full(out.finish().into()))
}
