//! Evaluates conditions on events, with SQL's three-valued logic: a missing member is null.
//!
//! A column is a top-level member, a dotted path to a nested one, or `_offset`, `_id`, `_time`, `_key`. An unquoted
//! value is coerced to the type of the event's value: number, boolean or text.

use std::borrow::Cow;
use std::cmp::Ordering;

use salver_model::like::Pattern;
use salver_model::limits::{COLUMN_PARTS_MAX, TAIL_PATTERNS_MAX, TAIL_TERMS_MAX};
use salver_model::streams::Event;
use salver_model::{Code, ColumnPath, Comparison, Error, Filter, Result, Value};
use serde_json::{Number, Value as Json};

use super::moment;

/// A compiled condition.
#[derive(Debug)]
pub(super) enum Matcher {
    All(Vec<Matcher>),
    Any(Vec<Matcher>),
    Not(Box<Matcher>),
    IsNull(String),
    Compare(String, Comparison, Value),
    In(String, Vec<Value>),
    Like(String, Box<Pattern>),
}

impl Matcher {
    /// Compiles `filter`. Its size is limited, since it is evaluated for every event.
    ///
    /// # Errors
    /// `InvalidFilter` when it exceeds the limits.
    pub(super) fn new(filter: Filter) -> Result<Self> {
        Self::counted(filter, &mut Counts::default())
    }

    fn counted(filter: Filter, counts: &mut Counts) -> Result<Self> {
        counts.add(matches!(filter, Filter::Like { .. }))?;
        let mut each = |parts: Vec<Filter>| -> Result<Vec<Self>> {
            parts.into_iter().map(|part| Self::counted(part, counts)).collect()
        };
        Ok(match filter {
            Filter::And(parts) => Self::All(each(parts)?),
            Filter::Or(parts) => Self::Any(each(parts)?),
            Filter::Not(inner) => Self::Not(Box::new(Self::counted(*inner, counts)?)),
            Filter::IsNull { column } => Self::IsNull(name(column)?),
            Filter::Compare { column, op, value } => Self::Compare(name(column)?, op, value),
            Filter::In { column, values } => Self::In(name(column)?, values),
            Filter::Like { column, pattern, ignore_case } => {
                Self::Like(name(column)?, Box::new(Pattern::new(&pattern, ignore_case)))
            }
        })
    }

    /// Returns whether `event` passes. An event that is not JSON has no members.
    pub(super) fn passes(&self, event: &Event) -> bool {
        let members = serde_json::from_slice(&event.value).unwrap_or(Json::Null);
        EventRow { event, members: &members }.is(self) == Some(true)
    }
}

#[derive(Debug, Default)]
struct Counts {
    terms: usize,
    patterns: usize,
}

impl Counts {
    fn add(&mut self, is_pattern: bool) -> Result<()> {
        self.terms += 1;
        self.patterns += usize::from(is_pattern);
        let refuse = |what: String| {
            Err(Error::new(Code::InvalidFilter, what)
                .with_hint("follow with fewer conditions, and choose among the rest"))
        };
        if self.terms > TAIL_TERMS_MAX {
            return refuse(format!("there are more than {TAIL_TERMS_MAX} conditions"));
        }
        if self.patterns > TAIL_PATTERNS_MAX {
            return refuse(format!("there are more than {TAIL_PATTERNS_MAX} patterns of `like`"));
        }
        Ok(())
    }
}

/// Returns the name of a member, with dots for nested ones.
fn name(column: ColumnPath) -> Result<String> {
    if column.column.matches('.').count() >= COLUMN_PARTS_MAX {
        let message = format!("the name of a member has at most {COLUMN_PARTS_MAX} parts");
        return Err(Error::new(Code::InvalidFilter, message));
    }
    Ok(column.column)
}

struct EventRow<'e> {
    event: &'e Event,
    members: &'e Json,
}

impl EventRow<'_> {
    fn is(&self, condition: &Matcher) -> Option<bool> {
        match condition {
            Matcher::All(parts) => fold(parts.iter().map(|inner| self.is(inner)), false),
            Matcher::Any(parts) => fold(parts.iter().map(|inner| self.is(inner)), true),
            Matcher::Not(inner) => self.is(inner).map(|truth| !truth),
            Matcher::IsNull(name) => Some(self.at(name).is_null()),
            Matcher::Compare(name, op, value) => {
                let order = order(&self.at(name), value)?;
                Some(match op {
                    Comparison::Eq => order == Some(Ordering::Equal),
                    Comparison::NotEq => order != Some(Ordering::Equal),
                    Comparison::Lt => order == Some(Ordering::Less),
                    Comparison::LtEq => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    Comparison::Gt => order == Some(Ordering::Greater),
                    Comparison::GtEq => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                })
            }
            Matcher::In(name, values) => {
                let cell = self.at(name);
                fold(values.iter().map(|value| Some(order(&cell, value)? == Some(Ordering::Equal))), true)
            }
            Matcher::Like(name, pattern) => Some(pattern.matches(self.at(name).as_str()?)),
        }
    }

    /// Returns the event's value at `name`; null when it is missing.
    fn at(&self, name: &str) -> Cow<'_, Json> {
        let text = |bytes: &[u8]| Json::from(String::from_utf8_lossy(bytes));
        Cow::Owned(match name {
            "_offset" => self.event.offset.into(),
            "_id" => self.event.id.clone().into(),
            "_time" => moment::write(self.event.time_ms).into(),
            "_key" => self.event.key.as_deref().map_or(Json::Null, text),
            _ => return below(self.members, name).map_or(Cow::Owned(Json::Null), Cow::Borrowed),
        })
    }
}

/// The name of a member with an empty name, as in the stream's table.
const UNNAMED: &str = "unnamed";

