//! Validates values before they are written: by the entry's own checks, and by column types where the entry configures
//! that. The messages are those of PHP-CRUD-API.

use salver_model::records::{ColumnInfo, ColumnKind, Field, Operation};
use salver_model::rule::exact_truth;
use salver_model::spec::{ValueFormat, matches_pattern};
use salver_model::{Caller, Rule, Value};

use super::context::{Fields, WriteContext, means};
use super::convert::is_too_long;
use super::decimal::Decimal;
use crate::json::{JsonForm, base64};
use crate::moment;

/// Returns the failed checks of a record, by column.
pub(crate) fn failures(ground: &WriteContext<'_>, fields: &Fields<'_>) -> Vec<(String, String)> {
    let (spec, table) = (ground.scope.spec(), ground.table);
    let typed = spec.validate.iter().any(|pattern| matches_pattern(pattern, &table.name));
    if spec.checks.is_empty() && !typed {
        return Vec::new();
    }
    let mut details = Vec::new();
    for (column, field) in fields {
        let info = &table.columns[*column];
        let is_back = matches!(**field, Field::Back { .. });
        let meant = |patterns: &[String]| patterns.iter().any(|pattern| means(pattern, &table.name, &info.name));
        let own = spec.checks.iter().filter(|check| meant(&check.columns)).find(|check| {
            let caller = ground.scope.access.caller;
            // The value of a reference is known to the database only, except for what its column guarantees.
            let shaped = |shape| {
                if is_back { shape == ValueFormat::Numeric && info.kind.is_numeric() } else { has_shape(shape, field) }
            };
            // An increment's operand is not a value of the row: the sum is checked afterwards.
            let ruled = |rule| ground.operation == Operation::Increment || admits(rule, ground, fields, caller);
            !check.shape.is_none_or(shaped) || !check.rule.as_ref().is_none_or(ruled)
        });
        if let Some(check) = own {
            details.push((info.name.clone(), check.message.clone()));
        } else if typed
            && !is_back
            && let Some(why) = mistyped(info, field, JsonForm::of(spec, table, info) == JsonForm::Json)
        {
            details.push((info.name.clone(), why));
        }
    }
    details
}

/// Returns whether a rule holds for the values of a record; columns that the record omits are null.
fn admits(rule: &Rule, ground: &WriteContext<'_>, fields: &Fields<'_>, caller: &Caller) -> bool {
    let of = |name: &str| {
        let column = ground.table.column(name);
        let found = fields.iter().find(|(index, _)| Some(*index) == column);
        found.map_or(Value::Null, |(index, field)| value(ground.table.columns[*index].kind, field))
    };
    rule.admits(&of, caller)
}

/// Converts a field for rules, to the kind of its column where possible.
fn value(kind: ColumnKind, field: &Field) -> Value {
    let own = |text: &str| Value::Text(text.to_owned());
    match field {
        Field::Null | Field::Back { .. } => Value::Null,
        Field::Bool(truth) if kind.is_numeric() => Value::Int(i64::from(*truth)),
        Field::Bool(truth) if kind != ColumnKind::Boolean => own(if *truth { "1" } else { "0" }),
        Field::Bool(truth) => Value::Bool(*truth),
        Field::Number(text) | Field::Text(text) if kind.is_numeric() => {
            Value::number(text.trim()).unwrap_or_else(|| own(text))
        }
        Field::Number(text) | Field::Text(text) if kind == ColumnKind::Boolean => {
            exact_truth(text.trim()).map_or_else(|| own(text), Value::Bool)
        }
        Field::Number(text) | Field::Text(text) | Field::Json(text) => own(text),
    }
}

/// Returns the rules that the columns of an increment must satisfy with their new values, each with the column and the
/// message for the client.
pub(crate) fn of_sums<'g>(ground: &'g WriteContext<'_>, columns: &[usize]) -> Vec<(&'g Rule, (String, String))> {
    if ground.operation != Operation::Increment {
        return Vec::new();
    }
    let table = ground.table;
    let checks = ground.scope.spec().checks.iter().filter_map(|check| Some((check.rule.as_ref()?, check)));
    let mut found = Vec::new();
    for (rule, check) in checks {
        let meant = |column: &&usize| {
            let name = &table.columns[**column].name;
            check.columns.iter().any(|pattern| means(pattern, &table.name, name))
        };
        let told = columns.iter().find(meant).map(|column| table.columns[*column].name.clone());
        found.extend(told.map(|name| (rule, (name, check.message.clone()))));
    }
    found
}

fn has_shape(shape: ValueFormat, field: &Field) -> bool {
    match (shape, field) {
        (ValueFormat::Numeric, Field::Number(_)) => true,
        (ValueFormat::Numeric, Field::Text(text)) => is_numeric(text),
        (ValueFormat::Email, Field::Text(text)) => is_email(text),
        (ValueFormat::Numeric | ValueFormat::Email, _) | (ValueFormat::Filled, Field::Null) => false,
        (ValueFormat::Filled, Field::Text(text)) => !text.trim().is_empty(),
        (ValueFormat::Filled, _) => true,
    }
}

