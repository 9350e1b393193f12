//! Conditions: `filter[column]op=value`, `having[item]op=value`, and the groups `or=(...)`, `and=(...)`, `not=(...)`.
//!
//! A value in single quotes is text; anything else is read by the type of its column. `null` without quotes is null.
//! In a group a condition is `column.op.value`, and groups nest: `or=(lat.gt.57,and(lng.lt.-4,city.ilike.'%uk'))`.

use salver_model::limits::{FILTER_DEPTH_MAX, FILTER_TERMS_MAX};
use salver_model::{Code, ColumnPath, Comparison, Error, Filter, Query, Result, Value, suggest};

use super::items;
use super::path::Columns;

/// The operators that may follow the brackets.
const OPERATORS: [&str; 21] = [
    "eq",
    "ne",
    "neq",
    "lt",
    "lte",
    "lteq",
    "gt",
    "gte",
    "gteq",
    "in",
    "nin",
    "not_in",
    "like",
    "ilike",
    "nlike",
    "nilike",
    "not_like",
    "not_ilike",
    "null",
    "not_null",
    "between",
];

/// Parses one `filter[column]op=value`.
pub(super) fn filter(column: &str, op: &str, value: &str, columns: &Columns<'_>) -> Result<Filter> {
    apply(columns.resolve(column, Code::InvalidFilter)?, op, value)
}

/// Parses one `having[item]op=value`.
pub(super) fn having(item: &str, op: &str, value: &str, query: &Query) -> Result<Filter> {
    apply(items::of_answer(item, query, Code::InvalidFilter)?, op, value)
}

/// Parses `or=(...)`, `and=(...)`, `not=(...)`.
pub(super) fn group(kind: &str, text: &str, columns: &Columns<'_>) -> Result<Filter> {
    let inner = text.trim();
    let inner = inner.strip_prefix('(').and_then(|t| t.strip_suffix(')')).ok_or_else(|| {
        Error::new(Code::InvalidFilter, format!("`{kind}` takes conditions in parentheses"))
            .with_hint(format!("write `{kind}=(a.gt.1,b.eq.'x')`"))
    })?;
    combine(kind, inner, columns, 1)
}

fn combine(kind: &str, text: &str, columns: &Columns<'_>, depth: usize) -> Result<Filter> {
    if depth > FILTER_DEPTH_MAX {
        return Err(Error::new(Code::InvalidFilter, format!("conditions nest deeper than {FILTER_DEPTH_MAX}")));
    }
    let parts = split(text)?;
    if parts.len() > FILTER_TERMS_MAX {
        return Err(too_many());
    }
    let terms = parts.into_iter().map(|part| term(part.trim(), columns, depth)).collect::<Result<Vec<_>>>()?;
    if terms.is_empty() {
        return Err(Error::new(Code::InvalidFilter, format!("`{kind}` has no conditions"))
            .with_hint(format!("write `{kind}=(a.gt.1,b.eq.'x')`")));
    }
    Ok(match kind {
        "or" => Filter::Or(terms),
        "not" => Filter::And(terms).negated(),
        _ => Filter::And(terms),
    })
}

/// Parses a condition of a group, or a nested group.
fn term(text: &str, columns: &Columns<'_>, depth: usize) -> Result<Filter> {
    for kind in ["or", "and", "not"] {
        if let Some(inner) = text.strip_prefix(kind).and_then(|rest| rest.strip_prefix('('))
            && let Some(inner) = inner.strip_suffix(')')
        {
            return combine(kind, inner, columns, depth + 1);
        }
    }
    let malformed = || {
        Error::new(Code::InvalidFilter, format!("`{text}` is not a condition"))
            .with_hint("write `column.op.value`, like `lat.gt.57`; a name with dots goes in double quotes")
    };
    if let Some(rest) = text.strip_prefix('"') {
        let (name, rest) = quoted(rest).ok_or_else(malformed)?;
        let (op, value) = operator(rest.strip_prefix('.').ok_or_else(malformed)?);
        return apply(columns.resolve(&name, Code::InvalidFilter)?, op, value);
    }
    // The first part that is an operator ends the column's name.
    for (at, _) in text.match_indices('.') {
        let (op, value) = operator(&text[at + 1..]);
        if at > 0 && OPERATORS.contains(&op) {
            return apply(columns.resolve(&text[..at], Code::InvalidFilter)?, op, value);
        }
    }
    Err(malformed())
}

/// Parses a quoted name, with doubled quotes inside, and returns it with the rest of the text.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut name, mut rest) = (String::new(), text);
    loop {
        let (part, behind) = rest.split_once('"')?;
        name.push_str(part);
        match behind.strip_prefix('"') {
            Some(more) => rest = more,
            None => return Some((name, behind)),
        }
        name.push('"');
    }
}

fn operator(text: &str) -> (&str, &str) {
    text.split_once('.').unwrap_or((text, ""))
}

fn apply(column: ColumnPath, op: &str, value: &str) -> Result<Filter> {
    let comparison = match op {
        "" | "eq" | "=" => Comparison::Eq,
        "ne" | "neq" | "!" | "!=" => Comparison::NotEq,
        "lt" => Comparison::Lt,
        "lte" | "lteq" => Comparison::LtEq,
        "gt" => Comparison::Gt,
        "gte" | "gteq" => Comparison::GtEq,
        _ => return apply_other(column, op, value),
    };
    match (literal(value)?, comparison) {
        (Value::Null, Comparison::Eq) => Ok(Filter::IsNull { column }),
        (Value::Null, Comparison::NotEq) => Ok(Filter::IsNull { column }.negated()),
        (Value::Null, _) => Err(Error::new(Code::InvalidValue, format!("`{column}` can't be more or less than null"))
            .with_hint(format!("test for null with `filter[{column}]null=true`"))),
        (value, op) => Ok(Filter::Compare { column, op, value }),
    }
}

