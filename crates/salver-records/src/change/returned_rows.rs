//! Rows returned after a change: which columns, in which form, and from where. A row is returned by the changing
//! statement itself where the system supports it and no rule hides rows from reading; else it is selected by its key,
//! in the same transaction.

use salver_model::records::Operation;
use salver_model::{Code, Error, Result};

use super::context::WriteContext;
use crate::condition;
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::json::{self, JsonRow};
use crate::statement::{Bind, Check, ProgramStep, Returns};

/// The columns that are returned.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) columns: Vec<usize>,
    pub(crate) row: JsonRow,
}

impl Shown {
    /// Returns the columns of `returning`; `None` when it requests nothing.
    ///
    /// # Errors
    /// A table that can't be read, or an unknown column.
    pub(crate) fn of(ground: &WriteContext<'_>) -> Result<Option<Self>> {
        let Some(words) = &ground.change.returning else { return Ok(None) };
        let (scope, table) = (ground.scope, ground.table);
        scope.table(Operation::Read, &ground.change.table)?;
        let mut columns = Vec::with_capacity(table.columns.len());
        for word in words {
            if word == "*" {
                let seen = |index: &usize| scope.column(Operation::Read, table, &table.columns[*index].name).is_some();
                columns.extend((0..table.columns.len()).filter(seen));
            } else {
                columns.push(readable(ground, word)?);
            }
        }
        let mut seen = Vec::with_capacity(columns.len());
        columns.retain(|index| {
            !seen.contains(index) && {
                seen.push(*index);
                true
            }
        });
        let row = JsonRow::new(scope.spec(), table, &columns);
        Ok(Some(Self { columns, row }))
    }
}

/// Returns the columns that are shown, followed by those that later changes refer to.
pub(crate) fn with(shown: Option<&Shown>, wanted: &[usize]) -> Vec<usize> {
    let mut columns = shown.map_or_else(Vec::new, |shown| shown.columns.clone());
    for column in wanted {
        if !columns.contains(column) {
            columns.push(*column);
        }
    }
    columns
}

/// Returns a column that the caller may read.
pub(crate) fn readable(ground: &WriteContext<'_>, name: &str) -> Result<usize> {
    ground.scope.column(Operation::Read, ground.table, name).ok_or_else(|| {
        let own = ground.scope.unknown_column(Operation::Read, ground.table, name);
        Error::new(Code::InvalidColumn, own.message).with_hint_if(own.hint)
    })
}

impl WriteContext<'_> {
    /// Returns whether a changing statement may return rows to the client by itself: as they are.
    pub(crate) fn returns_rows(&self) -> bool {
        self.scope.dialect != Dialect::Mysql
            && self.scope.access.rows(Operation::Read, self.table).is_empty()
            && !self.scope.access.is_masked(Operation::Read, self.table)
    }

    /// Returns whether a statement that inserts or updates may return rows to the client by itself: as they are, and as
    /// they stay. A trigger may change them once more.
    pub(crate) fn returns_new_rows(&self) -> bool {
        self.returns_rows() && !self.table.has_triggers
    }

    /// Appends a select list with the columns as `operation` sees them: for reading, masked ones are masked. Conditions
    /// around it are of the values behind.
    ///
    /// # Errors
    /// `Config` when a mask does not fit its column.
    pub(crate) fn seen_list(&self, columns: &[usize], operation: Operation, alias: &str, sql: &mut Sql) -> Result<()> {
        let masks = self.scope.access.masks(operation, self.table);
        if masks.is_empty() {
            self.list(columns, alias, sql);
            return Ok(());
        }
        let mut first = true;
        for index in columns {
            let column = &self.table.columns[*index];
            sql.separate(&mut first, ", ");
            match masks.iter().find(|(own, _)| own == index) {
                Some((_, mask)) => {
                    let (before, behind) = self.scope.dialect.selected(column);
                    sql.push(before);
                    self.scope.dialect.masked(column, mask, alias, &mut sql.text)?;
                    sql.push(behind);
                }
                None => self.scope.dialect.select(column, alias, sql),
            }
        }
        if first {
            sql.push("1");
        }
        Ok(())
    }

    /// Appends a select list of the columns as they are, for what the server needs itself.
    pub(crate) fn list(&self, columns: &[usize], alias: &str, sql: &mut Sql) {
        let mut first = true;
        for index in columns {
            sql.separate(&mut first, ", ");
            self.scope.dialect.select(&self.table.columns[*index], alias, sql);
        }
        if first {
            sql.push("1");
        }
    }

    /// Returns the result type of a statement that returns these columns.
    pub(crate) fn rows(&self, columns: &[usize]) -> Returns {
        if columns.is_empty() {
            return Returns::Rows([salver_model::records::ColumnKind::Integer].into());
        }
        Returns::Rows(json::kinds(self.table, columns))
    }

    /// Begins `SELECT columns FROM table`, with the alias `t` and the columns as `operation` sees them.
    pub(crate) fn select(&self, columns: &[usize], operation: Operation) -> Result<Sql> {
        let mut sql = self.scope.sql();
        sql.push("SELECT ");
        self.seen_list(columns, operation, "t", &mut sql)?;
        sql.push(" FROM ").name(&self.table.real_name).push(" AS t");
        Ok(sql)
    }

    /// Selects columns of the row with this key, if the rules for `operation` let it be seen.
    pub(crate) fn select_row(
        &self,
        columns: &[usize],
        key: &[(usize, Bind)],
        operation: Operation,
        check: Option<Check>,
    ) -> Result<ProgramStep> {
        let own = |sql: &mut Sql, first: &mut bool| {
            for (index, bind) in key {
                condition::begin(sql, first);
                sql.column("t", self.table, *index).push(" = ");
                self.scope.dialect.written(&self.table.columns[*index], bind.clone(), sql);
            }
        };
        self.select_found(columns, &own, operation, check)
    }

    /// Selects columns of the row that `own` finds, if the rules for `operation` let it be seen.
    pub(crate) fn select_found(
        &self,
        columns: &[usize],
        own: &dyn Fn(&mut Sql, &mut bool),
        operation: Operation,
        check: Option<Check>,
    ) -> Result<ProgramStep> {
        let mut sql = self.select(columns, operation)?;
        let mut first = true;
        own(&mut sql, &mut first);
        condition::restrict(self.scope, operation, self.table, "t", &mut sql, &mut first)?;
        Ok(step(sql, self.rows(columns), check))
    }
}

/// Makes a step of this statement.
pub(crate) fn step(sql: Sql, returns: Returns, check: Option<Check>) -> ProgramStep {
    ProgramStep { sql: sql.text.into(), binds: sql.binds, returns, check }
}
