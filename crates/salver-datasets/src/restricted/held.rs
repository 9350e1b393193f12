//! The held rows of what is left of an entry.

use std::sync::Arc;

use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, SchemaRef};
use arrow::record_batch::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use salver_model::entry::Description;
use salver_model::ports::Held;
use salver_model::reply::BatchStream;
use salver_model::{Error, Filter, Result};

use super::masks::{self, Masks, PlacedMask};
use super::rows;
use crate::direct::mask;
use crate::fault;
use crate::resolve::Condition;

/// Held rows without the columns and rows that are kept back, and with masked values.
#[derive(Debug)]
pub(super) struct RestrictedHeld {
    whole: Arc<dyn Held>,
    about: Description,
    /// The columns that are left, by their index in the whole.
    columns: Arc<[usize]>,
    rows: Option<Filter>,
    masks: Masks,
}

/// What is done with each batch of the whole.
struct Choice {
    condition: Condition,
    /// Columns of the batch that were asked for; those behind them are there for the condition.
    asked: Vec<usize>,
    /// Masks of those that were asked for.
    masks: Vec<PlacedMask>,
}

impl RestrictedHeld {
    pub(super) fn new(
        whole: Arc<dyn Held>,
        about: Description,
        columns: Arc<[usize]>,
        rows: Option<Filter>,
        masks: Masks,
    ) -> Self {
        Self { whole, about, columns, rows, masks }
    }

    fn of_whole(&self, columns: &[usize]) -> Vec<usize> {
        columns.iter().filter_map(|column| self.columns.get(*column).copied()).collect()
    }

    /// Returns the masks of columns of what is left.
    fn masks_of(&self, columns: &[usize]) -> Vec<PlacedMask> {
        self.masks.of_fields(columns.iter().map(|column| self.about.schema.field(*column).name().as_str()))
    }

    /// Masks the columns of batches.
    fn masked(&self, columns: &[usize], batches: BatchStream) -> BatchStream {
        let masks = self.masks_of(columns);
        if masks.is_empty() {
            return batches;
        }
        batches.map(move |batch| masks::apply(&masks, &batch.map_err(masks::discreet)?)).boxed()
    }

    /// Reads a part and drops the rows that don't satisfy the filter.
    fn chosen(&self, part: usize, columns: &[usize], filter: &Filter, asked: Option<&Filter>) -> BatchStream {
        let mut wanted = self.of_whole(columns);
        let count = wanted.len();
        let schema = &self.whole.describe().schema;
        filter.for_each_column(&mut |path| {
            let names = [path.column.clone(), path.to_string()];
            let found = names.iter().find_map(|name| schema.index_of(name).ok());
            wanted.extend(found.filter(|index| !wanted.contains(index)));
        });
        let fields: Vec<Arc<Field>> = self.whole.schema_of(&wanted).fields().iter().cloned().collect();
        let choice = match rows::condition(filter, &fields, self.whole.describe()) {
            Ok(condition) => Choice { condition, asked: (0..count).collect(), masks: self.masks_of(columns) },
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let pushed = Filter::And([Some(filter.clone()), asked.cloned()].into_iter().flatten().collect());
        let batches = self.whole.read(part, &wanted, Some(&pushed), None);
        let is_masked = !self.masks.is_empty();
        let quoted = move |error| if is_masked { masks::discreet(error) } else { error };
        batches.map(move |batch| choice.apply(&batch.map_err(quoted)?)).boxed()
    }
}

impl Choice {
    fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = u32::try_from(batch.num_rows()).map_err(|_| Error::internal("a batch has too many rows"))?;
        let mask = mask(&self.condition, batch, 0, rows)?;
        let chosen = filter_record_batch(batch, &mask).map_err(fault::arrow)?;
        masks::apply(&self.masks, &chosen.project(&self.asked).map_err(fault::arrow)?)
    }
}

impl Held for RestrictedHeld {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn parts(&self) -> usize {
        self.whole.parts()
    }

    fn read(&self, part: usize, columns: &[usize], filter: Option<&Filter>, limit: Option<u64>) -> BatchStream {
        // Whoever reads checks the filter again, of masked values.
        let filter = filter.and_then(|filter| self.masks.without(filter));
        match &self.rows {
            None => self.masked(columns, self.whole.read(part, &self.of_whole(columns), filter.as_ref(), limit)),
            Some(rows) => {
                let batches = self.chosen(part, columns, rows, filter.as_ref());
                batches.try_filter(|batch| std::future::ready(batch.num_rows() > 0)).boxed()
            }
        }
    }

    fn part_rows(&self, part: usize) -> Option<u64> {
        if self.rows.is_none() { self.whole.part_rows(part) } else { None }
    }

    fn read_behind(&self, part: usize, skip: u64, columns: &[usize], limit: Option<u64>) -> Option<BatchStream> {
        if self.rows.is_some() {
            return None;
        }
        let batches = self.whole.read_behind(part, skip, &self.of_whole(columns), limit)?;
        Some(self.masked(columns, batches))
    }

    fn finds_again(&self) -> bool {
        self.whole.finds_again()
    }

    fn ascending(&self) -> Option<usize> {
        let of_whole = self.whole.ascending()?;
        let own = self.columns.iter().position(|column| *column == of_whole)?;
        (!self.masks.has(self.about.schema.field(own).name())).then_some(own)
    }

    fn schema_of(&self, columns: &[usize]) -> SchemaRef {
        masks::schema(&self.whole.schema_of(&self.of_whole(columns)), &self.masks_of(columns))
    }
}
