//! One joined relation and the statement that fetches its rows: those whose key is among the keys of the rows above.

use std::sync::Arc;

use salver_model::Result;
use salver_model::records::{ColumnKind, Condition, TableInfo};

use super::super::order::{self, Sort};
use super::super::root::Root;
use crate::condition::{Ground, begin, restrict, treeql};
use crate::dialect::Sql;
use crate::relation::Link;
use crate::statement::Read;

/// What the joined table is called in its statement, and what the table between.
const ALIAS: &str = "c";
const BETWEEN: &str = "j";

/// A joined relation.
#[derive(Clone, Debug)]
pub(crate) struct Branch<'s> {
    pub(crate) ground: Ground<'s>,
    pub(crate) table: &'s TableInfo,
    pub(crate) link: Link,
    /// The branch it hangs on; none for the first table.
    pub(crate) parent: Option<usize>,
    /// The columns that are shown, and behind them those that are only fetched.
    pub(crate) shown: Vec<usize>,
    pub(crate) fetched: Vec<usize>,
    pub(crate) filter: Option<&'s Condition>,
    pub(crate) order: Vec<Sort<'s>>,
    /// At most so many rows for each row above.
    pub(crate) limit: Option<u64>,
}

/// Adds `columns` to what is fetched.
pub(crate) fn fetch(fetched: &mut Vec<usize>, columns: &[usize]) {
    for column in columns {
        if !fetched.contains(column) {
            fetched.push(*column);
        }
    }
}

impl<'s> Branch<'s> {
    /// The columns of the table between that refer to the rows above, which are fetched behind all others.
    fn near(&self) -> (&[usize], Option<&'s TableInfo>) {
        match &self.link {
            Link::Through { junction, near, .. } => (near, Some(&self.ground.scope.schema.tables()[*junction])),
            _ => (&[], None),
        }
    }

    /// The cells by which a row is filed under the row above.
    pub(crate) fn key_cells(&self) -> Vec<usize> {
        match &self.link {
            Link::Through { near, .. } => (self.fetched.len()..self.fetched.len() + near.len()).collect(),
            link => cells_of(&self.fetched, link.target()),
        }
    }

    /// The cells that are null when a row of the table between leads to a row that is not there.
    pub(crate) fn present_cells(&self) -> Option<Vec<usize>> {
        matches!(self.link, Link::Through { .. }).then(|| cells_of(&self.fetched, self.link.target()))
    }