/// Returns whether PHP treats text as a number.
pub(crate) fn is_numeric(text: &str) -> bool {
    Decimal::parse(text.trim_matches([' ', '\t', '\n', '\r'])).is_some()
}

/// Returns whether text looks like `name@host`, as checked by an HTML form: one `@`, and a host of labels.
fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let fine = |c: char| c.is_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(c);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    (1..=64).contains(&name.len())
        && name.chars().all(fine)
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains("..")
        && text.len() <= 254
        && host.split('.').all(is_label)
}

/// Returns the reason why a value is not of its column's type.
fn mistyped(column: &ColumnInfo, field: &Field, json: bool) -> Option<String> {
    let text = match field {
        Field::Null if column.nullable || column.auto_increment => return None,
        Field::Null => return Some("cannot be null".to_owned()),
        Field::Text(text) => text.as_str(),
        other => return mistyped_value(column, other, json),
    };
    let free = matches!(column.kind, ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Json | ColumnKind::Uuid);
    if !free && text.trim() != text {
        return Some("illegal whitespace".to_owned());
    }
    let why = match column.kind {
        ColumnKind::Integer | ColumnKind::BigInt if is_integer(column.kind, text) => return None,
        ColumnKind::Integer | ColumnKind::BigInt => "invalid integer",
        ColumnKind::Decimal => match Decimal::parse(text).filter(|_| !text.contains(['e', 'E', '+'])) {
            None => "invalid decimal",
            Some(decimal) => return decimal.unfit(column.precision, column.scale).map(str::to_owned),
        },
        ColumnKind::Float | ColumnKind::Double => {
            return (!text.parse::<f64>().is_ok_and(f64::is_finite)).then(|| "invalid float".to_owned());
        }
        ColumnKind::Boolean if ["true", "false"].iter().any(|word| word.eq_ignore_ascii_case(text)) => return None,
        ColumnKind::Boolean => "invalid boolean",
        ColumnKind::Date if moment::date(text).is_some() => return None,
        ColumnKind::Date => "invalid date",
        ColumnKind::Time if moment::time(text, false).is_some() => return None,
        ColumnKind::Time => "invalid time",
        ColumnKind::Timestamp if moment::timestamp(text).is_some() => return None,
        ColumnKind::Timestamp => "invalid timestamp",
        ColumnKind::Varchar if is_too_long(column, text) => "string too long",
        ColumnKind::Varbinary | ColumnKind::Blob => match base64::decode(text) {
            None => "invalid base64",
            Some(bytes) if column.length.is_some_and(|max| bytes.len() > max as usize) => "string too long",
            Some(_) => return None,
        },
        ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Json | ColumnKind::Uuid | ColumnKind::Geometry => {
            return None;
        }
    };
    Some(why.to_owned())
}

/// Returns the same as `mistyped`, for a value that is not text.
fn mistyped_value(column: &ColumnInfo, field: &Field, json: bool) -> Option<String> {
    let fits = match (column.kind, field) {
        (ColumnKind::Integer | ColumnKind::BigInt, Field::Number(text)) if is_integer(column.kind, text) => true,
        (ColumnKind::Integer | ColumnKind::BigInt, _) => return Some("invalid integer".to_owned()),
        (ColumnKind::Float | ColumnKind::Double, Field::Number(text))
            if text.parse::<f64>().is_ok_and(f64::is_finite) =>
        {
            true
        }
        (ColumnKind::Float | ColumnKind::Double, _) => return Some("invalid float".to_owned()),
        (ColumnKind::Boolean, Field::Bool(_)) => true,
        (ColumnKind::Boolean, Field::Number(text)) => text == "0" || text == "1",
        (ColumnKind::Json, _) => true,
        (_, Field::Json(_)) => json,
        _ => false,
    };
    (!fits).then(|| format!("invalid {}", column.kind.word()))
}

fn is_integer(kind: ColumnKind, text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && if kind == ColumnKind::Integer { text.parse::<i32>().is_ok() } else { text.parse::<i64>().is_ok() }
}

#[cfg(test)]
mod tests {
    use super::{is_email, is_numeric};

    #[test]
    fn shapes() {
        for good in ["1", "-1.5", " 2e3 ", ".5"] {
            assert!(is_numeric(good), "{good}");
        }
        for bad in ["", "two", "1a", "0x10", "1,5"] {
            assert!(!is_numeric(bad), "{bad}");
        }
        for good in ["a@b", "first.last+tag@mail.example.org", "ü@bücher.de"] {
            assert!(is_email(good), "{good}");
        }
        for bad in ["", "a", "@b", "a@", "a b@c", ".a@b", "a..b@c", "a@-b", "a@b..c"] {
            assert!(!is_email(bad), "{bad}");
        }
    }
}
