//! Upserts: rows that are inserted, or update the row with the same unique key.
//!
//! SQLite and PostgreSQL name the key of the conflict. MySQL's `ON DUPLICATE KEY` means any key and has no condition,
//! so where another key could conflict, or rules hide rows, two statements are used: an update, and an insert if there
//! is no such row. A select after them checks that the row exists and is the caller's, whatever happened.

use salver_model::records::{ChangeKind, Operation};
use salver_model::{Code, Error, Result};

use super::context::WriteContext;
use super::create::{CreateContext, NewRow, create};
use super::new_key::{Stored, known_key, returned_key};
use super::plan::{ChangePlan, ChangeResponse, Item};
use super::record::Values;
use super::returned_rows::{step, with};
use super::row_rules::{Admission, found, refused};
use super::update::exports;
use crate::condition;
use crate::dialect::{Dialect, Sql};
use crate::statement::{Bind, ProgramStep, Returns};

/// Adds the steps of one row that is inserted or updates another.
pub(crate) fn upsert(
    plan: &mut ChangePlan,
    ground: &WriteContext<'_>,
    row: NewRow<'_>,
    shared: &mut CreateContext<'_>,
) -> Result<Item> {
    let ChangeKind::Upsert { on, ignore } = &ground.change.kind else { return create(plan, ground, row, shared) };
    if on.is_empty() && !ground.tells_key {
        return create(plan, ground, row, shared);
    }
    let unique = if on.is_empty() { ground.table.key.clone() } else { ground.unique(on)? };
    let Some(same) = same(&row.values, &unique) else {
        if on.is_empty() {
            // Without a key it can't match an existing row.
            return create(plan, ground, row, shared);
        }
        return Err(Error::new(Code::InvalidRequest, format!("a record has no {}", ground.names(&unique)))
            .with_hint("the columns that identify a row need values"));
    };
    let first = plan.steps.len();
    if ground.admission(&row.values, true) == Admission::Refused {
        return Ok(Item { steps: first..first, answer: ChangeResponse::Failed(refused()) });
    }
    let set = if *ignore { Vec::new() } else { ground.settable(row.values.iter().map(|(column, _)| *column), &unique) };
    let ruled = !ground.scope.access.rows(Operation::Update, ground.table).is_empty()
        || !ground.scope.access.rows(Operation::Create, ground.table).is_empty();
    // The row that is changed has a key of its own, unless that is what identifies it.
    let is_by_key = unique.len() == ground.table.key.len() && unique.iter().all(|own| ground.table.key.contains(own));
    let keeps_key = !ground.tells_key || is_by_key && !ground.table.has_triggers;
    let given = known_key(ground, &row.values, Stored::Perhaps).filter(|_| keeps_key);
    let in_two = ground.scope.dialect == Dialect::Mysql && (ruled || ground.has_other_key(&row.values, &unique));
    if in_two {
        two(plan, ground, &row.values, &same, &set)?;
    } else {
        plan.step(single(ground, row.values, &unique, &set, ruled)?);
    }
    let wanted = if shared.exports.is_empty() { shared.wanted } else { &[] };
    let mut columns = with(shared.shown.as_ref(), wanted);
    if shared.shown.is_none() && given.is_none() {
        // The key first: it is the response.
        let rest = std::mem::replace(&mut columns, ground.table.key.clone());
        columns.extend(rest.into_iter().filter(|column| !ground.table.key.contains(column)));
    }
    let inserted = plan.steps.len() - 1;
    let own = |sql: &mut Sql, first: &mut bool| meant(ground, &same, inserted, sql, first);
    if ruled {
        plan.step(ground.select_found(&[], &own, Operation::Create, Some(found()))?);
        plan.step(ground.select_found(&[], &own, Operation::Update, Some(found()))?);
    } else if in_two {
        plan.step(ground.select_found(&[], &own, Operation::Create, Some(there()))?);
    }
    let mut shows = first;
    if !columns.is_empty() {
        // A key is shown under the rules of creation; a row under those of reading.
        let operation = if shared.shown.is_some() { Operation::Read } else { Operation::Create };
        shows = plan.step(ground.select_found(&columns, &own, operation, None)?);
    }
    exports(shows, &columns, wanted, shared);
    let answer = match (&shared.shown, given) {
        (Some(shown), _) => ChangeResponse::Row { step: shows, of: shows, row: shown.row.clone() },
        (None, Some(json)) => ChangeResponse::Ready(json),
        (None, None) => returned_key(ground, shows),
    };
    Ok(Item { steps: first..plan.steps.len(), answer })
}

/// Returns the row's values in the unique key; `None` when one is missing.
fn same(values: &Values, unique: &[usize]) -> Option<Values> {
    let find = |column: &usize| values.iter().find(|(own, bind)| own == column && *bind != Bind::Null).cloned();
    unique.iter().map(find).collect()
}

/// Checks that the row exists: if not, another unique key conflicted.
fn there() -> crate::statement::Check {
    Box::new(
        |done| {
            if done.rows.is_empty() { Err(Error::new(Code::DuplicateKey, "Duplicate key exception")) } else { Ok(()) }
        },
    )
}

