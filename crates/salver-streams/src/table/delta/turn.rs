//! One turn of publishing: what of the log is to change in the table, in commits that are each whole.
//!
//! New events are added once, by their offsets, in files that end where those of the log do. The file of the log that
//! is still written to has several at first, which become one when it is closed.

use std::fs::File;
use std::ops::Range;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use salver_model::Result;

use super::action::{APPLICATION, Action, Add, Metadata, Transaction};
use super::event_file;
use super::published::{Operation, Table};
use super::rows::EventRows;
use super::schema::{fields_json, fits, following};
use super::state::EventFile;
use crate::clock::now_ms;

/// Number of files of about one size that become one file.
const ALIKE_FILES: usize = 8;

/// Most files of new events in one turn. What is read stays on disk for so long, whatever retention says.
const TURN_FILES: usize = 8;

/// One turn.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) rows: &'a EventRows<'a>,
    /// Offset below which everything is durable.
    pub(super) durable: u64,
}

impl Turn<'_> {
    /// Brings the table up to date, as far as that goes in one turn; returns whether it did. Blocks.
    ///
    /// # Errors
    /// Returns `Source` when the log can't be read, and `StreamUnavailable` when the table can't be written, or the
    /// stream is closing. Commits before that stand.
    pub(super) fn run(&self, table: &mut Table) -> Result<bool> {
        self.expire(table)?;
        self.follow_columns(table)?;
        let is_done = self.append(table)?;
        self.compact(table)?;
        table.vacuum()?;
        Ok(is_done)
    }

    /// Removes files whose events are no longer in the log.
    fn expire(&self, table: &mut Table) -> Result<()> {
        let (first, now_ms) = (self.rows.held.ends.first, now_ms());
        let gone = table.state.event_files().take_while(|file| file.offsets.end <= first);
        let actions: Vec<Action> = gone.map(|file| file.removed(now_ms, true).into()).collect();
        if actions.is_empty() { Ok(()) } else { table.commit(Operation::Delete, actions) }
    }

    /// Adds the columns that the stream has meanwhile. Where the type of one has changed, files that have it are
    /// written again, since readers take no other type than that of the table.
    fn follow_columns(&self, table: &mut Table) -> Result<()> {
        let Some(schema) = table.schema() else { return Ok(()) };
        let next = following(&schema, &self.rows.columns.json());
        let Some(metadata) = table.with_schema(&next.schema) else { return Ok(()) };
        let files = if next.is_changed { self.unfit_files(table, &next.schema) } else { Vec::new() };
        let mut actions: Vec<Action> = vec![Metadata::into(metadata)];
        for file in files {
            actions.extend(self.replaced(table, std::slice::from_ref(&file), file.offsets.clone())?);
        }
        table.commit(Operation::ChangeColumns, actions)
    }

    /// Returns the files that can't be part of a table with this schema.
    fn unfit_files(&self, table: &Table, schema: &serde_json::Value) -> Vec<EventFile> {
        let options = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let does_fit = |file: &EventFile| {
            let opened = File::open(table.dir.root().join(&file.path)).ok();
            let metadata = opened.and_then(|opened| ArrowReaderMetadata::load(&opened, options()).ok());
            metadata.is_some_and(|metadata| fits(&fields_json(metadata.schema().fields()), schema))
        };
        table.state.event_files().filter(|file| !does_fit(file)).collect()
    }

    /// Adds the events that are new; returns whether these were all.
    fn append(&self, table: &mut Table) -> Result<bool> {
        let held = &self.rows.held;
        let end = self.durable.min(held.ends.next);
        let mut from = table.state.published.unwrap_or(held.ends.first);
        if from < held.ends.first {
            let last = held.ends.first - 1;
            tracing::warn!("events {from} to {last} were deleted from the log before they were published");
            from = held.ends.first;
        }
        for _ in 0..TURN_FILES {
            if from >= end {
                return Ok(true);
            }
            let offsets = from..self.file_end(from).min(end);
            let add = event_file::write(&table.dir, self.rows, &offsets)?;
            let txn = Transaction {
                app_id: APPLICATION.to_owned(),
                version: i64::try_from(offsets.end).unwrap_or(i64::MAX),
                last_updated: Some(now_ms()),
            };
            let add = add.map(|add| Action::from(Add { data_change: true, ..add }));
            let actions = add.into_iter().chain([txn.into()]).collect();
            table.commit(Operation::Append, actions)?;
            from = offsets.end;
        }
        Ok(from >= end)
    }

    /// Returns the offset at which the file with the event at `from` ends at the latest.
    fn file_end(&self, from: u64) -> u64 {
        let closed = &self.rows.held.closed;
        match closed.get(closed.partition_point(|segment| segment.end() <= from)) {
            Some(segment) if segment.base() <= from => segment.end(),
            Some(segment) => segment.base(),
            None => u64::MAX,
        }
    }

    /// Makes one file of those of each closed file of the log, and fewer of those of the one that is written to.
    fn compact(&self, table: &mut Table) -> Result<()> {
        let published = table.state.published.unwrap_or_default();
        let mut files: Vec<EventFile> = table.state.event_files().collect();
        while let Some(first) = files.first() {
            let end = self.file_end(first.offsets.start);
            let rest = files.split_off(files.partition_point(|file| file.offsets.start < end));
            let is_complete = end <= published;
            let merged = match is_complete {
                true if files.len() > 1 => files.as_slice(),
                true => &[],
                false => {
                    let rows: Vec<_> = files.iter().map(|file| table.state.rows(file)).collect();
                    files.get(alike(&rows)..).unwrap_or_default()
                }
            };
            if let [first, .., last] = merged {
                let offsets = first.offsets.start..last.offsets.end;
                let actions = self.replaced(table, merged, offsets)?;
                table.commit(Operation::Compact, actions)?;
            }
            files = rest;
        }
        Ok(())
    }

    /// Writes the events at these offsets as a new file, and returns the actions that put it in the place of others.
    fn replaced(&self, table: &Table, files: &[EventFile], offsets: Range<u64>) -> Result<Vec<Action>> {
        let first = self.rows.held.ends.first;
        let add = event_file::write(&table.dir, self.rows, &(offsets.start.max(first)..offsets.end))?;
        let now_ms = now_ms();
        let removed = files.iter().map(|file| file.removed(now_ms, false).into());
        Ok(removed.chain(add.map(Action::from)).collect())
    }
}

