//! Evaluation of a rule for a row in memory, in the three-valued logic of SQL.
//!
//! Types are not coerced loosely. Text equals text of the same bytes. An attribute of a caller is text that a client
//! may have chosen, so it equals a number only in that number's canonical spelling: a caller named `1e3` or ` 1000` is
//! not 1000.

use std::cmp::Ordering;

use super::{Expression, Term};
use crate::filter::Comparison;
use crate::like::Pattern;
use crate::principal::Principal;
use crate::value::Value;

/// Number of digits that every float preserves.
const FLOAT_DIGITS: usize = 15;

/// Relation of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// One is less than, equal to or greater than the other.
    Ordered(Ordering),
    /// They are not equal, but have no order.
    Different,
    /// One of them is null.
    Unknown,
}

/// Operand of a comparison: its term, and its value.
type Side<'t> = (&'t Term, Value);

impl Expression {
    /// Evaluates the expression; `None` where SQL has null.
    pub(super) fn admits(&self, value: &dyn Fn(&str) -> Value, caller: &Principal) -> Option<bool> {
        let of = |term: &Term| match term {
            Term::Column(name) => value(name),
            other => other.value(caller),
        };
        match self {
            Self::All(parts) => fold(parts.iter().map(|part| part.admits(value, caller)), false),
            Self::Any(parts) => fold(parts.iter().map(|part| part.admits(value, caller)), true),
            Self::Not(inner) => inner.admits(value, caller).map(|holds| !holds),
            Self::Compare { left, op, right } => holds(*op, relation(&(left, of(left)), &(right, of(right)))),
            Self::In { term, list } => {
                let left = (term, of(term));
                let equal = |right: &Term| holds(Comparison::Eq, relation(&left, &(right, of(right))));
                fold(list.iter().map(equal), true)
            }
            Self::Like { term, pattern } => match of(term) {
                Value::Null => None,
                other => Some(Pattern::new(pattern, false).matches(&text(&other))),
            },
            Self::IsNull { term } => Some(of(term) == Value::Null),
        }
    }
}

/// Folds `and` (which `false` decides) or `or` (which `true` decides) over three-valued operands.
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

/// Applies an operator. Values that are unequal without an order give null for an order operator, so that no negation
/// of it lets a row pass.
fn holds(op: Comparison, relation: Relation) -> Option<bool> {
    let order = match (relation, op) {
        (Relation::Ordered(order), _) => order,
        (Relation::Different, Comparison::Eq) => return Some(false),
        (Relation::Different, Comparison::NotEq) => return Some(true),
        (Relation::Different | Relation::Unknown, _) => return None,
    };
    Some(match op {
        Comparison::Eq => order.is_eq(),
        Comparison::NotEq => order.is_ne(),
        Comparison::Lt => order.is_lt(),
        Comparison::LtEq => order.is_le(),
        Comparison::Gt => order.is_gt(),
        Comparison::GtEq => order.is_ge(),
    })
}

fn relation(left: &Side<'_>, right: &Side<'_>) -> Relation {
    use Value::{Bare, Bool, Null, Text};
    match (&left.1, &right.1) {
        (Null, _) | (_, Null) => Relation::Unknown,
        (Text(a) | Bare(a), Text(b) | Bare(b)) => Relation::Ordered(a.as_bytes().cmp(b.as_bytes())),
        (Bool(a), Bool(b)) => Relation::Ordered(a.cmp(b)),
        (Text(text) | Bare(text), other) => mixed(right.0, other, left.0, text).reversed(),
        (other, Text(text) | Bare(text)) => mixed(left.0, other, right.0, text),
        (a, b) => numbers(&as_number(a), &as_number(b)),
    }
}

impl Relation {
    fn reversed(self) -> Self {
        match self {
            Self::Ordered(order) => Self::Ordered(order.reverse()),
            other => other,
        }
    }
}

/// Compares a number or boolean with a text, depending on the origin of the text.
fn mixed(from: &Term, value: &Value, text_from: &Term, text: &str) -> Relation {
    let read = match (text_from, value) {
        // A text column holds text, whatever it looks like.
        (Term::Column(_), _) => {
            let own = if let Value::Bool(truth) = value { u8::from(*truth).to_string() } else { value.to_string() };
            return Relation::Ordered(own.as_bytes().cmp(text.as_bytes()));
        }
        (Term::Caller(_), Value::Bool(_)) => exact_truth(text).map(Value::Bool),
        (Term::Caller(_), Value::Int(_) | Value::UInt(_)) if matches!(from, Term::Column(_)) => {
            exact_number(text).filter(|number| !matches!(number, Value::Float(_)))
        }
        (Term::Caller(_), _) => exact_number(text),
        (Term::Literal(_), Value::Bool(_)) => match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "on" | "yes" => Some(Value::Bool(true)),
            "0" | "false" | "off" | "no" | "" => Some(Value::Bool(false)),
            _ => None,
        },
        (Term::Literal(_), _) => Value::number(text.trim()),
    };
    read.map_or(Relation::Different, |read| numbers(&as_number(value), &as_number(&read)))
}

