//! The paths of the doors of streams, and whose language is spoken there.

use http::Method;

use super::call::Call;
use crate::app::App;
use crate::segment::segment;

/// Whose language a door speaks, also when it refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Salver's own.
    Own,
    /// Confluent's REST Proxy, v2 and v3.
    Confluent,
    /// Tinybird's Events API.
    Tinybird,
}

/// What a path names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// `/api/streams`
    All,
    /// `/api/streams/{name}`
    Stream(String),
    /// `/api/streams/{name}/tail`
    Tail(String),
    /// `/api/streams/{name}/events`
    Events(String),
    /// `/api/streams/{name}/groups`
    Groups(String),
    /// `/api/streams/{name}/groups/{group}`
    Group(String, String),
    /// `/api/streams/{name}/groups/{group}/events`
    GroupEvents(String, String),
    /// `/api/streams/{name}/groups/{group}/commit`
    GroupCommit(String, String),
    /// The route of the stream of that name.
    Route(String),
    /// `/v0/events`
    Tinybird,
    /// `/topics`, `/brokers` and `/consumers` with what follows
    ConfluentV2(Vec<String>),
    /// What follows `/v3`
    ConfluentV3(Vec<String>),
}

/// Whether a request for `path`, below the base path, belongs to these doors. Those of other systems are open when
/// there are streams; a stream's route takes POST only, so that it may be one that others read.
pub(super) fn belongs(app: &App, method: &Method, path: &str) -> bool {
    if let Some(rest) = path.strip_prefix("/api/streams") {
        return rest.is_empty() || rest.starts_with('/');
    }
    let streams = app.service.streams();
    if streams.is_empty() {
        return false;
    }
    let first = path.strip_prefix('/').and_then(|rest| rest.split('/').next()).unwrap_or_default();
    matches!(first, "topics" | "brokers" | "consumers")
        || path == "/v0/events"
        || path == "/v3/clusters"
        || path.starts_with("/v3/clusters/")
        || routed(app, method, path).is_some()
}

/// The name of the stream that has `path` as its route.
fn routed(app: &App, method: &Method, path: &str) -> Option<String> {
    let mut streams = app.service.streams().iter().filter(|_| *method == Method::POST);
    streams.find(|stream| stream.spec().route.as_deref() == Some(path)).map(|stream| stream.spec().name.to_string())
}

/// Whose language is spoken at `path`.
pub(super) fn dialect(path: &str) -> Dialect {
    match path.strip_prefix('/').and_then(|rest| rest.split('/').next()).unwrap_or_default() {
        "topics" | "brokers" | "consumers" | "v3" => Dialect::Confluent,
        "v0" => Dialect::Tinybird,
        _ => Dialect::Own,
    }
}

impl Target {
    /// What the path of `call` names.
    pub(super) fn of(call: &Call<'_>) -> Option<Self> {
        routed(call.app, call.method, call.path).map(Self::Route).or_else(|| Self::at(call.path))
    }

    fn at(path: &str) -> Option<Self> {
        let trimmed = path.strip_suffix('/').unwrap_or(path);
        let segments: Vec<&str> = trimmed.strip_prefix('/')?.split('/').collect();
        if segments.iter().any(|part| part.is_empty()) {
            return None;
        }
        Some(match segments.as_slice() {
            ["api", "streams", rest @ ..] => Self::own(rest)?,
            ["v0", "events"] => Self::Tinybird,
            ["v3", rest @ ..] => Self::ConfluentV3(rest.iter().map(|part| segment(part)).collect()),
            ["topics" | "brokers" | "consumers", ..] => {
                Self::ConfluentV2(segments.iter().map(|part| segment(part)).collect())
            }
            _ => return None,
        })
    }

    fn own(segments: &[&str]) -> Option<Self> {
        Some(match segments {
            [] => Self::All,
            [name] => Self::Stream(segment(name)),
            [name, "tail"] => Self::Tail(segment(name)),
            [name, "events"] => Self::Events(segment(name)),
            [name, "groups"] => Self::Groups(segment(name)),
            [name, "groups", group] => Self::Group(segment(name), segment(group)),
            [name, "groups", group, "events"] => Self::GroupEvents(segment(name), segment(group)),
            [name, "groups", group, "commit"] => Self::GroupCommit(segment(name), segment(group)),
            _ => return None,
        })
    }

    /// The methods it answers, beside OPTIONS; HEAD goes with GET.
    pub(super) fn methods(&self) -> &'static str {
        match self {
            Self::Stream(_) => "GET, HEAD, POST",
            Self::GroupCommit(..) | Self::Route(_) | Self::Tinybird => "POST",
            Self::ConfluentV2(_) | Self::ConfluentV3(_) => "GET, HEAD, POST, DELETE",
            _ => "GET, HEAD",
        }
    }

    /// Whether it answers `method`.
    pub(super) fn allows(&self, method: &Method) -> bool {
        self.methods().split(", ").any(|allowed| allowed == method.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Target, dialect};

    #[test]
    fn paths() {
        assert_eq!(Target::at("/api/streams/"), Some(Target::All));
        assert_eq!(Target::at("/api/streams/a%20b"), Some(Target::Stream("a b".into())));
        assert_eq!(Target::at("/api/streams/a/groups/g/commit"), Some(Target::GroupCommit("a".into(), "g".into())));
        assert_eq!(Target::at("/v3/clusters/x"), Some(Target::ConfluentV3(vec!["clusters".into(), "x".into()])));
        for none in ["/api/streams//tail", "/api/streams/a/b", "/v0/other", "/", "/elsewhere"] {
            assert_eq!(Target::at(none), None, "{none}");
        }
        assert_eq!(dialect("/topics/a"), Dialect::Confluent);
        assert_eq!(dialect("/api/streams/a"), Dialect::Own);
    }
}
