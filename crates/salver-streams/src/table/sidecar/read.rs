//! Rows read from the Parquet file of a segment.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, new_null_array};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use salver_model::Filter;

use super::Footer;
use super::chunks::Chunks;
use super::conform::{conform, conforms};
use super::prune::may_match;
use crate::table::layout::{OFFSET, Wanted};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Reader of a range of rows of a file.
pub(in crate::table) struct SidecarReader {
    file: File,
    footer: Arc<Footer>,
    wanted: Wanted,
    mask: ProjectionMask,
    /// Top-level columns of the file that are read.
    roots: Vec<usize>,
    /// Remaining row groups, the next one last, each with its range of offsets.
    groups: Vec<(usize, Range<u64>)>,
    current: Option<(ParquetRecordBatchReader, u64)>,
    batch_rows: usize,
}

impl SidecarReader {
    /// Creates a reader of the rows with these offsets, in batches of `batch_rows`; `None` when a column can only be
    /// read from the events.
    pub(in crate::table) fn new(
        (file, footer): (File, Arc<Footer>),
        offsets: &Range<u64>,
        wanted: &Wanted,
        filter: Option<&Filter>,
        batch_rows: usize,
    ) -> Option<Self> {
        let own = footer.metadata.schema();
        let mut roots = Vec::new();
        for field in wanted.schema.fields().iter().filter(|field| field.name() != crate::event::OWN_COLUMNS[OFFSET]) {
            // A column missing in the file has no values in its events.
            let Some((index, own)) = own.column_with_name(field.name()) else { continue };
            if !conforms(own.data_type(), field.data_type()) {
                return None;
            }
            roots.push(index);
        }
        let mut groups: Vec<_> = footer
            .groups
            .iter()
            .enumerate()
            .map(|(index, own)| (index, own.start.max(offsets.start)..own.end.min(offsets.end)))
            .filter(|(_, own)| !own.is_empty())
            .filter(|(index, _)| filter.is_none_or(|filter| may_match(filter, &footer, *index)))
            .collect();
        groups.reverse();
        let mask = ProjectionMask::roots(footer.metadata.parquet_schema(), roots.iter().copied());
        Some(Self { file, footer, wanted: wanted.clone(), mask, roots, groups, current: None, batch_rows })
    }

    /// Returns the offset of the next row; `None` at the end.
    pub(in crate::table) fn position(&self) -> Option<u64> {
        match &self.current {
            Some((_, at)) => Some(*at),
            None => self.groups.last().map(|(_, offsets)| offsets.start),
        }
    }

    /// Returns the next rows; `None` at the end. Blocks.
    ///
    /// # Errors
    /// Returns an error when the file is damaged. The rows from [`SidecarReader::position`] on are missing then.
    pub(in crate::table) fn next(&mut self) -> Result<Option<RecordBatch>, AnyError> {
        loop {
            if let Some((reader, at)) = &mut self.current {
                let at = *at;
                if let Some(batch) = reader.next() {
                    let batch = self.wanted_of(&batch?, at)?;
                    if let Some((_, next)) = &mut self.current {
                        *next = at + batch.num_rows() as u64;
                    }
                    return Ok(Some(batch));
                }
                self.current = None;
            }
            let Some((group, offsets)) = self.groups.last().cloned() else { return Ok(None) };
            let reader = self.group(group, &offsets)?;
            self.groups.pop();
            self.current = Some((reader, offsets.start));
        }
    }

    fn group(&self, group: usize, offsets: &Range<u64>) -> Result<ParquetRecordBatchReader, AnyError> {
        let schema = self.footer.metadata.parquet_schema();
        let is_wanted = |leaf: usize| self.roots.contains(&schema.get_column_root_idx(leaf));
        let chunks = Chunks::read(&self.file, &self.footer, group, is_wanted)?;
        let all = &self.footer.groups[group];
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, self.footer.metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(self.mask.clone())
            .with_batch_size(self.batch_rows)
            .with_offset((offsets.start - all.start) as usize)
            .with_limit((offsets.end - offsets.start) as usize)
            .build()?;
        Ok(reader)
    }

    fn wanted_of(&self, batch: &RecordBatch, at: u64) -> Result<RecordBatch, AnyError> {
        let rows = batch.num_rows();
        let columns = self.wanted.columns.iter().zip(self.wanted.schema.fields()).map(|(index, field)| {
            if *index == OFFSET {
                let offsets = (at..).take(rows).map(|offset| offset as i64);
                return Ok((OFFSET, Arc::new(Int64Array::from_iter_values(offsets)) as ArrayRef));
            }
            match batch.column_by_name(field.name()) {
                Some(column) => Ok((*index, conform(column, field.data_type())?)),
                None => Ok((*index, new_null_array(field.data_type(), rows))),
            }
        });
        let columns = columns.collect::<Result<Vec<_>, AnyError>>()?;
        let column = |index: usize| columns.iter().find(|(own, _)| *own == index).map(|(_, array)| Arc::clone(array));
        Ok(self.wanted.batch(rows, column)?)
    }
}
