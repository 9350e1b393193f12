//! Finds the rows that match a filter, in the order of the source, and stops as soon as it has enough.

use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use salver_model::{Comparison, Result};

use super::{Resident, evaluate};
use crate::chunk::CHUNK_ROWS;
use crate::engine::Cancel;
use crate::index::KeyIndex;
use crate::resolve::{Condition, Place, Test};

/// Rows of the first window of a scan that may stop early; each further window is twice as large.
const FIRST_WINDOW_ROWS: u32 = 1024;
/// Most combinations of `in` lists that are looked up in an index.
const INDEX_LOOK_UPS: usize = 1024;

/// Rows of one chunk.
#[derive(Debug)]
pub(crate) enum Pick {
    /// Adjacent rows.
    Range { chunk: u32, start: u32, len: u32 },
    /// Single rows, ascending.
    Rows { chunk: u32, rows: Vec<u32> },
}

impl Pick {
    /// Returns the number of rows.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Range { len, .. } => u64::from(*len),
            Self::Rows { rows, .. } => rows.len() as u64,
        }
    }

    /// Calls `visit` with the position of each row.
    pub(crate) fn for_each_position(&self, mut visit: impl FnMut(u64)) {
        match self {
            Self::Range { chunk, start, len } => {
                let first = Resident::position(*chunk, *start);
                (first..first + u64::from(*len)).for_each(visit);
            }
            Self::Rows { chunk, rows } => rows.iter().for_each(|row| visit(Resident::position(*chunk, *row))),
        }
    }
}

/// The matching rows.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) picks: Vec<Pick>,
    /// Number of rows that matched, as far as the scan went.
    pub(crate) matched: u64,
}

impl Seen {
    fn push(&mut self, pick: Pick) {
        self.matched += pick.len();
        self.picks.push(pick);
    }

    /// Drops the first `skip` rows, and all after the next `take`; returns the number of rows left.
    pub(crate) fn trim(&mut self, skip: u64, take: u64) -> u64 {
        let (mut skip, mut take, mut kept) = (skip, take, 0);
        self.picks.retain_mut(|pick| {
            let drop = skip.min(pick.len());
            skip -= drop;
            let keep = take.min(pick.len() - drop);
            take -= keep;
            kept += keep;
            match pick {
                Pick::Range { start, len, .. } => {
                    *start += drop as u32;
                    *len = keep as u32;
                }
                Pick::Rows { rows, .. } => {
                    rows.truncate((drop + keep) as usize);
                    rows.drain(..drop as usize);
                }
            }
            keep > 0
        });
        kept
    }

    /// Returns one more than the position of the last row.
    pub(crate) fn end(&self) -> Option<u64> {
        Some(match self.picks.last()? {
            Pick::Range { chunk, start, len } => Resident::position(*chunk, *start) + u64::from(*len),
            Pick::Rows { chunk, rows } => Resident::position(*chunk, *rows.last()?) + 1,
        })
    }
}

/// Filters those `candidates` that lie in `positions`, until `enough` have matched.
pub(crate) fn among(
    resident: &Resident,
    filter: &Condition,
    candidates: &[u32],
    positions: &Range<u64>,
    enough: u64,
) -> Result<Seen> {
    let mut seen = Seen::default();
    for position in candidates.iter().map(|position| u64::from(*position)) {
        if seen.matched >= enough {
            break;
        }
        if !positions.contains(&position) {
            continue;
        }
        let (chunk, row) = Resident::locate(position);
        let passes = evaluate::mask(filter, &resident.chunks[chunk as usize], row, 1)?;
        if passes.is_valid(0) && passes.value(0) {
            seen.push(Pick::Range { chunk, start: row, len: 1 });
        }
    }
    Ok(seen)
}

/// Filters the rows at `positions` until `enough` have matched.
pub(crate) fn scan(
    resident: &Resident,
    filter: Option<&Condition>,
    positions: Range<u64>,
    enough: u64,
    cancel: &Cancel,
) -> Result<Seen> {
    let mut seen = Seen::default();
    let mut window = if enough == u64::MAX { CHUNK_ROWS as u32 } else { FIRST_WINDOW_ROWS };
    let mut at = positions.start;
    while at < positions.end && seen.matched < enough && !cancel.is_cancelled() {
        let (chunk, start) = Resident::locate(at);
        let left_in_chunk = CHUNK_ROWS as u64 - u64::from(start);
        let reach = left_in_chunk.min(positions.end - at);
        let Some(filter) = filter else {
            seen.push(Pick::Range { chunk, start, len: reach as u32 });
            at += reach;
            continue;
        };
        if start == 0 && !resident.zones.may_pass(chunk as usize, filter) {
            at += reach;
            continue;
        }
        let len = reach.min(u64::from(window)) as u32;
        if let Some(pick) = pass(resident, filter, chunk, start, len)? {
            seen.push(pick);
        }
        at += u64::from(len);
        window = (window * 2).min(CHUNK_ROWS as u32);
    }
    Ok(seen)
}

fn pass(resident: &Resident, filter: &Condition, chunk: u32, start: u32, len: u32) -> Result<Option<Pick>> {
    let mask = evaluate::mask(filter, &resident.chunks[chunk as usize], start, len)?;
    let passed = match mask.nulls() {
        Some(nulls) => mask.values() & nulls.inner(),
        None => mask.values().clone(),
    };
    let count = passed.count_set_bits();
    Ok(match count {
        0 => None,
        all if all == len as usize => Some(Pick::Range { chunk, start, len }),
        _ => {
            let mut rows = Vec::with_capacity(count);
            rows.extend(passed.set_indices().map(|row| start + row as u32));
            Some(Pick::Rows { chunk, rows })
        }
    })
}

/// Returns the positions, ascending, of all rows that may match, if the filter fixes every column of the key.
pub(crate) fn candidates(key: &KeyIndex, filter: &Condition) -> Option<Vec<u32>> {
    let mut terms: Vec<(&Place, &ArrayRef)> = Vec::new();
    collect_equalities(filter, &mut terms);
    let lists: Vec<&ArrayRef> = key
        .columns()
        .iter()
        .map(|column| {
            let same = |(place, _): &&(&Place, &ArrayRef)| place.column == *column && place.fields.is_empty();
            terms.iter().find(same).map(|(_, values)| *values)
        })
        .collect::<Option<_>>()?;
    let combinations = lists.iter().map(|list| list.len()).product::<usize>();
    if combinations > INDEX_LOOK_UPS {
        return None;
    }
    let mut found = Vec::new();
    for combination in 0..combinations {
        let mut rest = combination;
        let values: Vec<ArrayRef> = lists
            .iter()
            .map(|list| {
                let row = rest % list.len();
                rest /= list.len();
                if list.len() == 1 { ArrayRef::clone(list) } else { list.slice(row, 1) }
            })
            .collect();
        key.candidates(&values, &mut found)?;
    }
    if combinations > 1 {
        found.sort_unstable();
        found.dedup();
    }
    Some(found)
}

fn collect_equalities<'a>(filter: &'a Condition, terms: &mut Vec<(&'a Place, &'a ArrayRef)>) {
    match filter {
        Condition::And(all) => all.iter().for_each(|inner| collect_equalities(inner, terms)),
        Condition::Test(place, Test::Compare(Comparison::Eq, value)) => terms.push((place, value)),
        Condition::Test(place, Test::In(list)) => terms.push((place, &list.values)),
        _ => {}
    }
}
