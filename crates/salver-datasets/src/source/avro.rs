//! Avro object containers.
//!
//! They are decoded here and not by a library, because a reader that trusts a file's own numbers loses rows of it,
//! takes values for others, or never ends.

mod arrow_type;
mod codec;
mod column;
mod container;
mod cursor;
mod number;
mod schema;

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use salver_model::Result;
use salver_model::limits::AVRO_EMPTY_VALUES_MAX;

use self::column::Column;
use self::container::{Block, Container};
use self::cursor::Cursor;
use self::schema::{Flaw, Type};
use super::{Input, Sink, Stop, damaged, distinct};

/// Rows of a batch.
const BATCH_ROWS: usize = 16_384;

/// Bytes of a block from which a batch ends before it has all of its rows.
const BATCH_BYTES: usize = 64 * 1024 * 1024;

pub(super) fn schema(input: &Input) -> Result<Schema> {
    let columns = columns(input, &Container::open(input)?)?;
    Ok(Schema::new(arrow_type::fields(&columns)))
}

/// Passes the rows to `sink`.
pub(super) fn read(input: &Input, sink: Sink<'_>) -> Result<(), Stop> {
    let mut container = Container::open(input)?;
    let columns = columns(input, &container)?;
    let mut rows = Rows {
        input,
        schema: Arc::new(distinct(Schema::new(arrow_type::fields(&columns)))),
        columns: columns.iter().map(|(_, of)| Column::new(of)).collect(),
        count: 0,
        bytes: 0,
        empty_left: AVRO_EMPTY_VALUES_MAX,
    };
    while let Some(block) = container.next_block()? {
        rows.read(&block, container.blocks, sink)?;
    }
    rows.flush(sink)
}

fn columns(input: &Input, container: &Container<'_>) -> Result<Vec<(String, Type)>> {
    schema::columns(&container.schema).map_err(|flaw| match flaw {
        Flaw::Invalid(why) => damaged(input, why),
        Flaw::Unsupported(why, hint) => damaged(input, why).with_hint(hint),
    })
}

/// The rows that are read and not yet passed on.
struct Rows<'a> {
    input: &'a Input,
    schema: SchemaRef,
    columns: Vec<Column>,
    count: usize,
    bytes: usize,
    empty_left: u64,
}

impl Rows<'_> {
    /// Reads the rows of the block of this number.
    fn read(&mut self, block: &Block, number: u64, sink: Sink<'_>) -> Result<(), Stop> {
        let mut cursor = Cursor::new(&block.bytes, self.empty_left);
        for row in 1..=block.rows {
            let before = cursor.len();
            let read = self.columns.iter_mut().try_for_each(|column| column.read(&mut cursor));
            let read = read.and_then(|()| match cursor.len() == before {
                true => cursor.count_empty(self.columns.iter().map(Column::width).sum::<u64>().max(1)),
                false => Ok(()),
            });
            read.map_err(|fault| {
                damaged(self.input, format!("block {number}, row {row} of it: {fault}"))
                    .with_hint_if(fault.hint.map(str::to_owned))
            })?;
            self.count += 1;
            self.bytes += before - cursor.len();
            if self.count == BATCH_ROWS || self.bytes >= BATCH_BYTES {
                self.flush(sink)?;
            }
        }
        self.empty_left = cursor.empty_left();
        match cursor.len() {
            0 => Ok(()),
            left => {
                let why = format!("block {number} has {left} bytes more than its {} rows use", block.rows);
                Err(damaged(self.input, why).into())
            }
        }
    }

    fn flush(&mut self, sink: Sink<'_>) -> Result<(), Stop> {
        if self.count == 0 {
            return Ok(());
        }
        let arrays = self.columns.iter_mut().map(Column::finish).collect::<Result<Vec<_>, _>>();
        let options = RecordBatchOptions::new().with_row_count(Some(self.count));
        let batch = arrays
            .and_then(|arrays| RecordBatch::try_new_with_options(SchemaRef::clone(&self.schema), arrays, &options))
            .map_err(|cause| damaged(self.input, &cause).with_source(cause))?;
        (self.count, self.bytes) = (0, 0);
        sink(batch)
    }
}
