//! What is left of an entry for a caller, as a table: some of its columns, and the rows that satisfy a filter.
//!
//! A query is checked against the columns that are left, gets the filter as one more condition, and is then read from
//! the whole table. The engine reads it through the port ([`crate::federate`]), which takes simple comparisons only: no
//! expression of a statement ever meets a row that is not there, so that none tells of it by failing.

mod held;
mod rows;

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::Schema;
use async_trait::async_trait;
use salver_model::access::Restriction;
use salver_model::entry::Description;
use salver_model::ports::{Held, MaybeReady, Table};
use salver_model::{Code, ColumnPath, Error, Filter, Item, Query, Result, Rows, Version};

use crate::dataset::Dataset;
use crate::resolve;
use held::RestrictedHeld;

/// A table without what a restriction keeps back.
#[derive(Debug)]
pub(crate) struct RestrictedTable {
    whole: Arc<dyn Table>,
    /// Of what is left.
    about: Description,
    /// Whether any column is kept back.
    hides_columns: bool,
    /// The rows that are left, unless the whole table chooses them itself.
    rows: Option<Filter>,
    restriction: Restriction,
}

impl RestrictedTable {
    /// Restricts `table`.
    ///
    /// # Errors
    /// `Config` when the filter does not fit the columns.
    pub(crate) fn new(table: &Arc<dyn Table>, restriction: &Restriction) -> Result<Self> {
        let chosen = restriction.rows.as_ref().and_then(|filter| table.with_rows(filter));
        let is_chosen = chosen.is_some();
        let whole = chosen.unwrap_or_else(|| Arc::clone(table));
        // Rows that grow may have more columns by now.
        let current = whole.current();
        let about = current.as_ref().unwrap_or(&whole).describe();
        let rows = match restriction.rows.as_ref().filter(|_| !is_chosen) {
            Some(filter) => Some(rows::exact(filter, about).map_err(|error| misfit(about, error))?),
            None => None,
        };
        let columns = shown(about, restriction);
        let hides_columns = columns.len() < about.schema.fields().len();
        let about = left(about, &columns, restriction);
        Ok(Self { whole, about, hides_columns, rows, restriction: restriction.clone() })
    }

    /// Returns the dataset behind it, if it is one.
    pub(crate) fn dataset(&self) -> Option<&Dataset> {
        self.whole.as_any().downcast_ref()
    }

    /// Returns the query of the whole table that gives what `query` asks of what is left.
    fn widened(&self, query: &Query) -> Result<Query> {
        let mut query = query.clone();
        if self.hides_columns {
            self.names_are_there(&query)?;
            if query.items.is_empty() {
                let fields = self.about.schema.fields().iter();
                query.items = fields.map(|field| Item::column(ColumnPath::column(field.name().as_str()))).collect();
            }
        }
        if let Some(rows) = &self.rows {
            query.filter = Some(Filter::And([Some(rows.clone()), query.filter].into_iter().flatten().collect()));
        }
        Ok(query)
    }

    /// Checks that the query names no column but those that are left; the error is that of a column that never was.
    fn names_are_there(&self, query: &Query) -> Result<()> {
        for item in &query.items {
            match item {
                Item::Column { path, .. } => self.is_there(path, Code::InvalidColumn)?,
                Item::Aggregate { aggregate, .. } => {
                    aggregate.column.iter().try_for_each(|path| self.is_there(path, Code::InvalidColumn))?;
                }
            }
        }
        query.group.iter().try_for_each(|path| self.is_there(path, Code::InvalidColumn))?;
        let mut filtered = Ok(());
        if let Some(filter) = &query.filter {
            filter.for_each_column(&mut |path| {
                if filtered.is_ok() {
                    filtered = self.is_there(path, Code::InvalidFilter);
                }
            });
        }
        filtered?;
        // Of groups, items are sorted by their names.
        let is_item = |path: &ColumnPath| query.is_grouped() && query.items.iter().any(|own| own.name() == path.column);
        let sorted = query.sort.iter().map(|sort| &sort.column).filter(|path| !is_item(path));
        sorted.into_iter().try_for_each(|path| self.is_there(path, Code::InvalidSort))
    }

