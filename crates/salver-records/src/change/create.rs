//! New rows.

use std::sync::Arc;

use salver_model::Result;
use salver_model::records::Operation;

use super::context::{Fields, WriteContext};
use super::database_validation::{self, Judged};
use super::new_key::{Stored, key_answer, known_key, returned_key};
use super::plan::{ChangePlan, ChangeResponse, Item};
use super::record::Values;
use super::returned_rows::{Shown, step, with};
use super::row_rules::{Admission, found, refused};
use crate::dialect::Dialect;
use crate::statement::{Bind, ProgramStep, Returns};

/// State shared by the records of one change.
#[derive(Debug, Default)]
pub(crate) struct CreateContext<'c> {
    /// The columns of the rows that are returned.
    pub(crate) shown: Option<Shown>,
    /// Columns of the first row that later changes refer to.
    pub(crate) wanted: &'c [usize],
    /// The binds that refer to their values.
    pub(crate) exports: Vec<Bind>,
    /// The statement of the previous record: the next one shares it when it has the same columns.
    pub(crate) last: Option<Last>,
    /// The values that only the database can judge, by the number of their record.
    pub(crate) judged: Vec<(usize, Vec<Judged>)>,
}

impl CreateContext<'_> {
    /// Records which values of a record only the database can judge.
    pub(crate) fn judge(&mut self, at: usize, ground: &WriteContext<'_>, values: &Values) {
        let own = database_validation::among(ground, values);
        if !own.is_empty() {
            self.judged.push((at, own));
        }
    }
}

/// A statement, with the columns it writes and those it returns.
#[derive(Debug)]
pub(crate) struct Last {
    columns: Vec<usize>,
    returned: Vec<usize>,
    sql: Arc<str>,
}

/// A row to be inserted.
pub(crate) struct NewRow<'v> {
    pub(crate) fields: &'v Fields<'v>,
    pub(crate) values: Values,
}

/// Adds the steps of one new row.
pub(crate) fn create(
    plan: &mut ChangePlan,
    ground: &WriteContext<'_>,
    row: NewRow<'_>,
    shared: &mut CreateContext<'_>,
) -> Result<Item> {
    let first = plan.steps.len();
    let admission = ground.admission(&row.values, true);
    if admission == Admission::Refused {
        return Ok(Item { steps: first..first, answer: ChangeResponse::Failed(refused()) });
    }
    let wanted = if shared.exports.is_empty() { shared.wanted } else { &[] };
    let told = ColumnSources::of(ground, &row, shared.shown.as_ref(), wanted);
    // Copies for later steps; most rows have none.
    let looks = shared.shown.is_none() && told.looks_for_key(ground, &row.values);
    let follows = looks || admission == Admission::Ask || !told.asked.is_empty() || !wanted.is_empty();
    let given: Values = if follows { row.values.clone() } else { Values::new() };
    let mut answer = key_answer(ground, (row.fields, &row.values), told.numbered.is_some(), first);
    plan.step(insert(ground, row.values, &told, shared));
    let value = |column: usize| {
        let own = given.iter().find(|(own, bind)| *own == column && *bind != Bind::Null).map(|(_, bind)| bind.clone());
        if ground.table.has_triggers {
            return told.stored(ground, column, own, first);
        }
        let key = || (told.numbered == Some(column)).then_some(Bind::BackKey { step: first });
        let cell =
            || told.returned.iter().position(|own| *own == column).map(|at| Bind::Back { step: first, column: at });
        own.or_else(key).or_else(cell)
    };
    let key =
        || ground.table.key.iter().map(|column| (*column, value(*column).unwrap_or(Bind::Null))).collect::<Values>();
    if admission == Admission::Ask {
        plan.step(ground.select_row(&[], &key(), Operation::Create, Some(found()))?);
    }
    if looks {
        let step = plan.step(ground.select_row(&ground.table.key, &key(), Operation::Create, None)?);
        let found = Box::new(returned_key(ground, step));
        answer = ChangeResponse::Either { step, told: found, otherwise: Box::new(answer) };
    }
    let mut shows = first;
    if !told.asked.is_empty() {
        shows = plan.step(ground.select_row(&told.asked, &key(), Operation::Read, None)?);
    }
    for column in wanted {
        let asked = || {
            let at = told.asked.iter().position(|own| own == column)?;
            let sent = given.iter().find(|(own, _)| own == column).map(|(_, bind)| Box::new(bind.clone()));
            // A row that the caller may not read has at least what was sent.
            Some(match sent.filter(|_| ground.table.has_triggers) {
                Some(otherwise) => Bind::BackOr { step: shows, column: at, otherwise },
                None => Bind::Back { step: shows, column: at },
            })
        };
        shared.exports.push(value(*column).or_else(asked).unwrap_or(Bind::Null));
    }
    let answer = match &shared.shown {
        Some(shown) => ChangeResponse::Row { step: shows, of: first, row: shown.row.clone() },
        None => answer,
    };
    Ok(Item { steps: first..plan.steps.len(), answer })
}

/// The sources of a new row's columns.
struct ColumnSources {
    /// The key, when the database generates it and the driver reports it.
    numbered: Option<usize>,
    /// Columns that the insert returns: shown ones first, so that a row of them can be written as it comes.
    returned: Vec<usize>,
    /// Columns that must be selected afterwards.
    asked: Vec<usize>,
}

