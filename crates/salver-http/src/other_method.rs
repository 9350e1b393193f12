//! Answers for methods that a path does not have: OPTIONS, and refusals with `Allow`, in the words of each protocol. A
//! path that stands for something of the settings or of user code has the methods of what it stands for.

use std::borrow::Cow;

use http::{Method, Response};

use crate::absent::options;
use crate::body::Body;
use crate::dialect::Refusal;
use crate::request_context::RequestContext;
use crate::routes::records::RecordsTarget;
use crate::routes::{Family, RoutePath, RouteTarget};
use crate::{cursor, functions, records};

/// Methods of the schema of databases that are not `definable`.
const SHOWN_ONLY: &str = "GET, HEAD, OPTIONS";
/// Methods of a function that is not pure.
const CALLED_ONLY: &str = "POST, OPTIONS";

/// Answers a request for a path that has other methods.
pub(crate) fn answer(context: &RequestContext<'_>, place: &'static RoutePath) -> Result<Response<Body>, Refusal> {
    let methods = methods(context, place);
    if *context.method == Method::OPTIONS {
        return Ok(options(&methods, place.family));
    }
    Err(match place.family {
        Family::Records => records::other_method(context, &methods),
        Family::ArangoDb => cursor::other_method(context.method, place),
        _ => Refusal::of_method(context.method, &methods),
    })
}

/// Returns the refusal of a change of the schema where no database is `definable`: the path has no such method then.
pub(crate) fn refused(context: &RequestContext<'_>, target: &RouteTarget<'_>) -> Option<Refusal> {
    let RouteTarget::Records(RecordsTarget::Schema | RecordsTarget::SchemaTable(_) | RecordsTarget::SchemaColumn(..)) =
        target
    else {
        return None;
    };
    let is_shown = matches!(*context.method, Method::GET | Method::HEAD) || records::is_definable(context);
    (!is_shown).then(|| records::other_method(context, SHOWN_ONLY))
}

/// Returns the methods of a path, formatted for `Allow`. Who asks with OPTIONS is not known where callers authenticate,
/// since browsers ask so without credentials, and is told what may be at any such path.
fn methods(context: &RequestContext<'_>, place: &'static RoutePath) -> Cow<'static, str> {
    if *context.method == Method::OPTIONS && context.app.auth.load().is_some() {
        return Cow::Borrowed(&place.methods);
    }
    let is_schema = place.path == "/api/columns" || place.path.starts_with("/api/columns/");
    if is_schema && !records::is_definable(context) {
        return Cow::Borrowed(SHOWN_ONLY);
    }
    if place.path == "/api/functions/{file}/{function}" && functions::is_called_only(context) {
        return Cow::Borrowed(CALLED_ONLY);
    }
    Cow::Borrowed(&place.methods)
}
