//! The way out of a refused request: it is reported to the operator if the server is at fault, and written by its
//! dialect.

use std::sync::Arc;

use http::{Response, StatusCode};
use salver_model::observation::Observation;
use salver_model::{Code, Error};

use crate::app::App;
use crate::body::Body;
use crate::dialect::{Dialect, Refusal};
use crate::request_record::{self, RequestRecord};

/// Returns the response to a request that is refused in `dialect`, unless the refusal names another.
pub(crate) fn refuse(app: &App, dialect: Dialect, refusal: impl Into<Refusal>) -> Response<Body> {
    let mut refusal = refusal.into();
    let dialect = refusal.dialect.unwrap_or(dialect);
    if dialect == Dialect::Salver && refusal.error.code == Code::UnknownEntry && app.options.unknown_table_400 {
        refusal.status.get_or_insert(StatusCode::BAD_REQUEST);
    }
    if dialect.is_reported(&refusal) {
        let record = request_record::current();
        let request = record.as_deref().map(RequestRecord::id);
        app.service.observer().observe(&Observation::RequestFailed { error: &refusal.error, request });
    }
    dialect.respond(&refusal)
}

/// Returns a callback that reports an error in the middle of the body that answers the request of this task, unless the
/// client asked for more than it may get, which is no failure.
pub(crate) fn observed(app: &App) -> impl FnOnce(&Error) + Send + 'static {
    let (service, record) = (Arc::clone(&app.service), request_record::current());
    move |error| {
        if error.code == Code::AnswerTooLarge {
            return;
        }
        // The head of the response has been sent: an ID that is not in it would help nobody.
        let request = record.as_deref().and_then(RequestRecord::known_id);
        service.observer().observe(&Observation::RequestFailed { error, request });
    }
}
