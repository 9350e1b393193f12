//! Configuration of DataFusion: memory, spilling, caches, functions and options.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::TrackConsumersPool;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::prelude::SessionConfig;
use salver_model::limits::SPILL_BYTES_MAX;
use salver_model::{Error, Result};

use super::function_bounds::{self, Allowance};
#[cfg(feature = "ballista")]
use super::function_wire::FunctionWire;
use super::functional_dependencies::PlainRelations;
use super::memory_pool::SharedMemory;
use super::row_width::{self, BoundRows};
use super::statement_planner::TableRules;
use super::{histogram, low_memory, pg_functions, pg_semantics, planner_rules, statement_planner};

/// Catalog of every table, as `information_schema` shows it.
pub(crate) const CATALOG: &str = "salver";
/// Schema of every table.
pub(crate) const SCHEMA: &str = "public";
/// Maximum rows of a batch.
const FULL_BATCH_ROWS: usize = 8_192;
/// Maximum number of keys of one side of a join that are pushed to the other side as a list.
const PUSHED_KEYS: usize = 1_000;
/// Maximum size of a side of a join that one thread builds for all, in bytes.
const BUILT_BY_ONE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum of its rows, for one thread: with more of them, more wait for the one that builds.
const BUILT_BY_ONE_ROWS: usize = 4_000_000;
/// Maximum range of integer keys that a join finds in an array, however few rows it has. It has four bytes for each.
const FULL_ARRAY_KEYS: usize = 8 * 1024 * 1024;
/// The same when memory is short: the engine's default.
const LEAST_ARRAY_KEYS: usize = 1_024;
/// Memory of queries for each of these keys, in bytes.
const BYTES_PER_ARRAY_KEY: usize = 512;
/// Minimum rows of a batch, however short memory is.
const LEAST_BATCH_ROWS: usize = 64;
/// Memory of queries for each row of a batch, in bytes.
const BYTES_PER_BATCH_ROW: usize = 16 * 1024;
/// The same for plans that ran out of memory: several sorts and merges run at once, each of them holds some batches,
/// and rows may be wide.
const BYTES_PER_FRUGAL_ROW: usize = 64 * 1024;
/// Maximum memory of a sort that sorts all its rows at once. It reserves twice the size of its rows, and the offsets of
/// a text column have 32 bits.
const SORT_BYTES: usize = 4 * 1024 * 1024 * 1024 - 1;
/// Size of the cache of Parquet footers, in bytes.
const METADATA_CACHE_BYTES: usize = 64 * 1024 * 1024;
/// Size at which a file ends into which rows are written that go from some threads to others and don't fit into
/// memory, so that each has one batch. Of two files that two threads had written to, rows were awaited in the first
/// that were in the second, while both threads waited for rows to be read: such a query never ended (DataFusion 55).
const REPARTITIONED_FILE_BYTES: &str = "datafusion.execution.max_spill_file_size_bytes";
/// Number of consumers that an out-of-memory error names in the log.
const CONSUMERS_NAMED: usize = 5;

/// Memory that is reserved for each sorted run that a merge reads at once, for each thread. All partitions merge at the
/// same time, and each reserves four batches per run. The merge of the partitions comes last, when rows have been sent
/// and the query can't be retried, so there must be room left for it.
const MERGED_RUN_BYTES: u64 = 32 * 1024 * 1024;
/// Minimum number of runs merged at once; if not even these fit, the merge takes fewer by itself.
const LEAST_FAN_IN: usize = 2;
/// Maximum number of runs merged at once.
const FULL_FAN_IN: usize = 64;
/// Divisor of the memory that the sort of one partition reserves for merging.
const RESERVES: usize = 16;
/// Minimum of that reservation, in bytes.
const LEAST_RESERVE_BYTES: usize = 64 * 1024;
/// Maximum of that reservation, in bytes.
const FULL_RESERVE_BYTES: usize = 10 * 1024 * 1024;

