//! The paths of cursors.

use http::Method;

use crate::exchange::parameters;

/// What a path names, with what stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    /// `/api/export`, `/api/export/{id}`
    Export(&'a str),
    /// `/api/cursor`, `/api/cursor/{id}`, `/api/cursor/{id}/{batch}`
    Cursor(&'a str),
    /// `/_api/collection`, `/_api/collection/{name}`, `/_api/collection/{name}/{question}`
    Collections(&'a str),
    /// `/_api/database`, `/_api/database/current`
    Databases(&'a str),
    /// `/_open/auth`
    Login,
    /// What the server is.
    Server(About),
    /// Anything else below `/_api`.
    Nothing(&'a str),
}

/// What clients want to know of the server before they ask for anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// `/_api/version`
    Version,
    /// `/_admin/server/availability`
    Availability,
    /// `/_admin/server/mode`
    Mode,
    /// `/_admin/server/role`
    Role,
    /// `/_admin/time`
    Time,
    /// `/_api/engine`
    Engine,
}

impl<'a> Target<'a> {
    /// What `path` names. Of `/api/export` only what is ArangoDB's is ours: the rest is another door's.
    pub(super) fn of(method: &Method, path: &'a str, query: &str) -> Option<Self> {
        if let Some(rest) = below(path, "/api/cursor") {
            return Some(Self::Cursor(rest));
        }
        if let Some(rest) = below(path, "/api/export") {
            let is_id = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
            let is_ours = match *method {
                Method::POST => rest.is_empty() && names_collection(query),
                Method::PUT => true,
                Method::DELETE => is_id,
                _ => false,
            };
            return is_ours.then_some(Self::Export(rest));
        }
        let (_, api) = database(path);
        match api {
            "/_admin/server/availability" => return Some(Self::Server(About::Availability)),
            "/_admin/server/mode" => return Some(Self::Server(About::Mode)),
            "/_admin/server/role" => return Some(Self::Server(About::Role)),
            "/_admin/time" => return Some(Self::Server(About::Time)),
            "/_open/auth" => return Some(Self::Login),
            _ => {}
        }
        let rest = below(api, "/_api")?;
        let (door, rest) = rest.split_once('/').unwrap_or((rest, ""));
        Some(match door {
            "cursor" => Self::Cursor(rest),
            "export" => Self::Export(rest),
            "version" if rest.is_empty() => Self::Server(About::Version),
            "engine" if rest.is_empty() => Self::Server(About::Engine),
            "collection" => Self::Collections(rest),
            "database" => Self::Databases(rest),
            other => Self::Nothing(other),
        })
    }
}

/// The database that stands before a path, and the path.
pub(super) fn database(path: &str) -> (Option<&str>, &str) {
    let named = path.strip_prefix("/_db/").and_then(|rest| Some((rest, rest.find('/')?)));
    named.map_or((None, path), |(rest, end)| (Some(&rest[..end]), &rest[end..]))
}

/// What stands in `path` behind `prefix` and a slash; nothing when it ends there.
fn below<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(prefix)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

fn names_collection(query: &str) -> bool {
    parameters(query).is_ok_and(|parameters| parameters.iter().any(|(name, _)| name == "collection"))
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::{About, Target};

    #[test]
    fn paths() {
        for (method, path, query, expected) in [
            (Method::POST, "/api/cursor", "", Some(Target::Cursor(""))),
            (Method::POST, "/api/cursor/", "", Some(Target::Cursor(""))),
            (Method::POST, "/api/cursor/1/2", "", Some(Target::Cursor("1/2"))),
            (Method::PUT, "/_db/any/_api/cursor/1", "", Some(Target::Cursor("1"))),
            (Method::POST, "/_api/export", "", Some(Target::Export(""))),
            (Method::POST, "/api/export", "collection=c", Some(Target::Export(""))),
            (Method::POST, "/api/export", "", None),
            (Method::GET, "/api/export/c", "", None),
            (Method::DELETE, "/api/export/17", "", Some(Target::Export("17"))),
            (Method::DELETE, "/api/export/token", "", None),
            (Method::GET, "/_api/version", "", Some(Target::Server(About::Version))),
            (Method::GET, "/_db/x/_api/collection/c/count", "", Some(Target::Collections("c/count"))),
            (Method::GET, "/_db/x/_api/database/current", "", Some(Target::Databases("current"))),
            (Method::POST, "/_db/x/_open/auth", "", Some(Target::Login)),
            (Method::GET, "/_admin/time", "", Some(Target::Server(About::Time))),
            (Method::GET, "/_api/engine", "", Some(Target::Server(About::Engine))),
            (Method::GET, "/_admin/server/availability", "", Some(Target::Server(About::Availability))),
            (Method::GET, "/_admin/other", "", None),
            (Method::GET, "/_api/else", "", Some(Target::Nothing("else"))),
            (Method::GET, "/_db/any", "", None),
            (Method::GET, "/api/cursors", "", None),
            (Method::GET, "/_apis", "", None),
        ] {
            assert_eq!(Target::of(&method, path, query), expected, "{method} {path}");
        }
    }
}
