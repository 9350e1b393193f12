//! Whether a new or changed row passes the rules of its table: what a caller writes must be the caller's to see.

use salver_model::records::{ColumnKind, Operation};
use salver_model::spec::RecordRule;
use salver_model::{Result, Value};

use super::ground::{Ground, forbidden};
use super::record::Values;
use crate::statement::{Bind, Check, Done};

/// What the values of a record say of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The row passes.
    Passed,
    /// It does not.
    Refused,
    /// Only the database can tell.
    Ask,
}

impl Ground<'_> {
    /// Whether a row with these values passes. Only numbers are judged here: text compares as its column's collation
    /// says, which the database knows. With `all` the values are all the row has, else columns without a value stay
    /// what they are, and a rule over none of the values is passed already.
    pub(crate) fn admission(&self, values: &Values, all: bool) -> Admission {
        let rules = self.scope.access.rules(self.operation, &self.table.name);
        let mut admission = Admission::Passed;
        for rule in rules.filter_map(|rule: &RecordRule| rule.rows.as_ref()) {
            let columns = rule.columns();
            let find = |name: &str| {
                let index = self.table.column(name)?;
                values.iter().find(|(own, _)| *own == index)
            };
            // A column that the database computes may follow from any other.
            let computed = |name: &&str| self.table.column(name).is_some_and(|own| self.table.columns[own].generated);
            if !all && columns.iter().all(|name| find(name).is_none() && !computed(name)) {
                continue;
            }
            // What an increment writes is no value of the row.
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

/// Whether a value compares here as it does in every database.
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

impl Ground<'_> {
    /// Whether a row of a load with these values passes. The database is not asked row by row, so that a row passes
    /// only where its own values tell: not by a default, a computed column, or a value that the database may keep
    /// otherwise
    /// than it came.
    pub(crate) fn admits_as_written(&self, values: &Values) -> bool {
        let rules = self.scope.access.rules(Operation::Create, &self.table.name);
        rules.filter_map(|rule| rule.rows.as_ref()).all(|rule| {
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

    /// The value that a new row will have; `None` where only the database knows it.
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
            (kind, Bind::Float(value)) if kind.is_numeric() => Some(Value::Float(*value)),
            (kind, Bind::Int(value)) if kind.is_numeric() => Some(Value::Int(*value)),
            (kind, Bind::Text(text)) if kind.is_numeric() => Value::number(text),
            // Of fixed length a text may get blanks, or lose them.
            (ColumnKind::Varchar | ColumnKind::Clob, Bind::Text(text)) if !text.ends_with(' ') => {
                Some(Value::Text(text.clone()))
            }
            _ => None,
        }
    }
}

/// A check of a select that must find the row.
pub(crate) fn found() -> Check {
    Box::new(|done: &Done| if done.rows.is_empty() { Err(refused()) } else { Ok(()) })
}

/// "Operation forbidden", and why.
pub(crate) fn refused() -> salver_model::Error {
    forbidden().with_hint("the row would not be the caller's: it does not pass the rules of its table")
}

/// What a check says when the row does not pass.
pub(crate) fn ensure(passes: bool) -> Result<()> {
    if passes { Ok(()) } else { Err(refused()) }
}
