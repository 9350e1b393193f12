//! Updates rows by key: sets columns, and adds numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use salver_model::records::{Operation, RecordKey};
use salver_model::{Code, Error, Result, Rule};

use super::context::{WriteContext, argument_count, invalid};
use super::create::CreateContext;
use super::plan::{ChangePlan, ChangeResponse, Item};
use super::record::Values;
use super::returned_rows::{step, with};
use super::row_rules::{Admission, ensure, refused};
use super::validation;
use crate::condition::{self, ComparedColumn};
use crate::dialect::{Dialect, Sql};
use crate::read::not_found;
use crate::statement::{Bind, Check, Done, Returns};

/// Adds the steps that change one row.
pub(crate) fn update(
    plan: &mut ChangePlan,
    ground: &WriteContext<'_>,
    key: &RecordKey,
    values: Values,
    shared: &mut CreateContext<'_>,
) -> Result<Item> {
    let first = plan.steps.len();
    let item = |plan: &ChangePlan, answer| Ok(Item { steps: first..plan.steps.len(), answer });
    let must_exist = ground.change.must_exist;
    let Some(by_key) = ground.by_key(key)? else {
        let absent = if must_exist { ChangeResponse::Failed(not_found(key)) } else { nothing(shared.shown.is_some()) };
        return item(plan, absent);
    };
    let admission = ground.admission(&values, false);
    if admission == Admission::Refused {
        return item(plan, ChangeResponse::Failed(refused()));
    }
    let wanted = if shared.exports.is_empty() { shared.wanted } else { &[] };
    if values.is_empty() {
        // Nothing to write; the row may still have to exist.
        if must_exist {
            let key = key.clone();
            let there: Check = Box::new(move |done| if done.rows.is_empty() { Err(not_found(&key)) } else { Ok(()) });
            plan.step(select_restricted(ground, &by_key, there)?);
        }
        let columns = with(shared.shown.as_ref(), wanted);
        if columns.is_empty() {
            return item(plan, nothing(false));
        }
        let select = plan.step(select(ground, &columns, &by_key, None)?);
        exports(select, &columns, wanted, shared);
        let answer = match &shared.shown {
            Some(shown) => ChangeResponse::Row { step: select, of: select, row: shown.row.clone() },
            None => nothing(false),
        };
        return item(plan, answer);
    }
    let written: Vec<usize> = values.iter().map(|(column, _)| *column).collect();
    let sums = validation::of_sums(ground, &written);
    let mut sql = ground.scope.sql();
    sql.push("UPDATE ").name(&ground.table.real_name);
    ground.set(values, &mut sql);
    sql.push(" WHERE ");
    by_key.append(ground, &mut sql);
    condition::restrict(ground.scope, ground.operation, ground.table, "", &mut sql, &mut false)?;
    let columns = with(shared.shown.as_ref(), wanted);
    let direct = !columns.is_empty() && ground.returns_new_rows();
    let returns = if direct {
        ground.scope.dialect.returning(&mut sql, |sql| ground.list(&columns, "", sql));
        ground.rows(&columns)
    } else {
        Returns::Count
    };
    let asks = admission == Admission::Ask;
    let touched = Arc::new(AtomicBool::new(false));
    let notes = if must_exist { Some(found_and_noted(key, &touched)) } else { None };
    let check = ground.of_one_row(key, notes.or_else(|| (asks || !sums.is_empty()).then(|| note(&touched))));
    let update = plan.step(step(sql, returns, check));
    if asks {
        plan.step(select_restricted(ground, &by_key, passes(Arc::clone(&touched)))?);
    }
    for (rule, told) in sums {
        plan.step(select_checked(ground, &by_key, rule, checked(&touched, &ground.table.name, told))?);
    }
    let mut shows = update;
    if !columns.is_empty() && !direct {
        shows = plan.step(select(ground, &columns, &by_key, None)?);
    }
    exports(shows, &columns, wanted, shared);
    let answer = match &shared.shown {
        Some(shown) => ChangeResponse::Row { step: shows, of: update, row: shown.row.clone() },
        None => ChangeResponse::Affected(update),
    };
    item(plan, answer)
}

/// Returns the response when there is no row to change.
pub(crate) fn nothing(shown: bool) -> ChangeResponse {
    ChangeResponse::Ready(if shown { b"null".to_vec() } else { b"0".to_vec() })
}

/// Records where the referenced columns are.
pub(crate) fn exports(step: usize, columns: &[usize], wanted: &[usize], shared: &mut CreateContext<'_>) {
    for column in wanted {
        let at = columns.iter().position(|own| own == column);
        shared.exports.push(at.map_or(Bind::Null, |column| Bind::Back { step, column }));
    }
}

/// Returns a check that records whether the step affected a row.
fn note(touched: &Arc<AtomicBool>) -> Check {
    let touched = Arc::clone(touched);
    Box::new(move |done: &Done| {
        touched.store(done.affected > 0, Ordering::Relaxed);
        Ok(())
    })
}

/// Returns a check that a row was affected, and records it.
fn found_and_noted(key: &RecordKey, touched: &Arc<AtomicBool>) -> Check {
    let (key, note) = (key.clone(), note(touched));
    Box::new(move |done: &Done| if done.affected > 0 { note(done) } else { Err(not_found(&key)) })
}