/// Creates the memory pool, spill directory and caches that all sessions share.
pub(crate) fn environment(
    memory_bytes: u64,
    threads: usize,
    data_dir: &Path,
    spill_bytes_max: u64,
) -> Result<Arc<RuntimeEnv>> {
    let spill = data_dir.join("spill");
    std::fs::create_dir_all(&spill)
        .map_err(|error| Error::internal("can't make the spill directory").with_source(error))?;
    let spill_bytes_max = match spill_bytes_max {
        0 => free_bytes(&spill).map_or(SPILL_BYTES_MAX, |free| free / 2),
        bytes => bytes,
    };
    let disk = DiskManagerBuilder::default()
        .with_mode(DiskManagerMode::Directories(vec![spill]))
        .with_max_temp_directory_size(spill_bytes_max);
    let pool = SharedMemory::new(usize::try_from(memory_bytes).unwrap_or(usize::MAX));
    let fan_in = usize::try_from(memory_bytes / MERGED_RUN_BYTES).unwrap_or(usize::MAX) / threads.max(1);
    let named = NonZeroUsize::new(CONSUMERS_NAMED).unwrap_or(NonZeroUsize::MIN);
    RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(TrackConsumersPool::new(pool, named)))
        .with_disk_manager_builder(disk)
        .with_metadata_cache_limit(METADATA_CACHE_BYTES)
        .with_max_spill_merge_fan_in(fan_in.clamp(LEAST_FAN_IN, FULL_FAN_IN))
        .build_arc()
        .map_err(|error| Error::internal("can't set up the engine").with_source(error))
}

/// Returns the free space of a directory's file system, in bytes.
fn free_bytes(directory: &Path) -> Option<u64> {
    let system = rustix::fs::statvfs(directory).ok()?;
    system.f_bavail.checked_mul(system.f_frsize)
}

/// Creates a session with every function, for plans of up to `partitions` partitions.
pub(crate) fn state(
    environment: &Arc<RuntimeEnv>,
    memory_bytes: u64,
    partitions: usize,
    rules: &TableRules,
) -> Result<SessionState> {
    let memory_bytes = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
    let own = |session| statement_planner::with_own_nodes(session, rules);
    finish(environment, memory_bytes, config(memory_bytes, partitions), rules, own)
}

/// Creates a session for plans that ran out of memory in another. Joins and groups sort their rows, because hash tables
/// can't spill, or not completely.
/// A sort sorts all its rows at once, because merging needs memory of its own that nothing reserves for it.
/// Batches are small, because a merge of spill files holds a batch of every run.
pub(crate) fn frugal(environment: &Arc<RuntimeEnv>, memory_bytes: u64, rules: &TableRules) -> Result<SessionState> {
    let memory_bytes = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
    finish(environment, memory_bytes, frugal_config(memory_bytes), rules, low_memory::spilling)
}

fn frugal_config(memory_bytes: usize) -> SessionConfig {
    // The planner sorts for a join only if there are at least two partitions; with more of them, each sort's share of a
    // large memory stays below the maximum of one sort.
    let partitions = (memory_bytes / SORT_BYTES).max(2);
    let batch_rows = (memory_bytes / BYTES_PER_FRUGAL_ROW).clamp(LEAST_BATCH_ROWS, FULL_BATCH_ROWS);
    let mut config = config(memory_bytes, partitions).with_batch_size(batch_rows);
    let options = config.options_mut();
    options.optimizer.prefer_hash_join = false;
    // A top-k may be a limit over a full sort, which provides no dynamic filter. The filter of one execution must not
    // affect the next, and parts of a plan may be executed again here.
    options.optimizer.enable_topk_dynamic_filter_pushdown = false;
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    options.optimizer.enable_join_dynamic_filter_pushdown = false;
    options.execution.sort_in_place_threshold_bytes = SORT_BYTES;
    options.execution.sort_spill_reservation_bytes = LEAST_RESERVE_BYTES;
    config
}

/// Creates a session for plans whose rows are too wide for batches of the usual length: a few rows at a time.
pub(crate) fn narrow(environment: &Arc<RuntimeEnv>, memory_bytes: u64, rules: &TableRules) -> Result<SessionState> {
    let memory_bytes = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
    let config = frugal_config(memory_bytes).with_batch_size(row_width::NARROW_ROWS);
    finish(environment, memory_bytes, config, rules, low_memory::spilling)
}

