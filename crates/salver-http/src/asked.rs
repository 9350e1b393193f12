//! What a request asks for: what the table of routes says, or what an entry has at a path of its own.

mod mounted;

use http::request::Parts;
use http::{Method, Uri};

pub(crate) use self::mounted::Mounted;
use crate::app::App;
use crate::routes::{self, Does, Family, Found, Target, own};

/// What a request asks for.
#[derive(Debug)]
pub(crate) enum Asked<'a, 'p> {
    /// What the table of routes says.
    Table(Found<'p>),
    /// Events for a stream at a route of its own.
    StreamRoute(&'a str),
    /// What user code has at a path of its own.
    Mounted(Mounted<'a>),
}

impl<'a, 'p> Asked<'a, 'p> {
    /// What a request for `path`, below the base path, asks for. Doors in other systems' shapes are there with what
    /// they are for. What entries declare comes behind what the server has itself, but for its index.
    pub(crate) fn of(app: &'a App, method: &Method, path: &'p str, query: &str) -> Self {
        let mut found = routes::find(method, path, query);
        let has_streams = !app.service.streams().is_empty();
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
        // Of its own paths the server gives `/` alone to user code.
        let is_free = match &found {
            Found::Nothing(family) => *family == Family::Own,
            Found::OtherMethod(place) => place.path == "/",
            Found::Row(_, target) => *target == Target::Own(own::Target::Index),
        };
        if is_free
            && has_functions
            && let Some(mounted) = Mounted::at(app, method, path)
        {
            return Self::Mounted(mounted);
        }
        Self::Table(found)
    }

    /// What a request of this head asks for.
    pub(crate) fn of_head(app: &'a App, head: &'p Parts) -> Self {
        match below_base(app, head.uri.path()) {
            Some(path) => Self::of(app, &head.method, path, head.uri.query().unwrap_or("")),
            None => Self::Table(Found::Nothing(Family::Own)),
        }
    }

    /// Whether user code answers.
    pub(crate) fn is_of_user_code(&self) -> bool {
        matches!(self, Self::Mounted(Mounted::Endpoint(..) | Mounted::Application(..)))
    }

    /// Whose doors they are that answer.
    pub(crate) fn family(&self) -> Family {
        match self {
            Self::Table(found) => found.family(),
            Self::StreamRoute(_) => Family::Streams,
            Self::Mounted(_) => Family::Functions,
        }
    }
}

/// The name of the stream that has `path`, below the base path, as its route. That takes POST only, so that it may be
/// one that others read.
fn routed<'a>(app: &'a App, method: &Method, path: &str) -> Option<&'a str> {
    let mut streams = app.service.streams().iter().filter(|_| *method == Method::POST);
    streams.find(|stream| stream.spec().route.as_deref() == Some(path)).map(|stream| stream.spec().name.as_str())
}

/// Whether streams are what a family is about.
pub(crate) fn is_of_streams(family: Family) -> bool {
    matches!(family, Family::Streams | Family::ConfluentV2 | Family::ConfluentV3 | Family::Tinybird)
}

/// How far a request goes. What is not known to read alone does not.
pub(crate) fn does(app: &App, method: &Method, uri: &Uri, asked: &Asked<'_, '_>) -> Does {
    if *method == Method::OPTIONS || below_base(app, uri.path()).is_none() {
        return Does::Reads;
    }
    let query = uri.query().unwrap_or("");
    match asked {
        // Functions may stand around requests for records, and a caller's own database is made by the first request.
        Asked::Table(Found::Row(row, Target::Records(_)))
            if row.does == Does::Reads && app.runs_code_around_records() =>
        {
            Does::Runs
        }
        // A statement may call functions, and nobody expects a link to it.
        Asked::Table(Found::Row(row, Target::Own(own::Target::Sql)))
            if row.does == Does::Runs && !app.service.functions().is_empty() =>
        {
            Does::Asks
        }
        // GraphiQL alone is a page.
        Asked::Table(Found::Row(_, Target::Own(own::Target::Graphql)))
            if *method != Method::POST && !query.is_empty() =>
        {
            Does::Runs
        }
        Asked::Table(Found::Row(row, _)) => row.does,
        _ if matches!(*method, Method::GET | Method::HEAD) => Does::Runs,
        // These change rows and events; of the others each looks itself at what it may change.
        asked if asked.family() == Family::Records || is_of_streams(asked.family()) => Does::Changes,
        _ => Does::Asks,
    }
}

/// The path below the base path; `None` outside it.
pub(crate) fn below_base<'a>(app: &App, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(app.options.base_path.as_str())?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}
