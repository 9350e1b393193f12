//! A table in memory that is plain, slow and obviously correct: the reference for real ones, and the fake in tests of
//! doors. Row by row, value by value, nothing clever.

mod cell;
mod condition;
mod group;

use std::any::Any;
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering as Atomic};

use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::compute::{concat_batches, take};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use async_trait::async_trait;
use salver_model::entry::EntryKind;
use salver_model::ports::{Held, MaybeReady, Table};
use salver_model::{
    Code, ColumnPath, Cursor, Description, Error, Item, Name, Query, Relation, Result, Rows, Sort, Version,
};

use cell::Cell;

use crate::memory_scan::MemoryHeld;

/// A table of rows in memory, which counts how often it is read.
#[derive(Debug)]
pub struct MemoryTable {
    description: Description,
    rows: RecordBatch,
    reads: AtomicUsize,
}

impl MemoryTable {
    /// The table `name` of `rows`.
    ///
    /// # Panics
    /// When `name` is not a name.
    #[must_use]
    pub fn new(name: &str, rows: RecordBatch) -> Self {
        let name = Name::new(name).unwrap_or_else(|error| panic!("{error}"));
        let description = Description {
            version: Version::of(&format!("{name} {rows:?}")),
            name,
            kind: EntryKind::Dataset,
            schema: rows.schema(),
            key: Vec::new(),
            relations: Vec::new(),
            rows: Some(rows.num_rows() as u64),
            source: "memory".to_owned(),
            memory_bytes: rows.get_array_memory_size() as u64,
        };
        Self { description, rows, reads: AtomicUsize::new(0) }
    }

    /// The table `name` of several batches of one schema.
    ///
    /// # Panics
    /// When the batches don't belong together.
    #[must_use]
    pub fn of_batches(name: &str, batches: &[RecordBatch]) -> Self {
        let rows = concat_batches(&batches[0].schema(), batches).unwrap_or_else(|error| panic!("{error}"));
        Self::new(name, rows)
    }

    /// Declares the key.
    #[must_use]
    pub fn with_key(mut self, key: &[&str]) -> Self {
        self.description.key = key.iter().map(|column| (*column).to_owned()).collect();
        self
    }

    /// Declares a link: `name` leads from `columns` to `target_columns` of `target`.
    ///
    /// # Panics
    /// When `target` is not a name.
    #[must_use]
    pub fn with_relation(mut self, name: &str, columns: &[&str], target: &str, target_columns: &[&str]) -> Self {
        self.description.relations.push(Relation {
            name: name.to_owned(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            target: Name::new(target).unwrap_or_else(|error| panic!("{error}")),
            target_columns: target_columns.iter().map(|column| (*column).to_owned()).collect(),
        });
        self
    }

    /// How often rows were read.
    #[must_use]
    pub fn reads(&self) -> usize {
        self.reads.load(Atomic::SeqCst)
    }

    fn answer(&self, query: &Query) -> Result<Rows> {
        self.reads.fetch_add(1, Atomic::SeqCst);
        let identity = identity(query);
        let skip = self.resume(query, identity)?;
        let rows = match &query.filter {
            Some(filter) => condition::passing(&self.rows, filter, &self.description, Code::InvalidFilter)?,
            None => (0..self.rows.num_rows()).collect(),
        };
        let (batch, order) = if query.is_grouped() {
            group::answer(&self.rows, &rows, query, &self.description)?
        } else {
            let batch = self.project(&query.items)?;
            let order = if query.distinct {
                let places = sort_places(&batch, &query.sort)?;
                let mut kept = distinct(&batch, &rows)?;
                sort(&batch, &places, &query.sort, &mut kept)?;
                kept
            } else {
                let columns = query.sort.iter().map(|key| self.column(&key.column, Code::InvalidSort));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let mut rows = rows;
                sort_by(&columns, &query.sort, &mut rows)?;
                rows
            };
            (batch, order)
        };
        let total = order.len() as u64;
        let start = skip.unwrap_or(query.offset).min(total);
        let end = query.limit.map_or(total, |limit| start.saturating_add(limit)).min(total);
        let kept: UInt64Array = order[start as usize..end as usize].iter().map(|row| *row as u64).collect();
        let batch = taken(&batch, &kept)?;
        let paged = query.limit.is_some_and(|limit| limit > 0) && !query.is_grouped() && !query.distinct;
        let next = (paged && end < total).then(|| Cursor {
            version: self.description.version,
            query: identity,
            position: end,
            values: Vec::new(),
        });
        Ok(Rows {
            total: query.count.then_some(total),
            next,
            read: vec![(self.description.name.clone(), self.description.version)],
            ..Rows::ready(batch.schema(), vec![batch])
        })
    }

    /// How many rows earlier pages had.
    fn resume(&self, query: &Query, identity: u64) -> Result<Option<u64>> {
        let Some(cursor) = &query.after else { return Ok(None) };
        if cursor.version != self.description.version {
            return Err(Error::new(Code::ExpiredCursor, format!("`{}` changed", self.description.name)));
        }
        if cursor.query != identity {
            return Err(Error::new(Code::InvalidCursor, "the cursor belongs to another query"));
        }
        Ok(Some(cursor.position))
    }

    fn column(&self, path: &ColumnPath, code: Code) -> Result<ArrayRef> {
        column(&self.rows, path, &self.description, code)
    }

    fn project(&self, items: &[Item]) -> Result<RecordBatch> {
        if items.is_empty() {
            return Ok(self.rows.clone());
        }
        let columns = items.iter().filter_map(|item| match item {
            Item::Column { path, name } => Some((path, name)),
            Item::Aggregate { .. } => None,
        });
        let columns = columns.map(|(path, name)| Ok((name.as_str(), self.column(path, Code::InvalidColumn)?)));
        batch_of(&columns.collect::<Result<Vec<_>>>()?, self.rows.num_rows())
    }
}

#[async_trait]
impl Table for MemoryTable {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        MaybeReady::pending(async move { self.answer(query) })
    }

    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>> {
        let (rows, parts) = (self.rows.num_rows(), parts.max(1));
        let cuts: Vec<usize> = (0..=parts).map(|part| rows * part / parts).collect();
        let parts = cuts.windows(2).map(|cut| self.rows.slice(cut[0], cut[1] - cut[0])).collect();
        Ok(Arc::new(MemoryHeld { about: self.description.clone(), tells_rows: true, ascending: None, parts }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What tells queries apart, their pages aside.
fn identity(query: &Query) -> u64 {
    let bare = Query { offset: 0, limit: None, after: None, count: false, ..query.clone() };
    Version::of(&format!("{bare:?}")).0
}

/// The column at `path`, with the nulls of the structs it is in.
pub(crate) fn column(rows: &RecordBatch, path: &ColumnPath, entry: &Description, code: Code) -> Result<ArrayRef> {
    let schema = rows.schema();
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    let unknown = || Error::unknown_column(code, &path.to_string(), entry.name.as_str(), names().collect::<Vec<_>>());
    let mut array = Arc::clone(rows.column_by_name(&path.column).ok_or_else(unknown)?);
    for field in &path.fields {
        let parent = array.as_struct_opt().ok_or_else(unknown)?.clone();
        let child = parent.column_by_name(field).ok_or_else(unknown)?;
        let kept: UInt64Array = (0..parent.len()).map(|row| (!parent.is_null(row)).then_some(row as u64)).collect();
        array = take(child, &kept, None).map_err(broken)?;
    }
    Ok(array)
}

pub(crate) fn batch_of(columns: &[(&str, ArrayRef)], rows: usize) -> Result<RecordBatch> {
    let field =
        |(name, array): &(&str, ArrayRef)| -> FieldRef { Field::new(*name, array.data_type().clone(), true).into() };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, array)| Arc::clone(array)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, arrays, &options).map_err(broken)
}

fn taken(batch: &RecordBatch, rows: &UInt64Array) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| take(column, rows, None)).collect::<std::result::Result<_, _>>();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(batch.schema(), columns.map_err(broken)?, &options).map_err(broken)
}

