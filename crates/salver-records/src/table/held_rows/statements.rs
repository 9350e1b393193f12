//! The statements that read a held table.

use std::sync::Arc;

use arrow::datatypes::DataType;
use salver_model::records::ColumnKind;
use salver_model::{Code, ColumnPath, Result};

use super::key::HeldKey;
use crate::backend::layout::Layout;
use crate::cell::OwnedCell;
use crate::dialect::form::Form;
use crate::dialect::{Dialect, Sql};
use crate::statement::{Bind, Read};
use crate::table::select::SelectContext;
use crate::table::{RecordsTable, column};

/// The plan for reading the rows of one table.
#[derive(Debug)]
pub(super) struct HeldStatements {
    dialect: Dialect,
    /// The table's name, quoted.
    table: String,
    columns: Vec<Fetched>,
    /// The predicate of rules, behind ` WHERE`, and its values; empty without rules.
    rules: (String, Vec<Bind>),
    pub(super) key: HeldKey,
    /// Number of pages, when the key begins with the page number.
    pages: Option<u64>,
}

/// A fetched column.
#[derive(Debug)]
struct Fetched {
    sql: String,
    form: Form,
    kind: ColumnKind,
}

/// The position from which a statement reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadPosition<'a> {
    /// The predicate of the part.
    pub(super) range: &'a str,
    /// The key of the preceding row.
    pub(super) behind: Option<&'a [OwnedCell]>,
    /// Number of rows after that to skip.
    pub(super) skip: u64,
}

impl HeldStatements {
    pub(super) fn new(table: &RecordsTable, layout: &Layout) -> Result<Self> {
        let dialect = table.dialect;
        let ground = SelectContext { dialect, info: &table.info, about: &table.description, orders_texts: false };
        let key = HeldKey::of(dialect, &table.info, layout);
        let mut columns = Vec::with_capacity(table.info.columns.len());
        for own in &table.info.columns {
            let operand = ground.locate(&ColumnPath::column(own.name.as_str()), Code::InvalidColumn)?;
            let (form, cast) = match own.kind {
                // A function has already converted it to text.
                ColumnKind::Geometry => (Form::Text, "::text"),
                _ => Form::of(&operand.data_type, own.own_type()),
            };
            let cast = match &operand.data_type {
                _ if dialect != Dialect::Postgres => "",
                // A cursor's rows come through the driver, like those of queries.
                DataType::Utf8
                | DataType::Decimal128(..)
                | DataType::Decimal256(..)
                | DataType::Date32
                | DataType::Timestamp(..)
                    if key.columns.is_empty() =>
                {
                    "::text"
                }
                _ => cast,
            };
            let kind = column::kind(&operand.data_type);
            columns.push(Fetched { sql: format!("({}){cast}", operand.fetched()), form, kind });
        }
        let mut rules = sql_of(dialect);
        table.rules.push(&table.info.name, &mut rules, &mut true)?;
        let mut name = String::new();
        dialect.name(&table.info.real_name, &mut name);
        let by_address = !key.sorted && !key.columns.is_empty();
        let pages = layout.address.as_ref().filter(|_| by_address).and_then(|address| address.pages);
        Ok(Self { dialect, table: name, columns, rules: (rules.text, rules.binds), key, pages })
    }

    /// Returns the forms in which PostgreSQL sends `columns`, and those of the key.
    pub(super) fn forms(&self, columns: &[usize]) -> (Vec<Form>, Vec<Form>) {
        let own = columns.iter().filter_map(|index| self.columns.get(*index)).map(|column| column.form);
        (own.collect(), self.key.columns.iter().map(|column| column.form).collect())
    }

    /// Reads at most `rows` rows: `columns`, followed by the key.
    pub(super) fn rows(&self, columns: &[usize], place: ReadPosition<'_>, rows: u64) -> Read {
        let mut sql = sql_of(self.dialect);
        let fetched = || columns.iter().filter_map(|index| self.columns.get(*index));
        sql.push("SELECT ");
        let mut first = true;
        for column in fetched() {
            sql.separate(&mut first, ", ").push(&column.sql);
        }
        for column in &self.key.columns {
            sql.separate(&mut first, ", ").push(&column.fetched);
        }
        self.push_from(place, &mut sql);
        if self.key.sorted {
            sql.push(" ORDER BY ");
            first = true;
            for column in &self.key.columns {
                sql.separate(&mut first, ", ").push(&column.sql);
            }
        }
        if rows < u64::MAX || place.skip > 0 {
            sql.push(" LIMIT ").push(itoa::Buffer::new().format(rows.min(i64::MAX as u64)));
        }
        if place.skip > 0 {
            sql.push(" OFFSET ").push(itoa::Buffer::new().format(place.skip.min(i64::MAX as u64)));
        }
        let kinds = fetched().map(|column| column.kind).chain(self.key.columns.iter().map(|column| column.kind));
        Read { sql: sql.text.into(), binds: sql.binds, kinds: kinds.collect(), point: false }
    }

