//! The upsert clause of each system.

use salver_model::records::ColumnInfo;

use super::Dialect;
use super::store::KEPT;
use crate::dialect::Sql;

impl Dialect {
    /// Appends, after an insert, the action for a row with the same values in `unique`: `set` columns get the new row's
    /// values, or nothing happens when there are none. MySQL can't name the key: there the statement is correct only
    /// when no other unique key can conflict.
    pub(crate) fn on_conflict(self, unique: &[&str], set: &[&ColumnInfo], sql: &mut Sql) {
        if self == Self::Mysql {
            sql.push(" ON DUPLICATE KEY UPDATE ");
            let mut first = true;
            for name in set.iter().map(|column| &column.real_name) {
                sql.separate(&mut first, ", ").name(name).push(" = VALUES(").name(name).push(")");
            }
            // Setting a column to itself changes nothing.
            if let (true, Some(name)) = (set.is_empty(), unique.first()) {
                sql.name(name).push(" = ").name(name);
            }
            return;
        }
        sql.push(" ON CONFLICT (");
        let mut first = true;
        for name in unique {
            sql.separate(&mut first, ", ").name(name);
        }
        if set.is_empty() {
            sql.push(") DO NOTHING");
            return;
        }
        sql.push(") DO UPDATE SET ");
        let mut first = true;
        for column in set {
            let name = &column.real_name;
            sql.separate(&mut first, ", ").name(name).push(" = ");
            if self.keeps(column) {
                sql.push(KEPT).push("(").name(name).push(", excluded.").name(name).push(")");
            } else {
                sql.push("excluded.").name(name);
            }
        }
    }

    /// Returns the `FROM` of a select of values only.
    pub(crate) fn of_nothing(self) -> &'static str {
        if self == Self::Mysql { " FROM DUAL" } else { "" }
    }
}