fn apply_other(column: ColumnPath, op: &str, value: &str) -> Result<Filter> {
    let like = |ignore_case| -> Result<Filter> {
        let pattern = match literal(value)? {
            Value::Text(text) | Value::Bare(text) => text,
            other => other.to_string(),
        };
        Filter::like(column.clone(), pattern, ignore_case)
    };
    match op {
        "in" => is_in(column, value),
        "nin" | "not_in" => Ok(is_in(column, value)?.negated()),
        "like" => like(false),
        "ilike" => like(true),
        "nlike" | "not_like" => Ok(like(false)?.negated()),
        "nilike" | "not_ilike" => Ok(like(true)?.negated()),
        "null" | "not_null" => {
            let wanted = match value {
                "" | "true" => op == "null",
                "false" => op != "null",
                _ => {
                    return Err(Error::new(Code::InvalidValue, format!("`{op}` is true or false, not `{value}`"))
                        .with_hint(format!("write `filter[{column}]null=true`")));
                }
            };
            let test = Filter::IsNull { column };
            Ok(if wanted { test } else { test.negated() })
        }
        "between" => between(column, value),
        _ => Err(Error::new(Code::InvalidRequest, format!("unsupported filter operator {op}"))
            .with_hint_if(suggest::hint(op, OPERATORS))),
    }
}

fn is_in(column: ColumnPath, text: &str) -> Result<Filter> {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(trimmed);
    let parts = split(inner)?;
    if parts.len() > FILTER_TERMS_MAX {
        return Err(too_many());
    }
    let values = parts.into_iter().map(literal).collect::<Result<Vec<_>>>()?;
    Ok(Filter::In { column, values })
}

fn between(column: ColumnPath, text: &str) -> Result<Filter> {
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text);
    let parts = split(inner)?;
    let [low, high] = parts.as_slice() else {
        return Err(Error::new(Code::InvalidValue, format!("`between` takes two values, not `{text}`"))
            .with_hint(format!("write `filter[{column}]between=1,10`")));
    };
    Ok(Filter::And(vec![
        Filter::compare(column.clone(), Comparison::GtEq, literal(low)?),
        Filter::compare(column, Comparison::LtEq, literal(high)?),
    ]))
}

/// Parses a value: `'text'` with doubled quotes inside, `null`, or text that is interpreted by the column's type.
fn literal(text: &str) -> Result<Value> {
    let trimmed = text.trim();
    if let Some(rest) = trimmed.strip_prefix('\'') {
        return match rest.strip_suffix('\'') {
            Some(inner) if !inner.replace("''", "").contains('\'') => Ok(Value::Text(inner.replace("''", "'"))),
            _ => Err(Error::new(Code::InvalidValue, format!("invalid REST query value {text}"))
                .with_hint("text begins and ends with a single quote; a quote inside it is doubled")),
        };
    }
    Ok(if trimmed == "null" { Value::Null } else { Value::Bare(text.to_owned()) })
}

/// Splits at commas outside quotes and parentheses.
fn split(text: &str) -> Result<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0_usize, None);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    if quote.is_some() || depth != 0 {
        return Err(Error::new(Code::InvalidValue, format!("a quote or parenthesis in `{text}` is not closed")));
    }
    if !(parts.is_empty() && text.trim().is_empty()) {
        parts.push(&text[start..]);
    }
    Ok(parts)
}

fn too_many() -> Error {
    Error::new(Code::InvalidFilter, format!("more than {FILTER_TERMS_MAX} terms in one condition"))
        .with_hint("ask in several requests, or with SQL over a join")
}

#[cfg(test)]
mod tests {
    use salver_model::Value;

    use super::{literal, quoted, split};

    #[test]
    fn parts() {
        let of = |text| split(text).ok();
        assert_eq!(of("a,b"), Some(vec!["a", "b"]));
        assert_eq!(of("a.in.(1,2),b.eq.'x,y'"), Some(vec!["a.in.(1,2)", "b.eq.'x,y'"]));
        assert_eq!(of(""), Some(vec![]));
        assert_eq!(of("a,"), Some(vec!["a", ""]));
        assert_eq!(of("'a"), None);
        assert_eq!(of("(a"), None);
    }

    #[test]
    fn names_in_quotes() {
        let of = |text| quoted(text).map(|(name, rest)| (name, rest.to_owned()));
        assert_eq!(of("a\".eq.1"), Some(("a".to_owned(), ".eq.1".to_owned())));
        assert_eq!(of("a,\"\"b\".eq.'x'"), Some(("a,\"b".to_owned(), ".eq.'x'".to_owned())));
        assert_eq!(of("a\"\""), None);
        assert_eq!(of("a"), None);
    }

    #[test]
    fn literals() {
        assert_eq!(literal("'it''s'").ok(), Some(Value::Text("it's".into())));
        assert_eq!(literal("null").ok(), Some(Value::Null));
        assert_eq!(literal("-4").ok(), Some(Value::Bare("-4".into())));
        assert!(literal("'a'b'").is_err());
        assert!(literal("'").is_err());
    }
}
