//! Answers a query from rows in memory, without planner, task or channel. It knows nothing of files, of SQL or of the
//! engine; grouped and distinct queries are not its work.

mod evaluate;
mod order;
mod rows;
mod select;

use std::sync::Arc;

use arrow::array::RecordBatch;
use salver_model::entry::Description;
use salver_model::{Query, Result, Rows};

use crate::chunk::CHUNK_ROWS;
use crate::engine::Cancel;
use crate::index::{KeyIndex, Zones};
use crate::resolve::{self, Condition, Resolved};

pub(crate) use evaluate::column;
pub(crate) use rows::Found;
pub(crate) use select::Pick;

/// Rows of a dataset in memory, with what helps to find them.
#[derive(Debug)]
pub(crate) struct Resident {
    /// Chunks of [`CHUNK_ROWS`] rows, the last may be shorter.
    pub(crate) chunks: Vec<RecordBatch>,
    /// How many rows.
    pub(crate) rows: u64,
    /// Finds rows by key.
    pub(crate) key: Option<KeyIndex>,
    /// Ranges of values by chunk.
    pub(crate) zones: Zones,
}

impl Resident {
    /// The chunk of a position, and the row in it.
    pub(crate) fn locate(position: u64) -> (u32, u32) {
        ((position / CHUNK_ROWS as u64) as u32, (position % CHUNK_ROWS as u64) as u32)
    }

    /// The position of a row of a chunk.
    pub(crate) fn position(chunk: u32, row: u32) -> u64 {
        u64::from(chunk) * CHUNK_ROWS as u64 + u64::from(row)
    }
}

/// How many values the query has to look at, at most: those it tests and sorts by, and those it hands out.
pub(crate) fn cost(resident: &Resident, resolved: &Resolved) -> u64 {
    let is_page = resolved.sort.is_empty() && resolved.filter.is_none();
    let columns = match &resolved.items {
        Some(items) => items.len(),
        None => resolved.schema.fields().len(),
    } as u64;
    if is_page {
        // Whole chunks are handed out as they are.
        return columns;
    }
    let rows = match (&resolved.filter, &resident.key) {
        (Some(filter), Some(key)) => select::candidates(key, filter).map(|candidates| candidates.len() as u64),
        _ => None,
    };
    let rows = rows.unwrap_or(resident.rows);
    let looks = 1 + resolved.filter.as_ref().map_or(0, Condition::tests) + resolved.sort.len() as u64;
    let handed_out = rows.min(resolved.limit.unwrap_or(u64::MAX));
    rows.saturating_mul(looks).saturating_add(handed_out.saturating_mul(columns)).max(columns)
}

/// Runs a checked query.
pub(crate) fn run(
    resident: &Arc<Resident>,
    about: &Description,
    query: &Query,
    resolved: Resolved,
    cancel: &Cancel,
) -> Result<Rows> {
    let page = if resolved.sort.is_empty() {
        in_source_order(resident, &resolved, cancel)?
    } else {
        order::run(resident, &resolved, cancel)?
    };
    let next = match (page.more, resolved.limit) {
        (true, Some(limit)) if limit > 0 => Some(resolve::cursor(query, about, page.end)),
        _ => None,
    };
    let schema = Arc::clone(&resolved.schema);
    let batches = rows::batches(resident, resolved.items, &schema, page.found, page.len)?;
    let total = resolved.count.then_some(page.total);
    Ok(Rows { schema, batches, total, next, read: vec![(about.name.clone(), about.version)], repeatable: true })
}

/// The rows of one page.
pub(crate) struct Page {
    /// Which rows, in order.
    pub(crate) found: Found,
    /// How many.
    pub(crate) len: u64,
    /// Whether more rows follow.
    pub(crate) more: bool,
    /// One more than the position of the last row.
    pub(crate) end: u64,
    /// How many rows match; only when it was asked for.
    pub(crate) total: u64,
}

fn in_source_order(resident: &Resident, resolved: &Resolved, cancel: &Cancel) -> Result<Page> {
    let filter = resolved.filter.as_ref();
    let start = resolved.after.unwrap_or(0);
    // One more than the page holds, to know whether another follows.
    let enough = match resolved.limit {
        Some(limit) if !resolved.count => limit.saturating_add(resolved.offset).saturating_add(1),
        _ => u64::MAX,
    };
    let mut seen = select::scan(resident, filter, start..resident.rows, enough, cancel)?;
    let before = match (resolved.count, start) {
        (false, _) | (true, 0) => 0,
        (true, _) => select::scan(resident, filter, 0..start, u64::MAX, cancel)?.matched,
    };
    let wanted = resolved.limit.unwrap_or(u64::MAX);
    let more = seen.matched > resolved.offset.saturating_add(wanted);
    let len = seen.trim(resolved.offset, wanted);
    let end = seen.end().unwrap_or(start);
    Ok(Page { found: Found::Picks(seen.picks), len, more, end, total: before + seen.matched })
}
