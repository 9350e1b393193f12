//! The columns of a stream's table, and the projection of a read.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatchOptions, TimestampMillisecondArray};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use arrow::record_batch::RecordBatch;
use salver_model::{Error, Result};
use salver_text::json::Reader;

use super::decode::Column;
use super::decode::Members;
use crate::event::{OWN_COLUMNS, Shape};
use crate::log::frame::Placed;

/// Index of the column `_offset`.
pub(super) const OFFSET: usize = 0;
/// Index of the column `_id`.
pub(super) const ID: usize = 1;
/// Index of the column `_time`.
pub(super) const TIME: usize = 2;
/// Index of the column `_key`.
pub(super) const KEY: usize = 3;
/// Number of Salver's own columns.
pub(super) const OWN: usize = OWN_COLUMNS.len();

/// Columns for one shape.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) shape: Arc<Shape>,
    pub(super) schema: SchemaRef,
}

impl Layout {
    pub(super) fn new(shape: Arc<Shape>) -> Self {
        let time = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
        let types = [(DataType::Int64, false), (DataType::Utf8, false), (time, false), (DataType::Utf8, true)];
        let own = OWN_COLUMNS
            .iter()
            .zip(types)
            .map(|(name, (data_type, is_nullable))| Arc::new(Field::new(*name, data_type, is_nullable)));
        let fields: Vec<FieldRef> = own.chain(shape.schema().fields().iter().cloned()).collect();
        Self { schema: Arc::new(Schema::new(fields)), shape }
    }
}

/// Projection of a read, in order.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) layout: Arc<Layout>,
    /// Indexes into the schema of the layout.
    pub(super) columns: Arc<[usize]>,
    /// Schema of the batches.
    pub(super) schema: SchemaRef,
}

impl Wanted {
    pub(super) fn new(layout: Arc<Layout>, columns: &[usize]) -> Self {
        let all = layout.schema.fields();
        let columns: Arc<[usize]> = columns.iter().copied().filter(|index| *index < all.len()).collect();
        let schema = Arc::new(Schema::new(columns.iter().map(|index| Arc::clone(&all[*index])).collect::<Vec<_>>()));
        Self { layout, columns, schema }
    }

    pub(super) fn has(&self, index: usize) -> bool {
        self.columns.contains(&index)
    }

    /// Builds a batch of `rows` rows; `column` returns a column by its index in the layout.
    pub(super) fn batch(&self, rows: usize, column: impl Fn(usize) -> Option<ArrayRef>) -> Result<RecordBatch> {
        let columns = self.columns.iter().map(|index| {
            column(*index).ok_or_else(|| Error::internal(format!("column {index} of a stream was not read")))
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|error| Error::internal("events do not make rows").with_source(error))
    }
}

/// Builder of rows from records.
#[derive(Debug)]
pub(super) struct RowBuilder {
    wanted: Wanted,
    rows: usize,
    offsets: Option<Vec<i64>>,
    ids: Option<Column>,
    times: Option<Vec<i64>>,
    keys: Option<Column>,
    /// Columns of the members; `None` when the events themselves need not be parsed.
    members: Option<Members>,
}

impl RowBuilder {
    pub(super) fn new(wanted: Wanted) -> Self {
        let text = |index: usize| wanted.has(index).then(|| Column::new(&DataType::Utf8));
        let members = wanted
            .columns
            .iter()
            .any(|index| *index >= OWN)
            .then(|| Members::new(wanted.layout.shape.schema().fields(), |index| wanted.has(OWN + index)));
        Self {
            rows: 0,
            offsets: wanted.has(OFFSET).then(Vec::new),
            ids: text(ID),
            times: wanted.has(TIME).then(Vec::new),
            keys: text(KEY),
            members,
            wanted,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Appends a row.
    pub(super) fn push(&mut self, placed: &Placed<'_>) {
        self.rows += 1;
        if let Some(offsets) = &mut self.offsets {
            offsets.push(placed.offset as i64);
        }
        if let Some(ids) = &mut self.ids {
            match placed.record.id {
                Some(id) => ids.push_text(id),
                None => ids.push_text(&id_text(placed.made_id)),
            }
        }
        if let Some(times) = &mut self.times {
            times.push(placed.time_ms);
        }
        if let Some(keys) = &mut self.keys {
            match placed.record.key {
                Some(key) => keys.push_text(key),
                None => keys.push_nulls(1),
            }
        }
        if let Some(members) = &mut self.members {
            members.push(&mut Reader::new(placed.record.value));
        }
    }

    /// Returns the rows as a batch, and removes them.
    pub(super) fn finish(&mut self) -> Result<RecordBatch> {
        let offsets = self.offsets.as_mut().map(|own| -> ArrayRef { Arc::new(Int64Array::from(std::mem::take(own))) });
        let times = self.times.as_mut().map(|own| times(std::mem::take(own)));
        let ids = self.ids.as_mut().map(Column::finish).transpose()?;
        let keys = self.keys.as_mut().map(Column::finish).transpose()?;
        let members = self.members.as_mut().map(Members::finish_columns).transpose()?.unwrap_or_default();
        let rows = std::mem::take(&mut self.rows);
        self.wanted.batch(rows, |index| match index {
            OFFSET => offsets.clone(),
            ID => ids.clone(),
            TIME => times.clone(),
            KEY => keys.clone(),
            index => members.get(index - OWN).cloned().flatten(),
        })
    }
}

/// Formats a generated id as in the stream's other readers, without allocating.
fn id_text(id: u128) -> [u8; 36] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = [b'-'; 36];
    let mut at = 0;
    for (index, byte) in id.to_be_bytes().into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            at += 1;
        }
        out[at] = DIGITS[usize::from(byte >> 4)];
        out[at + 1] = DIGITS[usize::from(byte & 15)];
        at += 2;
    }
    out
}

fn times(ms: Vec<i64>) -> ArrayRef {
    Arc::new(TimestampMillisecondArray::from(ms).with_timezone("UTC"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_uuids() {
        let id = 0x0190_1234_5678_7abc_8def_0123_4567_89ab;
        assert_eq!(&super::id_text(id), b"01901234-5678-7abc-8def-0123456789ab");
    }
}
