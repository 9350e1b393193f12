//! Hints from the database's errors: names of constraints and columns, unless they reveal what is hidden from the
//! caller.

use salver_model::records::{Operation, TableInfo};
use salver_model::{Code, Error};

use crate::scope::Scope;

/// Removes the hint from an error of the database that names a column or a table hidden from the caller.
pub(crate) fn keep_discreet(scope: &Scope<'_>, table: &TableInfo, error: &mut Error) {
    if scope.spec().rules.is_empty() || !matches!(error.code, Code::DuplicateKey | Code::Integrity | Code::Invalid) {
        return;
    }
    let Some(hint) = &error.hint else { return };
    let tables = scope.schema.tables().iter();
    let tables = tables.filter(|other| !scope.access.table(Operation::Read, &other.name));
    let columns = table.columns.iter().filter(|own| scope.column(Operation::Read, table, &own.name).is_none());
    let names = tables.flat_map(|table| [&table.name, &table.real_name]);
    let mut names = names.chain(columns.flat_map(|column| [&column.name, &column.real_name]));
    if names.any(|name| hint.contains(name.as_str())) {
        error.hint = None;
    }
}
