//! Plans queries for the engine: over rows that are not in memory, and with groups or distinct rows. The results equal
//! those of `direct`.

mod casts;
mod condition;
mod grouped;
mod page;
mod slow;

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::Column;
use datafusion::datasource::provider_as_source;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::functions::core::expr_fn::get_field;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::{StreamExt, TryStreamExt};
use salver_model::entry::Description;
use salver_model::limits::READY_ROWS_MAX;
use salver_model::{Batches, Code, Query, Result, Rows};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::engine::{Engine, PlanOutput, QueryWork, place_checkpoints};
use crate::fault;
use crate::parquet_table::{FILE, ROW};
use crate::resolve::{self, Condition, Resolved, ResolvedColumn};

pub(crate) use grouped::read as read_grouped;
pub(crate) use page::cut_out;
pub(crate) use slow::WatchedQuery;

/// Name of the table in plans.
const TABLE: &str = "t";
/// Most columns of a table whose plans take only microseconds to make.
const INLINE_COLUMNS: usize = 64;

/// Runs a plain query over rows that are not in memory. `provider` has the table's own columns, followed by [`FILE`]
/// and [`ROW`] unless it is a view.
pub(crate) async fn read(
    engine: &Arc<Engine>,
    provider: &Arc<dyn TableProvider>,
    about: &Description,
    query: &Query,
    resolved: Resolved,
) -> Result<Rows> {
    let watched = WatchedQuery::of_entry(engine, &about.name);
    let counted = Counted { engine, provider, schema: &about.schema, watched: &watched };
    let total = match resolved.count {
        true => Some(counted.rows(resolved.filter.as_ref(), None).await?),
        false => None,
    };
    if resolved.limit == Some(0) {
        let (schema, batches) = (resolved.schema, Batches::Ready(Vec::new()));
        let read = vec![(about.name.clone(), about.version)];
        return Ok(Rows { schema, batches, total, next: None, read, repeatable: true });
    }
    // The position in a cursor is the number of rows on earlier pages.
    let skip = resolved.after.unwrap_or(0).saturating_add(resolved.offset);
    let small = resolved.limit.filter(|limit| *limit <= READY_ROWS_MAX as u64);
    // One row more than a small page holds, to learn whether another page follows.
    let fetch = small.map(|limit| limit + 1).or(resolved.limit);
    let state = if resolved.sort.is_empty() { engine.ordered() } else { engine.session() };
    let make = || plain(provider, &about.schema, &resolved, skip, fetch);
    let plan = aside(&about.schema, make).map_err(fault::planning)?;
    let (mut state, in_source_order) = (state.clone(), resolved.sort.is_empty());
    let work = QueryWork::begin(&mut state);
    let answer = if in_source_order {
        let own = watched.clone();
        engine.execute(work, async move { Ok(page::cut_out(start(state, plan, own).await?, skip, fetch)) }).await?
    } else {
        answer(engine, state, plan, watched.clone()).await?
    };
    let mut answer = rename(answer, &resolved.schema);
    let follows = match (small, resolved.limit) {
        (Some(limit), _) if matches!(answer.batches, Batches::Ready(_)) => cut(&mut answer, limit),
        (_, Some(limit)) => {
            if small.is_some() {
                answer.batches = within(answer.batches, limit);
            }
            let beyond = skip.saturating_add(limit);
            counted.rows(resolved.filter.as_ref(), Some(beyond)).await? > 0
        }
        (_, None) => false,
    };
    let next = match resolved.limit {
        Some(limit) if follows && limit > 0 => Some(resolve::cursor(query, about, skip.saturating_add(limit))),
        _ => None,
    };
    let read = vec![(about.name.clone(), about.version)];
    Ok(Rows { schema: answer.schema, batches: answer.batches, total, next, read, repeatable: true })
}

/// Runs a plan without a required order, as the work begun in `state`. A plan that runs out of memory, or whose rows
/// are too wide, is retried in the session that needs least memory, which is slower: a wide row may be the state of a
/// distinct aggregate, which that session has not. If wide rows are refused there too, or don't fit, smaller batches
/// may.
pub(crate) async fn answer(
    engine: &Engine,
    state: SessionState,
    plan: LogicalPlan,
    watched: Option<WatchedQuery>,
) -> Result<PlanOutput> {
    let (mut state, mut is_wide) = (state, false);
    for (next, is_first) in [(engine.frugal(), true), (engine.narrow(), false)] {
        let work = QueryWork::of(state.config_options());
        match engine.execute(work.clone(), start(state, plan.clone(), watched.clone())).await {
            Err(error) if error.code == Code::QueryTooLarge => is_wide = true,
            Err(error) if error.code == Code::OutOfMemory && (is_first || is_wide) => {}
            answered => return answered,
        }
        // The threads of an attempt must release their memory before the next.
        work.released().await;
        state = next.clone();
        QueryWork::begin(&mut state);
    }
    engine.execute(QueryWork::of(state.config_options()), start(state, plan, watched)).await
}

