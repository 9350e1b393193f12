//! The target of a request: a row of the routing table, the route of a stream, or a path that user code serves.

mod mounted;

use http::request::Parts;
use http::{Method, Uri};

pub(crate) use self::mounted::Mounted;
use crate::app::App;
use crate::routes::{self, Does, Family, Found, RouteLabel, RouteTarget, own};

/// The target of a request.
#[derive(Debug)]
pub(crate) enum RequestTarget<'a, 'p> {
    /// A row of the routing table.
    Table(Found<'p>),
    /// An event for the stream of this name, sent to the stream's own route.
    StreamRoute(&'a str),
    /// A path that user code serves.
    Mounted(Mounted<'a>),
}

impl<'a, 'p> RequestTarget<'a, 'p> {
    /// Returns the target of a request for `path`, relative to the base path. Handlers that speak another system's
    /// protocol exist only if something is configured for them. The server's own routes take precedence over those that
    /// entries declare, except for its index.
    pub(crate) fn of(app: &'a App, method: &Method, path: &'p str, query: &str) -> Self {
        let mut found = routes::find(method, path, query);
        let has_streams = app.service.all_consumers().next().is_some();
        let has_functions = !app.service.functions().is_empty();
        match found.family() {
            Family::Records | Family::Streams => return Self::Table(found),
            Family::ConfluentV2 | Family::ConfluentV3 | Family::Tinybird if has_streams => return Self::Table(found),
            Family::ConfluentV2 | Family::ConfluentV3 | Family::Tinybird => found = Found::Nothing(Family::Own),
            Family::Functions if !has_functions => found = Found::Nothing(Family::Own),
            _ => {}
        }
        if has_streams && let Some(name) = routed(app, method, path) {
            return Self::StreamRoute(name);
        }
        // User code may take over only `/` of the server's own paths, and those of log-in that nobody uses.
        let is_free = match &found {
            Found::Nothing(family) => *family == Family::Own,
            Found::OtherMethod(place) => {
                place.path == "/" || place.path.starts_with(own::PROVIDER) && !app.has_provider()
            }
            Found::Row(_, RouteTarget::Own(own::OwnTarget::Provider(_))) => !app.has_provider(),
            Found::Row(_, target) => *target == RouteTarget::Own(own::OwnTarget::Index),
        };
        if is_free
            && has_functions
            && let Some(mounted) = Mounted::at(app, method, path)
        {
            return Self::Mounted(mounted);
        }
        Self::Table(found)
    }

    /// Returns the target of the request with this head.
    pub(crate) fn of_head(app: &'a App, head: &'p Parts) -> Self {
        match below_base(app, head.uri.path()) {
            Some(path) => Self::of(app, &head.method, path, head.uri.query().unwrap_or("")),
            None => Self::Table(Found::Nothing(Family::Own)),
        }
    }

    /// Returns whether user code serves the target.
    pub(crate) fn is_of_user_code(&self) -> bool {
        matches!(self, Self::Mounted(Mounted::Endpoint(..) | Mounted::Application(..)))
    }

    /// Returns whether the request changes nothing, so that its response may be replaced by an error.
    pub(crate) fn is_read(&self, method: &Method) -> bool {
        let asks = match self {
            Self::Table(Found::Row(_, RouteTarget::Own(target))) => *target == own::OwnTarget::Sql,
            Self::Table(Found::Row(_, RouteTarget::ArangoDb(_))) => true,
            _ => false,
        };
        asks || matches!(*method, Method::GET | Method::HEAD)
    }

    /// Returns the label under which the request is counted.
    pub(crate) fn label(&self) -> RouteLabel {
        match self {
            Self::Table(Found::Row(row, _)) => row.label,
            Self::Table(_) => RouteLabel::NONE,
            Self::StreamRoute(_) => RouteLabel::STREAM_ROUTE,
            Self::Mounted(_) => RouteLabel::USER_CODE,
        }
    }

    /// Returns the family of handlers that serves the target.
    pub(crate) fn family(&self) -> Family {
        match self {
            Self::Table(found) => found.family(),
            Self::StreamRoute(_) => Family::Streams,
            Self::Mounted(_) => Family::Functions,
        }
    }
}

/// Returns the name of the stream whose route is `path`, relative to the base path. Such a route takes POST only, so
/// that other methods fall through to whatever else has this path.
fn routed<'a>(app: &'a App, method: &Method, path: &str) -> Option<&'a str> {
    let mut streams = app.service.all_consumers().filter(|_| *method == Method::POST);
    streams.find(|stream| stream.spec().route.as_deref() == Some(path)).map(|stream| stream.spec().name.as_str())
}

/// Returns whether a family serves streams.
pub(crate) fn is_of_streams(family: Family) -> bool {
    matches!(family, Family::Streams | Family::ConfluentV2 | Family::ConfluentV3 | Family::Tinybird)
}

/// Returns what a request may do at most. A request that is not known to be read-only is not treated as one.
pub(crate) fn does(app: &App, method: &Method, uri: &Uri, asked: &RequestTarget<'_, '_>) -> Does {
    if *method == Method::OPTIONS || below_base(app, uri.path()).is_none() {
        return Does::Reads;
    }
    let query = uri.query().unwrap_or("");
    match asked {
        // Functions may wrap record requests, and a caller's own database is created on first use.
        RequestTarget::Table(Found::Row(row, RouteTarget::Records(_)))
            if row.does == Does::Reads && app.runs_code_around_records() =>
        {
            Does::Runs
        }
        // A statement may call functions, and is not expected to be linked to.
        RequestTarget::Table(Found::Row(row, RouteTarget::Own(own::OwnTarget::Sql)))
            if row.does == Does::Runs && !app.service.functions().is_empty() =>
        {
            Does::Asks
        }
        // Only GraphiQL itself is a page.
        RequestTarget::Table(Found::Row(_, RouteTarget::Own(own::OwnTarget::Graphql)))
            if *method != Method::POST && !query.is_empty() =>
        {
            Does::Runs
        }
        RequestTarget::Table(Found::Row(row, _)) => row.does,
        _ if matches!(*method, Method::GET | Method::HEAD) => Does::Runs,
        // These change rows and events; the other handlers check their permissions themselves.
        asked if asked.family() == Family::Records || is_of_streams(asked.family()) => Does::Changes,
        _ => Does::Asks,
    }
}

/// Returns the path relative to the base path; `None` if it lies outside.
pub(crate) fn below_base<'a>(app: &App, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(app.options.base_path.as_str())?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}