fn config(memory_bytes: usize, partitions: usize) -> SessionConfig {
    let mut config = SessionConfig::new()
        .with_target_partitions(partitions)
        .with_batch_size((memory_bytes / BYTES_PER_BATCH_ROW).clamp(LEAST_BATCH_ROWS, FULL_BATCH_ROWS))
        .with_information_schema(true)
        .with_create_default_catalog_and_schema(false)
        .with_default_catalog_and_schema(CATALOG, SCHEMA)
        .set_usize(REPARTITIONED_FILE_BYTES, 1);
    let options = config.options_mut();
    options.execution.parquet.pushdown_filters = true;
    // A small side is built by one thread, so that the rows of the large one stay where they are.
    options.optimizer.hash_join_single_partition_threshold = BUILT_BY_ONE_BYTES;
    options.optimizer.hash_join_single_partition_threshold_rows = BUILT_BY_ONE_ROWS / partitions.max(1);
    // An array of the keys' range instead of a hash table is what makes joins of ids fast. A range of this size may
    // have few rows in it: memory that is never touched costs little.
    options.execution.perfect_hash_join_small_build_threshold =
        (memory_bytes / BYTES_PER_ARRAY_KEY).clamp(LEAST_ARRAY_KEYS, FULL_ARRAY_KEYS);
    // The loader decides the column types of a dataset; they are not replaced by views.
    options.execution.parquet.schema_force_view_types = false;
    // Names are resolved in the parsed statement, where the columns of every table are known.
    options.sql_parser.enable_ident_normalization = false;
    options.sql_parser.map_string_types_to_utf8view = false;
    // Literals with a decimal point are exact.
    options.sql_parser.parse_float_as_decimal = true;
    // Microseconds reach back to the year -290308; nanoseconds end in 2262 and wrap around.
    options.execution.parquet.coerce_int96 = Some("us".to_owned());
    // Up to this many join keys are requested from a database as a list, instead of the range between the smallest and
    // the largest.
    options.optimizer.hash_join_inlist_pushdown_max_distinct_values = PUSHED_KEYS;
    // The logical plan knows that `case when a > b then a ...` is never null, and the operators don't (DataFusion 55).
    options.execution.skip_physical_aggregate_schema_check = true;
    // This operator panics on types that it does not expect (DataFusion 55).
    options.optimizer.enable_topk_aggregation = false;
    // Each sort reserves this for its merge, so it must leave room for the sort itself.
    let reserve = memory_bytes / (RESERVES * partitions);
    options.execution.sort_spill_reservation_bytes = reserve.clamp(LEAST_RESERVE_BYTES, FULL_RESERVE_BYTES);
    config
}

/// Creates a session for plans that run elsewhere, and the names of its functions there. It has no operators of our own
/// that only this process can run, and no filters that become known while a plan runs.
#[cfg(feature = "ballista")]
pub(crate) fn elsewhere(
    environment: &Arc<RuntimeEnv>,
    memory_bytes: u64,
    adapt: impl FnOnce(SessionConfig) -> SessionConfig,
    partitions: usize,
) -> Result<(SessionState, FunctionWire)> {
    let memory_bytes = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
    let config = adapt(config(memory_bytes, partitions).with_batch_size(FULL_BATCH_ROWS));
    let allowance = Allowance::new(&environment.memory_pool, memory_bytes as u64);
    let state =
        finish_with(environment, &allowance, config, (BoundRows::of_plans(&allowance), None), |session| session)?;
    let wire = FunctionWire::of(&state, allowance);
    Ok((state, wire))
}

fn finish(
    environment: &Arc<RuntimeEnv>,
    memory_bytes: usize,
    config: SessionConfig,
    rules: &TableRules,
    more: impl FnOnce(SessionStateBuilder) -> SessionStateBuilder,
) -> Result<SessionState> {
    let allowance = Allowance::new(&environment.memory_pool, memory_bytes as u64);
    finish_with(environment, &allowance, config, (BoundRows::new(&allowance), Some(&rules.last)), more)
}

fn finish_with(
    environment: &Arc<RuntimeEnv>,
    allowance: &Arc<Allowance>,
    config: SessionConfig,
    (bounds, last): (BoundRows, Option<&Arc<dyn PhysicalOptimizerRule + Send + Sync>>),
    more: impl FnOnce(SessionStateBuilder) -> SessionStateBuilder,
) -> Result<SessionState> {
    let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(Arc::clone(environment));
    let builder = builder
        .with_expr_planners(vec![pg_semantics::operations()])
        .with_relation_planners(vec![Arc::new(PlainRelations)])
        .with_default_features();
    let builder = more(planner_rules::checked(builder));
    // These rules are last, when the plan is final.
    let mut builder = builder
        .with_optimizer_rule(function_bounds::bound_matches(allowance))
        .with_physical_optimizer_rule(Arc::new(bounds));
    if let Some(last) = last {
        builder = builder.with_physical_optimizer_rule(Arc::clone(last));
    }
    let mut state = builder.build();
    datafusion_functions_json::register_all(&mut state)
        .map_err(|error| Error::internal("can't register the JSON functions").with_source(error))?;
    pg_semantics::register(&mut state)
        .map_err(|error| Error::internal("can't register the sums").with_source(error))?;
    pg_functions::register(&mut state)
        .and_then(|()| histogram::register(&mut state))
        .map_err(|error| Error::internal("can't register functions").with_source(error))?;
    function_bounds::bound_all(&mut state, allowance)
        .map_err(|error| Error::internal("can't put functions within bounds").with_source(error))?;
    Ok(state)
}
