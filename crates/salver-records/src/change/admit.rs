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
            if !all && columns.iter().all(|name| find(name).is_none()) {
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
