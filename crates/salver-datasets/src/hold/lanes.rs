//! Decodes groups of columns ("lanes") of the same rows in parallel, on as many threads as are available. The order of
//! the rows is kept, and no more rows are in memory than with a single reader.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use futures::future::join_all;
use futures::{StreamExt, stream};
use salver_model::reply::BatchStream;
use salver_model::{Error, Result};

use crate::residency::batch_of;

/// Most lanes: every lane adds overhead to each batch.
const LANES: usize = 4;

/// Divides columns with the costs `costs` into lanes of about the same cost, at most one for each of `threads`. Columns
/// without cost join any lane. A lane lists the indexes of its columns, in order.
pub(super) fn divide(costs: &[u64], threads: usize) -> Vec<Vec<usize>> {
    let worth = costs.iter().filter(|cost| **cost > 0).count();
    let mut lanes = vec![(0_u64, Vec::new()); threads.min(LANES).min(worth).max(1)];
    let mut places: Vec<usize> = (0..costs.len()).collect();
    // Largest cost first, so that the small ones even out the lanes.
    places.sort_by_key(|place| std::cmp::Reverse(costs[*place]));
    for place in places {
        if let Some((cost, lane)) = lanes.iter_mut().min_by_key(|(cost, _)| *cost) {
            *cost = cost.saturating_add(costs[place]);
            lane.push(place);
        }
    }
    lanes
        .into_iter()
        .map(|(_, mut lane)| {
            lane.sort_unstable();
            lane
        })
        .collect()
}

/// Merges lanes that are read in parallel, each with the indexes of its columns in `schema`. All lanes have the same
/// batch boundaries.
pub(super) fn side_by_side(lanes: Vec<(Vec<usize>, BatchStream)>, schema: SchemaRef) -> BatchStream {
    let (places, streams): (Vec<_>, Vec<_>) = lanes.into_iter().unzip();
    let state = Some((streams, Arc::new(places), schema));
    let batches = stream::unfold(state, async |state| {
        let (mut streams, places, schema) = state?;
        let next = join_all(streams.iter_mut().map(StreamExt::next)).await;
        match joined(next, &places, &schema).transpose()? {
            Ok(batch) => Some((Ok(batch), Some((streams, places, schema)))),
            Err(error) => Some((Err(error), None)),
        }
    });
    Box::pin(batches.fuse())
}

/// Joins one batch of each lane; `None` at the end.
fn joined(
    next: Vec<Option<Result<RecordBatch>>>,
    places: &[Vec<usize>],
    schema: &SchemaRef,
) -> Result<Option<RecordBatch>> {
    let uneven = || Error::internal("columns that are read side by side have got out of step");
    let lanes = next.len();
    let batches = next.into_iter().flatten().collect::<Result<Vec<RecordBatch>>>()?;
    let Some(rows) = batches.first().map(RecordBatch::num_rows) else { return Ok(None) };
    if batches.len() < lanes || batches.iter().any(|batch| batch.num_rows() != rows) {
        return Err(uneven());
    }
    let mut columns: Vec<Option<ArrayRef>> = vec![None; schema.fields().len()];
    for (batch, places) in batches.iter().zip(places) {
        for (column, place) in batch.columns().iter().zip(places) {
            columns[*place] = Some(Arc::clone(column));
        }
    }
    batch_of(schema, columns.into_iter().collect::<Option<_>>().ok_or_else(uneven)?, rows).map(Some)
}

#[cfg(test)]
mod tests {
    use super::divide;

    #[test]
    fn lanes_cost_the_same() {
        assert_eq!(divide(&[5, 3, 3, 1], 2), [vec![0, 3], vec![1, 2]]);
        assert_eq!(divide(&[0, 7, 0], 2), [vec![0, 1, 2]]);
        assert_eq!(divide(&[2, 0, 2, 0], 8), [vec![0, 1, 3], vec![2]]);
        assert_eq!(divide(&[], 2), [Vec::<usize>::new()]);
    }
}