    fn is_there(&self, path: &ColumnPath, code: Code) -> Result<()> {
        resolve::locate(path, &self.about, code)?;
        // A dot may be part of a name: `a.b` must not become the field of a column `a` that is not there.
        if self.about.schema.index_of(&path.column).is_err()
            && self.whole.describe().schema.index_of(&path.column).is_ok()
        {
            let names = self.about.schema.fields().iter().map(|field| field.name().as_str());
            return Err(Error::unknown_column(code, &path.column, self.about.name.as_str(), names));
        }
        Ok(())
    }

    /// Returns the rows as those of what is left.
    fn told(&self, rows: Result<Rows>) -> Result<Rows> {
        let mut rows = rows?;
        for (_, version) in rows.read.iter_mut().filter(|(name, _)| *name == self.about.name) {
            *version = self.about.version;
        }
        Ok(rows)
    }

    fn held(&self, whole: Arc<dyn Held>) -> Result<Arc<dyn Held>> {
        let columns = shown(whole.describe(), &self.restriction);
        let about = left(whole.describe(), &columns, &self.restriction);
        Ok(Arc::new(RestrictedHeld::new(whole, about, columns, self.rows.clone())))
    }
}

/// Returns the columns that are left, by their index in the whole table.
fn shown(about: &Description, restriction: &Restriction) -> Arc<[usize]> {
    let fields = about.schema.fields().iter().enumerate();
    fields.filter(|(_, field)| restriction.shows(field.name())).map(|(index, _)| index).collect()
}

/// Returns the description of what is left.
fn left(about: &Description, columns: &[usize], restriction: &Restriction) -> Description {
    let schema = if columns.len() == about.schema.fields().len() {
        Arc::clone(&about.schema)
    } else {
        let fields: Vec<_> = columns.iter().map(|index| Arc::clone(&about.schema.fields()[*index])).collect();
        Arc::new(Schema::new_with_metadata(fields, about.schema.metadata().clone()))
    };
    let are_there = |names: &[String]| names.iter().all(|name| schema.index_of(name).is_ok());
    let leads_on = |relation: &&salver_model::Relation| {
        are_there(&relation.columns) && !restriction.targets_hidden.contains(&relation.target)
    };
    Description {
        key: if are_there(&about.key) { about.key.clone() } else { Vec::new() },
        relations: about.relations.iter().filter(leads_on).cloned().collect(),
        rows: about.rows.filter(|_| restriction.rows.is_none()),
        version: restriction.version(about.version),
        schema,
        memory_bytes: 0,
        ..about.clone()
    }
}

/// The error for a filter that does not fit the table. Clients learn nothing of the rule.
fn misfit(about: &Description, error: Error) -> Error {
    Error::new(Code::Config, format!("an access rule for `{}` is wrong", about.name))
        .with_hint("the log of the server has the reason")
        .with_source(error)
}

#[async_trait]
impl Table for RestrictedTable {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        let wide = match self.widened(query) {
            Ok(wide) => wide,
            Err(error) => return MaybeReady::Ready(Err(error)),
        };
        if let MaybeReady::Ready(rows) = self.whole.read(&wide) {
            return MaybeReady::Ready(self.told(rows));
        }
        MaybeReady::pending(async move { self.told(self.whole.read(&wide).await) })
    }

    fn current(&self) -> Option<Arc<dyn Table>> {
        let current = self.whole.current()?;
        // It fitted before, and rows that grow only get more columns.
        Self::new(&current, &self.restriction).ok().map(|table| Arc::new(table) as _)
    }

    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>> {
        self.held(self.whole.hold(parts).await?)
    }

    async fn hold_at(&self, version: Version, parts: usize) -> Result<Option<Arc<dyn Held>>> {
        if self.about.version != version {
            return Ok(None);
        }
        let whole = self.whole.hold_at(self.whole.describe().version, parts).await?;
        whole.map(|whole| self.held(whole)).transpose()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
