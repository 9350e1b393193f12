//! A table held for an export: its rows in one snapshot of the database, in parts, from any row on.
//!
//! Rows are read by keyset pagination: each statement has a limit and starts after the key of the last row of the one
//! before. So a reader keeps nothing in the database between them, any number of readers share one connection in turn,
//! and a slow one delays no other.

mod batch_builder;
mod key;
mod part_reader;
mod seek_marks;
mod statements;

use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use salver_model::ports::Held;
use salver_model::records::ColumnKind;
use salver_model::reply::BatchStream;
use salver_model::{Description, Error, Filter, Result, Version};

use self::part_reader::PendingReader;
use self::seek_marks::Marks;
use self::statements::HeldStatements;
use super::RecordsTable;
use crate::backend::layout::Layout;
use crate::backend::snapshot::DatabaseSnapshot;
use crate::cell::{Collect, OwnedCell};
use crate::statement::Read;

/// The held rows.
#[derive(Debug)]
struct HeldTable {
    shared: Arc<HeldState>,
}

/// The state that readers share.
#[derive(Debug)]
struct HeldState {
    description: Description,
    snapshot: Arc<DatabaseSnapshot>,
    plan: HeldStatements,
    parts: Vec<KeyRange>,
}

/// Rows between two keys.
#[derive(Debug)]
struct KeyRange {
    /// The predicate that only its rows satisfy; empty when it is the only part.
    range: String,
    marks: Mutex<Marks>,
    /// Number of its rows, once counted.
    rows: OnceLock<u64>,
}

/// Holds the present rows of `table`.
pub(super) async fn hold(table: &RecordsTable, parts: usize) -> Result<Arc<dyn Held>> {
    let (snapshot, layout) = match table.shared_view() {
        Some(view) => view.snapshot().await?,
        None => alone(table).await?,
    };
    let plan = HeldStatements::new(table, &layout)?;
    // The columns may differ in the snapshot.
    snapshot.read(plan.probe(), Collect::default()).await?;
    let ranges = match plan.pages(parts) {
        Some(ranges) => ranges,
        None => numbers(&plan, &snapshot, parts).await?,
    };
    let part = |range| KeyRange { range, marks: Mutex::default(), rows: OnceLock::new() };
    let description = Description { version: version(table.description.version), ..table.description.clone() };
    let parts = ranges.into_iter().map(part).collect();
    Ok(Arc::new(HeldTable { shared: Arc::new(HeldState { description, snapshot, plan, parts }) }))
}

/// Takes a snapshot for one table.
async fn alone(table: &RecordsTable) -> Result<(Arc<DatabaseSnapshot>, Layout)> {
    let (snapshot, layouts) = table.known.backend.hold(slice::from_ref(&table.info)).await?;
    let layout = layouts.into_iter().next().ok_or_else(|| Error::internal("a snapshot without its table"))?;
    Ok((Arc::new(snapshot), layout))
}

/// Returns ranges of the key, when its first column is a number; else one range.
async fn numbers(plan: &HeldStatements, snapshot: &DatabaseSnapshot, parts: usize) -> Result<Vec<String>> {
    let Some(sql) = plan.extremes().filter(|_| parts > 1) else { return Ok(vec![String::new()]) };
    let kinds = Arc::new([ColumnKind::BigInt, ColumnKind::BigInt]);
    let read = Read { sql: sql.into(), binds: Vec::new(), kinds, point: false };
    let found = snapshot.read(read, Collect::default()).await?;
    let number = |cell: &OwnedCell| match cell {
        OwnedCell::Int(number) => Some(i128::from(*number)),
        OwnedCell::UInt(number) => Some(i128::from(*number)),
        _ => None,
    };
    let row = found.rows.first().and_then(|rows| rows.first());
    let between = row.and_then(|row| Some((number(row.first()?)?, number(row.get(1)?)?)));
    Ok(between.map_or_else(|| vec![String::new()], |(least, most)| plan.split(least, most, parts)))
}

/// Returns a unique version, because the rows of a database may change at any moment.
fn version(schema: Version) -> Version {
    static HELD: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Version::of(&(schema, now, HELD.fetch_add(1, Ordering::Relaxed)))
}

impl Held for HeldTable {
    fn describe(&self) -> &Description {
        &self.shared.description
    }

    fn parts(&self) -> usize {
        self.shared.parts.len()
    }

    fn read(&self, part: usize, columns: &[usize], _: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        PendingReader::new(&self.shared, part, columns, 0, limit).stream()
    }

    fn finds_again(&self) -> bool {
        !self.shared.plan.key.columns.is_empty()
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        self.shared.parts.get(part)?.rows.get().copied()
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        Some(PendingReader::new(&self.shared, part, columns, skip, limit).stream())
    }
}