pub(crate) fn broken(error: arrow::error::ArrowError) -> Error {
    Error::internal("the memory table is broken").with_source(error)
}

/// The first of `rows` of each set that are equal.
fn distinct(batch: &RecordBatch, rows: &[usize]) -> Result<Vec<usize>> {
    let mut seen: Vec<Vec<Cell>> = Vec::new();
    let mut kept = Vec::new();
    for row in rows {
        let cells = batch.columns().iter().map(|column| Cell::at(column, *row)).collect::<Result<Vec<_>>>()?;
        if !seen.contains(&cells) {
            seen.push(cells);
            kept.push(*row);
        }
    }
    Ok(kept)
}

/// Where the keys of a sort of an answer's own columns stand.
pub(crate) fn sort_places(batch: &RecordBatch, keys: &[Sort]) -> Result<Vec<usize>> {
    let place = |key: &Sort| {
        batch
            .schema()
            .index_of(&key.column.to_string())
            .map_err(|e| Error::new(Code::InvalidSort, format!("`{}` is not in the answer", key.column)).with_source(e))
    };
    keys.iter().map(place).collect()
}

pub(crate) fn sort(batch: &RecordBatch, places: &[usize], keys: &[Sort], rows: &mut [usize]) -> Result<()> {
    let columns: Vec<ArrayRef> = places.iter().map(|place| Arc::clone(batch.column(*place))).collect();
    sort_by(&columns, keys, rows)
}

fn sort_by(columns: &[ArrayRef], keys: &[Sort], rows: &mut [usize]) -> Result<()> {
    for (column, key) in columns.iter().zip(keys) {
        if matches!(column.data_type(), DataType::Struct(_) | DataType::List(_)) {
            return Err(Error::new(Code::InvalidSort, format!("`{}` has no order", key.column)));
        }
    }
    let all = columns.iter().map(|column| (0..column.len()).map(|row| Cell::at(column, row)).collect());
    let all: Vec<Vec<Cell>> = all.collect::<Result<_>>()?;
    rows.sort_by(|a, b| {
        for (cells, key) in all.iter().zip(keys) {
            let order = match (&cells[*a], &cells[*b]) {
                (Cell::Null, Cell::Null) => Ordering::Equal,
                (Cell::Null, _) if key.nulls_first => Ordering::Less,
                (Cell::Null, _) => Ordering::Greater,
                (_, Cell::Null) if key.nulls_first => Ordering::Greater,
                (_, Cell::Null) => Ordering::Less,
                (a, b) if key.descending => b.order(a),
                (a, b) => a.order(b),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    });
    Ok(())
}
