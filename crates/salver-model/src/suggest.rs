//! "Did you mean": suggestions of the nearest existing name.

use crate::limits::SUGGESTED_NAME_BYTES_MAX;

/// Returns the candidate most similar to `given`, if it is similar enough. A text far longer than names are has no
/// suggestions, because the comparison costs the product of both lengths.
#[must_use]
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if given.len() > SUGGESTED_NAME_BYTES_MAX {
        return None;
    }
    let lower = given.to_lowercase();
    candidates
        .into_iter()
        .take(10_000)
        .filter(|candidate| candidate.len() <= SUGGESTED_NAME_BYTES_MAX && given.len() <= 4 * candidate.len() + 8)
        .map(|candidate| (likeness(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= 0.78)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Returns the similarity of two names, from 0 to 1.
fn likeness(a: &str, b: &str) -> f64 {
    /// Similarity of names that differ by one typing error, which the general measure rates too low for short names.
    const ONE_SLIP: f64 = 0.9;
    let score = strsim::jaro_winkler(a, b);
    let is_slip = a.len() > 2 && a.len().abs_diff(b.len()) <= 1 && strsim::osa_distance(a, b) == 1;
    if is_slip { score.max(ONE_SLIP) } else { score }
}

/// Returns the hint for an unknown `given`: the nearest candidate, or the list of them when it is short.
#[must_use]
pub fn hint<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    if let Some(near) = nearest(given, candidates.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let names: Vec<&str> = candidates.into_iter().take(21).collect();
    (!names.is_empty()).then(|| {
        let more = if names.len() > 20 { ", ..." } else { "" };
        let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
        format!("there is {}{more}", shown.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::{hint, nearest};

    #[test]
    fn near_far_and_none() {
        assert_eq!(nearest("agee", ["name", "age"]), Some("age"));
        assert_eq!(nearest("Lat", ["lng", "lat"]), Some("lat"));
        assert_eq!(nearest("itn", ["tinyint", "int", "interval"]), Some("int"));
        assert_eq!(nearest("qqqq", ["name", "age"]), None);
        assert_eq!(hint("qqqq", ["a", "b"]).as_deref(), Some("there is `a`, `b`"));
        assert_eq!(hint("q", []), None);
    }

    #[test]
    fn names_that_are_far_too_long_are_not_compared() {
        let (given, column) = ("n".repeat(64 * 1024), "n".repeat(256));
        assert_eq!(nearest(&given, std::iter::repeat_n(column.as_str(), 10_000)), None);
        assert_eq!(nearest("name", [given.as_str(), "names"]), Some("names"));
    }
}
