//! Sorts rows. The sort is stable with respect to the order of the source. A page of a large dataset costs one pass
//! over the rows and no full sort, wherever the page is.

use std::cmp::Ordering;

use arrow::array::ArrayRef;
use arrow::row::{RowConverter, SortField};
use salver_model::Result;

use super::evaluate::column;
use super::select::{Matches, Pick};
use super::{Page, Resident, SelectedRows};
use crate::engine::one_of_each;
use crate::fault;
use crate::resolve::{Resolved, SortKey};

mod fixed_width_key;

/// Returns the page of a sorted query, from the rows that matched its filter.
pub(crate) fn page(resident: &Resident, resolved: &Resolved, seen: &Matches) -> Result<Page> {
    // Number of rows needed from the start of the order, or from the cursor.
    let wanted = match resolved.limit {
        Some(limit) => limit.saturating_add(resolved.offset).saturating_add(1),
        None => u64::MAX,
    };
    let wanted = usize::try_from(wanted.min(seen.matched)).unwrap_or(usize::MAX);
    let last = resolved.after.and_then(|after| after.checked_sub(1));
    let mut positions = match fixed_width_key::sorted(resident, &resolved.sort, seen, wanted, last) {
        Some(positions) => positions,
        None => sorted(resident, &resolved.sort, seen, wanted, last)?,
    };
    let offset = usize::try_from(resolved.offset).unwrap_or(usize::MAX).min(positions.len());
    positions.drain(..offset);
    let limit = resolved.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let more = positions.len() > limit;
    positions.truncate(limit);
    let end = positions.last().map_or(0, |position| u64::from(*position) + 1);
    let len = positions.len() as u64;
    Ok(Page { found: SelectedRows::Positions(positions), len, more, end, total: seen.matched })
}

/// Returns the positions of the first `wanted` rows, or of those after the row at `last`. It works for any type,
/// through Arrow's row format.
fn sorted(resident: &Resident, keys: &[SortKey], seen: &Matches, wanted: usize, last: Option<u64>) -> Result<Vec<u32>> {
    let fields =
        keys.iter().map(|key| SortField::new_with_options(key.place.field.data_type().clone(), key.options)).collect();
    let converter = RowConverter::new(fields).map_err(fault::arrow)?;
    let mut rows = converter.empty_rows(usize::try_from(seen.matched).unwrap_or(0), 0);
    let mut positions: Vec<u32> = Vec::with_capacity(rows.num_rows());
    for pick in &seen.picks {
        converter.append(&mut rows, &key_columns(resident, keys, pick)?).map_err(fault::arrow)?;
        pick.for_each_position(|position| positions.push(position as u32));
    }
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    // `rows` is in the order of the source, so the index breaks ties.
    let compare = |a: &u32, b: &u32| rows.row(*a as usize).cmp(&rows.row(*b as usize)).then(a.cmp(b));
    if let Some(last) = last {
        let (chunk, row) = Resident::locate(last);
        let columns = key_columns(resident, keys, &Pick::Range { chunk, start: row, len: 1 })?;
        let last_row = converter.convert_columns(&columns).map_err(fault::arrow)?;
        order.retain(|index| {
            let by_value = rows.row(*index as usize).cmp(&last_row.row(0));
            by_value.then(u64::from(positions[*index as usize]).cmp(&last)) == Ordering::Greater
        });
    }
    if wanted < order.len() {
        order.select_nth_unstable_by(wanted, compare);
        order.truncate(wanted);
    }
    order.sort_unstable_by(compare);
    Ok(order.into_iter().map(|index| positions[index as usize]).collect())
}

fn key_columns(resident: &Resident, keys: &[SortKey], pick: &Pick) -> Result<Vec<ArrayRef>> {
    let values = |key: &SortKey| Ok(one_of_each(&super::rows::values(resident, &key.place, pick)?));
    keys.iter().map(values).collect()
}

/// Returns the values of a sort key in one chunk.
fn chunk_column(resident: &Resident, key: &SortKey, chunk: u32) -> ArrayRef {
    let chunk = &resident.chunks[chunk as usize];
    column(&key.place, chunk, 0, chunk.num_rows())
}