/// Runs a plan, as the work begun in one partition, where its rows come in the same order each time. It is not tried
/// again when memory runs out, in which they might not.
pub(crate) async fn in_order(engine: &Engine, plan: LogicalPlan, schema: &SchemaRef) -> Result<PlanOutput> {
    let mut state = engine.ordered().clone();
    let work = QueryWork::begin(&mut state);
    Ok(rename(engine.execute(work, start(state, plan, None)).await?, schema))
}

/// Returns a session in which work begins.
fn begun(engine: &Engine) -> SessionState {
    let mut state = engine.session().clone();
    QueryWork::begin(&mut state);
    state
}

/// Starts a plan; must be called on the engine's threads.
async fn start(
    state: SessionState,
    plan: LogicalPlan,
    watched: Option<WatchedQuery>,
) -> Result<SendableRecordBatchStream> {
    let watched = watched.map(|watched| (watched, Instant::now()));
    let physical = operators(&state, &plan).await?;
    let physical = place_checkpoints(physical, &QueryWork::of(state.config_options())).map_err(fault::planning)?;
    let stream = execute_stream(Arc::clone(&physical), state.task_ctx()).map_err(fault::execution)?;
    Ok(match watched {
        Some((watched, begun)) => watched.watch(begun, stream, physical),
        None => page::holding(stream, physical),
    })
}

/// Returns the operators of a plan; must be called on the engine's threads.
pub(crate) async fn operators(state: &SessionState, plan: &LogicalPlan) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = state.optimize(plan).map_err(fault::planning)?;
    casts::check(&plan)?;
    state.query_planner().create_physical_plan(&plan, state).await.map_err(fault::planning)
}

fn plain(
    provider: &Arc<dyn TableProvider>,
    schema: &SchemaRef,
    resolved: &Resolved,
    skip: u64,
    fetch: Option<u64>,
) -> datafusion::common::Result<LogicalPlan> {
    let mut plan = scan(provider, schema, resolved.filter.as_ref())?;
    if !resolved.sort.is_empty() {
        let keys = resolved
            .sort
            .iter()
            .map(|key| Ok(place(&key.place, schema)?.sort(!key.options.descending, key.options.nulls_first)));
        let mut keys = keys.collect::<datafusion::common::Result<Vec<_>>>()?;
        keys.extend(ties(provider, schema).map(|name| column(name).sort(true, false)));
        plan = plan.sort(keys)?;
    }
    // With a limit in the plan, the reader could read row groups in any order. So without a sort, the page is cut out
    // of the stream.
    if !resolved.sort.is_empty() && (skip > 0 || fetch.is_some()) {
        plan = plan.limit(to_usize(skip), fetch.map(to_usize))?;
    }
    let all: Vec<ResolvedColumn>;
    let items = match &resolved.items {
        Some(items) => items,
        None => {
            let fields = schema.fields().iter().enumerate();
            all =
                fields.map(|(column, f)| ResolvedColumn { column, fields: Vec::new(), field: Arc::clone(f) }).collect();
            &all
        }
    };
    let outputs = items.iter().enumerate().map(|(number, item)| Ok(place(item, schema)?.alias(format!("o{number}"))));
    plan.project(outputs.collect::<datafusion::common::Result<Vec<_>>>()?)?.build()
}

/// Returns the columns that order rows which compare equal: their place in the files, or else all of them.
fn ties<'s>(provider: &Arc<dyn TableProvider>, schema: &'s SchemaRef) -> impl Iterator<Item = &'s str> {
    let has_place = provider.schema().index_of(ROW).is_ok();
    let place = [FILE, ROW].into_iter().filter(move |_| has_place);
    let fields = schema.fields().iter().filter(move |field| !has_place && resolve::is_sortable(field.data_type()));
    place.chain(fields.map(|field| field.name().as_str()))
}

/// Scans the rows that match the filter.
fn scan(
    provider: &Arc<dyn TableProvider>,
    schema: &SchemaRef,
    filter: Option<&Condition>,
) -> datafusion::common::Result<LogicalPlanBuilder> {
    let plan = LogicalPlanBuilder::scan(TABLE, provider_as_source(Arc::clone(provider)), None)?;
    match filter {
        Some(filter) => plan.filter(condition::expression(filter, schema)?),
        None => Ok(plan),
    }
}

/// The table whose rows a query counts.
struct Counted<'a> {
    engine: &'a Arc<Engine>,
    provider: &'a Arc<dyn TableProvider>,
    schema: &'a SchemaRef,
    watched: &'a Option<WatchedQuery>,
}

