//! Removes file paths from explained plans, because clients must not learn the location of data on the server.

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
use futures::TryStreamExt;
use salver_model::ports::Tables;
use salver_model::{Batches, Result};
use std::sync::Arc;

use crate::fault;
use crate::restricted::RestrictedTable;

/// Directories whose names must not be sent.
pub(super) struct Paths(Vec<String>);

impl Paths {
    /// Returns the directories of every dataset's files, longest first.
    pub(super) fn of(tables: &dyn Tables) -> Self {
        let mut directories: Vec<String> = tables
            .list()
            .iter()
            .filter_map(|(_, table)| {
                let restricted = table.as_any().downcast_ref::<RestrictedTable>();
                let dataset = table.as_any().downcast_ref().or_else(|| restricted?.dataset());
                Some(dataset?.directories())
            })
            .flatten()
            .collect();
        directories.sort_by_key(|directory| std::cmp::Reverse(directory.len()));
        directories.dedup();
        Self(directories)
    }

    /// Returns the rows without those names. An explained plan is small, so all of it is awaited.
    pub(super) async fn redact(&self, batches: Batches) -> Result<Batches> {
        let batches: Vec<RecordBatch> = match batches {
            Batches::Ready(batches) => batches,
            Batches::Stream(stream) => stream.try_collect().await?,
        };
        let redacted = batches.into_iter().map(|batch| {
            let columns = batch.columns().iter().map(|column| self.column(column)).collect();
            RecordBatch::try_new(batch.schema(), columns).map_err(fault::arrow)
        });
        Ok(Batches::Ready(redacted.collect::<Result<_>>()?))
    }

    fn column(&self, column: &ArrayRef) -> ArrayRef {
        let Some(texts) = column.as_string_opt::<i32>() else { return Arc::clone(column) };
        let clean = |text: &str| self.0.iter().fold(text.to_owned(), |text, path| text.replace(path.as_str(), ""));
        Arc::new(texts.iter().map(|text| text.map(clean)).collect::<StringArray>())
    }
}
