//! Patterns of topic names: the subset of regular expressions that is used for them.

use salver_model::like::Pattern;
use salver_model::limits::PATTERN_BYTES_MAX;

use crate::dialect::{Refusal, confluent};

/// Returns whether the whole name matches.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    pattern.split('|').any(|part| like(part).is_some_and(|like| Pattern::new(&like, false).matches(name)))
}

/// Refuses unsupported syntax rather than matching something else.
pub(super) fn check(pattern: &str) -> Result<(), Refusal> {
    if pattern.len() > PATTERN_BYTES_MAX {
        let message = format!("Invalid consumer configuration: a pattern has at most {PATTERN_BYTES_MAX} bytes");
        return Err(confluent::unprocessable(42204, message));
    }
    if pattern.split('|').all(|part| like(part).is_some()) {
        return Ok(());
    }
    let message =
        format!("Invalid consumer configuration: in `{pattern}` only `.`, `.*`, `.+`, `|` and `\\` are known");
    Err(confluent::unprocessable(42204, message))
}

/// Converts a pattern to a `LIKE` pattern.
fn like(pattern: &str) -> Option<String> {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let mut like = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '.' if rest.next_if_eq(&'*').is_some() => like.push('%'),
            '.' if rest.next_if_eq(&'+').is_some() => like.push_str("_%"),
            '.' => like.push('_'),
            '\\' => {
                let literal = rest.next().filter(|literal| !literal.is_alphanumeric())?;
                like.extend(['\\', literal]);
            }
            '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '^' | '$' => return None,
            '%' | '_' => like.extend(['\\', next]),
            literal => like.push(literal),
        }
    }
    Some(like)
}

#[cfg(test)]
mod tests {
    use super::{check, matches};

    #[test]
    fn names() {
        for (pattern, name) in [("a.*", "abc"), ("^a\\.b$", "a.b"), ("x|a.c", "abc"), ("a_b", "a_b"), (".+", "a")] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a", "ab"), ("a_b", "axb"), ("a\\.b", "axb"), (".+", "")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!(check("a.*|b").is_ok() && check("[ab]").is_err() && check("a\\d").is_err());
    }
}
