//! What is left of an entry for a caller, as a table: some of its columns, and the rows that satisfy a filter.
//!
//! A query is checked against the columns that are left, gets the filter as one more condition, and is then read from
//! the whole table. Values of masked columns are masked as they come; a query that looks at them (filters, sorts,
//! groups) runs over masked rows. The engine reads it through the port ([`crate::federate`]), which takes simple
//! comparisons only: no expression of a statement ever meets a row that is not there, so that none tells of it by
//! failing.

mod held;
mod mask_array;
mod masked_rows;
mod masks;
mod rows;

use std::any::Any;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use async_trait::async_trait;
use futures::StreamExt;
use salver_model::access::Restriction;
use salver_model::entry::Description;
use salver_model::ports::{Held, MaybeReady, Table};
use salver_model::{
    Batches, Code, ColumnPath, EntryKind, Error, Filter, Item, Query, ReadView, Result, Rows, Sort, Version,
};

use crate::dataset::{Dataset, check_having};
use crate::engine::Engine;
use crate::{plan, resolve};
use held::RestrictedHeld;
pub use masks::mask_misfit;
use masks::{Masks, PlacedMask};
pub use rows::rows_misfit;

/// A table without what a restriction keeps back.
#[derive(Clone, Debug)]
pub(crate) struct RestrictedTable {
    whole: Arc<dyn Table>,
    /// Of what is left.
    about: Description,
    /// Whether any column is kept back or masked.
    hides_columns: bool,
    /// The rows that are left, unless the whole table chooses them itself.
    rows: Option<Filter>,
    masks: Masks,
    /// The order of rows that compare equal, where the table's own could be that of something kept back.
    order: Vec<Sort>,
    restriction: Restriction,
    engine: Arc<Engine>,
}

impl RestrictedTable {
    /// Restricts `table`.
    ///
    /// # Errors
    /// `Config` when the filter or a mask does not fit the columns.
    pub(crate) fn new(table: &Arc<dyn Table>, restriction: &Restriction, engine: &Arc<Engine>) -> Result<Self> {
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
        let masks = Masks::of(about, restriction).map_err(|error| misfit(about, error))?;
        let columns = shown(about, restriction);
        // With masks, rows that grow must not get a column that none of them was found for.
        let hides_columns = columns.len() < about.schema.fields().len() || !restriction.columns.masked.is_empty();
        let about = left(about, &columns, restriction, &masks);
        let order = if hides_columns && about.kind == EntryKind::Table { order(&about, &masks) } else { Vec::new() };
        let (restriction, engine) = (restriction.clone(), Arc::clone(engine));
        Ok(Self { whole, about, hides_columns, rows, masks, order, restriction, engine })
    }

    /// Returns what of a filter may be pushed down to the table: terms over masked columns are checked of masked values
    /// only.
    pub(crate) fn pushable(table: &Arc<dyn Table>, filter: Filter) -> Option<Filter> {
        match table.as_any().downcast_ref::<Self>() {
            Some(own) if !own.masks.is_empty() => own.masks.without(&filter),
            _ => Some(filter),
        }
    }

    /// Returns the table for a reader that counts rows and looks at none, so that their order tells nothing: a database
    /// need not sort them.
    pub(crate) fn unordered(table: &Arc<dyn Table>) -> Arc<dyn Table> {
        match table.as_any().downcast_ref::<Self>() {
            Some(own) if !own.order.is_empty() => Arc::new(Self { order: Vec::new(), ..own.clone() }),
            _ => Arc::clone(table),
        }
    }