/// Finds the member with exactly this name, else resolves the name as a dotted path.
fn below<'j>(json: &'j Json, name: &str) -> Option<&'j Json> {
    let object = json.as_object()?;
    object
        .get(name)
        .or_else(|| object.get("").filter(|_| name == UNNAMED))
        .or_else(|| name.match_indices('.').find_map(|(at, _)| below(object.get(&name[..at])?, &name[at + 1..])))
}

/// Combines results with AND (`decides` is false) or OR (`decides` is true).
fn fold(mut all: impl Iterator<Item = Option<bool>>, decides: bool) -> Option<bool> {
    let mut is_known = true;
    let decided = all.any(|truth| {
        is_known &= truth.is_some();
        truth == Some(decides)
    });
    if decided { Some(decides) } else { is_known.then_some(!decides) }
}

/// Compares the event's value with a value: `None` when either is null, `Some(None)` when their types are never equal
/// and have no order.
fn order(cell: &Json, value: &Value) -> Option<Option<Ordering>> {
    if cell.is_null() || matches!(value, Value::Null) {
        return None;
    }
    Some(match cell {
        Json::Number(number) => as_number(value).and_then(|value| numbers(number, &value)),
        Json::Bool(truth) => match value {
            Value::Bool(value) => Some(truth.cmp(value)),
            Value::Text(text) | Value::Bare(text) => text.parse().ok().map(|value| truth.cmp(&value)),
            _ => None,
        },
        Json::String(text) => match value {
            Value::Text(value) | Value::Bare(value) => Some(text.as_str().cmp(value)),
            other => Some(text.as_str().cmp(&other.to_string())),
        },
        _ => None,
    })
}

fn as_number(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Float(_) => Some(value.clone()),
        Value::Text(text) | Value::Bare(text) => Value::number(text.trim()),
        _ => None,
    }
}

/// Compares numbers; integers are compared exactly, without loss of precision.
fn numbers(number: &Number, value: &Value) -> Option<Ordering> {
    let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
    match (whole, value) {
        (Some(whole), Value::Int(value)) => Some(whole.cmp(&i128::from(*value))),
        (Some(whole), Value::UInt(value)) => Some(whole.cmp(&i128::from(*value))),
        (_, Value::Int(value)) => number.as_f64()?.partial_cmp(&(*value as f64)),
        (_, Value::UInt(value)) => number.as_f64()?.partial_cmp(&(*value as f64)),
        (_, Value::Float(value)) => number.as_f64()?.partial_cmp(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salver_model::streams::Event;

    use super::Matcher;
    use crate::rest::conditions;

    #[test]
    fn operators_stand_after_the_brackets() {
        for name in ["filter[n][gt]", "filter[a][b][c]"] {
            assert!(conditions(vec![(name.to_owned(), "4".to_owned())]).is_err(), "{name}");
        }
        assert!(conditions(vec![("filter[a[0]]".to_owned(), "4".to_owned())]).is_ok());
    }

    #[test]
    fn conditions_over_events() {
        let value = br#"{"n":10,"x":1.5,"t":"10","b":true,"nil":null,"o":{"p":"q"},"":5,"big":18446744073709551615}"#;
        let event = Event {
            offset: 7,
            time_ms: 0,
            id: "id-1".into(),
            key: None,
            partition: None,
            headers: Vec::new(),
            value: Bytes::from_static(value),
            is_tombstone: false,
        };
        let is = |name: &str, value: &str| {
            let (filter, others) = conditions(vec![(name.to_owned(), value.to_owned())]).unwrap();
            assert!(others.is_empty());
            Matcher::new(filter.unwrap()).unwrap().passes(&event)
        };
        for (name, value) in [
            ("filter[n]", "10"),
            ("filter[n]", "'10'"),
            ("filter[unnamed]", "5"),
            ("filter[n]gt", "9.5"),
            ("filter[x]lt", "2"),
            ("filter[t]", "10"),
            ("filter[t]ne", "11"),
            ("filter[b]", "true"),
            ("filter[nil]null", "true"),
            ("filter[missing]", "null"),
            ("filter[o.p]like", "q%"),
            ("filter[big]", "18446744073709551615"),
            ("filter[n]in", "(1,10)"),
            ("filter[_offset]gte", "7"),
            ("filter[_id]", "id-1"),
            ("filter[_time]lt", "1970-01-02"),
            ("or", "(n.eq.1,b.eq.true)"),
            ("not", "(n.eq.1)"),
        ] {
            assert!(is(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("filter[n]", "11"),
            ("filter[n]ne", "10"),
            ("filter[missing]ne", "1"),
            ("filter[big]", "18446744073709551614"),
            ("filter[o]", "q"),
            ("filter[_key]", "k"),
            ("and", "(n.eq.10,b.eq.false)"),
            ("not", "(missing.eq.1)"),
        ] {
            assert!(!is(name, value), "{name}={value}");
        }
    }
    #[test]
    fn what_every_event_would_cost_too_much_is_refused() {
        let new = |name: &str, value: String| {
            let (filter, _) = conditions(vec![(name.to_owned(), value)]).unwrap();
            Matcher::new(filter.unwrap())
        };
        let terms = |count: usize, term: &str| format!("({})", vec![term; count].join(","));
        assert!(new("or", terms(900, "a.eq.1")).is_ok() && new("or", terms(1_001, "a.eq.1")).is_err());
        assert!(new("or", terms(16, "a.like.b")).is_ok() && new("or", terms(17, "a.like.b")).is_err());
        let deep = |parts: usize| format!("filter[{}]", vec!["a"; parts].join("."));
        assert!(new(&deep(64), "1".to_owned()).is_ok() && new(&deep(65), "1".to_owned()).is_err());
    }
}
