//! Conditions on related rows: a row passes when a related row passes. Related rows that rules and tenancy hide do not
//! count.

use salver_model::records::{Condition, Operation, TableInfo};
use salver_model::{Code, Error, Result, suggest};

use super::{Around, ConditionContext, begin, restrict_seen, seen_table};
use crate::dialect::Sql;
use crate::relation::{Link, links};
use crate::scope::Scope;

/// Appends a test whose path leads to another table; returns `false`, and appends nothing, when it is ignored: there is
/// no table of that name, or none that is related, and the request is not strict.
///
/// A table that a rule hides is an error: ignoring the test would return more rows than requested. Callers from whom
/// access rules keep a table back get the same error for names that no table has, so that it does not tell the ones
/// from the others.
pub(super) fn test(
    ground: &ConditionContext<'_>,
    table: &TableInfo,
    alias: &str,
    condition: &Condition,
    depth: usize,
    sql: &mut Sql,
) -> Result<bool> {
    let Condition::Test { path, operator, negated, value } = condition else { return Ok(false) };
    let Some((next, rest)) = path.split_first() else { return Ok(false) };
    if !ground.strict && ground.scope.schema.table(next).is_none() && !ground.scope.keeps_tables_back(ground.operation)
    {
        return Ok(false);
    }
    let there = ground.scope.table(ground.operation, next).map_err(|mut error| {
        error.code = if ground.strict { Code::InvalidFilter } else { error.code };
        error
    })?;
    let inner = Condition::Test { path: rest.to_vec(), operator: *operator, negated: *negated, value: value.clone() };
    let Some(link) = links(ground.scope, ground.operation, table, there).into_iter().next() else {
        if there.name == table.name {
            // The table's own name before its column.
            return ground.tree(table, alias, &inner, depth + 1, sql);
        }
        return if ground.strict { Err(unrelated(ground.scope, ground.operation, table, next)) } else { Ok(false) };
    };
    let before = (sql.text.len(), sql.binds.len());
    let own = format!("r{depth}");
    sql.push("EXISTS (SELECT 1 FROM ");
    correlated(ground, (table, alias), &link, (there, &own), sql)?;
    sql.push(" AND ");
    let written = ground.tree(there, &own, &inner, depth + 1, sql)?;
    if written {
        sql.push(")");
    } else {
        sql.text.truncate(before.0);
        sql.binds.truncate(before.1);
    }
    Ok(written)
}

/// Appends the related table with the predicates that correlate its rows with those of `here`, and those of rules and
/// tenancy: `"there" r0 WHERE r0."key" = t."fk"`.
pub(super) fn correlated(
    ground: &ConditionContext<'_>,
    (here, alias): (&TableInfo, &str),
    link: &Link,
    (there, own): (&TableInfo, &str),
    sql: &mut Sql,
) -> Result<()> {
    let (scope, operation) = (ground.scope, ground.operation);
    let mut first = true;
    seen_table(scope, operation, there, own, sql)?;
    match link {
        Link::ToOne { own: from, target } | Link::ToMany { own: from, target } => {
            tie((there, own, target), (here, alias, from), &mut first, sql);
        }
        Link::Through { junction, own: from, near, far, target } => {
            let between = &scope.schema.tables()[*junction];
            let name = format!("j{own}");
            sql.push(", ");
            seen_table(scope, operation, between, &name, sql)?;
            tie((between, &name, near), (here, alias, from), &mut first, sql);
            tie((there, own, target), (between, &name, far), &mut first, sql);
            restrict_seen(scope, operation, between, &name, sql, &mut first)?;
        }
    }
    restrict_seen(scope, operation, there, own, sql, &mut first)
}

/// Columns of a table under its alias.
type Side<'t> = (&'t TableInfo, &'t str, &'t [usize]);

fn tie(left: Side<'_>, right: Side<'_>, first: &mut bool, sql: &mut Sql) {
    for (a, b) in left.2.iter().zip(right.2) {
        begin(sql, first);
        sql.column(left.1, left.0, *a).push(" = ").column(right.1, right.0, *b);
    }
}

/// Appends the value of a column that is reached through to-one relations, as a scalar subquery; returns `false`, and
/// appends nothing, when the path does not lead there. The text `around` the column is inside the subquery.
pub(crate) fn scalar(
    ground: &ConditionContext<'_>,
    (table, alias): (&TableInfo, &str),
    (path, around): (&[String], Around),
    depth: usize,
    sql: &mut Sql,
) -> Result<bool> {
    let (scope, operation) = (ground.scope, ground.operation);
    let Some((next, rest)) = path.split_first() else { return Ok(false) };
    if rest.is_empty() {
        let Some(index) = scope.column(operation, table, next) else { return Ok(false) };
        let operand = super::Operand::column(sql.dialect, &table.columns[index], alias);
        sql.push(around.0).push(operand.sorted(around)).push(around.1);
        return Ok(true);
    }
    let Ok(there) = scope.table(operation, next) else { return Ok(false) };
    let to_one = |link: &Link| matches!(link, Link::ToOne { .. });
    let Some(link) = links(scope, operation, table, there).into_iter().find(to_one) else { return Ok(false) };
    let before = (sql.text.len(), sql.binds.len());
    let own = format!("o{depth}");
    sql.push("(SELECT ");
    if !scalar(ground, (there, &own), (rest, around), depth + 1, sql)? {
        sql.text.truncate(before.0);
        sql.binds.truncate(before.1);
        return Ok(false);
    }
    sql.push(" FROM ");
    correlated(ground, (table, alias), &link, (there, &own), sql)?;
    sql.push(")");
    Ok(true)
}

/// Returns the error "`users` and `tags` are not related", with the tables that are.
pub(crate) fn unrelated(scope: &Scope<'_>, operation: Operation, table: &TableInfo, next: &str) -> Error {
    let others = scope.schema.tables().iter().filter(|other| scope.access.table(operation, &other.name));
    let related: Vec<&str> = others
        .filter(|other| !links(scope, operation, table, other).is_empty())
        .map(|other| other.name.as_str())
        .collect();
    Error::new(Code::InvalidFilter, format!("`{}` and `{next}` are not related", table.name))
        .with_hint_if(suggest::hint(next, related.iter().copied()))
}
