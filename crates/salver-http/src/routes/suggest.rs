//! Suggestions for unknown paths.

use http::Method;
use salver_model::suggest::nearest;

use super::{Found, Methods, find, rows};

/// Returns a hint with the path most similar to `path` and its summary, among the patterns that are served.
pub(crate) fn suggestion(path: &str, is_served: impl Fn(&str) -> bool) -> Option<String> {
    let below_api = format!("/api{path}");
    let (meant, row) = match find(&Method::GET, &below_api, "") {
        Found::Row(row, _) => (below_api, row),
        _ => rows()
            .filter(|row| row.methods != Methods::ANY)
            .flat_map(|row| row.paths.iter().map(move |pattern| (*pattern, row)))
            .filter(|(pattern, _)| is_served(pattern))
            .find_map(|(pattern, row)| Some((like(path, pattern)?, row)))?,
    };
    Some(format!("did you mean `{meant}`? {}", row.summary))
}

/// Returns the path according to the pattern, when it differs only by likely typing errors.
pub(super) fn like(path: &str, pattern: &str) -> Option<String> {
    let (given, own): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), pattern.split('/').collect());
    if given.len() != own.len() || own.iter().all(|part| part.is_empty()) {
        return None;
    }
    let parts = given.iter().zip(&own).map(|(given, own)| match own.starts_with('{') {
        true => (!given.is_empty()).then_some(*given),
        false => (given == own).then_some(*own).or_else(|| nearest(given, [*own])),
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn slips_and_what_is_below_api() {
        for (path, meant) in [
            ("/tables/cities.csv", "`/api/tables/cities.csv`? Get rows of an entry"),
            ("/api/table/cities", "`/api/tables/cities`?"),
            ("/api/shema", "`/api/schema`?"),
            ("/healt", "`/health`?"),
            ("/api/record/posts/1", "`/api/records/posts/1`?"),
        ] {
            let told = suggestion(path, |_| true).unwrap_or_default();
            assert!(told.contains(meant), "{path}: {told}");
        }
        for none in ["/", "/favicon.ico", "//", "/api", "/wp-admin/setup.php"] {
            assert_eq!(suggestion(none, |_| true), None, "{none}");
        }
        assert_eq!(suggestion("/metric", |pattern| pattern != "/metrics"), None);
    }
}
