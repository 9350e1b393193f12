//! Whether a rule holds for a row at hand, in the three-valued logic of SQL.

use std::cmp::Ordering;

use super::{Expression, Term};
use crate::caller::Caller;
use crate::filter::Comparison;
use crate::value::Value;

impl Expression {
    /// `None` where SQL says null.
    pub(super) fn admits(&self, value: &dyn Fn(&str) -> Value, caller: &Caller) -> Option<bool> {
        let of = |term: &Term| match term {
            Term::Column(name) => value(name),
            other => other.value(caller),
        };
        match self {
            Self::All(parts) => fold(parts.iter().map(|part| part.admits(value, caller)), false),
            Self::Any(parts) => fold(parts.iter().map(|part| part.admits(value, caller)), true),
            Self::Not(inner) => inner.admits(value, caller).map(|holds| !holds),
            Self::Compare { left, op, right } => compare(&of(left), &of(right)).map(|order| holds(*op, order)),
            Self::In { term, list } => {
                let left = of(term);
                fold(list.iter().map(|term| compare(&left, &of(term)).map(Ordering::is_eq)), true)
            }
            Self::Like { term, pattern } => match of(term) {
                Value::Null => None,
                other => Some(like(&text(&other), pattern)),
            },
            Self::IsNull { term } => Some(of(term) == Value::Null),
        }
    }
}

/// `and` (which `false` decides) or `or` (which `true` decides) over three values.
fn fold(parts: impl Iterator<Item = Option<bool>>, decides: bool) -> Option<bool> {
    let mut unknown = false;
    for part in parts {
        match part {
            Some(part) if part == decides => return Some(decides),
            None => unknown = true,
            Some(_) => {}
        }
    }
    if unknown { None } else { Some(!decides) }
}

fn holds(op: Comparison, order: Ordering) -> bool {
    match op {
        Comparison::Eq => order.is_eq(),
        Comparison::NotEq => order.is_ne(),
        Comparison::Lt => order.is_lt(),
        Comparison::LtEq => order.is_le(),
        Comparison::Gt => order.is_gt(),
        Comparison::GtEq => order.is_ge(),
    }
}

/// Numbers compare as numbers also when one is written as text, everything else as text.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        _ => match (number(left), number(right)) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ => Some(text(left).cmp(&text(right))),
        },
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Null => None,
        other => text(other).trim().parse().ok(),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Bare(text) => text.clone(),
        other => other.to_string(),
    }
}

/// SQL `LIKE`, by the two-pointer walk that goes back to the last `%` only.
fn like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut t, mut p, mut star, mut mark) = (0, 0, None, 0);
    while t < text.len() {
        let escaped = pattern.get(p) == Some(&'\\') && p + 1 < pattern.len();
        let wanted = pattern.get(p + usize::from(escaped));
        if !escaped && wanted == Some(&'%') {
            star = Some(p);
            mark = t;
            p += 1;
        } else if (!escaped && wanted == Some(&'_')) || wanted == Some(&text[t]) {
            t += 1;
            p += 1 + usize::from(escaped);
        } else if let Some(back) = star {
            mark += 1;
            t = mark;
            p = back + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '%')
}

#[cfg(test)]
mod tests {
    use super::like;

    #[test]
    fn patterns() {
        for (text, pattern, expected) in [
            ("draft", "dr%", true),
            ("draft", "%a_t", true),
            ("100%", "100\\%", true),
            ("1000", "100\\%", false),
            ("", "%", true),
            ("", "_", false),
            ("aab", "%ab", true),
        ] {
            assert_eq!(like(text, pattern), expected, "{text} like {pattern}");
        }
    }
}
