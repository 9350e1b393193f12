//! Masked rows as a table of the engine, for queries that look at masked values: the columns that a query needs are
//! read through the port, masked batch by batch, and then filtered, sorted and grouped by the engine.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::{StreamExt, TryStreamExt};
use salver_model::entry::Description;
use salver_model::ports::Table;
use salver_model::{Batches, Code, ColumnPath, Filter, Item, Query, Result, Sort};

use super::masks::{self, Masks, PlacedMask};
use crate::parquet_table::{FILE, ROW};
use crate::{fault, resolve};

/// One read of a table.
#[derive(Debug)]
struct MaskedRows {
    whole: Arc<dyn Table>,
    query: Query,
    masks: Vec<PlacedMask>,
    /// The columns that are read, followed by the position of the row, which breaks ties.
    schema: SchemaRef,
}

/// Returns the rows of `whole` that satisfy `filter`, in the order of `sort`, with the columns that `query` needs,
/// masked. `about` describes what is left of the table.
pub(super) fn provider(
    whole: &Arc<dyn Table>,
    about: &Description,
    masks: &Masks,
    (filter, sort): (Option<Filter>, Vec<Sort>),
    query: &Query,
) -> Result<Arc<dyn TableProvider>> {
    let columns = needed(query, about);
    let fields = columns.iter().map(|column| Arc::clone(&about.schema.fields()[*column]));
    let place = [Field::new(FILE, DataType::UInt32, false), Field::new(ROW, DataType::Int64, false)];
    let schema = Arc::new(Schema::new(fields.chain(place.map(Arc::new)).collect::<Vec<_>>()));
    let names = || columns.iter().map(|column| about.schema.field(*column).name().as_str());
    let items = names().map(|name| Item::column(ColumnPath::column(name))).collect();
    let rows = MaskedRows {
        whole: Arc::clone(whole),
        query: Query { items, filter, sort, ..Query::default() },
        masks: masks.of_fields(names()),
        schema: Arc::clone(&schema),
    };
    let table = StreamingTable::try_new(schema, vec![Arc::new(rows)]).map_err(fault::planning)?;
    Ok(Arc::new(table))
}

/// Returns the columns that the query names, in the order of the table. Those that are not there are told of where the
/// query is resolved.
fn needed(query: &Query, about: &Description) -> Vec<usize> {
    let all = about.schema.fields().len();
    if query.items.is_empty() && query.group.is_empty() {
        return (0..all).collect();
    }
    let mut columns = Vec::new();
    let mut add = |path: &ColumnPath| {
        columns.extend(resolve::locate(path, about, Code::InvalidColumn).ok().map(|place| place.column));
    };
    for item in &query.items {
        match item {
            Item::Column { path, .. } => add(path),
            Item::Aggregate { aggregate, .. } => aggregate.column.iter().for_each(&mut add),
        }
    }
    query.group.iter().for_each(&mut add);
    query.sort.iter().for_each(|sort| add(&sort.column));
    if let Some(filter) = &query.filter {
        filter.for_each_column(&mut add);
    }
    if columns.is_empty() {
        // Rows can only be counted by a column.
        columns.extend((0..all).take(1));
    }
    columns.sort_unstable();
    columns.dedup();
    columns
}

impl PartitionStream for MaskedRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (whole, query) = (Arc::clone(&self.whole), self.query.clone());
        let (masks, schema) = (self.masks.clone(), Arc::clone(&self.schema));
        let rows = async move {
            let rows = whole.read(&query).await.map_err(|error| external(masks::discreet(error)))?;
            let batches = match rows.batches {
                Batches::Ready(batches) => futures::stream::iter(batches.into_iter().map(Ok)).boxed(),
                Batches::Stream(stream) => stream,
            };
            let mut row = 0;
            Ok::<_, DataFusionError>(batches.map(move |batch| {
                let batch = batch.map_err(|error| external(masks::discreet(error)))?;
                let masked = masks::apply(&masks, &batch).map_err(external)?;
                let first = row;
                row += masked.num_rows() as i64;
                placed(&masked, &schema, first)
            }))
        };
        let stream = futures::stream::once(rows).try_flatten();
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream))
    }
}

/// Adds the position of each row to a batch, whose first is the row `first`.
fn placed(batch: &RecordBatch, schema: &SchemaRef, first: i64) -> Result<RecordBatch, DataFusionError> {
    let rows = batch.num_rows();
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(UInt32Array::from_value(0, rows)) as ArrayRef);
    columns.push(Arc::new(Int64Array::from_iter_values(first..first + rows as i64)) as ArrayRef);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

fn external(error: salver_model::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
