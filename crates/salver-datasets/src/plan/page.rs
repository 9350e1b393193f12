//! Adapters for the stream of batches of a plan.

use std::sync::Arc;

use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

/// Keeps the plan alive while the stream is read: the plan keeps the files open, even if a reload replaces them.
pub(super) fn holding(stream: SendableRecordBatchStream, plan: Arc<dyn ExecutionPlan>) -> SendableRecordBatchStream {
    let schema = stream.schema();
    let held = stream.inspect(move |_| {
        let _ = &plan;
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, held))
}

/// Returns at most `fetch` rows after the first `skip`; rows after those are not read.
pub(crate) fn cut_out(stream: SendableRecordBatchStream, skip: u64, fetch: Option<u64>) -> SendableRecordBatchStream {
    let schema = stream.schema();
    let page = futures::stream::unfold((stream, skip, fetch), async |(mut stream, mut skip, mut fetch)| {
        loop {
            if fetch == Some(0) {
                return None;
            }
            let batch = match stream.next().await? {
                Ok(batch) => batch,
                Err(error) => return Some((Err(error), (stream, skip, Some(0)))),
            };
            let rows = batch.num_rows() as u64;
            let drop = skip.min(rows);
            skip -= drop;
            let keep = (rows - drop).min(fetch.unwrap_or(u64::MAX));
            fetch = fetch.map(|fetch| fetch - keep);
            if keep > 0 {
                return Some((Ok(batch.slice(drop as usize, keep as usize)), (stream, skip, fetch)));
            }
        }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, page))
}
