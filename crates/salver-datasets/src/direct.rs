//! Runs a query over rows in memory, without planner, task or channel. It handles neither grouped nor distinct queries,
//! and depends on neither files, SQL nor the engine.

mod evaluate;
mod order;
mod rows;
mod select;

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use salver_model::entry::Description;
use salver_model::{Query, Result, Rows};

use crate::chunk_size::CHUNK_ROWS;
use crate::engine::Cancel;
use crate::index::{KeyIndex, Zones};
use crate::resolve::{self, Condition, Resolved};

pub(crate) use evaluate::{column, mask};
pub(crate) use rows::SelectedRows;
use select::Matches;
pub(crate) use select::Pick;

/// The rows of a dataset in memory, with their indexes.
#[derive(Debug)]
pub(crate) struct Resident {
    /// Chunks of [`CHUNK_ROWS`] rows, the last may be shorter.
    pub(crate) chunks: Vec<RecordBatch>,
    /// Number of rows.
    pub(crate) rows: u64,
    /// Index by key.
    pub(crate) key: Option<KeyIndex>,
    /// Minimum and maximum of each column by chunk.
    pub(crate) zones: Zones,
}

impl Resident {
    /// Returns the chunk of a position, and the row in it.
    pub(crate) fn locate(position: u64) -> (u32, u32) {
        ((position / CHUNK_ROWS as u64) as u32, (position % CHUNK_ROWS as u64) as u32)
    }

    /// Returns the position of a row of a chunk.
    pub(crate) fn position(chunk: u32, row: u32) -> u64 {
        u64::from(chunk) * CHUNK_ROWS as u64 + u64::from(row)
    }
}

/// A checked query, and the rows that it has to look at.
pub(crate) struct DirectPlan {
    resolved: Resolved,
    /// The positions of the rows that may match, if the key index gives them.
    candidates: Option<Vec<u32>>,
}

impl DirectPlan {
    /// Plans a query; looks the key up if the filter determines it.
    pub(crate) fn of(resident: &Resident, resolved: Resolved) -> Self {
        let candidates = match (&resolved.filter, &resident.key) {
            (Some(filter), Some(key)) => select::candidates(key, filter),
            _ => None,
        };
        Self { resolved, candidates }
    }

    /// Returns an upper bound of the number of values to examine: those filtered and sorted by, and those of the
    /// result.
    pub(crate) fn cost(&self, resident: &Resident) -> u64 {
        let resolved = &self.resolved;
        let is_page = resolved.sort.is_empty() && resolved.filter.is_none();
        let columns = match &resolved.items {
            Some(items) => items.len(),
            None => resolved.schema.fields().len(),
        } as u64;
        if is_page {
            // Chunks are returned as slices, without a copy.
            return columns;
        }
        let rows = self.candidates.as_ref().map_or(resident.rows, |candidates| candidates.len() as u64);
        let looks = 1 + resolved.filter.as_ref().map_or(0, Condition::tests) + resolved.sort.len() as u64;
        let handed_out = rows.min(resolved.limit.unwrap_or(u64::MAX));
        rows.saturating_mul(looks).saturating_add(handed_out.saturating_mul(columns)).max(columns)
    }

    /// Runs the query.
    pub(crate) fn run(
        self,
        resident: &Arc<Resident>,
        about: &Description,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Rows> {
        let page = if self.resolved.sort.is_empty() {
            self.in_source_order(resident, cancel)?
        } else {
            let seen = self.scan(resident, 0..resident.rows, u64::MAX, cancel)?;
            order::page(resident, &self.resolved, &seen)?
        };
        let resolved = self.resolved;
        let next = match (page.more, resolved.limit) {
            (true, Some(limit)) if limit > 0 => Some(resolve::cursor(query, about, page.end)),
            _ => None,
        };
        let schema = Arc::clone(&resolved.schema);
        let batches = rows::batches(resident, resolved.items, &schema, page.found, page.len)?;
        let total = resolved.count.then_some(page.total);
        Ok(Rows { schema, batches, total, next, read: vec![(about.name.clone(), about.version)], repeatable: true })
    }

    fn scan(&self, resident: &Resident, positions: Range<u64>, enough: u64, cancel: &Cancel) -> Result<Matches> {
        match (&self.resolved.filter, &self.candidates) {
            (Some(filter), Some(candidates)) => select::among(resident, filter, candidates, &positions, enough),
            (filter, _) => select::scan(resident, filter.as_ref(), positions, enough, cancel),
        }
    }

    fn in_source_order(&self, resident: &Resident, cancel: &Cancel) -> Result<Page> {
        let resolved = &self.resolved;
        let start = resolved.after.unwrap_or(0);
        // One more than the page holds, to learn whether another page follows.
        let enough = match resolved.limit {
            Some(limit) if !resolved.count => limit.saturating_add(resolved.offset).saturating_add(1),
            _ => u64::MAX,
        };
        let mut seen = self.scan(resident, start..resident.rows, enough, cancel)?;
        let before = match (resolved.count, start) {
            (false, _) | (true, 0) => 0,
            (true, _) => self.scan(resident, 0..start, u64::MAX, cancel)?.matched,
        };
        let wanted = resolved.limit.unwrap_or(u64::MAX);
        let more = seen.matched > resolved.offset.saturating_add(wanted);
        let len = seen.trim(resolved.offset, wanted);
        let end = seen.end().unwrap_or(start);
        Ok(Page { found: SelectedRows::Picks(seen.picks), len, more, end, total: before + seen.matched })
    }
}

/// The rows of one page.
pub(crate) struct Page {
    /// The rows, in order.
    pub(crate) found: SelectedRows,
    /// Number of rows.
    pub(crate) len: u64,
    /// Whether more rows follow.
    pub(crate) more: bool,
    /// One more than the position of the last row.
    pub(crate) end: u64,
    /// Number of rows that match; only set if the query asks for it.
    pub(crate) total: u64,
}