impl WriteContext<'_> {
    /// Returns those of `columns` that are set in an existing row: all but keys, columns with values of the entry, and
    /// columns that updates may not change.
    pub(crate) fn settable(&self, columns: impl Iterator<Item = usize>, unique: &[usize]) -> Vec<usize> {
        let free = |column: &usize| {
            !unique.contains(column)
                && !self.table.key.contains(column)
                && !self.forced.iter().any(|(own, _)| own == column)
                && self.scope.column(Operation::Update, self.table, &self.table.columns[*column].name).is_some()
        };
        columns.filter(free).collect()
    }

    /// Returns whether the row could conflict with others by another key.
    fn has_other_key(&self, values: &Values, unique: &[usize]) -> bool {
        let keys = std::iter::once(&self.table.key).chain(&self.table.unique);
        keys.filter(|key| !key.is_empty() && key.iter().any(|column| !unique.contains(column))).any(|key| {
            key.iter()
                .all(|column| values.iter().any(|(own, _)| own == column) || self.table.columns[*column].has_default)
        })
    }

    /// Returns names in the database.
    fn real_names(&self, columns: &[usize]) -> Vec<&str> {
        columns.iter().map(|column| self.table.columns[*column].real_name.as_str()).collect()
    }
}

/// Creates the single statement.
fn single(
    ground: &WriteContext<'_>,
    values: Values,
    unique: &[usize],
    set: &[usize],
    ruled: bool,
) -> Result<ProgramStep> {
    let mut sql = ground.scope.sql();
    sql.push("INSERT");
    ground.append_values(values, &mut sql);
    let columns: Vec<_> = set.iter().map(|column| &ground.table.columns[*column]).collect();
    ground.scope.dialect.on_conflict(&ground.real_names(unique), &columns, &mut sql);
    if ruled && !set.is_empty() {
        let mut alias = String::new();
        ground.scope.dialect.name(&ground.table.real_name, &mut alias);
        condition::restrict(ground.scope, Operation::Update, ground.table, &alias, &mut sql, &mut true)?;
    }
    let returns = returning(ground, &mut sql);
    Ok(step(sql, returns, None))
}

/// Appends, behind an insert, that it returns the key of its row where a trigger may change it.
fn returning(ground: &WriteContext<'_>, sql: &mut Sql) -> Returns {
    if !ground.table.has_triggers {
        return Returns::Count;
    }
    ground.scope.dialect.returning(sql, |sql| ground.list(&ground.table.key, "", sql));
    ground.rows(&ground.table.key)
}

/// Appends the predicate that finds the row which was inserted or changed: by its values in the unique key, or, where a
/// trigger may change these, by the primary key that the step `inserted` returned, if it did.
fn meant(ground: &WriteContext<'_>, same: &Values, inserted: usize, sql: &mut Sql, first: &mut bool) {
    let by_values = |alias: &str, sql: &mut Sql, first: &mut bool| {
        for (index, bind) in same {
            condition::begin(sql, first);
            sql.column(alias, ground.table, *index).push(" = ");
            ground.scope.dialect.written(&ground.table.columns[*index], bind.clone(), sql);
        }
    };
    if !ground.table.has_triggers {
        return by_values("t", sql, first);
    }
    for (at, index) in ground.table.key.iter().enumerate() {
        condition::begin(sql, first);
        let told = Bind::BackOr { step: inserted, column: at, otherwise: Box::new(Bind::Null) };
        sql.column("t", ground.table, *index).push(" = COALESCE(").bind(told).push(", (SELECT ");
        sql.column("o", ground.table, *index).push(" FROM ").name(&ground.table.real_name).push(" AS o");
        by_values("o", sql, &mut true);
        sql.push("))");
    }
}

/// Adds an update, and an insert if there is no such row.
fn two(plan: &mut ChangePlan, ground: &WriteContext<'_>, values: &Values, same: &Values, set: &[usize]) -> Result<()> {
    if !set.is_empty() {
        let mut sql = ground.scope.sql();
        sql.push("UPDATE ").name(&ground.table.real_name);
        ground.set(values.iter().filter(|(column, _)| set.contains(column)).cloned().collect(), &mut sql);
        equal(ground, same, &mut sql);
        condition::restrict(ground.scope, Operation::Update, ground.table, "", &mut sql, &mut false)?;
        plan.step(step(sql, Returns::Count, None));
    }
    let mut sql = ground.scope.sql();
    sql.push("INSERT INTO ").name(&ground.table.real_name).push(" (");
    let mut first = true;
    for (column, _) in values {
        sql.separate(&mut first, ", ").name(&ground.table.columns[*column].real_name);
    }
    sql.push(") SELECT ");
    let mut first = true;
    for (column, bind) in values {
        sql.separate(&mut first, ", ");
        let info = &ground.table.columns[*column];
        ground.scope.dialect.store(info, ground.scope.spec().geometry_srid, bind.clone(), &mut sql);
    }
    sql.push(ground.scope.dialect.of_nothing()).push(" WHERE NOT EXISTS (SELECT 1 FROM ");
    sql.name(&ground.table.real_name);
    equal(ground, same, &mut sql);
    sql.push(")");
    let returns = returning(ground, &mut sql);
    plan.step(step(sql, returns, None));
    Ok(())
}

/// Appends ` WHERE column = value AND ...`.
fn equal(ground: &WriteContext<'_>, same: &Values, sql: &mut Sql) {
    let mut first = true;
    for (column, bind) in same {
        condition::begin(sql, &mut first);
        let info = &ground.table.columns[*column];
        sql.name(&info.real_name).push(" = ");
        ground.scope.dialect.written(info, bind.clone(), sql);
    }
}
