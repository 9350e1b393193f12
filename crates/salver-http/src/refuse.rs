//! The way out of a refused request: it is reported to the operator if the server is at fault, and written by its
//! dialect.

use http::{Response, StatusCode};
use salver_model::Code;
use salver_model::observation::Observation;

use crate::app::App;
use crate::body::Body;
use crate::dialect::{Dialect, Refusal};

/// Returns the response to a request that is refused in `dialect`, unless the refusal names another.
pub(crate) fn refuse(app: &App, dialect: Dialect, refusal: impl Into<Refusal>) -> Response<Body> {
    let mut refusal = refusal.into();
    let dialect = refusal.dialect.unwrap_or(dialect);
    if dialect == Dialect::Salver && refusal.error.code == Code::UnknownEntry && app.options.unknown_table_400 {
        refusal.status.get_or_insert(StatusCode::BAD_REQUEST);
    }
    if dialect.is_reported(&refusal) {
        app.service.observer().observe(&Observation::RequestFailed { error: &refusal.error });
    }
    dialect.respond(&refusal)
}