/// Returns a check that an affected row is found.
fn passes(touched: Arc<AtomicBool>) -> Check {
    Box::new(move |done: &Done| ensure(!touched.load(Ordering::Relaxed) || !done.rows.is_empty()))
}

/// Returns a check that an affected row satisfies a rule.
fn checked(touched: &Arc<AtomicBool>, table: &str, told: (String, String)) -> Check {
    let (touched, table) = (Arc::clone(touched), table.to_owned());
    Box::new(move |done: &Done| {
        let passes = !touched.load(Ordering::Relaxed) || !done.rows.is_empty();
        if passes { Ok(()) } else { Err(invalid(&table, vec![told.clone()])) }
    })
}

/// The predicate that finds one row.
#[derive(Clone, Debug)]
pub(crate) struct ByKey<'k> {
    key: &'k RecordKey,
}

impl ByKey<'_> {
    /// Appends the condition.
    pub(crate) fn append(&self, ground: &WriteContext<'_>, sql: &mut Sql) {
        condition::key(ground.table, "", self.key, sql);
        if ground.change.exact_keys {
            condition::exactly(ground.table, "", self.key, sql);
        }
    }
}

impl WriteContext<'_> {
    /// Returns the check of a change by this key, with one that it changes one row where two may be shown with the same
    /// key: SQLite may have a number and a text of its digits, and nothing keeps the key of a view unique, or that of a
    /// PostgreSQL table among those that inherit from it.
    pub(crate) fn of_one_row(&self, key: &RecordKey, check: Option<Check>) -> Option<Check> {
        let is_mixed = |index: &usize| {
            let column = &self.table.columns[*index];
            column.kind.is_binary() || ComparedColumn::by_text(self.scope.dialect, column).is_untyped(Dialect::Sqlite)
        };
        let mixed = self.scope.dialect == Dialect::Sqlite && self.table.key.iter().any(is_mixed);
        if !mixed && !self.table.key_assumed {
            return check;
        }
        let named = key.join("~");
        let hint = if self.table.key_assumed {
            "nothing keeps the key unique, as among tables that inherit from another: nothing was changed; change them \
             by a condition, or where each of them is"
        } else {
            "it is a number in one and a text in the other: change them by a condition"
        };
        Some(Box::new(move |done: &Done| {
            if done.affected > 1 {
                let message = format!("two rows have the key '{named}'");
                return Err(Error::new(Code::TooManyAffected, message).with_hint(hint));
            }
            check.as_ref().map_or(Ok(()), |check| check(done))
        }))
    }

    /// Returns the predicate for the row with this key; `None` when no row can have it.
    ///
    /// # Errors
    /// A key with more or fewer parts than the primary key has.
    pub(crate) fn by_key<'k>(&self, key: &'k RecordKey) -> Result<Option<ByKey<'k>>> {
        if key.len() != self.table.key.len() {
            return Err(argument_count(self.change));
        }
        let mut probe = self.scope.sql();
        Ok(condition::key(self.table, "", key, &mut probe).then_some(ByKey { key }))
    }

    /// Appends ` SET column = value, ...`.
    pub(crate) fn set(&self, values: Values, sql: &mut Sql) {
        sql.push(" SET ");
        let mut first = true;
        for (column, bind) in values {
            let info = &self.table.columns[column];
            sql.separate(&mut first, ", ").name(&info.real_name).push(" = ");
            if self.operation == Operation::Increment {
                self.scope.dialect.add(info, bind, sql);
            } else {
                self.scope.dialect.replace(info, self.scope.spec().geometry_srid, bind, sql);
            }
        }
    }
}

/// Selects columns of the row, if it may be read.
pub(crate) fn select(
    ground: &WriteContext<'_>,
    columns: &[usize],
    by_key: &ByKey<'_>,
    check: Option<Check>,
) -> Result<crate::statement::ProgramStep> {
    let mut sql = ground.scope.sql();
    sql.push("SELECT ");
    ground.seen_list(columns, Operation::Read, "", &mut sql)?;
    sql.push(" FROM ").name(&ground.table.real_name).push(" WHERE ");
    by_key.append(ground, &mut sql);
    condition::restrict(ground.scope, Operation::Read, ground.table, "", &mut sql, &mut false)?;
    Ok(step(sql, ground.rows(columns), check))
}

/// Selects the row, if it passes the rules of the change.
fn select_restricted(
    ground: &WriteContext<'_>,
    by_key: &ByKey<'_>,
    check: Check,
) -> Result<crate::statement::ProgramStep> {
    let mut sql = ground.scope.sql();
    sql.push("SELECT 1 FROM ").name(&ground.table.real_name).push(" WHERE ");
    by_key.append(ground, &mut sql);
    condition::restrict(ground.scope, ground.operation, ground.table, "", &mut sql, &mut false)?;
    Ok(step(sql, ground.rows(&[]), Some(check)))
}

/// Selects the row, if it passes the rule of a check.
fn select_checked(
    ground: &WriteContext<'_>,
    by_key: &ByKey<'_>,
    rule: &Rule,
    check: Check,
) -> Result<crate::statement::ProgramStep> {
    let mut sql = ground.scope.sql();
    sql.push("SELECT 1 FROM ").name(&ground.table.real_name).push(" WHERE ");
    by_key.append(ground, &mut sql);
    sql.push(" AND ");
    condition::filter(ground.table, "", &rule.filter(ground.scope.access.caller), &mut sql)?;
    Ok(step(sql, ground.rows(&[]), Some(check)))
}
