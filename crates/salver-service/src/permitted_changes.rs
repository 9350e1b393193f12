//! What a caller may change of the tables of databases, as far as that can be said without a row.

use salver_model::ports::Database;
use salver_model::records::Operation;
use salver_model::spec::{DatabaseSpec, RecordRule};
use salver_model::{Caller, Permission, Principal};

use crate::snapshot::Snapshot;

impl Snapshot {
    /// Returns whether whoever the snapshot is for may change the table by the operation, and in it this column: it is
    /// neither hidden nor masked. Callers of one view class may change the same.
    #[must_use]
    pub fn permits_change(&self, spec: &DatabaseSpec, table: &str, operation: Operation, column: Option<&str>) -> bool {
        let nobody = Principal::default();
        let grants = self.view().map(|(grants, _)| grants);
        let caller = grants.map_or(&nobody, |grants| grants.caller());
        let bars = |rule: &RecordRule| rule.deny || column.is_some_and(|column| rule.hides(column));
        let is_about = |rule: &&RecordRule| rule.covers(operation) && rule.is_about(table) && rule.is_for(caller);
        if spec.rules.iter().filter(is_about).any(bars) {
            return false;
        }
        let Some(grants) = grants else { return true };
        grants
            .decide(Permission::of_operation(operation), &format!("{}.{table}", spec.name))
            .is_some_and(|granted| column.is_none_or(|column| granted.shows(column) && granted.mask(column).is_none()))
    }
}

/// Returns whether nothing of the database is kept back from the caller by rules, so that the caller may learn when any
/// of it changes.
#[must_use]
pub fn sees_all(caller: &Caller, database: &dyn Database) -> bool {
    let spec = database.spec();
    let reads = |rule: &RecordRule| rule.covers(Operation::List) || rule.covers(Operation::Read);
    if !spec.tenancy.is_empty() || spec.rules.iter().any(|rule| reads(rule) && rule.is_for(caller)) {
        return false;
    }
    let Some(grants) = caller.grants.as_ref().filter(|grants| !grants.policy().is_open()) else { return true };
    database.schema().tables().iter().all(|table| {
        let granted = grants.decide(Permission::Read, &format!("{}.{}", spec.name, table.name));
        granted.is_some_and(|granted| granted.is_whole())
    })
}
