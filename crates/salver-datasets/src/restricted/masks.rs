//! The columns of a table that are masked for a caller, and where a query meets them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use salver_model::access::Restriction;
use salver_model::entry::Description;
use salver_model::{Code, ColumnPath, Error, Filter, Item, Mask, Query, Result};

use super::mask_array;
use crate::fault;

/// Masked columns, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    columns: BTreeMap<String, Arc<Mask>>,
}

/// Returns why the mask does not fit columns of this type; `None` if it does.
#[must_use]
pub fn mask_misfit(mask: &Mask, data_type: &DataType) -> Option<String> {
    // A number may still be too large for its type.
    let unmade = || mask_array::masked(mask, &new_null_array(data_type, 1)).err().map(|error| error.to_string());
    mask.misfit(mask_array::kind(data_type)).or_else(unmade)
}

/// The mask of a column of a batch, by its index in it.
pub(super) type PlacedMask = (usize, Arc<Mask>);

impl Masks {
    /// Returns the masks of the columns of `about`.
    ///
    /// # Errors
    /// `Config` when one does not fit its column.
    pub(super) fn of(about: &Description, restriction: &Restriction) -> Result<Self> {
        let mut columns = BTreeMap::new();
        for field in about.schema.fields() {
            let Some(mask) = restriction.columns.mask(field.name()) else { continue };
            if let Some(why) = mask_misfit(mask, field.data_type()) {
                let message = format!("`{}` of `{}` can't be masked: {why}", field.name(), about.name);
                return Err(Error::new(Code::Config, message));
            }
            columns.insert(field.name().clone(), Arc::new(mask.clone()));
        }
        Ok(Self { columns })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Returns whether the column of this name is masked.
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.contains_key(column)
    }

    /// Returns the mask of the column that `path` leads to or into. A dot may be part of a name.
    fn at(&self, path: &ColumnPath) -> Option<&Arc<Mask>> {
        let whole = || if path.fields.is_empty() { None } else { self.columns.get(&path.to_string()) };
        self.columns.get(&path.column).or_else(whole)
    }

    /// Returns whether the query looks at masked values, and does not only return them.
    pub(super) fn are_met_by(&self, query: &Query) -> bool {
        if self.is_empty() {
            return false;
        }
        let is_masked = |path: &ColumnPath| self.at(path).is_some();
        let is_item = |item: &Item| match item {
            Item::Column { path, .. } => is_masked(path),
            Item::Aggregate { aggregate, .. } => aggregate.column.as_ref().is_some_and(is_masked),
        };
        let combined = query.is_grouped() || query.distinct;
        query.filter.as_ref().is_some_and(|filter| self.are_in(filter))
            || query.sort.iter().any(|sort| is_masked(&sort.column))
            || query.group.iter().any(is_masked)
            || combined && (query.items.is_empty() || query.items.iter().any(is_item))
    }

    fn are_in(&self, filter: &Filter) -> bool {
        let mut found = false;
        filter.for_each_column(&mut |path| found |= self.at(path).is_some());
        found
    }

    /// Returns the terms of a conjunction that name no masked column: the others must not see the values behind.
    pub(super) fn without(&self, filter: &Filter) -> Option<Filter> {
        match filter {
            Filter::And(parts) => {
                let parts: Vec<Filter> = parts.iter().filter_map(|part| self.without(part)).collect();
                (!parts.is_empty()).then_some(Filter::And(parts))
            }
            other => (!self.are_in(other)).then(|| other.clone()),
        }
    }

    /// Returns the masks of what these items give.
    pub(super) fn of_items(&self, items: &[Item]) -> Vec<PlacedMask> {
        let mask = |(index, item): (usize, &Item)| match item {
            Item::Column { path, .. } => Some((index, Arc::clone(self.at(path)?))),
            Item::Aggregate { .. } => None,
        };
        items.iter().enumerate().filter_map(mask).collect()
    }

    /// Returns the masks of these fields of the table.
    pub(super) fn of_fields<'f>(&self, fields: impl Iterator<Item = &'f str>) -> Vec<PlacedMask> {
        fields.enumerate().filter_map(|(index, name)| Some((index, Arc::clone(self.columns.get(name)?)))).collect()
    }
}

/// Returns the schema of masked batches: a mask may give null.
pub(super) fn schema(schema: &SchemaRef, masks: &[PlacedMask]) -> SchemaRef {
    if masks.is_empty() {
        return Arc::clone(schema);
    }
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().map(Arc::clone).collect();
    for (index, _) in masks {
        if let Some(field) = fields.get_mut(*index) {
            *field = Arc::new(Field::clone(field).with_nullable(true));
        }
    }
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Returns the error without what it may quote of a value behind a mask, like one that its column's type does not have.
pub(super) fn discreet(error: Error) -> Error {
    if error.code != Code::Execution {
        return error;
    }
    Error::new(Code::Execution, "a value behind a mask can't be read as the type of its column")
        .with_hint("mend the row, or mask the column by a rule that hides it")
        .with_source(error)
}

/// Masks the columns of a batch.
pub(super) fn apply(masks: &[PlacedMask], batch: &RecordBatch) -> Result<RecordBatch> {
    if masks.is_empty() {
        return Ok(batch.clone());
    }
    let mut columns = batch.columns().to_vec();
    for (index, mask) in masks {
        let place = columns.get_mut(*index).ok_or_else(|| Error::internal("a batch lacks a masked column"))?;
        *place = mask_array::masked(mask, place).map_err(fault::arrow)?;
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(schema(&batch.schema(), masks), columns, &options).map_err(fault::arrow)
}
