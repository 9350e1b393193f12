//! Makes record batches of selected rows: slices where they are adjacent, copies where they are not.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{interleave, take};
use arrow::datatypes::SchemaRef;
use salver_model::limits::READY_ROWS_MAX;
use salver_model::{Batches, Result};

use super::evaluate::column;
use super::{Pick, Resident};
use crate::fault;
use crate::resolve::ResolvedColumn;

/// Rows of a batch of a long result.
const BATCH_ROWS: usize = 8_192;

/// The selected rows, in the order of the result.
pub(crate) enum SelectedRows {
    /// In the order of the source.
    Picks(Vec<Pick>),
    /// In any order.
    Positions(Vec<u32>),
}

/// Rows that become one batch.
enum Unit {
    Pick(Pick),
    Gather(Vec<(usize, usize)>),
}

/// Returns the rows as batches: all at once if they are few, else lazily, one after another.
pub(crate) fn batches(
    resident: &Arc<Resident>,
    items: Option<Vec<ResolvedColumn>>,
    schema: &SchemaRef,
    found: SelectedRows,
    len: u64,
) -> Result<Batches> {
    let units = units(resident, found);
    if len <= READY_ROWS_MAX as u64 {
        let made: Result<_> = units.into_iter().map(|unit| batch(resident, items.as_deref(), schema, unit)).collect();
        return Ok(Batches::Ready(made?));
    }
    let (resident, schema) = (Arc::clone(resident), Arc::clone(schema));
    let made = units.into_iter().map(move |unit| batch(&resident, items.as_deref(), &schema, unit));
    Ok(Batches::Stream(Box::pin(futures::stream::iter(made))))
}

fn units(resident: &Resident, found: SelectedRows) -> Vec<Unit> {
    match found {
        SelectedRows::Positions(positions) if resident.chunks.len() == 1 => {
            positions.chunks(BATCH_ROWS).map(|rows| Unit::Pick(Pick::Rows { chunk: 0, rows: rows.to_vec() })).collect()
        }
        SelectedRows::Positions(positions) => positions
            .chunks(BATCH_ROWS)
            .map(|rows| Unit::Gather(rows.iter().map(|position| pair(u64::from(*position))).collect()))
            .collect(),
        SelectedRows::Picks(picks) => join(picks),
    }
}

fn pair(position: u64) -> (usize, usize) {
    let (chunk, row) = Resident::locate(position);
    (chunk as usize, row as usize)
}

/// Splits long picks and merges short ones.
fn join(picks: Vec<Pick>) -> Vec<Unit> {
    let mut units = Vec::with_capacity(picks.len());
    let mut short: Vec<Pick> = Vec::new();
    let mut short_rows = 0;
    for pick in picks {
        if pick.len() as usize <= BATCH_ROWS / 2 {
            short_rows += pick.len() as usize;
            short.push(pick);
            if short_rows >= BATCH_ROWS / 2 {
                units.extend(gather(std::mem::take(&mut short), std::mem::take(&mut short_rows)));
            }
            continue;
        }
        units.extend(gather(std::mem::take(&mut short), std::mem::take(&mut short_rows)));
        match pick {
            Pick::Range { chunk, start, len } => {
                for from in (start..start + len).step_by(BATCH_ROWS) {
                    let len = (start + len - from).min(BATCH_ROWS as u32);
                    units.push(Unit::Pick(Pick::Range { chunk, start: from, len }));
                }
            }
            Pick::Rows { chunk, rows } => {
                let parts = rows.chunks(BATCH_ROWS);
                units.extend(parts.map(|rows| Unit::Pick(Pick::Rows { chunk, rows: rows.to_vec() })));
            }
        }
    }
    units.extend(gather(short, short_rows));
    units
}

fn gather(mut short: Vec<Pick>, rows: usize) -> Option<Unit> {
    if short.len() < 2 {
        return short.pop().map(Unit::Pick);
    }
    let mut pairs = Vec::with_capacity(rows);
    for pick in &short {
        pick.for_each_position(|position| pairs.push(pair(position)));
    }
    Some(Unit::Gather(pairs))
}

fn batch(resident: &Resident, items: Option<&[ResolvedColumn]>, schema: &SchemaRef, unit: Unit) -> Result<RecordBatch> {
    let (columns, rows) = match &unit {
        Unit::Pick(pick) => {
            let columns = match (items, pick) {
                (None, Pick::Range { chunk, start, len }) => {
                    return Ok(resident.chunks[*chunk as usize].slice(*start as usize, *len as usize));
                }
                (None, Pick::Rows { chunk, rows }) => {
                    let indices = UInt32Array::from(rows.clone());
                    let chunk = &resident.chunks[*chunk as usize];
                    let taken = chunk.columns().iter().map(|column| take(column, &indices, None));
                    taken.collect::<Result<Vec<_>, _>>().map_err(fault::arrow)?
                }
                (Some(items), pick) => {
                    items.iter().map(|place| values(resident, place, pick)).collect::<Result<Vec<_>>>()?
                }
            };
            (columns, pick.len() as usize)
        }
        Unit::Gather(pairs) => {
            let all: Vec<ResolvedColumn>;
            let places = match items {
                Some(items) => items,
                None => {
                    let fields = schema.fields().iter().enumerate();
                    all = fields
                        .map(|(column, field)| ResolvedColumn { column, fields: Vec::new(), field: Arc::clone(field) })
                        .collect();
                    &all
                }
            };
            let columns = places.iter().map(|place| scattered(resident, place, pairs)).collect::<Result<Vec<_>>>()?;
            (columns, pairs.len())
        }
    };
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(fault::arrow)
}

/// Gathers the values of a column for rows of one chunk.
pub(super) fn values(resident: &Resident, place: &ResolvedColumn, pick: &Pick) -> Result<ArrayRef> {
    match pick {
        Pick::Range { chunk, start, len } => {
            Ok(column(place, &resident.chunks[*chunk as usize], *start as usize, *len as usize))
        }
        Pick::Rows { chunk, rows } => {
            let chunk = &resident.chunks[*chunk as usize];
            let whole = column(place, chunk, 0, chunk.num_rows());
            take(&whole, &UInt32Array::from(rows.clone()), None).map_err(fault::arrow)
        }
    }
}

/// Gathers the values of a column for rows of many chunks.
fn scattered(resident: &Resident, place: &ResolvedColumn, pairs: &[(usize, usize)]) -> Result<ArrayRef> {
    let columns: Vec<ArrayRef> =
        resident.chunks.iter().map(|chunk| column(place, chunk, 0, chunk.num_rows())).collect();
    let arrays: Vec<&dyn Array> = columns.iter().map(|column| &**column).collect();
    interleave(&arrays, pairs).map_err(fault::arrow)
}
