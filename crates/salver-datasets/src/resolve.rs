//! Checks a query against a dataset's columns: names become positions, and literals are converted to the columns'
//! types. It does not depend on where the rows are stored, so that every execution path has the same semantics.

mod condition;
mod fingerprint;
mod grouped;

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use salver_model::entry::Description;
use salver_model::{Code, ColumnPath, Error, Filter, Item, Query, Result, Sort, Version};

pub(crate) use condition::{Condition, OneOf, Test};
pub(crate) use grouped::{From, Grouped, resolve_grouped};

/// A column, or a field nested in one.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedColumn {
    /// Index of the top-level column.
    pub(crate) column: usize,
    /// Index of its field, of that field's field, and so on.
    pub(crate) fields: Vec<usize>,
    /// The field itself; nullable if any of its parents is.
    pub(crate) field: FieldRef,
}

impl ResolvedColumn {
    /// Returns whether both refer to the same values.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.column == other.column && self.fields == other.fields
    }
}

/// One sort key.
#[derive(Clone, Debug)]
pub(crate) struct SortKey {
    /// The column to sort by.
    pub(crate) place: ResolvedColumn,
    /// Direction, and order of nulls.
    pub(crate) options: SortOptions,
}

/// A checked query without groups or distinct rows.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The columns of the result; `None` for all columns, unchanged.
    pub(crate) items: Option<Vec<ResolvedColumn>>,
    /// The schema of the result.
    pub(crate) schema: SchemaRef,
    /// Filter of the rows.
    pub(crate) filter: Option<Condition>,
    /// Sort keys.
    pub(crate) sort: Vec<SortKey>,
    /// Number of rows to skip, after the cursor if there is one.
    pub(crate) offset: u64,
    /// Most rows to return.
    pub(crate) limit: Option<u64>,
    /// Position of the cursor to continue after; its meaning depends on the reader.
    pub(crate) after: Option<u64>,
    /// Whether the number of matching rows is requested.
    pub(crate) count: bool,
}

/// Checks a plain query.
pub(crate) fn resolve(query: &Query, about: &Description) -> Result<Resolved> {
    let items = match query.items.as_slice() {
        [] => None,
        items => Some(items.iter().map(|item| self::item(item, about)).collect::<Result<Vec<_>>>()?),
    };
    let schema = match &items {
        None => Arc::clone(&about.schema),
        Some(places) => {
            let fields: Vec<FieldRef> =
                places.iter().zip(&query.items).map(|(p, i)| named(&p.field, i.name())).collect();
            Arc::new(Schema::new_with_metadata(fields, about.schema.metadata().clone()))
        }
    };
    Ok(Resolved {
        items,
        schema,
        filter: query.filter.as_ref().map(|filter| resolve_filter(filter, about)).transpose()?,
        sort: keys(query, about)?,
        offset: query.offset,
        limit: query.limit,
        after: after(query, about)?,
        count: query.count,
    })
}

/// Checks a filter by itself.
pub(crate) fn resolve_filter(filter: &Filter, about: &Description) -> Result<Condition> {
    condition::resolve(filter, &|path| locate(path, about, Code::InvalidFilter))
}

/// Returns the position of the query's cursor.
fn after(query: &Query, about: &Description) -> Result<Option<u64>> {
    let Some(cursor) = &query.after else { return Ok(None) };
    if cursor.version != about.version {
        return Err(Error::new(Code::ExpiredCursor, format!("`{}` changed since `after` was made", about.name))
            .with_hint("start again without `after`"));
    }
    let known = about.rows.is_none_or(|rows| cursor.position <= rows);
    if cursor.query != bound(query, about) || !known {
        return Err(Error::new(Code::InvalidCursor, "`after` belongs to another query")
            .with_hint("repeat the query that `after` came from: same columns, filter and sort"));
    }
    Ok(Some(cursor.position))
}