    /// The statement.
    pub(crate) fn read(&self, branches: &[Branch<'s>], root: &Root<'s>) -> Result<Read> {
        let mut sql = self.ground.scope.sql();
        let (near, between) = self.near();
        sql.push("SELECT ");
        let windowed = self.limit.is_some();
        if windowed {
            for at in 0..self.fetched.len() + near.len() {
                sql.push(if at > 0 { ", w.f" } else { "w.f" }).push(itoa::Buffer::new().format(at));
            }
            sql.push(" FROM (SELECT ");
        }
        let mut at = 0;
        let mut item = |table: &TableInfo, alias: &str, index: usize, sql: &mut Sql| {
            sql.push(if at > 0 { ", " } else { "" });
            sql.dialect.select(&table.columns[index], alias, sql);
            if windowed {
                sql.push(" AS f").push(itoa::Buffer::new().format(at));
            }
            at += 1;
        };
        for index in &self.fetched {
            item(self.table, ALIAS, *index, &mut sql);
        }
        for index in near {
            item(between.unwrap_or(self.table), BETWEEN, *index, &mut sql);
        }
        self.rows(branches, root, &mut sql)?;
        let mut kinds: Vec<ColumnKind> = self.fetched.iter().map(|index| self.table.columns[*index].kind).collect();
        kinds.extend(near.iter().filter_map(|index| Some(between?.columns[*index].kind)));
        Ok(Read { sql: sql.text.into(), binds: sql.binds, kinds: Arc::from(kinds), point: false })
    }

    /// Appends what follows the columns.
    fn rows(&self, branches: &[Branch<'s>], root: &Root<'s>, sql: &mut Sql) -> Result<()> {
        match self.limit {
            None => {
                self.from(branches, root, sql)?;
                self.order_by(sql)
            }
            Some(limit) => {
                self.number(sql)?;
                self.from(branches, root, sql)?;
                let limit = limit.min(i64::MAX as u64);
                sql.push(") AS w WHERE w.rn <= ").push(itoa::Buffer::new().format(limit)).push(" ORDER BY w.rn");
                Ok(())
            }
        }
    }

    /// Appends the number a row has among those of the same row above.
    fn number(&self, sql: &mut Sql) -> Result<()> {
        sql.push(", ROW_NUMBER() OVER (PARTITION BY ");
        let (table, alias, columns) = self.filed_by();
        for (at, index) in columns.iter().enumerate() {
            sql.push(if at > 0 { ", " } else { "" }).column(alias, table, *index);
        }
        self.order_by(sql)?;
        sql.push(") AS rn");
        Ok(())
    }

    /// The columns that hold the key of the row above.
    fn filed_by(&self) -> (&TableInfo, &'static str, &[usize]) {
        match (self.near(), &self.link) {
            ((near, Some(between)), _) => (between, BETWEEN, near),
            (_, link) => (self.table, ALIAS, link.target()),
        }
    }

    /// Appends ` FROM ... WHERE ...`: rows whose key is among those above.
    fn from(&self, branches: &[Branch<'s>], root: &Root<'s>, sql: &mut Sql) -> Result<()> {
        let Ground { scope, operation, strict } = self.ground;
        let mut first = true;
        sql.push(" FROM ");
        if let (Link::Through { far, target, .. }, (_, Some(between))) = (&self.link, self.near()) {
            // What a rule hides leaves its place, unless a client's own condition chooses.
            sql.name(&between.real_name).push(" ").push(BETWEEN);
            sql.push(if self.filter.is_some() { " JOIN " } else { " LEFT JOIN " });
            sql.name(&self.table.real_name).push(" ").push(ALIAS).push(" ON ");
            for (at, (there, here)) in target.iter().zip(far).enumerate() {
                sql.push(if at > 0 { " AND " } else { "" });
                sql.column(ALIAS, self.table, *there).push(" = ").column(BETWEEN, between, *here);
            }
            restrict(scope, operation, self.table, ALIAS, sql, &mut false)?;
        } else {
            sql.name(&self.table.real_name).push(" ").push(ALIAS);
        }
        begin(sql, &mut first);
        self.among(branches, root, sql)?;
        match self.near().1 {
            Some(between) => restrict(scope, operation, between, BETWEEN, sql, &mut first)?,
            None => restrict(scope, operation, self.table, ALIAS, sql, &mut first)?,
        }
        if let Some(filter) = self.filter {
            begin(sql, &mut first);
            treeql(scope, operation, self.table, ALIAS, filter, strict, sql)?;
        }
        Ok(())
    }

    /// Appends that the key is among those of the rows above.
    fn among(&self, branches: &[Branch<'s>], root: &Root<'s>, sql: &mut Sql) -> Result<()> {
        let (table, alias, columns) = self.filed_by();
        let tuple = columns.len() > 1;
        sql.push(if tuple { "(" } else { "" });
        for (at, index) in columns.iter().enumerate() {
            sql.push(if at > 0 { ", " } else { "" }).column(alias, table, *index);
        }
        sql.push(if tuple { ") IN (" } else { " IN (" });
        match self.parent {
            None => root.keys_of(self.link.own(), sql)?,
            Some(parent) => branches[parent].keys_of(self.link.own(), branches, root, sql)?,
        }
        sql.push(")");
        Ok(())
    }

    /// Appends a select of these columns of the rows, to look for those below by.
    fn keys_of(&self, columns: &[usize], branches: &[Branch<'s>], root: &Root<'s>, sql: &mut Sql) -> Result<()> {
        let windowed = self.limit.is_some();
        sql.push("SELECT ");
        if windowed {
            for at in 0..columns.len() {
                sql.push(if at > 0 { ", w.k" } else { "w.k" }).push(itoa::Buffer::new().format(at));
            }
            sql.push(" FROM (SELECT ");
        }
        for (at, index) in columns.iter().enumerate() {
            sql.push(if at > 0 { ", " } else { "" }).column(ALIAS, self.table, *index);
            if windowed {
                sql.push(" AS k").push(itoa::Buffer::new().format(at));
            }
        }
        if let Some(limit) = self.limit {
            self.number(sql)?;
            self.from(branches, root, sql)?;
            let limit = limit.min(i64::MAX as u64);
            sql.push(") AS w WHERE w.rn <= ").push(itoa::Buffer::new().format(limit));
            return Ok(());
        }
        self.from(branches, root, sql)
    }

    /// Appends the order of the rows of one row above: as asked, and then by primary key, which through a table between
    /// is that table's own.
    fn order_by(&self, sql: &mut Sql) -> Result<()> {
        if matches!(self.link, Link::ToOne { .. }) {
            return Ok(());
        }
        let mut sorts = self.order.clone();
        let Some(between) = self.near().1 else {
            order::complete(&self.ground, self.table, &mut sorts);
            return order::order_by(&self.ground, self.table, ALIAS, (&sorts, false), sql);
        };
        order::order_by(&self.ground, self.table, ALIAS, (&sorts, false), sql)?;
        let mut own = Vec::new();
        order::complete(&self.ground, between, &mut own);
        for (at, sort) in own.iter().enumerate() {
            sql.push(if at == 0 && sorts.is_empty() { " ORDER BY " } else { ", " });
            order::expression(&self.ground, between, BETWEEN, (sort, ("", "")), sql)?;
            order::direction(sort.descending, sort.nullable(), sql);
        }
        Ok(())
    }
}

/// Where the columns stand among those that are fetched.
pub(crate) fn cells_of(fetched: &[usize], columns: &[usize]) -> Vec<usize> {
    columns.iter().filter_map(|column| fetched.iter().position(|own| own == column)).collect()
}
