//! The values of many groups: each group refers to a row among those that were kept.

use std::mem::size_of;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt64Array, new_null_array};
use arrow::compute::{interleave, take};
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

use super::super::pg_semantics::passes;

/// Place of a group without a row: the null in the first chunk.
const NONE: (usize, usize) = (0, 0);

/// The rows that were seen first of each group, and whether it has more.
pub(super) struct Groups {
    /// The kept rows, after a chunk with one null.
    chunks: Vec<ArrayRef>,
    /// Number of rows in the chunks.
    rows: usize,
    /// Bytes of the chunks.
    bytes: usize,
    /// Chunk and row of each group.
    places: Vec<(usize, usize)>,
    many: Vec<bool>,
}

impl Groups {
    pub(super) fn new(data_type: &DataType) -> Self {
        let null = new_null_array(data_type, 1);
        let bytes = null.get_array_memory_size();
        Self { chunks: vec![null], rows: 0, bytes, places: Vec::new(), many: Vec::new() }
    }

    /// Takes rows in, of which `counts` says whether they count, and `are_many` whether they stand for several.
    fn add(
        &mut self,
        values: &ArrayRef,
        groups: &[usize],
        total: usize,
        counts: impl Fn(usize) -> bool,
        are_many: impl Fn(usize) -> bool,
    ) -> Result<()> {
        self.places.resize(total, NONE);
        self.many.resize(total, false);
        let mut kept = Vec::new();
        for (row, group) in groups.iter().enumerate().filter(|(row, _)| counts(*row)) {
            if self.places[*group] == NONE {
                self.places[*group] = (self.chunks.len(), kept.len());
                kept.push(row as u64);
                self.many[*group] = are_many(row);
            } else {
                self.many[*group] = true;
            }
        }
        if !kept.is_empty() {
            self.rows += kept.len();
            self.push(take(values, &UInt64Array::from(kept), None)?);
        }
        Ok(())
    }

    fn push(&mut self, chunk: ArrayRef) {
        self.bytes += chunk.get_array_memory_size();
        self.chunks.push(chunk);
    }

    /// Gives out the values of groups, whether they have a row, and whether they have more.
    fn emit(&mut self, emit_to: EmitTo) -> Result<(ArrayRef, BooleanArray, BooleanArray)> {
        let places = emit_to.take_needed(&mut self.places);
        let many = emit_to.take_needed(&mut self.many);
        let values = self.rows_at(&places)?;
        let found: BooleanArray = places.iter().map(|place| Some(*place != NONE)).collect();
        self.free()?;
        Ok((values, found, BooleanArray::from(many)))
    }

    fn rows_at(&self, places: &[(usize, usize)]) -> Result<ArrayRef> {
        let chunks: Vec<&dyn Array> = self.chunks.iter().map(AsRef::as_ref).collect();
        Ok(interleave(&chunks, places)?)
    }

    /// Frees the rows of groups that were given out, when they are more than the others.
    fn free(&mut self) -> Result<()> {
        if self.places.len() >= self.rows / 2 && !self.places.is_empty() {
            return Ok(());
        }
        let rest = self.rows_at(&self.places)?;
        self.chunks.truncate(1);
        self.bytes = self.chunks[0].get_array_memory_size();
        self.rows = self.places.len();
        for (row, place) in self.places.iter_mut().enumerate().filter(|(_, place)| **place != NONE) {
            *place = (1, row);
        }
        if self.rows > 0 {
            self.push(rest);
        }
        Ok(())
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let [values] = values else { return internal_err!("a subquery that is a value has one column") };
        self.add(values, group_indices, total_num_groups, |row| passes(filter, row), |_| false)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        let [values, found, many] = states else { return internal_err!("the state of a value has three columns") };
        let (found, many) = (found.as_boolean(), many.as_boolean());
        self.add(values, group_indices, total_num_groups, |row| found.value(row), |row| many.value(row))
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (values, found, many) = self.emit(emit_to)?;
        super::results(values, found, many)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (values, found, many) = self.emit(emit_to)?;
        Ok(vec![values, Arc::new(found), Arc::new(many)])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let [values] = values else { return internal_err!("a subquery that is a value has one column") };
        let found: BooleanArray = (0..values.len()).map(|row| Some(passes(filter, row))).collect();
        let many = BooleanArray::from(vec![false; values.len()]);
        Ok(vec![Arc::clone(values), Arc::new(found), Arc::new(many)])
    }

    fn size(&self) -> usize {
        size_of::<Self>()
            + self.bytes
            + self.chunks.capacity() * size_of::<ArrayRef>()
            + self.places.capacity() * size_of::<(usize, usize)>()
            + self.many.capacity()
    }
}
