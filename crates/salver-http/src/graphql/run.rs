//! Reads the levels of a plan: the rows of the root, then for each relation all matching rows at once.

use std::sync::{Arc, OnceLock};

use arrow::array::ArrayRef;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt, join_all};
use salver_model::limits::{FILTER_TERMS_MAX, GRAPHQL_RELATION_ROWS_MAX};
use salver_model::{Batches, Caller, Code, Error, Filter, Item, Query, Result, Rows};
use salver_service::{Service, Snapshot};
use tokio::sync::SemaphorePermit;

use crate::graphql::budget::{DocumentBudget, Held};
use crate::graphql::graph::Graph;
use crate::graphql::join::{JoinKeys, Matches};
use crate::graphql::plan::{Level, RelationPlan, Selection};
use crate::offload;
use crate::row_size;

/// The context of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) service: &'a Service,
    pub(crate) caller: &'a Caller,
    pub(crate) snapshot: &'a Arc<Snapshot>,
    /// The catalog of queries that have the operator's rights, from the first of them on.
    pub(crate) whole: &'a OnceLock<Arc<Snapshot>>,
    pub(crate) graph: &'a Graph,
    pub(crate) budget: &'a Arc<DocumentBudget>,
}

/// Rows that are being read, and the permit to read them, which is released on drop.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) rows: Rows,
    pub(crate) turn: SemaphorePermit<'a>,
}

/// The rows of a relation.
#[derive(Debug)]
pub(crate) struct Joined {
    /// All rows; `None` when no row above has a key.
    pub(crate) batch: Option<RecordBatch>,
    pub(crate) matches: Matches,
    /// Rows of the relations of these rows.
    pub(crate) below: Vec<Result<Joined>>,
    /// Whether the same request returns the same rows.
    pub(crate) repeatable: bool,
    /// Memory charged for the rows.
    pub(crate) _held: Held,
}

impl Joined {
    /// Returns whether these rows and all below are repeatable.
    pub(crate) fn all_repeatable(&self) -> bool {
        self.repeatable && self.below.iter().flatten().all(Joined::all_repeatable)
    }

    /// Returns the number of these rows and of all below.
    pub(crate) fn rows(&self) -> usize {
        let below: usize = self.below.iter().flatten().map(Joined::rows).sum();
        self.batch.as_ref().map_or(0, RecordBatch::num_rows) + below
    }
}

impl<'a> Runner<'a> {
    /// Runs the query of `level` with a permit of the document. A caller that holds the result must not wait for
    /// another permit.
    pub(crate) async fn read(&self, level: &Level, query: &Query) -> Result<Reading<'a>> {
        let turn = self.budget.turn().await?;
        let entry = &self.graph.tables[level.table].entry;
        let rows = self.service.read(self.caller, self.snapshot, entry.as_str(), query).await?;
        Ok(Reading { rows, turn })
    }

    /// Reads the relations of `selection`, from the rows of which `batch` consists.
    pub(crate) fn relations<'b>(
        &'b self,
        selection: &'b Selection,
        batch: &'b RecordBatch,
    ) -> BoxFuture<'b, Vec<Result<Joined>>> {
        join_all(selection.relations.iter().map(|relation| self.relation(relation, batch))).boxed()
    }

    async fn relation(&self, relation: &RelationPlan, above: &RecordBatch) -> Result<Joined> {
        let columns: Vec<ArrayRef> = relation.items.iter().map(|item| Arc::clone(above.column(*item))).collect();
        let types = self.types(relation)?;
        let keys = offload::run(above.num_rows(), move || JoinKeys::of(&columns, &types)).await?;
        let mut gathered = Gathered::new(self.budget);
        let limit = if relation.one { Some(1) } else { relation.limit };
        for start in (0..keys.len()).step_by(FILTER_TERMS_MAX) {
            let mut query = relation.child.query.clone();
            let mut filters: Vec<Filter> = query.filter.take().into_iter().collect();
            let range = start..keys.len().min(start + FILTER_TERMS_MAX);
            for (column, item) in relation.child_items.iter().enumerate() {
                if let Item::Column { path, .. } = &query.items[*item] {
                    filters.push(Filter::In { column: path.clone(), values: keys.values(column, range.clone()) });
                }
            }
            query.filter = Some(if filters.len() == 1 { filters.swap_remove(0) } else { Filter::And(filters) });
            // The limit applies per row above; with a single key it is the limit of the query.
            let bound = gathered.left.saturating_add(1);
            query.limit =
                Some(limit.filter(|_| keys.len() == 1 && relation.items.len() == 1).map_or(bound, |l| l.min(bound)));
            gathered.add(self.read(&relation.child, &query).await?, &relation.key).await?;
        }
        let repeatable = gathered.repeatable;
        let Some((batch, held)) = gathered.finish().await? else {
            let (matches, held) = (Matches::default(), Held::new(self.budget));
            return Ok(Joined { batch: None, matches, below: Vec::new(), repeatable, _held: held });
        };
        let columns: Vec<ArrayRef> = relation.child_items.iter().map(|item| Arc::clone(batch.column(*item))).collect();
        let limit = usize::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let matches = offload::run(batch.num_rows(), move || keys.match_rows(&columns, limit)).await?;
        let below = self.relations(&relation.child.selection, &batch).await;
        Ok(Joined { batch: Some(batch), matches, below, repeatable, _held: held })
    }

    /// Returns the types of the child's join columns.
    fn types(&self, relation: &RelationPlan) -> Result<Vec<DataType>> {
        let table = self.snapshot.resolve(self.graph.tables[relation.child.table].entry.as_str())?;
        let schema = &table.describe().schema;
        let items = relation.child_items.iter().filter_map(|item| match &relation.child.query.items[*item] {
            Item::Column { path, .. } => schema.field_with_name(&path.column).ok(),
            Item::Aggregate { .. } => None,
        });
        Ok(items.map(|field| field.data_type().clone()).collect())
    }
}

