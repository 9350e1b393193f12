//! Which of the server's own routes there are, and which paths they leave to what entries declare.

use http::Method;
use salver_service::Service;

use super::{Family, Found, RouteTarget, find, own};

/// Looks up `path`, relative to the base path, among the server's own routes. Those that speak another system's
/// protocol exist only if something is configured for them.
pub(crate) fn find_own<'p>(service: &Service, method: &Method, path: &'p str, query: &str) -> Found<'p> {
    let found = find(method, path, query);
    let exists = match found.family() {
        Family::ConfluentV2 | Family::ConfluentV3 | Family::Tinybird => service.all_consumers().next().is_some(),
        Family::Functions => !service.functions().is_empty(),
        _ => true,
    };
    if exists { found } else { Found::Nothing(Family::Own) }
}

/// Returns whether entries may declare the path of which this was found. They may take over only `/` of the server's
/// own paths, and those of log-in that nobody uses.
pub(crate) fn is_free(found: &Found<'_>, has_provider: impl FnOnce() -> bool) -> bool {
    match found {
        Found::Nothing(family) => *family == Family::Own,
        Found::OtherMethod(place) => place.path == "/" || place.path.starts_with(own::PROVIDER) && !has_provider(),
        Found::Row(_, RouteTarget::Own(own::OwnTarget::Provider(_))) => !has_provider(),
        Found::Row(_, target) => *target == RouteTarget::Own(own::OwnTarget::Index),
    }
}

/// Returns whether the path can't be taken by an application as a whole, nor be kept for a file that is being loaded.
pub(super) fn is_own(path: &str) -> bool {
    matches!(path, "" | "/") || path.starts_with("/api/")
}