impl ColumnSources {
    fn of(ground: &WriteContext<'_>, row: &NewRow<'_>, shown: Option<&Shown>, wanted: &[usize]) -> Self {
        if ground.table.has_triggers {
            return Self::behind_triggers(ground, shown, wanted);
        }
        let known = |column: usize| row.values.iter().any(|(own, bind)| *own == column && *bind != Bind::Null);
        let unknown: Vec<usize> = wanted.iter().copied().filter(|column| !known(*column)).collect();
        let direct = if shown.is_some() { ground.returns_new_rows() } else { ground.scope.dialect != Dialect::Mysql };
        let mut asked: Vec<usize> = shown.map_or_else(Vec::new, |shown| shown.columns.clone());
        let numbered = ground.numbered().filter(|key| !known(*key));
        asked.extend(unknown.iter().filter(|column| numbered != Some(**column)));
        let rows = direct && !asked.is_empty();
        let numbered = numbered.filter(|_| !rows);
        let mut returned = Vec::new();
        let mut add = |column: usize| {
            if !returned.contains(&column) {
                returned.push(column);
            }
        };
        if rows {
            shown.iter().flat_map(|shown| &shown.columns).for_each(|column| add(*column));
        }
        if numbered.is_none() && (known_key(ground, &row.values, Stored::New).is_none() || rows) {
            ground.table.key.iter().for_each(|column| add(*column));
        }
        if rows {
            unknown.iter().for_each(|column| add(*column));
            asked.clear();
        }
        Self { numbered, returned, asked }
    }
}

impl ColumnSources {
    /// Returns the sources where triggers may store something else than was sent, also another key: the insert returns
    /// the key, by which the row is read as it is in the end.
    fn behind_triggers(ground: &WriteContext<'_>, shown: Option<&Shown>, wanted: &[usize]) -> Self {
        Self { numbered: None, returned: ground.table.key.clone(), asked: with(shown, wanted) }
    }

    /// Returns whether the key must be selected to be answered as it is shown: MySQL has no `RETURNING`, and may store
    /// the key in another notation than that in which it was sent.
    fn looks_for_key(&self, ground: &WriteContext<'_>, values: &Values) -> bool {
        let is_sent = |key: &usize| values.iter().any(|(own, bind)| own == key && *bind != Bind::Null);
        ground.scope.dialect == Dialect::Mysql
            && self.numbered.is_none()
            && ground.table.key.iter().all(is_sent)
            && known_key(ground, values, Stored::New).is_none()
    }

    /// Returns the value of a key's column behind triggers: as the insert returned it, else `given`. MySQL returns
    /// nothing, and a trigger of PostgreSQL may have put the row elsewhere.
    fn stored(&self, ground: &WriteContext<'_>, column: usize, given: Option<Bind>, first: usize) -> Option<Bind> {
        let at = self.returned.iter().position(|own| *own == column)?;
        let is_numbered = ground.scope.dialect == Dialect::Mysql && ground.numbered() == Some(column);
        let numbered = || if is_numbered { Bind::BackKey { step: first } } else { Bind::Null };
        Some(Bind::BackOr { step: first, column: at, otherwise: Box::new(given.unwrap_or_else(numbered)) })
    }
}

impl WriteContext<'_> {
    /// Returns the key, when it is one auto-increment column.
    pub(crate) fn numbered(&self) -> Option<usize> {
        self.table.single_key().filter(|key| self.table.columns[*key].auto_increment)
    }
}

/// Creates the insert of one row.
fn insert(
    ground: &WriteContext<'_>,
    values: Values,
    told: &ColumnSources,
    shared: &mut CreateContext<'_>,
) -> ProgramStep {
    let returns = if !told.returned.is_empty() {
        ground.rows(&told.returned)
    } else if told.numbered.is_some() {
        Returns::Key
    } else {
        Returns::Count
    };
    if let Some(last) = &shared.last
        && last.returned == told.returned
        && last.columns.iter().eq(values.iter().map(|(column, _)| column))
    {
        let binds = values.into_iter().map(|(_, bind)| bind).collect();
        return ProgramStep { sql: Arc::clone(&last.sql), binds, returns, check: None };
    }
    let columns = values.iter().map(|(column, _)| *column).collect();
    let mut sql = ground.scope.sql();
    sql.push("INSERT");
    ground.append_values(values, &mut sql);
    if !told.returned.is_empty() {
        ground.scope.dialect.returning(&mut sql, |sql| ground.list(&told.returned, "", sql));
    } else if let Some(key) = told.numbered.filter(|_| ground.scope.dialect == Dialect::Postgres) {
        sql.push(" RETURNING ").name(&ground.table.columns[key].real_name);
    }
    let step = step(sql, returns, None);
    shared.last = Some(Last { columns, returned: told.returned.clone(), sql: Arc::clone(&step.sql) });
    step
}

impl WriteContext<'_> {
    /// Appends ` INTO table (columns) VALUES (values)`.
    pub(crate) fn append_values(&self, values: Values, sql: &mut crate::dialect::Sql) {
        let dialect = self.scope.dialect;
        sql.push(" INTO ").name(&self.table.real_name);
        if values.is_empty() {
            sql.push(if dialect == Dialect::Mysql { " () VALUES ()" } else { " DEFAULT VALUES" });
            return;
        }
        sql.push(" (");
        let mut first = true;
        for (column, _) in &values {
            sql.separate(&mut first, ", ").name(&self.table.columns[*column].real_name);
        }
        sql.push(") VALUES (");
        let mut first = true;
        sql.binds.reserve(values.len());
        for (column, bind) in values {
            sql.separate(&mut first, ", ");
            dialect.store(&self.table.columns[column], self.scope.spec().geometry_srid, bind, sql);
        }
        sql.push(")");
    }
}
