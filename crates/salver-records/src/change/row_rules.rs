//! Checks whether a new or changed row passes the rules of its table: a caller may only write rows that are visible to
//! it.

use salver_model::records::{ColumnKind, Operation};
use salver_model::{Result, Value};

use super::context::{WriteContext, forbidden};
use super::record::Values;
use crate::statement::{Bind, Check, Done};

/// The verdict of the rules on a record's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The row passes.
    Passed,
    /// The row does not pass.
    Refused,
    /// Only the database can tell.
    Ask,
}

impl WriteContext<'_> {
    /// Returns whether a row with these values passes. Only numbers are judged here: text compares by its column's
    /// collation, which the database knows. With `all` the values are the whole row, else columns without a value stay
    /// unchanged, and a rule over none of the values holds already.
    pub(crate) fn admission(&self, values: &Values, all: bool) -> Admission {
        let rules = self.scope.access.row_rules(self.operation, &self.table.name);
        let mut admission = Admission::Passed;
        for rule in rules {
            // A trigger may change the row once more.
            if self.table.has_triggers {
                admission = Admission::Ask;
            }
            let columns = rule.columns();
            let find = |name: &str| {
                let index = self.table.column(name)?;
                values.iter().find(|(own, _)| *own == index)
            };
            // A column that the database computes may depend on any other.
            let computed = |name: &&str| self.table.column(name).is_some_and(|own| self.table.columns[own].generated);
            if !all && columns.iter().all(|name| find(name).is_none() && !computed(name)) {
                continue;
            }
            // An increment's operand is not a value of the row.
            let adds = self.operation == Operation::Increment;
            let exact = |name: &&str| {
                let found = find(name).filter(|_| !adds);
                found.is_some_and(|(index, bind)| is_exact(self.table.columns[*index].kind, bind))
            };
            if !columns.iter().all(exact) {
                admission = Admission::Ask;
                continue;
            }
            let value = |name: &str| find(name).map_or(Value::Null, |(_, bind)| value(bind));
            if !rule.admits(&value, self.scope.access.caller) {
                return Admission::Refused;
            }
        }
        admission
    }
}

/// Returns whether a value compares here as it does in every database.
fn is_exact(kind: ColumnKind, bind: &Bind) -> bool {
    matches!(
        (kind, bind),
        (ColumnKind::Integer | ColumnKind::BigInt, Bind::Int(_))
            | (ColumnKind::Boolean, Bind::Bool(_))
            | (_, Bind::Null)
    )
}

fn value(bind: &Bind) -> Value {
    match bind {
        Bind::Int(value) => Value::Int(*value),
        Bind::Bool(value) => Value::Bool(*value),
        _ => Value::Null,
    }
}

impl WriteContext<'_> {
    /// Returns whether a row of a load with these values passes. The database is not queried row by row, so that a row
    /// passes only if its own values decide it: not by a default, a computed column, a trigger, or a value that the
    /// database may store differently.
    pub(crate) fn admits_as_written(&self, values: &Values) -> bool {
        let mut rules = self.scope.access.row_rules(Operation::Create, &self.table.name);
        rules.all(|rule| {
            if self.table.has_triggers {
                return false;
            }
            let known: Option<Vec<(&str, Value)>> =
                rule.columns().into_iter().map(|name| Some((name, self.written(name, values)?))).collect();
            known.is_some_and(|known| {
                let value = |name: &str| {
                    known.iter().find(|(own, _)| *own == name).map_or(Value::Null, |(_, value)| value.clone())
                };
                rule.admits(&value, self.scope.access.caller)
            })
        })
    }

    /// Returns the value that a new row will have; `None` where only the database knows it.
    fn written(&self, name: &str, values: &Values) -> Option<Value> {
        let index = self.table.column(name)?;
        let info = &self.table.columns[index];
        let Some((_, bind)) = values.iter().find(|(own, _)| *own == index) else {
            let by_itself = info.generated || info.has_default || info.auto_increment;
            return (!by_itself).then_some(Value::Null);
        };
        match (info.kind, bind) {
            (_, Bind::Null) => Some(Value::Null),
            (ColumnKind::Integer | ColumnKind::BigInt, Bind::Int(value)) => Some(Value::Int(*value)),
            (ColumnKind::Boolean, Bind::Bool(value)) => Some(Value::Bool(*value)),
            (ColumnKind::Float, Bind::Float(value)) => Some(Value::Float(shortest(*value))),
            (kind, Bind::Float(value)) if kind.is_numeric() => Some(Value::Float(*value)),
            (kind, Bind::Int(value)) if kind.is_numeric() => Some(Value::Int(*value)),
            (kind, Bind::Text(text)) if kind.is_numeric() => Value::number(text),
            // Fixed-length text may gain or lose trailing blanks.
            (ColumnKind::Varchar | ColumnKind::Clob, Bind::Text(text)) if !text.ends_with(' ') => {
                Some(Value::Text(text.clone()))
            }
            _ => None,
        }
    }
}

/// Returns a value of 32 bits as it is written in a rule: 0.1, and not the nearest one to it with 64 bits.
fn shortest(value: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation, reason = "whether it is one of 32 bits is what is asked")]
    let narrow = value as f32;
    let is_narrow = f64::from(narrow).to_bits() == value.to_bits();
    if is_narrow { narrow.to_string().parse().unwrap_or(value) } else { value }
}

/// Returns the check of a select that must find the row.
pub(crate) fn found() -> Check {
    Box::new(|done: &Done| if done.rows.is_empty() { Err(refused()) } else { Ok(()) })
}

/// Returns the error "Operation forbidden", with its reason.
pub(crate) fn refused() -> salver_model::Error {
    forbidden().with_hint("the row would not be the caller's: it does not pass the rules of its table")
}

/// Returns the error of a check if the row does not pass.
pub(crate) fn ensure(passes: bool) -> Result<()> {
    if passes { Ok(()) } else { Err(refused()) }
}
