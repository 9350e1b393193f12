//! Slow queries: their plans are logged with what each operator did. Nothing is measured if that is not wanted.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{Stream, StreamExt};
use salver_model::Name;
use salver_model::limits::{SLOW_PLAN_CHARS_MAX, SLOW_STATEMENT_CHARS_MAX};
use salver_model::observation::{RequestId, current_request};

use crate::engine::Engine;

/// A query that is logged if it is slow.
#[derive(Clone, Debug)]
pub(crate) struct WatchedQuery {
    slow_after: Duration,
    /// The request that it is for, if it is for one.
    request: Option<Arc<dyn RequestId>>,
    /// Beginning of the statement, or a description of a query without one.
    statement: Arc<str>,
}

impl WatchedQuery {
    /// Returns a statement of SQL; `None` if slow ones are not logged.
    pub(crate) fn of_sql(engine: &Engine, text: &str) -> Option<Self> {
        let slow_after = engine.slow_after()?;
        Some(Self {
            slow_after,
            request: current_request(),
            statement: beginning(text, SLOW_STATEMENT_CHARS_MAX).into(),
        })
    }

    /// Returns a query of one entry that no statement was written for; `None` if slow ones are not logged.
    pub(crate) fn of_entry(engine: &Engine, name: &Name) -> Option<Self> {
        let slow_after = engine.slow_after()?;
        Some(Self { slow_after, request: current_request(), statement: format!("rows of `{name}`").into() })
    }

    /// Returns the rows of `stream`, which executes `plan` and was `begun` before the plan was made.
    pub(super) fn watch(
        self,
        begun: Instant,
        stream: SendableRecordBatchStream,
        plan: Arc<dyn ExecutionPlan>,
    ) -> SendableRecordBatchStream {
        let schema = stream.schema();
        let spent = begun.elapsed();
        let watched = WatchedStream { stream, plan, query: self, since: None, spent, rows: 0, is_over: false };
        Box::pin(RecordBatchStreamAdapter::new(schema, watched))
    }
}

/// The rows of a query that is logged if it is slow.
struct WatchedStream {
    stream: SendableRecordBatchStream,
    /// Keeps its files open, as long as the stream is read.
    plan: Arc<dyn ExecutionPlan>,
    query: WatchedQuery,
    /// Time since which the next batch is waited for. When nobody asks for one, the time is the reader's.
    since: Option<Instant>,
    spent: Duration,
    rows: u64,
    /// Whether the query is over, and was logged if it was slow.
    is_over: bool,
}

impl Stream for WatchedStream {
    type Item = datafusion::common::Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let own = &mut *self;
        let since = *own.since.get_or_insert_with(Instant::now);
        let polled = own.stream.poll_next_unpin(context);
        if let Poll::Ready(next) = &polled {
            own.spent += since.elapsed();
            own.since = None;
            match next {
                Some(Ok(batch)) => own.rows += batch.num_rows() as u64,
                _ => own.end(),
            }
        }
        polled
    }
}

impl WatchedStream {
    /// Logs the query if it was slow.
    fn end(&mut self) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        if self.spent <= self.query.slow_after {
            return;
        }
        // Three decimals: microseconds.
        let ms = self.spent.as_micros() as f64 / 1000.0;
        let plan = DisplayableExecutionPlan::with_metrics(self.plan.as_ref()).indent(false).to_string();
        let plan = beginning(&plan, SLOW_PLAN_CHARS_MAX).trim_end();
        let statement: &str = &self.query.statement;
        // The plan is last, because it has several lines.
        let id = self.query.request.as_deref().map(|request| request.id());
        tracing::warn!(target: "slow", id, ms, rows = self.rows, statement, %plan, "a query was slow");
    }
}

impl Drop for WatchedStream {
    fn drop(&mut self) {
        if let Some(since) = self.since.take() {
            self.spent += since.elapsed();
        }
        self.end();
    }
}

/// Returns the first `chars_max` characters.
fn beginning(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::beginning;

    #[test]
    fn texts_end_at_a_character() {
        assert_eq!(beginning("naïve", 3), "naï");
        assert_eq!(beginning("naïve", 5), "naïve");
        assert_eq!(beginning("", 5), "");
    }
}
