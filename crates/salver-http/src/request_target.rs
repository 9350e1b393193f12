//! The target of a request: a row of the routing table, or a route that an entry declares.

use http::request::Parts;
use http::{Method, Uri, header};
use salver_model::Caller;

use crate::app::App;
use crate::peer::Peer;
use crate::routes::declared::{DeclaredFound, DeclaredMatch, DeclaredTarget};
use crate::routes::{self, Does, Family, Found, Methods, RouteLabel, RouteTarget, own, precedence};

/// The target of a request.
#[derive(Debug)]
pub(crate) enum RequestTarget<'p> {
    /// A row of the routing table.
    Table(Found<'p>),
    /// A route that an entry declares.
    Declared(DeclaredMatch),
    /// A path that entries declare, but not for this method; its methods, and the family of those.
    OtherMethod(Methods, Family),
}

impl<'p> RequestTarget<'p> {
    /// Returns the target of a request for `path`, relative to the base path, whoever sends it.
    pub(crate) fn of(app: &App, method: &Method, path: &'p str, query: &str) -> Self {
        Self::among(app, method, path, query, |_| true)
    }

    /// Returns the target of a request, where entries exist as far as `may_know` tells. The server's own routes take
    /// precedence over those that entries declare, except for its index.
    fn among(app: &App, method: &Method, path: &'p str, query: &str, may_know: impl Fn(&str) -> bool) -> Self {
        let found = precedence::find_own(&app.service, method, path, query);
        if app.options.metrics.is_some() && is_of_metrics(&found) {
            return Self::Table(Found::Nothing(Family::Own));
        }
        if !precedence::is_free(&found, || app.has_provider()) {
            return Self::Table(found);
        }
        // The index stays where nobody declares its method.
        let (is_index, own_methods) = match &found {
            Found::Row(_, target) => (*target == RouteTarget::Own(own::OwnTarget::Index), Methods::NONE),
            Found::OtherMethod(place) if place.path == "/" => (false, place.all),
            _ => (false, Methods::NONE),
        };
        match app.declared().find(method, path, may_know) {
            DeclaredFound::Row(declared) => Self::Declared(declared),
            DeclaredFound::OtherMethod(methods, family) if !is_index => {
                Self::OtherMethod(own_methods.and(methods), family)
            }
            _ => Self::Table(found),
        }
    }

    /// Returns the target of the request with this head. At the address that `/metrics` has for itself, there is little
    /// else.
    pub(crate) fn of_head(app: &App, head: &'p Parts, peer: &Peer) -> Self {
        match below_base(app, head.uri.path()) {
            Some(path) if peer.is_at_metrics() => {
                let found = routes::find(&head.method, path, "");
                let is_there = is_of_metrics(&found) || is_of_probes(&found);
                Self::Table(if is_there { found } else { Found::Nothing(Family::Own) })
            }
            Some(path) => Self::of(app, &head.method, path, head.uri.query().unwrap_or("")),
            None => Self::Table(Found::Nothing(Family::Own)),
        }
    }

    /// Returns the target of the request as its caller sees it: what entries declare that the caller must not know of
    /// is not there.
    pub(crate) fn seen_by(self, app: &App, head: &'p Parts, caller: &Caller) -> Self {
        let (Some(grants), Some(path)) = (&caller.grants, below_base(app, head.uri.path())) else { return self };
        let is_seen = match &self {
            Self::Table(_) => true,
            // Of the rows in their order, the first that is found: without those that are not known it is the same.
            Self::Declared(declared) => grants.knows(declared.entry()),
            Self::OtherMethod(..) => false,
        };
        if is_seen || self.is_preflight(app, head) {
            return self;
        }
        Self::among(app, &head.method, path, head.uri.query().unwrap_or(""), |name| grants.knows(name))
    }

    /// Returns whether a browser asks which methods pages of other sites may use, which it does without the credentials
    /// of the request that follows.
    fn is_preflight(&self, app: &App, head: &Parts) -> bool {
        head.method == Method::OPTIONS
            && !self.is_of_user_code()
            && app.options.cors
            && head.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
    }

    /// Returns whether user code serves the target.
    pub(crate) fn is_of_user_code(&self) -> bool {
        let Self::Declared(declared) = self else { return false };
        matches!(declared.target(), DeclaredTarget::Endpoint(..) | DeclaredTarget::Application(..))
    }

    /// Returns whether the target is an application, which gets the path as it is.
    pub(crate) fn is_of_application(&self) -> bool {
        matches!(self, Self::Declared(declared) if matches!(declared.target(), DeclaredTarget::Application(..)))
    }

    /// Returns whether it is made of what entries declare, of which callers may know different parts.
    pub(crate) fn is_of_entries(&self) -> bool {
        !matches!(self, Self::Table(_))
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
            Self::Declared(declared) => declared.label(),
            Self::OtherMethod(..) => RouteLabel::NONE,
        }
    }

    /// Returns the family of handlers that serves the target.
    pub(crate) fn family(&self) -> Family {
        match self {
            Self::Table(found) => found.family(),
            Self::Declared(declared) => declared.family(),
            Self::OtherMethod(_, family) => *family,
        }
    }
}

/// Returns whether a request is for what is measured.
fn is_of_metrics(found: &Found<'_>) -> bool {
    match found {
        Found::Row(_, target) => *target == RouteTarget::Own(own::OwnTarget::Metrics),
        Found::OtherMethod(place) => place.path == "/metrics",
        Found::Nothing(_) => false,
    }
}

/// Returns whether a request asks how the server is.
fn is_of_probes(found: &Found<'_>) -> bool {
    match found {
        Found::Row(_, RouteTarget::Own(target)) => matches!(target, own::OwnTarget::Health | own::OwnTarget::Ready),
        Found::OtherMethod(place) => matches!(place.path, "/health" | "/ready"),
        Found::Row(..) | Found::Nothing(_) => false,
    }
}

/// Returns whether a family serves streams.
pub(crate) fn is_of_streams(family: Family) -> bool {
    matches!(family, Family::Streams | Family::ConfluentV2 | Family::ConfluentV3 | Family::Tinybird)
}

/// Returns what a request may do at most. A request that is not known to be read-only is not treated as one.
pub(crate) fn does(app: &App, method: &Method, uri: &Uri, asked: &RequestTarget<'_>) -> Does {
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