/// Returns the number whose canonical spelling is `text`; `None` for anything else, such as `1e3`, ` 1000`, `+1`, `01`
/// and `1.0`.
#[must_use]
pub fn exact_number(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned, None),
    };
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_exact = are_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(|part| are_digits(part) && !part.ends_with('0'))
        && text != "-0";
    let number = Value::number(text).filter(|_| is_exact)?;
    // With more digits, two texts could be the same number.
    let is_rounded = matches!(number, Value::Float(_)) && text.len() > FLOAT_DIGITS;
    (!is_rounded).then_some(number)
}

/// Parses a boolean: `true` or `false` from a token, 1 or 0 from a table.
#[must_use]
pub fn exact_truth(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Converts a boolean to a number as SQL does; a number is unchanged.
fn as_number(value: &Value) -> Value {
    match value {
        Value::Bool(truth) => Value::Int(i64::from(*truth)),
        other => other.clone(),
    }
}

/// Compares two numbers, without rounding either.
fn numbers(left: &Value, right: &Value) -> Relation {
    let whole = |value: &Value| match value {
        Value::Int(own) => Some(i128::from(*own)),
        Value::UInt(own) => Some(i128::from(*own)),
        _ => None,
    };
    let order = match (whole(left), left, whole(right), right) {
        (Some(a), _, Some(b), _) => Some(a.cmp(&b)),
        (Some(a), _, None, Value::Float(b)) => beside(a, *b),
        (None, Value::Float(a), Some(b), _) => beside(b, *a).map(Ordering::reverse),
        (None, Value::Float(a), None, Value::Float(b)) => a.partial_cmp(b),
        _ => None,
    };
    order.map_or(Relation::Different, Relation::Ordered)
}

/// Compares an integer with a float.
fn beside(whole: i128, other: f64) -> Option<Ordering> {
    /// Bound above all integers here.
    const BOUND: f64 = 1e30;
    if other.is_nan() {
        return None;
    }
    if other.abs() >= BOUND {
        return Some(if other > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    #[allow(clippy::cast_possible_truncation, reason = "it is whole, and in reach")]
    let cut = other.trunc() as i128;
    let fraction = if other.fract() > 0.0 { Ordering::Less } else { Ordering::Greater };
    Some(whole.cmp(&cut).then(if other.fract() == 0.0 { Ordering::Equal } else { fraction }))
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Bare(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::exact_number;
    use crate::rule::Rule;
    use crate::{Principal, Value};

    #[test]
    fn numbers_are_written_in_one_way() {
        for text in ["0", "7", "-7", "1000", "0.5", "-1.25", "18446744073709551615"] {
            assert!(exact_number(text).is_some(), "{text}");
        }
        for text in ["", "-", "-0", "+1", "01", "1.0", "1.", ".5", "1e3", " 1000", "1000 ", "0x10", "1_000", "\u{661}"]
        {
            assert_eq!(exact_number(text), None, "{text}");
        }
    }

    /// Checks a table of cases: a rule, the column's value, the caller's name, and which callers pass.
    #[test]
    fn nothing_is_taken_for_what_it_is_not() {
        let (int, text) = (Value::Int, |text: &str| Value::Text(text.to_owned()));
        let cases = [
            ("c = caller.user", int(1000), "1000", true),
            ("c = caller.user", int(1000), "1e3", false),
            ("c = caller.user", int(1000), " 1000", false),
            ("c = caller.user", int(1000), "1000.0", false),
            ("c = caller.user", int(1000), "+1000", false),
            ("c in (caller.user)", int(1000), "01000", false),
            ("c != caller.user", int(1000), "1e3", true),
            ("c <= caller.user", int(1000), "1e3", false),
            ("not c > caller.user", int(1000), "1e3", false),
            ("c = caller.user", text("1000"), "1e3", false),
            ("c = caller.user", text("1000"), " 1000", false),
            ("c = caller.user", text("1e3"), "1000", false),
            ("c = caller.user", text("ann"), "ANN", false),
            ("c = caller.user", text("ann"), "ann ", false),
            ("c = caller.user", text("ann"), "ann", true),
            ("'1000' = caller.user", Value::Null, "1e3", false),
            ("'1000' = caller.user", Value::Null, "1000", true),
            ("1000 = caller.user", Value::Null, "1e3", false),
            ("caller.user >= 9", Value::Null, "10", true),
            ("caller.user = true", Value::Null, "true", true),
            ("caller.user = true", Value::Null, "yes", false),
            ("c = caller.user", Value::Bool(true), "1", true),
            ("c = caller.user", Value::Bool(true), "on", false),
            ("c = caller.user", Value::Bool(false), "", false),
            ("c = 0", text("abc"), "", false),
            ("c = 1000", text("1e3"), "", false),
            ("c = '7'", int(7), "", true),
            ("c = 9007199254740992.0", int(9_007_199_254_740_993), "", false),
            ("c is null", int(0), "", false),
        ];
        for (rule, value, user, expected) in cases {
            let caller = Principal { attributes: vec![("user".to_owned(), user.to_owned())], ..Principal::default() };
            let holds = Rule::parse(rule).unwrap().admits(&|_| value.clone(), &caller);
            assert_eq!(holds, expected, "{rule} with {value:?} for `{user}`");
        }
    }
}
