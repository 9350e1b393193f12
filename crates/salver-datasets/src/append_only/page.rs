//! Pages of unfiltered rows in storage order, or in its reverse, without the planner: partitions before the page are
//! not even read.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result as EngineResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt};
use salver_model::limits::READY_ROWS_MAX;
use salver_model::ports::{Held, locate};
use salver_model::{Query, Result, Rows};

use super::reader::SnapshotRead;
use super::scan::external;
use crate::direct::column;
use crate::engine::{Engine, PlanOutput, QueryWork};
use crate::plan;
use crate::resolve::{self, Resolved, ResolvedColumn};

/// Returns whether the query is no more than such a page.
pub(super) fn answers(held: &dyn Held, resolved: &Resolved) -> bool {
    let ordered = match backwards(held, resolved) {
        Some(false) => true,
        // Larger pages in reverse order would have to be reversed in memory.
        Some(true) => resolved.limit.is_some_and(|limit| limit <= READY_ROWS_MAX as u64),
        None => false,
    };
    resolved.filter.is_none() && ordered && held.describe().rows.is_some()
}

/// Returns whether the order is the reverse of the storage order; `None` if it is neither. Sort keys after a unique one
/// have no effect.
fn backwards(held: &dyn Held, resolved: &Resolved) -> Option<bool> {
    let Some(first) = resolved.sort.first() else { return Some(false) };
    let is_order = first.place.fields.is_empty() && held.ascending() == Some(first.place.column);
    is_order.then_some(first.options.descending)
}

/// Runs the query.
pub(super) async fn read(engine: &Engine, held: &Arc<dyn Held>, query: &Query, resolved: Resolved) -> Result<Rows> {
    let about = held.describe();
    let all = about.rows.unwrap_or(0);
    // The position in a cursor is the number of rows on earlier pages.
    let skip = resolved.after.unwrap_or(0).saturating_add(resolved.offset).min(all);
    let count = resolved.limit.unwrap_or(u64::MAX).min(all - skip);
    let answer = if backwards(&**held, &resolved) == Some(true) {
        let rows = rows(held, &resolved, all - skip - count, count);
        engine.execute(QueryWork::default(), async move { Ok(turned(rows)) }).await?
    } else {
        let rows = rows(held, &resolved, skip, count);
        engine.execute(QueryWork::default(), async move { Ok(rows) }).await?
    };
    let end = skip + count;
    let next = (resolved.limit.is_some() && count > 0 && end < all).then(|| resolve::cursor(query, about, end));
    let PlanOutput { schema, batches } = answer;
    let total = resolved.count.then_some(all);
    Ok(Rows { schema, batches, total, next, read: vec![(about.name.clone(), about.version)], repeatable: true })
}

/// Returns `count` rows after the first `skip`.
fn rows(held: &Arc<dyn Held>, resolved: &Resolved, skip: u64, count: u64) -> SendableRecordBatchStream {
    let (first, mut skip) = locate(&**held, 0..held.parts(), skip);
    let (columns, places) = match &resolved.items {
        None => ((0..resolved.schema.fields().len()).collect(), None),
        Some(items) => {
            let (columns, places) = needed(items);
            (columns, Some(places))
        }
    };
    let mut parts = if count == 0 { 0..0 } else { first..held.parts() };
    let begun = (skip > 0 && count > 0).then(|| held.read_behind(first, skip, &columns, Some(count))).flatten();
    if begun.is_some() {
        skip = 0;
        parts.start += 1;
    }
    let begun = begun.map(|rows| (first, rows));
    let reader =
        SnapshotRead { held: Arc::clone(held), columns, filter: None, limit: Some(skip.saturating_add(count)) };
    let schema = Arc::clone(&resolved.schema);
    let batches = reader.read(begun, parts).map(move |read| {
        let (_, batch) = read.map_err(external)?;
        chosen(&batch, places.as_deref(), &schema)
    });
    let batches = RecordBatchStreamAdapter::new(Arc::clone(&resolved.schema), batches);
    plan::cut_out(Box::pin(batches), skip, Some(count))
}

/// Returns the columns of the items, each once, and the place of each item among them.
fn needed(items: &[ResolvedColumn]) -> (Vec<usize>, Vec<ResolvedColumn>) {
    let mut columns: Vec<usize> = items.iter().map(|item| item.column).collect();
    columns.sort_unstable();
    columns.dedup();
    let places = items.iter().map(|item| {
        let column = columns.binary_search(&item.column).unwrap_or_default();
        ResolvedColumn { column, fields: item.fields.clone(), field: Arc::clone(&item.field) }
    });
    let places = places.collect();
    (columns, places)
}

fn chosen(batch: &RecordBatch, places: Option<&[ResolvedColumn]>, schema: &SchemaRef) -> EngineResult<RecordBatch> {
    let rows = batch.num_rows();
    let columns = match places {
        None => batch.columns().to_vec(),
        Some(places) => places.iter().map(|place| column(place, batch, 0, rows)).collect(),
    };
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

/// Returns the rows in reverse order.
fn turned(rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let turned = futures::stream::once(async move {
        let batches: Vec<RecordBatch> = rows.try_collect().await?;
        let turned = batches.into_iter().rev().map(|batch| {
            let order = UInt64Array::from_iter_values((0..batch.num_rows() as u64).rev());
            Ok(take_record_batch(&batch, &order)?)
        });
        Ok::<_, datafusion::common::DataFusionError>(futures::stream::iter(turned))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, turned.try_flatten()))
}
