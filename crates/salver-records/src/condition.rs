//! Translates conditions to SQL: filters of clients, predicates of rules and tenancy, and text search. `predicate` is
//! the one compiler of all comparisons; tests of TreeQL become filters of the model on their way there.
//!
//! Values are always bound, never written into the text. A value that its column can't have (`id,eq,abc`) equals no row
//! and is neither less nor greater than any, on every system; PostgreSQL alone would fail. Strict requests get an error
//! instead.

mod bounded;
mod convert;
mod cursor_value;
mod equal;
mod instant;
mod operand;
mod predicate;
mod reading;
mod related;
mod search;
mod seen_table;
mod treeql_test;
mod uncommon_dates;

use salver_model::limits::FILTER_DEPTH_MAX;
use salver_model::records::{Condition, Operation, RecordKey, TableInfo};
use salver_model::{Code, Error, Filter, Result};

use crate::dialect::Dialect;
use crate::dialect::{Sql, chain};
use crate::scope::Scope;
use crate::statement::Bind;

use equal::{equals, key_binds};

pub(crate) use convert::{bind_for, bind_of, exact_bind, key_bind, only_noughts_behind, place};
pub(crate) use cursor_value::Mark;
pub(crate) use operand::{Around, ComparedColumn, Operand};
pub(crate) use predicate::{Comparand, Literal, Manner, Side, TextOrder, compare, push, push_ordered};
#[cfg(test)]
pub(crate) use reading::ReadOperand;
pub(crate) use reading::Reading;
pub(crate) use related::{scalar, unrelated};
pub(crate) use search::search;
pub(crate) use seen_table::{restrict_seen, seen_table};
pub(crate) use treeql_test::test;
pub(crate) use uncommon_dates::{Far, of_postgres as far_of_postgres};

/// The context in which a condition is resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConditionContext<'s> {
    pub(crate) scope: &'s Scope<'s>,
    pub(crate) operation: Operation,
    pub(crate) strict: bool,
}

/// Appends a client's condition on the rows of `table`, with the alias `alias`.
///
/// # Errors
/// `UnknownColumn`, `UnknownTable`; with `strict` also `InvalidFilter` and `InvalidValue`.
#[allow(clippy::too_many_arguments, reason = "a table of a statement, a condition on it, and how it is read")]
pub(crate) fn treeql(
    scope: &Scope<'_>,
    operation: Operation,
    table: &TableInfo,
    alias: &str,
    condition: &Condition,
    strict: bool,
    sql: &mut Sql,
) -> Result<()> {
    let ground = ConditionContext { scope, operation, strict };
    if !ground.tree(table, alias, condition, 0, sql)? {
        sql.push("1=1");
    }
    Ok(())
}

/// Appends the predicates of rules and tenancy on the rows of `table`: ` WHERE` before the first condition, ` AND`
/// before others.
///
/// # Errors
/// `Config` when a rule names a column that the table does not have.
pub(crate) fn restrict(
    scope: &Scope<'_>,
    operation: Operation,
    table: &TableInfo,
    alias: &str,
    sql: &mut Sql,
    first: &mut bool,
) -> Result<()> {
    for demanded in scope.access.rows(operation, table) {
        begin(sql, first);
        filter(table, alias, &demanded, sql)?;
    }
    Ok(())
}

/// Appends the condition `filter` of a rule on the rows of `table`, with the alias `alias`.
///
/// # Errors
/// `Config` when it names a column that the table does not have.
pub(crate) fn filter(table: &TableInfo, alias: &str, filter: &Filter, sql: &mut Sql) -> Result<()> {
    reading::push(table, alias, Reading::Rule, filter, sql)
}

/// Appends ` WHERE ` before the first condition, ` AND ` before others.
pub(crate) fn begin(sql: &mut Sql, first: &mut bool) {
    sql.push(if std::mem::replace(first, false) { " WHERE " } else { " AND " });
}

/// Appends the predicate that the primary key is `key`; returns `false`, and appends nothing, when no row can have it.
pub(crate) fn key(table: &TableInfo, alias: &str, key: &RecordKey, sql: &mut Sql) -> bool {
    let (text, binds) = (sql.text.len(), sql.binds.len());
    let mut first = true;
    for (index, part) in table.key.iter().zip(key) {
        sql.separate(&mut first, " AND ");
        if !equals(&table.columns[*index], alias, part, sql) {
            sql.text.truncate(text);
            sql.binds.truncate(binds);
            return false;
        }
    }
    !first && table.key.len() == key.len()
}

/// Appends to such a predicate that texts of the key are equal by bytes.
pub(crate) fn exactly(table: &TableInfo, alias: &str, key: &RecordKey, sql: &mut Sql) {
    for (index, part) in table.key.iter().zip(key) {
        let operand = Operand::column_by_text(sql.dialect, &table.columns[*index], alias);
        reading::same_bytes(&operand, part, sql);
    }
}

