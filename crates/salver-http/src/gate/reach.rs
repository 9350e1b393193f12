//! How far a request goes, by its method and path, as pages of other sites are concerned.

use http::Method;

/// How far a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It reads what is there. A page of another site may ask, and can't read the answer.
    Reads,
    /// It runs somebody's code, or holds something that others need. A link to it may be followed from anywhere.
    Runs,
    /// It asks for code to be run, or for work to be done, which no link is for.
    Asks,
    /// It may change something.
    Changes,
}

impl Reach {
    /// The reach of a request for `path`, below the base path. What is not known to read alone does not.
    pub(crate) fn of(method: &Method, path: &str, has_query: bool) -> Self {
        match *method {
            Method::OPTIONS => Self::Reads,
            Method::GET | Method::HEAD if is_plain(path, has_query) => Self::Reads,
            Method::GET | Method::HEAD => Self::Runs,
            _ => Self::Changes,
        }
    }
}

/// Whether GET of `path` does nothing but read.
fn is_plain(path: &str, has_query: bool) -> bool {
    let path = path.strip_suffix('/').unwrap_or(path);
    let Some(rest) = path.strip_prefix("/api/") else {
        return matches!(path, "" | "/health" | "/ready" | "/metrics" | "/docs" | "/openapi.json");
    };
    let (door, rest) = rest.split_once('/').unwrap_or((rest, ""));
    match door {
        "version" | "schema" | "tables" | "kv" | "columns" | "openapi" | "geojson" | "status" | "me" | "records" => {
            true
        }
        // GraphiQL and its files, but no document.
        "graphql" => !rest.is_empty() || !has_query,
        "functions" => !rest.contains('/'),
        "functions.openapi.json" => true,
        "streams" => {
            let below = rest.split_once('/').map_or("", |(_, below)| below);
            matches!(below, "" | "events" | "groups")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::Reach;

    #[test]
    fn what_only_reads() {
        for (path, has_query) in [
            ("/", false),
            ("", false),
            ("/health", false),
            ("/api/tables/a.csv", true),
            ("/api/schema", false),
            ("/api/records/a/1", true),
            ("/api/graphql", false),
            ("/api/graphql/start.js", false),
            ("/api/functions", false),
            ("/api/functions/f", false),
            ("/api/streams/s/events", true),
        ] {
            assert_eq!(Reach::of(&Method::GET, path, has_query), Reach::Reads, "{path}");
            assert_eq!(Reach::of(&Method::HEAD, path, has_query), Reach::Reads, "{path}");
            assert_eq!(Reach::of(&Method::POST, path, has_query), Reach::Changes, "{path}");
        }
        for (path, has_query) in [
            ("/api/sql", true),
            ("/api/graphql", true),
            ("/api/functions/f/g", false),
            ("/api/jobs/1", false),
            ("/api/export/a", false),
            ("/api/cursor", false),
            ("/api/cache/clear", false),
            ("/api/streams/s/tail", false),
            ("/api/streams/s/groups/g/events", false),
            ("/_api/cursor", false),
            ("/consumers/g", false),
            ("/any/route", false),
            ("/healthy", false),
        ] {
            assert_eq!(Reach::of(&Method::GET, path, has_query), Reach::Runs, "{path}");
        }
        assert_eq!(Reach::of(&Method::OPTIONS, "/api/sql", true), Reach::Reads);
        assert_eq!(Reach::of(&"BREW".parse().unwrap(), "/", false), Reach::Changes);
    }
}
