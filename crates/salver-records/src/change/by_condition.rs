//! Updates or deletes rows by condition, up to a maximum that the request declares.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use salver_model::records::{ChangeKind, ColumnKind, Condition, Operation};
use salver_model::{Code, Error, Result};

use super::context::WriteContext;
use super::create::CreateContext;
use super::plan::{ChangePlan, ChangeResponse, Item};
use super::record::Values;
use super::returned_rows::{Shown, step};
use super::row_rules::{Admission, refused};
use super::validation;
use crate::cell::OwnedCell;
use crate::condition;
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::statement::{Check, Done, ProgramStep, Returns};

/// Alias of the statement's table; related tables have others.
const ALIAS: &str = "t";

/// Adds the steps of one change by condition.
pub(crate) fn filtered(
    plan: &mut ChangePlan,
    ground: &WriteContext<'_>,
    condition: &Condition,
    values: Values,
    shared: &CreateContext<'_>,
) -> Result<Item> {
    let Some(max) = ground.change.affected_max else {
        return Err(Error::new(Code::InvalidRequest, "a change by condition must say how many rows it may touch")
            .with_hint("add `max_affected=` with the most rows that are meant; if there are more, none changes"));
    };
    ground.scope.table(Operation::List, &ground.change.table)?;
    no_masked(ground, condition)?;
    let first = plan.steps.len();
    let shown = shared.shown.as_ref();
    let deletes = ground.change.kind == ChangeKind::Delete;
    if !deletes && values.is_empty() {
        let answer = ChangeResponse::Ready(if shown.is_some() { b"[]".to_vec() } else { b"0".to_vec() });
        return Ok(Item { steps: first..first, answer });
    }
    match ground.admission(&values, false) {
        _ if deletes => {}
        Admission::Passed => {}
        Admission::Refused => return Ok(Item { steps: first..first, answer: ChangeResponse::Failed(refused()) }),
        Admission::Ask => {
            return Err(Error::new(Code::Unsupported, "rows can't be changed so by condition")
                .with_hint("whether they pass the rules of the table is known of each row only: change them by key"));
        }
    }
    let written: Vec<usize> = values.iter().map(|(column, _)| *column).collect();
    if !validation::of_sums(ground, &written).is_empty() {
        return Err(Error::new(Code::Unsupported, "rows can't be changed so by condition")
            .with_hint("whether they pass the checks of the table is known of each row only: change them by key"));
    }
    plan.step(count(ground, condition, max)?);
    // What is deleted is returned as it was.
    let direct = shown.is_some() && (ground.returns_new_rows() || deletes && ground.returns_rows());
    let mut shows = None;
    if let (Some(shown), false) = (shown, direct)
        && deletes
    {
        shows = Some(plan.step(select(ground, condition, shown)?));
    }
    let statement = change(ground, condition, values, shown.filter(|_| direct))?;
    let touched = Arc::new(AtomicU64::new(0));
    let changed = plan.step(ProgramStep { check: Some(at_most(max, &touched)), ..statement });
    if let (Some(shown), false) = (shown, direct)
        && !deletes
    {
        same_rows(ground, condition, &written)?;
        let mut select = select(ground, condition, shown)?;
        if ground.table.has_triggers && ground.scope.access.rows(Operation::Read, ground.table).is_empty() {
            select.check = Some(as_many(touched));
        }
        shows = Some(plan.step(select));
    }
    let answer = match shown {
        Some(shown) => ChangeResponse::Rows { step: shows.unwrap_or(changed), row: shown.row.clone() },
        None => ChangeResponse::Affected(changed),
    };
    Ok(Item { steps: first..plan.steps.len(), answer })
}

/// Refuses a condition on a masked column of the table that is changed: the statement would compare the values behind.
/// Related tables are read as the caller sees them.
fn no_masked(ground: &WriteContext<'_>, condition: &Condition) -> Result<()> {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.iter().try_for_each(|part| no_masked(ground, part)),
        Condition::Test { path, .. } => {
            let table = ground.table;
            let Some((name, way)) = path.split_last() else { return Ok(()) };
            let masked = table.column(name).filter(|own| {
                way.iter().all(|next| *next == table.name)
                    && ground.scope.access.is_any_masked(Operation::List, table, &[*own])
            });
            if masked.is_none() {
                return Ok(());
            }
            Err(Error::new(Code::InvalidFilter, format!("rows of `{}` can't be changed by `{name}`", table.name))
                .with_hint("an access rule masks the column: choose by others, or change rows by key"))
        }
    }
}

/// Appends the condition, and the predicates of rules.
fn conditions(ground: &WriteContext<'_>, condition: &Condition, sql: &mut Sql) -> Result<()> {
    sql.push(" WHERE (");
    // Always strict: an ignored part of the condition would change more rows than requested. Columns that are read to
    // find the rows, here and in related tables, must be readable.
    condition::treeql(ground.scope, Operation::List, ground.table, ALIAS, condition, true, sql)?;
    sql.push(")");
    condition::restrict(ground.scope, Operation::List, ground.table, ALIAS, sql, &mut false)?;
    condition::restrict(ground.scope, ground.operation, ground.table, ALIAS, sql, &mut false)
}

