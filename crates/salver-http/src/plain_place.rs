//! The page without scripts that is nearest to one of the console's. It is told by the address alone, which is the
//! client's own: what is there, and who may see it, is answered there.

use salver_text::percent;

use crate::request_context::parameters;

/// Page of everything that is served.
const ALL: &str = "/plain";
/// Rows of a page of the console whose address names no other number. Pages of rows have more, so that the same page of
/// them would be another.
const PAGE_ROWS: &str = "50";

/// Returns the path and query, below the base path, for a page at this path below `/console/`, as it was sent.
pub(crate) fn of(path: &str, query: &str) -> String {
    let parts: Vec<String> = path.trim_matches('/').split('/').map(percent::decode).collect();
    let sent = parameters(query).unwrap_or_default();
    let field = |name: &str| sent.iter().find(|(own, value)| own == name && !value.is_empty()).map(|(_, value)| value);
    match parts.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["entry", name] => rows(name, &sent),
        // Which columns are the key, the address does not say.
        ["entry" | "stream", name, ..] if !name.is_empty() => rows(name, &[]),
        ["exports"] => field("entry").map_or_else(|| ALL.to_owned(), |name| rows(name, &[])),
        // Values of parameters have types, which the address does not say.
        ["sql"] if !sent.iter().any(|(name, _)| name.starts_with("v.")) => {
            field("q").map_or_else(|| ALL.to_owned(), |sql| format!("/api/sql?q={}", percent::encode(sql)))
        }
        _ => ALL.to_owned(),
    }
}

/// Returns the page of an entry's rows, with what of the console's parameters means the same there.
fn rows(name: &str, sent: &[(String, String)]) -> String {
    if name.is_empty() {
        return ALL.to_owned();
    }
    let is_kept = |name: &str| {
        matches!(name, "columns" | "sort" | "limit" | "page" | "or" | "and" | "not") || name.starts_with("filter[")
    };
    let mut kept: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    kept.retain(|(name, value)| is_kept(name) && !value.is_empty());
    let has = |wanted: &str| kept.iter().any(|(name, _)| *name == wanted);
    if has("page") && !has("limit") {
        kept.push(("limit", PAGE_ROWS));
    }
    let pairs = kept.iter().map(|(name, value)| format!("{}={}", percent::encode(name), percent::encode(value)));
    let query = pairs.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    format!("/api/tables/{}{mark}{query}", percent::encode(name))
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn entries_have_pages_of_their_own() {
        assert_eq!(of("entry/items", ""), "/api/tables/items");
        assert_eq!(of("entry/a%2Fb%22%3E/", ""), "/api/tables/a%2Fb%22%3E");
        assert_eq!(of("entry/items", "tab=chart&sort=-id&facets=a&limit=25"), "/api/tables/items?sort=-id&limit=25");
        assert_eq!(
            of("entry/items", "filter[a%20b]gt=5&or=(x.eq.1)&page=3&q=%22"),
            "/api/tables/items?filter%5Ba%20b%5Dgt=5&or=%28x.eq.1%29&page=3&limit=50"
        );
        assert_eq!(of("entry/items/row/7", "sort=id"), "/api/tables/items");
        assert_eq!(of("stream/clicks", "page=events"), "/api/tables/clicks");
        assert_eq!(of("exports", "entry=items"), "/api/tables/items");
    }

    #[test]
    fn other_pages_lead_to_their_nearest() {
        assert_eq!(of("sql", "q=select+1%26"), "/api/sql?q=select%201%26");
        for (path, query) in [("", ""), ("entry", ""), ("entry//", ""), ("sql", ""), ("sql", "q=select+$a&v.a=1")] {
            assert_eq!(of(path, query), "/plain", "{path}?{query}");
        }
        for path in ["docs", "graphql", "function/a/b", "operations", "exports", "none"] {
            assert_eq!(of(path, "q=1"), "/plain", "{path}");
        }
        // What is no text has no place.
        assert_eq!(of("entry/items", "sort=%FF"), "/api/tables/items");
    }
}
