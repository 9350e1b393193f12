//! How the files of a table of Delta Lake are read as a dataset.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef, Schema, TimeUnit};
use salver_model::Result;

use super::load::{DatasetLoad, LoadPlan};
use crate::delta::DeltaTable;
use crate::infer::plain;
use crate::source::Outline;

impl DatasetLoad<'_> {
    /// Returns how the files of `table` are read, and whether they can be scanned in place.
    pub(super) fn table_plan(&self, table: &DeltaTable) -> Result<(LoadPlan, bool)> {
        let outlines = if table.is_plain() { self.outlines(false)? } else { Vec::new() };
        let partitions = table.partitions(self.spec)?;
        let columns = self.declared(&table.stored(), &partitions)?;
        let mut fields: Vec<FieldRef> = columns.fields().to_vec();
        fields.extend(partitions.fields.iter().cloned().map(Arc::new));
        // The table's order; what is only declared comes last.
        let places: HashMap<&str, usize> = table.names().enumerate().map(|(place, name)| (name, place)).collect();
        let place = |field: &FieldRef| places.get(field.name().as_str()).copied().unwrap_or(places.len());
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by_key(|index| place(&fields[*index]));
        let schema = Arc::new(Schema::new(order.iter().map(|index| Arc::clone(&fields[*index])).collect::<Vec<_>>()));
        let is_plain = table.is_plain() && !outlines.is_empty() && self.is_as_stored(&outlines, &columns);
        Ok((LoadPlan { columns, schema, order, partitions, outlines }, is_plain))
    }

    /// Returns whether all files have these columns as they are, or lack them.
    fn is_as_stored(&self, outlines: &[Outline], columns: &Schema) -> bool {
        let is_same = |outline: &Outline| {
            // The first of a name counts.
            let own = outline.schema.fields().iter().rev().map(|field| (field.name(), field.data_type()));
            let own: HashMap<_, _> = own.collect();
            let mut wanted = columns.fields().iter();
            wanted.all(|field| own.get(field.name()).is_none_or(|own| fits(&plain(own), field.data_type())))
        };
        columns.fields().iter().all(|field| field.is_nullable()) && outlines.iter().all(is_same)
    }
}

/// Returns whether a column of a file can be scanned as the type that the table has: what lists and maps call their
/// parts, and what may be null in them, makes no difference.
fn fits(own: &DataType, wanted: &DataType) -> bool {
    match (own, wanted) {
        (DataType::Struct(own), DataType::Struct(wanted)) => {
            let is_same = |(a, b): (&FieldRef, &FieldRef)| a.name() == b.name() && fits(a.data_type(), b.data_type());
            own.len() == wanted.len() && own.iter().zip(wanted).all(is_same)
        }
        (DataType::List(own), DataType::List(wanted)) => fits(own.data_type(), wanted.data_type()),
        (DataType::Map(own, _), DataType::Map(wanted, _)) => match (own.data_type(), wanted.data_type()) {
            (DataType::Struct(own), DataType::Struct(wanted)) => {
                own.iter().zip(wanted).all(|(own, wanted)| fits(own.data_type(), wanted.data_type()))
            }
            _ => false,
        },
        // 96-bit timestamps, as Spark writes them, have no zone and are in UTC.
        (DataType::Timestamp(TimeUnit::Microsecond, None), DataType::Timestamp(TimeUnit::Microsecond, Some(_))) => true,
        (own, wanted) => own == wanted,
    }
}
