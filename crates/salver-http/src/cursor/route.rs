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
    /// `/_api/version`
    Version,
    /// Anything else below `/_api`.
    Nothing,
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
        let api = match path.strip_prefix("/_db/") {
            Some(rest) => &rest[rest.find('/')?..],
            None => path,
        };
        let rest = below(api, "/_api")?;
        let (door, rest) = rest.split_once('/').unwrap_or((rest, ""));
        Some(match door {
            "cursor" => Self::Cursor(rest),
            "export" => Self::Export(rest),
            "version" if rest.is_empty() => Self::Version,
            _ => Self::Nothing,
        })
    }
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

    use super::Target;

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
            (Method::GET, "/_api/version", "", Some(Target::Version)),
            (Method::GET, "/_api/else", "", Some(Target::Nothing)),
            (Method::GET, "/_db/any", "", None),
            (Method::GET, "/api/cursors", "", None),
            (Method::GET, "/_apis", "", None),
        ] {
            assert_eq!(Target::of(&method, path, query), expected, "{method} {path}");
        }
    }
}