    /// Returns the table behind it.
    pub(crate) fn whole(&self) -> &Arc<dyn Table> {
        &self.whole
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
        if !query.is_grouped() && !query.distinct {
            let is_new = |sort: &&Sort| query.sort.iter().all(|own| own.column != sort.column);
            let more: Vec<Sort> = self.order.iter().filter(is_new).cloned().collect();
            query.sort.extend(more);
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

    /// Returns whether cursors of the whole table would tell a key that is kept back: a database's pages begin behind
    /// the values of one. Files and streams have positions.
    fn has_kept_key(&self) -> bool {
        let is_kept = |column: &String| self.masks.has(column) || self.about.schema.index_of(column).is_err();
        self.dataset().is_none() && self.whole.describe().key.iter().any(is_kept)
    }

    /// Runs a query over masked rows.
    async fn read_masked(&self, query: &Query) -> Result<Rows> {
        self.names_are_there(query)?;
        let pushed = query.filter.as_ref().and_then(|filter| self.masks.without(filter));
        let filters: Vec<Filter> = self.rows.iter().cloned().chain(pushed).collect();
        let filter = (!filters.is_empty()).then_some(Filter::And(filters));
        let provider =
            masked_rows::provider(&self.whole, &self.about, &self.masks, (filter, self.order.clone()), query)?;
        let rows = if query.is_grouped() || query.distinct {
            plan::read_grouped(&self.engine, &provider, &self.about, query).await?
        } else {
            check_having(query)?;
            let resolved = resolve::resolve(query, &self.about)?;
            plan::read(&self.engine, &provider, &self.about, query, resolved).await?
        };
        // Rows of files alone are the same as long as their version is.
        Ok(Rows { repeatable: rows.repeatable && self.dataset().is_some(), ..rows })
    }

    /// Returns the rows as those of what is left.
    fn told(&self, rows: Result<Rows>, masks: Vec<PlacedMask>) -> Result<Rows> {
        let quoted = |error| if self.masks.is_empty() { error } else { masks::discreet(error) };
        let mut rows = masked(rows.map_err(quoted)?, masks)?;
        for (_, version) in rows.read.iter_mut().filter(|(name, _)| *name == self.about.name) {
            *version = self.about.version;
        }
        if rows.next.is_some() && self.has_kept_key() {
            rows.next = None;
        }
        Ok(rows)
    }

    fn held(&self, whole: Arc<dyn Held>) -> Result<Arc<dyn Held>> {
        let columns = shown(whole.describe(), &self.restriction);
        let masks = Masks::of(whole.describe(), &self.restriction).map_err(|error| misfit(&self.about, error))?;
        let about = left(whole.describe(), &columns, &self.restriction, &masks);
        Ok(Arc::new(RestrictedHeld::new(whole, about, columns, self.rows.clone(), masks)))
    }
}

/// Returns the columns that are left, by their index in the whole table.
fn shown(about: &Description, restriction: &Restriction) -> Arc<[usize]> {
    let fields = about.schema.fields().iter().enumerate();
    fields.filter(|(_, field)| restriction.columns.shows(field.name())).map(|(index, _)| index).collect()
}

/// Returns the description of what is left.
fn left(about: &Description, columns: &[usize], restriction: &Restriction, masks: &Masks) -> Description {
    let schema = if columns.len() == about.schema.fields().len() {
        Arc::clone(&about.schema)
    } else {
        let fields: Vec<_> = columns.iter().map(|index| Arc::clone(&about.schema.fields()[*index])).collect();
        Arc::new(Schema::new_with_metadata(fields, about.schema.metadata().clone()))
    };
    let schema = masks::schema(&schema, &masks.of_fields(schema.fields().iter().map(|field| field.name().as_str())));
    // By masked values no row is known.
    let are_there = |names: &[String]| names.iter().all(|name| schema.index_of(name).is_ok() && !masks.has(name));
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

/// Returns the order by the key, or by all columns where that is kept back. A database reads rows in the order of any
/// index that suits it, also of one over values that are not to be told.
fn order(about: &Description, masks: &Masks) -> Vec<Sort> {
    let fields = about.schema.fields().iter();
    let has_order =
        |field: &&Arc<Field>| !matches!(field.data_type(), DataType::Binary) && !field.data_type().is_nested();
    let all = || fields.filter(has_order).map(|field| field.name()).filter(|name| !masks.has(name)).collect();
    let columns: Vec<&String> = if about.key.is_empty() { all() } else { about.key.iter().collect() };
    let sort =
        |column: &String| Sort { column: ColumnPath::column(column.as_str()), descending: false, nulls_first: false };
    columns.into_iter().map(sort).collect()
}

/// Masks columns of rows.
fn masked(rows: Rows, masks: Vec<PlacedMask>) -> Result<Rows> {
    if masks.is_empty() {
        return Ok(rows);
    }
    let schema = masks::schema(&rows.schema, &masks);
    let batches = match rows.batches {
        Batches::Ready(batches) => {
            Batches::Ready(batches.iter().map(|batch| masks::apply(&masks, batch)).collect::<Result<_>>()?)
        }
        Batches::Stream(stream) => {
            Batches::Stream(stream.map(move |batch| masks::apply(&masks, &batch.map_err(masks::discreet)?)).boxed())
        }
    };
    Ok(Rows { schema, batches, ..rows })
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
        if self.masks.are_met_by(query) {
            return MaybeReady::pending(self.read_masked(query));
        }
        if query.after.is_some() && self.has_kept_key() {
            let message = format!("`{}` has no key to page by", self.about.name);
            let error = Error::new(Code::InvalidCursor, message).with_hint("use `offset` and `limit`, with a sort");
            return MaybeReady::Ready(Err(error));
        }
        let wide = match self.widened(query) {
            Ok(wide) => wide,
            Err(error) => return MaybeReady::Ready(Err(error)),
        };
        let masks = self.masks.of_items(&wide.items);
        if let MaybeReady::Ready(rows) = self.whole.read(&wide) {
            return MaybeReady::Ready(self.told(rows, masks));
        }
        MaybeReady::pending(async move { self.told(self.whole.read(&wide).await, masks) })
    }

    fn current(&self) -> Option<Arc<dyn Table>> {
        let current = self.whole.current()?;
        // It fitted before, and rows that grow only get more columns.
        Self::new(&current, &self.restriction, &self.engine).ok().map(|table| Arc::new(table) as _)
    }

    fn in_view(&self, view: &Arc<ReadView>) -> Option<Arc<dyn Table>> {
        let whole = self.whole.in_view(view)?;
        Some(Arc::new(Self { whole, ..self.clone() }))
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
