//! Whether an event passes a condition, with the three-valued logic of SQL: what an event does not have is null.
//!
//! A column is a top-level member, or with dots one below it, or `_offset`, `_id`, `_time`, `_key`. A value without
//! quotes is read as what the event has there: a number, true or false, or text.

use std::cmp::Ordering;

use salver_model::streams::Event;
use salver_model::{Comparison, Filter, Value};
use serde_json::{Number, Value as Json};

use super::moment;

/// Whether `event` passes `filter`. An event that is no JSON has no members.
pub(super) fn passes(filter: &Filter, event: &Event) -> bool {
    let members = serde_json::from_slice(&event.value).unwrap_or(Json::Null);
    Row { event, members: &members }.is(filter) == Some(true)
}

struct Row<'e> {
    event: &'e Event,
    members: &'e Json,
}

impl Row<'_> {
    fn is(&self, filter: &Filter) -> Option<bool> {
        match filter {
            Filter::And(all) => fold(all.iter().map(|inner| self.is(inner)), false),
            Filter::Or(any) => fold(any.iter().map(|inner| self.is(inner)), true),
            Filter::Not(inner) => self.is(inner).map(|truth| !truth),
            Filter::IsNull { column } => Some(self.at(&column.column).is_null()),
            Filter::Compare { column, op, value } => {
                let order = order(&self.at(&column.column), value)?;
                Some(match op {
                    Comparison::Eq => order == Some(Ordering::Equal),
                    Comparison::NotEq => order != Some(Ordering::Equal),
                    Comparison::Lt => order == Some(Ordering::Less),
                    Comparison::LtEq => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                    Comparison::Gt => order == Some(Ordering::Greater),
                    Comparison::GtEq => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                })
            }
            Filter::In { column, values } => {
                let cell = self.at(&column.column);
                fold(values.iter().map(|value| Some(order(&cell, value)? == Some(Ordering::Equal))), true)
            }
            Filter::Like { column, pattern, ignore_case } => {
                let cell = self.at(&column.column);
                let text = cell.as_str()?;
                Some(if *ignore_case {
                    is_like(&text.to_lowercase(), &pattern.to_lowercase())
                } else {
                    is_like(text, pattern)
                })
            }
        }
    }

    /// What the event has at `name`; null when it has nothing.
    fn at(&self, name: &str) -> Json {
        let text = |bytes: &[u8]| Json::from(String::from_utf8_lossy(bytes));
        match name {
            "_offset" => return self.event.offset.into(),
            "_id" => return self.event.id.clone().into(),
            "_time" => return moment::write(self.event.time_ms).into(),
            "_key" => return self.event.key.as_deref().map_or(Json::Null, text),
            _ => {}
        }
        below(self.members, name).cloned().unwrap_or(Json::Null)
    }
}

/// A member of just that name, else one of the first part of the name and further ones below it.
fn below<'j>(json: &'j Json, name: &str) -> Option<&'j Json> {
    let object = json.as_object()?;
    object
        .get(name)
        .or_else(|| name.match_indices('.').find_map(|(at, _)| below(object.get(&name[..at])?, &name[at + 1..])))
}

/// And (`decides` is false) or or (`decides` is true).
fn fold(mut all: impl Iterator<Item = Option<bool>>, decides: bool) -> Option<bool> {
    let mut is_known = true;
    let decided = all.any(|truth| {
        is_known &= truth.is_some();
        truth == Some(decides)
    });
    if decided { Some(decides) } else { is_known.then_some(!decides) }
}

/// How what the event has compares with a value: `None` when either is null, `Some(None)` when they are of kinds that
/// are never equal and have no order.
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

/// Whole numbers compare as such, so that large ones do not run together.
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

/// SQL `LIKE`. Where a `%` can stand for more than one run, only the last one is tried anew: that is enough, and keeps
/// hostile patterns cheap.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<Sign>) = (text.chars().collect(), signs(pattern));
    let (mut at, mut sign) = (0, 0);
    let mut retry = None;
    loop {
        match pattern.get(sign) {
            Some(Sign::Run) => {
                retry = Some((at, sign + 1));
                sign += 1;
                continue;
            }
            Some(Sign::Any) if at < text.len() => {
                (at, sign) = (at + 1, sign + 1);
                continue;
            }
            Some(Sign::One(wanted)) if text.get(at) == Some(wanted) => {
                (at, sign) = (at + 1, sign + 1);
                continue;
            }
            None if at == text.len() => return true,
            _ => {}
        }
        match retry {
            Some((from, after)) if from < text.len() => {
                retry = Some((from + 1, after));
                (at, sign) = (from + 1, after);
            }
            _ => return false,
        }
    }
}

/// A part of a pattern.
enum Sign {
    /// `%`
    Run,
    /// `_`
    Any,
    /// Just this.
    One(char),
}

fn signs(pattern: &str) -> Vec<Sign> {
    let mut signs = Vec::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(next) = rest.next() {
        signs.push(match next {
            '%' => Sign::Run,
            '_' => Sign::Any,
            '\\' => Sign::One(rest.next().unwrap_or('\\')),
            other => Sign::One(other),
        });
    }
    signs
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salver_model::streams::Event;

    use super::{is_like, passes};
    use crate::rest::conditions;

    #[test]
    fn patterns() {
        for (text, pattern) in [("", "%"), ("abc", "a%c"), ("abc", "_b_"), ("a%c", "a\\%c"), ("aXbXc", "%X%c")] {
            assert!(is_like(text, pattern), "{text} {pattern}");
        }
        for (text, pattern) in [("abc", "a"), ("", "_"), ("abc", "a\\%c"), ("abc", "%d%")] {
            assert!(!is_like(text, pattern), "{text} {pattern}");
        }
        assert!(!is_like(&"a".repeat(5_000), &"%a".repeat(50).replace('a', "ab")));
    }

    #[test]
    fn conditions_over_events() {
        let value = br#"{"n":10,"x":1.5,"t":"10","b":true,"nil":null,"o":{"p":"q"},"big":18446744073709551615}"#;
        let event = Event {
            offset: 7,
            time_ms: 0,
            id: "id-1".into(),
            key: None,
            partition: None,
            headers: Vec::new(),
            value: Bytes::from_static(value),
        };
        let is = |name: &str, value: &str| {
            let (filter, others) = conditions(vec![(name.to_owned(), value.to_owned())]).unwrap();
            assert!(others.is_empty());
            passes(&filter.unwrap(), &event)
        };
        for (name, value) in [
            ("filter[n]", "10"),
            ("filter[n]", "'10'"),
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
}