/// Returns the index of the first of the last files that become one, given their numbers of rows; that behind the last
/// if none do. Eight of one tier make one of the next, so that a row is written again once for each tier.
fn alike(rows: &[u64]) -> usize {
    let tiers: Vec<u32> = rows.iter().map(|rows| (*rows).max(1).ilog(ALIKE_FILES as u64)).collect();
    let highest = tiers.iter().max().copied().unwrap_or_default();
    let mut starts = (0..=highest).filter_map(|tier| {
        let start = tiers.iter().rposition(|own| *own > tier).map_or(0, |higher| higher + 1);
        let within = &tiers[start..];
        let count = within.iter().filter(|own| **own == tier).count();
        // Files of very different sizes, in turn, would be many without being eight of any.
        let is_many = within.len() >= ALIKE_FILES * (tier as usize + 1);
        (count >= ALIKE_FILES || is_many).then_some(start)
    });
    starts.next().unwrap_or(rows.len())
}

#[cfg(test)]
mod tests {
    use super::alike;

    /// Adds files, and counts those that are there and the rows that are written again.
    fn grow(sizes: impl Iterator<Item = u64>) -> (usize, f64) {
        let (mut files, mut most, mut again, mut all) = (Vec::new(), 0, 0, 0);
        for size in sizes {
            files.push(size);
            all += size;
            let start = alike(&files);
            if start < files.len() {
                let merged: u64 = files.split_off(start).iter().sum();
                again += merged;
                files.push(merged);
            }
            most = most.max(files.len());
        }
        assert_eq!(files.iter().sum::<u64>(), all);
        (most, again as f64 / all as f64)
    }

    #[test]
    fn files_stay_few() {
        assert_eq!(alike(&[]), 0);
        assert_eq!(alike(&[1; 7]), 7);
        assert_eq!(alike(&[1; 8]), 0);
        assert_eq!(alike(&[100, 1, 1, 1, 1, 1, 1, 1, 1]), 1);
        let alternating = |n: u64| 8_u64.pow((n.trailing_zeros() % 5).min(4));
        for (most, again) in [
            grow((0..100_000).map(|_| 1)),
            grow((0..100_000).map(|n| n * 7_919 % 1_000)),
            grow((1..100_000).map(alternating)),
            grow((1..100_000).map(|n| if n % 9 == 0 { 10_000 } else { 1 })),
        ] {
            assert!(most <= 72 && again < 12.0, "{most} files, {again} times");
        }
    }
}