impl Counted<'_> {
    /// Counts the rows that match the filter; with `beyond`, returns 1 if there are more than that many, else 0.
    async fn rows(&self, filter: Option<&Condition>, beyond: Option<u64>) -> Result<u64> {
        let Self { engine, provider, schema, watched } = *self;
        let limited = |plan: LogicalPlanBuilder| match beyond {
            Some(beyond) => plan.limit(to_usize(beyond), Some(1)),
            None => Ok(plan),
        };
        let plan = aside(schema, || scan(provider, schema, filter).and_then(limited)).map_err(fault::planning)?;
        count_plan(engine, plan, watched.clone()).await
    }
}

/// Makes a plan over columns of `schema`; for many columns inside `block_in_place`, so that other requests are not
/// delayed: for each column reference the planner searches all columns.
fn aside<T>(schema: &SchemaRef, make: impl FnOnce() -> T) -> T {
    let is_shared = |handle: Handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread;
    if schema.fields().len() > INLINE_COLUMNS && Handle::try_current().is_ok_and(is_shared) {
        return tokio::task::block_in_place(make);
    }
    make()
}

/// Returns the number of rows of a plan.
async fn count_plan(engine: &Arc<Engine>, plan: LogicalPlanBuilder, watched: Option<WatchedQuery>) -> Result<u64> {
    let plan = plan
        .aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64)).alias("n")])
        .and_then(LogicalPlanBuilder::build)
        .map_err(fault::planning)?;
    let answer = answer(engine, begun(engine), plan, watched).await?;
    let batches: Vec<RecordBatch> = match answer.batches {
        Batches::Ready(batches) => batches,
        Batches::Stream(stream) => stream.try_collect().await?,
    };
    let counted = batches.iter().filter(|batch| batch.num_rows() > 0).find_map(|batch| {
        use arrow::array::AsArray;
        let counts = batch.column(0).as_primitive_opt::<arrow::datatypes::Int64Type>()?;
        u64::try_from(counts.value(0)).ok()
    });
    Ok(counted.unwrap_or(0))
}

/// Returns a column of the table.
fn column(name: &str) -> Expr {
    Expr::Column(Column::new(Some(TABLE), name))
}

/// Returns the expression for a column or a field nested in it.
fn place(place: &ResolvedColumn, schema: &SchemaRef) -> datafusion::common::Result<Expr> {
    let mut field = &schema.fields()[place.column];
    let mut values = column(field.name());
    for step in &place.fields {
        let arrow::datatypes::DataType::Struct(inner) = field.data_type() else {
            return datafusion::common::internal_err!("a field of something that is not a struct");
        };
        field = &inner[*step];
        values = get_field(values, field.name().as_str());
    }
    Ok(values)
}

fn to_usize(n: u64) -> usize {
    // The engine uses signed row counts.
    usize::try_from(n.min(i64::MAX as u64)).unwrap_or(usize::MAX)
}

/// Renames the columns to those of `schema`, and sets its metadata.
fn rename(answer: PlanOutput, schema: &SchemaRef) -> PlanOutput {
    let target = Arc::clone(schema);
    let rename = move |batch: RecordBatch| {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&target), batch.columns().to_vec(), &options).map_err(fault::arrow)
    };
    let batches = match answer.batches {
        Batches::Ready(batches) => match batches.into_iter().map(&rename).collect::<Result<Vec<_>>>() {
            Ok(batches) => Batches::Ready(batches),
            Err(error) => Batches::Stream(Box::pin(futures::stream::iter([Err(error)]))),
        },
        Batches::Stream(stream) => Batches::Stream(Box::pin(stream.map(move |batch| rename(batch?)))),
    };
    PlanOutput { schema: Arc::clone(schema), batches }
}

/// Returns the first `limit` rows.
fn within(batches: Batches, limit: u64) -> Batches {
    let Batches::Stream(stream) = batches else { return batches };
    let cut = futures::stream::try_unfold((stream, to_usize(limit)), async |(mut stream, left)| {
        let Some(batch) = (if left > 0 { stream.try_next().await? } else { None }) else { return Ok(None) };
        let batch = batch.slice(0, batch.num_rows().min(left));
        let left = left - batch.num_rows();
        Ok(Some((batch, (stream, left))))
    });
    Batches::Stream(Box::pin(cut))
}

/// Truncates a ready answer to `limit` rows, and returns whether there were more.
fn cut(answer: &mut PlanOutput, limit: u64) -> bool {
    let Batches::Ready(batches) = &mut answer.batches else { return false };
    let mut left = to_usize(limit);
    let mut more = false;
    batches.retain_mut(|batch| {
        if batch.num_rows() > left {
            more = true;
            *batch = batch.slice(0, left);
        }
        left -= batch.num_rows();
        batch.num_rows() > 0
    });
    more
}
