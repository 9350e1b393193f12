//! One joined relation and the statement that fetches its rows: those whose key is among the keys of the parent rows.

use std::sync::Arc;

use salver_model::Result;
use salver_model::records::{ColumnKind, Condition, TableInfo};

use super::super::order::{self, Sort};
use super::super::root_rows::Root;
use crate::condition::{ConditionContext, begin, restrict_seen, seen_table, treeql};
use crate::dialect::Sql;
use crate::relation::Link;
use crate::statement::Read;

/// Aliases of the joined table in its statement, and of the junction table.
const ALIAS: &str = "c";
const BETWEEN: &str = "j";

/// A joined relation.
#[derive(Clone, Debug)]
pub(crate) struct Branch<'s> {
    pub(crate) ground: ConditionContext<'s>,
    pub(crate) table: &'s TableInfo,
    pub(crate) link: Link,
    /// The parent branch; none for the first table.
    pub(crate) parent: Option<usize>,
    /// The shown columns, and all fetched columns, beginning with the shown ones.
    pub(crate) shown: Vec<usize>,
    pub(crate) fetched: Vec<usize>,
    pub(crate) filter: Option<&'s Condition>,
    pub(crate) order: Vec<Sort<'s>>,
    /// Most rows per parent row.
    pub(crate) limit: Option<u64>,
}

/// Adds `columns` to the fetched ones.
pub(crate) fn fetch(fetched: &mut Vec<usize>, columns: &[usize]) {
    for column in columns {
        if !fetched.contains(column) {
            fetched.push(*column);
        }
    }
}

impl<'s> Branch<'s> {
    /// Returns the junction table's columns that refer to the parent rows, which are fetched after all others.
    fn near(&self) -> (&[usize], Option<&'s TableInfo>) {
        match &self.link {
            Link::Through { junction, near, .. } => (near, Some(&self.ground.scope.schema.tables()[*junction])),
            _ => (&[], None),
        }
    }

    /// Returns the cells by which a row is filed under its parent row.
    pub(crate) fn key_cells(&self) -> Vec<usize> {
        match &self.link {
            Link::Through { near, .. } => (self.fetched.len()..self.fetched.len() + near.len()).collect(),
            link => cells_of(&self.fetched, link.target()),
        }
    }

    /// Returns the cells that are null when a row of the junction table leads to a missing row.
    pub(crate) fn present_cells(&self) -> Option<Vec<usize>> {
        matches!(self.link, Link::Through { .. }).then(|| cells_of(&self.fetched, self.link.target()))
    }

    /// Returns the statement.
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

    /// Appends everything after the columns.
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

    /// Appends the row's number among those of the same parent row.
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

    /// Returns the columns that hold the key of the parent row.
    fn filed_by(&self) -> (&TableInfo, &'static str, &[usize]) {
        match (self.near(), &self.link) {
            ((near, Some(between)), _) => (between, BETWEEN, near),
            (_, link) => (self.table, ALIAS, link.target()),
        }
    }

    /// Appends ` FROM ... WHERE ...`: rows whose key is among those of the parents.
    fn from(&self, branches: &[Branch<'s>], root: &Root<'s>, sql: &mut Sql) -> Result<()> {
        let ConditionContext { scope, operation, strict } = self.ground;
        let mut first = true;
        sql.push(" FROM ");
        if let (Link::Through { far, target, .. }, (_, Some(between))) = (&self.link, self.near()) {
            // A row that was never there leaves a null in its place, as in PHP-CRUD-API. One that may be kept back must
            // not, since it would be counted.
            let is_whole = self.filter.is_none() && scope.access.rows(operation, self.table).is_empty();
            seen_table(scope, operation, between, BETWEEN, sql)?;
            sql.push(if is_whole { " LEFT JOIN " } else { " JOIN " });
            seen_table(scope, operation, self.table, ALIAS, sql)?;
            sql.push(" ON ");
            for (at, (there, here)) in target.iter().zip(far).enumerate() {
                sql.push(if at > 0 { " AND " } else { "" });
                sql.column(ALIAS, self.table, *there).push(" = ").column(BETWEEN, between, *here);
            }
            restrict_seen(scope, operation, self.table, ALIAS, sql, &mut false)?;
        } else {
            seen_table(scope, operation, self.table, ALIAS, sql)?;
        }
        begin(sql, &mut first);
        self.among(branches, root, sql)?;
        match self.near().1 {
            Some(between) => restrict_seen(scope, operation, between, BETWEEN, sql, &mut first)?,
            None => restrict_seen(scope, operation, self.table, ALIAS, sql, &mut first)?,
        }
        if let Some(filter) = self.filter {
            begin(sql, &mut first);
            treeql(scope, operation, self.table, ALIAS, filter, strict, sql)?;
        }
        Ok(())
    }

    /// Appends the predicate that the key is among those of the parent rows.
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

    /// Appends a subquery of these columns of the rows, to find child rows by.
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

    /// Appends the order of one parent's rows: as requested, and then by primary key, which through a junction table is
    /// that table's own.
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

/// Returns the positions of the columns among the fetched ones.
pub(crate) fn cells_of(fetched: &[usize], columns: &[usize]) -> Vec<usize> {
    columns.iter().filter_map(|column| fetched.iter().position(|own| own == column)).collect()
}