/// Returns the hash that binds a cursor to its query and entry. Two entries may have the same version.
fn bound(query: &Query, about: &Description) -> u64 {
    Version::of(&(about.name.as_str(), fingerprint::of(query))).0
}

/// Returns the cursor to the page after `position`.
pub(crate) fn cursor(query: &Query, about: &Description, position: u64) -> salver_model::Cursor {
    let query = bound(query, about);
    salver_model::Cursor { version: about.version, query, position, values: Vec::new() }
}

fn item(item: &Item, about: &Description) -> Result<ResolvedColumn> {
    match item {
        Item::Column { path, .. } => locate(path, about, Code::InvalidColumn),
        Item::Aggregate { name, .. } => Err(Error::internal(format!("aggregate `{name}` in a plain query"))),
    }
}

/// Returns the sort keys. A repeated column has no effect and is dropped.
fn keys(query: &Query, about: &Description) -> Result<Vec<SortKey>> {
    let mut keys: Vec<SortKey> = Vec::new();
    for sort in &query.sort {
        let key = key(sort, about)?;
        if !keys.iter().any(|other| other.place.is(&key.place)) {
            keys.push(key);
        }
    }
    Ok(keys)
}

fn key(sort: &Sort, about: &Description) -> Result<SortKey> {
    let place = locate(&sort.column, about, Code::InvalidSort)?;
    if !is_sortable(place.field.data_type()) {
        let message = format!("`{}` is {} and has no order", sort.column, place.field.data_type());
        return Err(Error::new(Code::InvalidSort, message).with_hint("sort by another column, or by a field of it"));
    }
    Ok(SortKey { place, options: SortOptions { descending: sort.descending, nulls_first: sort.nulls_first } })
}

/// Returns whether the type has an order that is the same on every execution path.
pub(crate) fn is_sortable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_sortable(values),
        other => !other.is_nested() && !matches!(other, DataType::Interval(_)),
    }
}

/// Finds a column or a field of a struct.
pub(crate) fn locate(path: &ColumnPath, about: &Description, code: Code) -> Result<ResolvedColumn> {
    let fields = about.schema.fields();
    let Some(column) = fields.iter().position(|field| *field.name() == path.column) else {
        // A dot may be part of a column's name.
        if !path.fields.is_empty() {
            let whole = path.to_string();
            if let Some(column) = fields.iter().position(|field| *field.name() == whole) {
                return Ok(ResolvedColumn { column, fields: Vec::new(), field: Arc::clone(&fields[column]) });
            }
        }
        let names = fields.iter().map(|field| field.name().as_str());
        return Err(Error::unknown_column(code, &path.column, about.name.as_str(), names));
    };
    let mut field = Arc::clone(&fields[column]);
    let mut nullable = field.is_nullable();
    let mut steps = Vec::with_capacity(path.fields.len());
    for (depth, name) in path.fields.iter().enumerate() {
        let DataType::Struct(inner) = field.data_type() else {
            let above = ColumnPath { column: path.column.clone(), fields: path.fields[..depth].to_vec() };
            return Err(Error::new(code, format!("`{above}` is {} and has no field `{name}`", field.data_type())));
        };
        let Some(step) = inner.iter().position(|field| field.name() == name) else {
            let above = ColumnPath { column: path.column.clone(), fields: path.fields[..depth].to_vec() };
            return Err(Error::new(code, format!("no field `{name}` in `{above}`"))
                .with_hint_if(salver_model::suggest::hint(name, inner.iter().map(|field| field.name().as_str()))));
        };
        steps.push(step);
        field = Arc::clone(&inner[step]);
        nullable |= field.is_nullable();
    }
    if nullable && !field.is_nullable() {
        field = Arc::new(field.as_ref().clone().with_nullable(true));
    }
    Ok(ResolvedColumn { column, fields: steps, field })
}

/// Returns the field under another name.
pub(crate) fn named(field: &FieldRef, name: &str) -> FieldRef {
    if field.name() == name { Arc::clone(field) } else { Arc::new(Field::clone(field).with_name(name)) }
}