    /// Selects all columns without reading a row.
    pub(super) fn probe(&self) -> Read {
        let columns: Vec<usize> = (0..self.columns.len()).collect();
        let rows = self.rows(&columns, ReadPosition { range: "", behind: None, skip: 0 }, 0);
        // Output names may repeat, which MySQL does not allow in a derived table.
        let mut sql = sql_of(self.dialect);
        sql.push("SELECT 1 WHERE EXISTS (").push(&rows.sql).push(")");
        if self.dialect == Dialect::Mysql {
            sql.text = sql.text.replacen("SELECT 1 WHERE", "SELECT 1 FROM DUAL WHERE", 1);
        }
        Read { sql: sql.text.into(), binds: rows.binds, kinds: Arc::new([ColumnKind::BigInt]), point: false }
    }

    /// Counts the rows of a part.
    pub(super) fn count(&self, range: &str) -> Read {
        let mut sql = sql_of(self.dialect);
        sql.push("SELECT COUNT(*)");
        self.push_from(ReadPosition { range, behind: None, skip: 0 }, &mut sql);
        let kinds = std::iter::once(ColumnKind::BigInt).collect();
        Read { sql: sql.text.into(), binds: sql.binds, kinds, point: false }
    }

    /// Selects the minimum and the maximum of the key's first column, when it is a number.
    pub(super) fn extremes(&self) -> Option<String> {
        let first = self.key.columns.first().filter(|column| column.number)?;
        // Each alone is an index lookup; SQLite scans the table for both together.
        Some(format!("SELECT (SELECT MIN({0}) FROM {1}), (SELECT MAX({0}) FROM {1})", first.sql, self.table))
    }

    /// Returns predicates for `parts` ranges between two numbers.
    pub(super) fn split(&self, least: i128, most: i128, parts: usize) -> Vec<String> {
        let parts = i128::try_from(parts).unwrap_or(1).min(most - least + 1).max(1);
        let bounds = (1..parts).map(|part| format!("({})", least + (most - least + 1) * part / parts));
        self.ranges(bounds.collect())
    }

    /// Returns predicates for `parts` ranges of pages, when rows are addressed by page.
    pub(super) fn pages(&self, parts: usize) -> Option<Vec<String>> {
        let pages = self.pages?;
        let parts = u64::try_from(parts).unwrap_or(1).min(pages).max(1);
        Some(self.ranges((1..parts).map(|part| format!("'({},0)'", pages * part / parts)).collect()))
    }

    /// Returns predicates for the ranges before, between and after `bounds`.
    fn ranges(&self, bounds: Vec<String>) -> Vec<String> {
        let Some(column) = self.key.columns.first() else { return vec![String::new()] };
        let at_least = |bound: &String| format!("{} >= {bound}", column.sql);
        let below = |bound: &String| format!("{} < {bound}", column.sql);
        (0..=bounds.len())
            .map(|part| {
                let from = part.checked_sub(1).and_then(|before| bounds.get(before)).map(at_least);
                let to = bounds.get(part).map(below);
                from.into_iter().chain(to).collect::<Vec<_>>().join(" AND ")
            })
            .collect()
    }

    fn push_from(&self, place: ReadPosition<'_>, sql: &mut Sql) {
        sql.push(" FROM ").push(&self.table);
        let (rules, binds) = &self.rules;
        let mut first = rules.is_empty();
        sql.push(rules);
        sql.binds.extend(binds.iter().cloned());
        let mut and = |sql: &mut Sql| {
            sql.push(if std::mem::replace(&mut first, false) { " WHERE " } else { " AND " });
        };
        if !place.range.is_empty() {
            and(sql);
            sql.push(place.range);
        }
        if let Some(key) = place.behind {
            and(sql);
            self.key.push_behind(key, sql);
        }
    }
}

/// Creates a statement that `COPY` can run, where rows are read with that.
fn sql_of(dialect: Dialect) -> Sql {
    if dialect == Dialect::Postgres { Sql::literal() } else { Sql::new(dialect) }
}