/// Rows that have to be in memory all at once.
#[derive(Debug)]
pub(crate) struct Gathered {
    schema: Option<SchemaRef>,
    batches: Vec<RecordBatch>,
    /// Number of rows that may still be added.
    left: u64,
    repeatable: bool,
    budget: Arc<DocumentBudget>,
    held: Held,
}

impl Gathered {
    /// Creates an empty collection.
    pub(crate) fn new(budget: &Arc<DocumentBudget>) -> Self {
        Self {
            schema: None,
            batches: Vec::new(),
            left: GRAPHQL_RELATION_ROWS_MAX,
            repeatable: true,
            budget: Arc::clone(budget),
            held: Held::new(budget),
        }
    }

    /// Adds all rows of a read, for the field `field`, and releases its permit.
    pub(crate) async fn add(&mut self, reading: Reading<'_>, field: &str) -> Result<()> {
        let Reading { rows, turn } = reading;
        self.repeatable &= rows.repeatable;
        self.schema = Some(rows.schema);
        match rows.batches {
            Batches::Ready(ready) => ready.into_iter().try_for_each(|batch| self.take(batch, field))?,
            Batches::Stream(mut stream) => {
                while let Some(batch) = stream.next().await {
                    let batch = batch?;
                    let rows = batch.num_rows();
                    self.take(batch, field)?;
                    offload::breathe(rows).await;
                }
            }
        }
        drop(turn);
        Ok(())
    }

    fn take(&mut self, batch: RecordBatch, field: &str) -> Result<()> {
        self.budget.take_rows(batch.num_rows())?;
        let Some(left) = self.left.checked_sub(batch.num_rows() as u64) else {
            return Err(Error::new(
                Code::AnswerTooLarge,
                format!("`{field}` has more than {GRAPHQL_RELATION_ROWS_MAX} rows to be joined"),
            )
            .with_hint("add a filter, or a `limit` to the rows above"));
        };
        self.left = left;
        self.held.grow(row_size::of(&batch))?;
        self.batches.push(batch);
        Ok(())
    }

    /// Concatenates all rows into one batch, with their memory charge; `None` when nothing was read.
    pub(crate) async fn finish(self) -> Result<Option<(RecordBatch, Held)>> {
        let Self { schema: Some(schema), batches, held, .. } = self else { return Ok(None) };
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        let joined = offload::run(rows, move || concat_batches(&schema, &batches).map_err(concat_failed)).await?;
        Ok(Some((joined, held)))
    }
}

/// Converts an error from the concatenation of batches.
fn concat_failed(error: arrow::error::ArrowError) -> Error {
    Error::internal("the rows of a relation can't be put together").with_source(error)
}