/// Creates a check before the change for too many rows, so that a mistake does not change a million rows and roll them
/// back.
fn count(ground: &WriteContext<'_>, condition: &Condition, max: u64) -> Result<ProgramStep> {
    let mut sql = ground.scope.sql();
    sql.push("SELECT count(*) FROM (SELECT 1 FROM ").name(&ground.table.real_name).push(" AS ").push(ALIAS);
    conditions(ground, condition, &mut sql)?;
    sql.push(" LIMIT ").push(itoa::Buffer::new().format(max.min(i64::MAX as u64 - 1) + 1)).push(") AS counted");
    let check: Check = Box::new(move |done: &Done| {
        let counted = done.rows.first().and_then(|row| row.first());
        match counted {
            Some(OwnedCell::Int(count)) if u64::try_from(*count).is_ok_and(|count| count > max) => Err(too_many(max)),
            Some(OwnedCell::UInt(count)) if *count > max => Err(too_many(max)),
            _ => Ok(()),
        }
    });
    Ok(step(sql, Returns::Rows([ColumnKind::BigInt].into()), Some(check)))
}

/// Returns the same check after the change, for rows that were inserted in between; it records their number.
fn at_most(max: u64, touched: &Arc<AtomicU64>) -> Check {
    let touched = Arc::clone(touched);
    Box::new(move |done: &Done| {
        touched.store(done.affected, Ordering::Relaxed);
        if done.affected > max { Err(too_many(max)) } else { Ok(()) }
    })
}

/// Returns a check that as many rows are found as were changed: a trigger may have moved them out of the condition.
fn as_many(touched: Arc<AtomicU64>) -> Check {
    Box::new(
        move |done: &Done| {
            if done.rows.len() as u64 == touched.load(Ordering::Relaxed) { Ok(()) } else { Err(moved()) }
        },
    )
}

fn too_many(max: u64) -> Error {
    Error::new(Code::TooManyAffected, format!("more than {max} rows would change"))
        .with_hint("nothing was changed; make the condition narrower, or raise `max_affected`")
}

/// Creates the statement itself.
fn change(
    ground: &WriteContext<'_>,
    condition: &Condition,
    values: Values,
    shown: Option<&Shown>,
) -> Result<ProgramStep> {
    let mut sql = ground.scope.sql();
    let name = &ground.table.real_name;
    let deletes = ground.change.kind == ChangeKind::Delete;
    // MySQL can't read from the table that it is changing, unless through a derived table.
    let apart = ground.scope.dialect == Dialect::Mysql && looks_elsewhere(condition) && !ground.table.key.is_empty();
    if deletes {
        let aliased = ground.scope.dialect == Dialect::Mysql;
        sql.push(if aliased { "DELETE t FROM " } else { "DELETE FROM " }).name(name).push(" AS ").push(ALIAS);
    } else {
        sql.push("UPDATE ").name(name).push(" AS ").push(ALIAS);
        ground.set(values, &mut sql);
    }
    if apart {
        sql.push(" WHERE (");
        keys(ground, &mut sql);
        sql.push(") IN (SELECT * FROM (SELECT DISTINCT ");
        keys(ground, &mut sql);
        sql.push(" FROM ").name(name).push(" AS ").push(ALIAS);
        conditions(ground, condition, &mut sql)?;
        sql.push(") AS meant)");
    } else {
        conditions(ground, condition, &mut sql)?;
    }
    let returns = match shown {
        Some(shown) => {
            // SQLite allows no alias here.
            ground.scope.dialect.returning(&mut sql, |sql| ground.list(&shown.columns, "", sql));
            ground.rows(&shown.columns)
        }
        None => Returns::Count,
    };
    Ok(step(sql, returns, None))
}

/// Appends the columns of the primary key.
fn keys(ground: &WriteContext<'_>, sql: &mut Sql) {
    let mut first = true;
    for column in &ground.table.key {
        sql.separate(&mut first, ", ").column(ALIAS, ground.table, *column);
    }
}

/// Returns whether the condition reads other tables.
fn looks_elsewhere(condition: &Condition) -> bool {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.iter().any(looks_elsewhere),
        Condition::Test { path, .. } => path.len() > 1,
    }
}

/// Selects the affected rows, and locks them until the transaction ends.
fn select(ground: &WriteContext<'_>, condition: &Condition, shown: &Shown) -> Result<ProgramStep> {
    let mut sql = ground.select(&shown.columns, Operation::Read)?;
    conditions(ground, condition, &mut sql)?;
    condition::restrict(ground.scope, Operation::Read, ground.table, ALIAS, &mut sql, &mut false)?;
    ground.scope.dialect.lock(&mut sql.text);
    Ok(step(sql, ground.rows(&shown.columns), None))
}

/// Checks that the condition finds the same rows after the change as before.
fn same_rows(ground: &WriteContext<'_>, condition: &Condition, written: &[usize]) -> Result<()> {
    let writes = |name: &str| ground.table.column(name).is_some_and(|column| written.contains(&column));
    let ruled = |operation: Operation| {
        let mut rules = ground.scope.access.row_rules(operation, &ground.table.name);
        rules.any(|rule| rule.columns().into_iter().any(writes))
    };
    let moves =
        reads(condition, &writes) || looks_elsewhere(condition) || ruled(ground.operation) || ruled(Operation::List);
    if !moves {
        return Ok(());
    }
    Err(moved())
}

fn moved() -> Error {
    Error::new(Code::Unsupported, "the changed rows can't be answered here").with_hint(
        "the change moves them out of the condition they are found by: read them afterwards, or change them by key",
    )
}

fn reads(condition: &Condition, writes: &dyn Fn(&str) -> bool) -> bool {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.iter().any(|part| reads(part, writes)),
        Condition::Test { path, .. } => path.last().is_some_and(|name| writes(name)),
    }
}
