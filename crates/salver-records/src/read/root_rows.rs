//! The root rows of a request, before any join: their conditions, order and range.

use salver_model::Result;
use salver_model::records::{Condition, RecordKey, TableInfo};

use super::cursor::After;
use super::order::{self, Sort};
use super::range::ListRange;
use crate::condition::{self, ConditionContext, begin, restrict_seen, search, seen_table, treeql};
use crate::dialect::Sql;

/// Alias of the request's table in its statements.
pub(crate) const ALIAS: &str = "t";

/// The rows of a request.
#[derive(Clone, Debug)]
pub(crate) struct Root<'s> {
    pub(crate) ground: ConditionContext<'s>,
    pub(crate) table: &'s TableInfo,
    /// The keys, if rows are requested by key.
    pub(crate) keys: Option<Vec<&'s RecordKey>>,
    pub(crate) filters: Vec<&'s Condition>,
    pub(crate) search: Option<&'s str>,
    pub(crate) order: Vec<Sort<'s>>,
    pub(crate) after: Option<After>,
    /// Whether the rows are paged with tokens.
    pub(crate) paged: bool,
    pub(crate) bounds: ListRange,
}

impl<'s> Root<'s> {
    pub(crate) fn new(ground: ConditionContext<'s>, table: &'s TableInfo) -> Self {
        Self {
            ground,
            table,
            keys: None,
            filters: Vec::new(),
            search: None,
            order: Vec::new(),
            after: None,
            paged: false,
            bounds: ListRange::default(),
        }
    }

    /// Appends ` FROM "posts" t WHERE ...`.
    pub(crate) fn rows(&self, sql: &mut Sql) -> Result<()> {
        let first = &mut self.rows_of_all_pages(sql)?;
        if let Some(after) = &self.after {
            begin(sql, first);
            after.write(&self.ground, self.table, ALIAS, &self.order, sql)?;
        }
        Ok(())
    }

    /// Appends the same without the cursor's predicate; returns whether there is no condition yet.
    pub(crate) fn rows_of_all_pages(&self, sql: &mut Sql) -> Result<bool> {
        let ConditionContext { scope, operation, strict } = self.ground;
        sql.push(" FROM ");
        seen_table(scope, operation, self.table, ALIAS, sql)?;
        let mut first = true;
        if let Some(keys) = &self.keys {
            begin(sql, &mut first);
            self.by_keys(keys, sql);
        }
        for filter in &self.filters {
            begin(sql, &mut first);
            treeql(scope, operation, self.table, ALIAS, filter, strict, sql)?;
        }
        if let Some(text) = self.search {
            begin(sql, &mut first);
            search(scope, operation, self.table, ALIAS, text, sql)?;
        }
        restrict_seen(scope, operation, self.table, ALIAS, sql, &mut first)?;
        Ok(first)
    }

    /// Appends the condition that the row has one of the keys.
    fn by_keys(&self, keys: &[&RecordKey], sql: &mut Sql) {
        if let ([key], true) = (keys, self.table.key.len() > 1) {
            if !condition::key(self.table, ALIAS, key, sql) {
                sql.push("1=0");
            }
            return;
        }
        condition::keys(self.table, ALIAS, keys, sql);
    }

    /// Appends ` ORDER BY ... LIMIT ...`.
    pub(crate) fn order_and_bounds(&self, sql: &mut Sql) -> Result<()> {
        order::order_by(&self.ground, self.table, ALIAS, (&self.order, self.paged), sql)?;
        self.bounds.write(sql);
        Ok(())
    }

    /// Appends a subquery of these columns of the rows, to find joined rows by.
    pub(crate) fn keys_of(&self, columns: &[usize], sql: &mut Sql) -> Result<()> {
        let bounded = !self.bounds.is_all();
        // MySQL allows no limit directly inside an `IN`.
        sql.push(if bounded { "SELECT * FROM (SELECT " } else { "SELECT " });
        for (at, index) in columns.iter().enumerate() {
            sql.push(if at > 0 { ", " } else { "" }).column(ALIAS, self.table, *index);
        }
        self.rows(sql)?;
        if bounded {
            self.order_and_bounds(sql)?;
            sql.push(") AS q");
        }
        Ok(())
    }
}
