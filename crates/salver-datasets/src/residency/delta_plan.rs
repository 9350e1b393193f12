//! How the files of a table of Delta Lake are read as a dataset.

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
        let names: Vec<&str> = table.names().collect();
        let place = |field: &FieldRef| names.iter().position(|name| name == field.name()).unwrap_or(names.len());
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by_key(|index| place(&fields[*index]));
        let schema = Arc::new(Schema::new(order.iter().map(|index| Arc::clone(&fields[*index])).collect::<Vec<_>>()));
        let is_plain = table.is_plain() && !outlines.is_empty() && self.is_as_stored(&outlines, &columns);
        Ok((LoadPlan { columns, schema, order, partitions, outlines }, is_plain))
    }

    /// Returns whether all files have these columns as they are, or lack them.
    fn is_as_stored(&self, outlines: &[Outline], columns: &Schema) -> bool {
        columns.fields().iter().all(|field| {
            let fits = |outline: &Outline| match outline.schema.field_with_name(field.name()) {
                Ok(own) => fits(&plain(own.data_type()), field.data_type()),
                Err(_) => true,
            };
            field.is_nullable() && outlines.iter().all(fits)
        })
    }
}

/// Returns whether a column of a file can be scanned as the type that the table has.
fn fits(own: &DataType, wanted: &DataType) -> bool {
    // 96-bit timestamps, as Spark writes them, have no zone and are in UTC.
    let is_spark = *own == DataType::Timestamp(TimeUnit::Microsecond, None)
        && matches!(wanted, DataType::Timestamp(TimeUnit::Microsecond, Some(_)));
    is_spark || own.equals_datatype(wanted)
}
