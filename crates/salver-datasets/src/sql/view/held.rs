//! The rows of a view, held for an export: the statement is run over held tables, each time that a part is read.

use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use futures::{StreamExt, TryStreamExt, stream};
use salver_model::entry::Description;
use salver_model::ports::Held;
use salver_model::reply::BatchStream;
use salver_model::{Batches, Filter, Result};

use super::{projected, schema_of};
use crate::engine::Engine;
use crate::{fault, plan};

/// A view over tables that don't change any more.
#[derive(Debug)]
pub(super) struct HeldView {
    about: Description,
    plan: LogicalPlan,
    engine: Arc<Engine>,
}

impl HeldView {
    pub(super) fn new(about: Description, plan: LogicalPlan, engine: Arc<Engine>) -> Self {
        Self { about, plan, engine }
    }
}

/// Runs the plan with some of its columns.
async fn run(engine: Arc<Engine>, about: Description, plan: LogicalPlan, columns: Vec<usize>) -> Result<BatchStream> {
    let schema = schema_of(&about.schema, &columns)?;
    let answer = plan::in_order(&engine, projected(plan, &columns)?, &schema).await?;
    Ok(match answer.batches {
        Batches::Ready(batches) => stream::iter(batches.into_iter().map(Ok)).boxed(),
        Batches::Stream(batches) => batches,
    })
}

impl Held for HeldView {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn parts(&self) -> usize {
        1
    }

    fn read(&self, _part: usize, columns: &[usize], _filter: Option<&Filter>, _limit: Option<u64>) -> BatchStream {
        // Rows are counted by a column.
        let only_count = columns.is_empty();
        let columns = if only_count { vec![0] } else { columns.to_vec() };
        let rows = run(Arc::clone(&self.engine), self.about.clone(), self.plan.clone(), columns);
        let batches = stream::once(rows).try_flatten();
        match only_count {
            true => batches.map(|batch| batch?.project(&[]).map_err(fault::arrow)).boxed(),
            false => batches.boxed(),
        }
    }

    /// What was computed for the first rows would be computed again for those behind them.
    fn finds_again(&self) -> bool {
        false
    }
}