/// Appends the predicate that the primary key is one of `keys`: as a list, so that any number of them is nested no
/// deeper than one.
pub(crate) fn keys(table: &TableInfo, alias: &str, keys: &[&RecordKey], sql: &mut Sql) {
    let operand = |index: &usize| Operand::column_by_text(sql.dialect, &table.columns[*index], alias);
    let operands: Vec<Operand<'_>> = table.key.iter().map(operand).collect();
    if operands.iter().any(|own| own.compared().is_untyped(sql.dialect) && !own.column.kind.is_binary()) {
        // Each part has a predicate of its own there.
        let any = chain(keys, " OR ", sql, &mut |own, sql| Ok(key(table, alias, own, sql)));
        sql.push(if any.is_ok_and(|any| any) { "" } else { "1=0" });
        return;
    }
    let tuple = operands.len() > 1;
    let mut first = true;
    for key in keys {
        // Each part may match several stored values.
        let mut all: Vec<Vec<Bind>> = vec![Vec::new()];
        for (own, part) in operands.iter().zip(key.iter()) {
            let binds = key_binds(sql.dialect, own, part);
            let with = |known: &Vec<Bind>| -> Vec<Vec<Bind>> {
                binds.iter().map(|bind| known.iter().chain([bind]).cloned().collect()).collect()
            };
            all = all.iter().flat_map(with).collect();
        }
        if all.is_empty() {
            continue;
        }
        if first {
            let names: Vec<&str> = operands.iter().map(Operand::text).collect();
            let values = if tuple && sql.dialect == Dialect::Sqlite { "VALUES " } else { "" };
            let (open, close) = if tuple { ("(", ")") } else { ("", "") };
            sql.push(open).push(&names.join(", ")).push(close).push(" IN (").push(values);
        }
        for binds in all {
            sql.separate(&mut first, ", ").push(if tuple { "(" } else { "" });
            for (at, (own, bind)) in operands.iter().zip(binds).enumerate() {
                sql.push(if at > 0 { ", " } else { "" });
                place(own, bind, sql);
            }
            sql.push(if tuple { ")" } else { "" });
        }
    }
    sql.push(if first { "1=0" } else { ")" });
}

/// Appends one test of a condition, at this depth; returns `false`, and appends nothing, when it is ignored.
type PushTest<'t> = dyn FnMut(&Condition, usize, &mut Sql) -> Result<bool> + 't;

/// Appends a client's condition, whose tests `push` appends; returns `false`, and appends nothing, when all of it is
/// ignored.
pub(crate) fn tree(condition: &Condition, depth: usize, push: &mut PushTest<'_>, sql: &mut Sql) -> Result<bool> {
    if depth > FILTER_DEPTH_MAX {
        return Err(Error::new(Code::InvalidFilter, "the filter is nested too deeply")
            .with_hint(format!("nest at most {FILTER_DEPTH_MAX} levels")));
    }
    let (parts, word) = match condition {
        Condition::All(parts) => (parts, " AND "),
        Condition::Any(parts) if parts.is_empty() => {
            sql.push("1=0");
            return Ok(true);
        }
        Condition::Any(parts) => (parts, " OR "),
        Condition::Test { .. } => return push(condition, depth, sql),
    };
    chain(parts, word, sql, &mut |part, sql| tree(part, depth + 1, push, sql))
}

impl ConditionContext<'_> {
    /// Returns whether an unknown name that would be ignored is an error: to a strict request, and as long as the
    /// schema was not refreshed since the request arrived, in which the name may be.
    pub(crate) fn refuses_names(&self) -> bool {
        self.strict || !self.scope.sure
    }

    /// Appends the condition on the rows of `table`; returns `false`, and appends nothing, when all of it is ignored.
    pub(crate) fn tree(
        &self,
        table: &TableInfo,
        alias: &str,
        condition: &Condition,
        depth: usize,
        sql: &mut Sql,
    ) -> Result<bool> {
        let push = &mut |condition: &Condition, depth: usize, sql: &mut Sql| {
            let Condition::Test { path, operator, negated, value } = condition else { return Ok(false) };
            match path.as_slice() {
                [column] => {
                    let operand = Operand::column(sql.dialect, self.column(table, column)?, alias);
                    test(self, operand, (*operator, *negated, value), sql).map(|()| true)
                }
                [_, .., _] => related::test(self, table, alias, condition, depth, sql),
                [] => Err(Error::new(Code::InvalidFilter, "a filter names no column")),
            }
        };
        tree(condition, depth, push, sql)
    }

    /// Returns the column of the table that the client names.
    pub(crate) fn column<'t>(&self, table: &'t TableInfo, name: &str) -> Result<&'t salver_model::records::ColumnInfo> {
        if let Some(index) = self.scope.column(self.operation, table, name) {
            return Ok(&table.columns[index]);
        }
        let mut error = self.scope.unknown_column(self.operation, table, name);
        if self.strict {
            error.code = Code::InvalidFilter;
            error.message = format!("no column `{name}` in `{}`", table.name);
        }
        Err(error)
    }
}
