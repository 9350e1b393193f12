//! The engine: one runtime, one memory pool and one set of functions for everything that goes through DataFusion. It
//! knows nothing of particular datasets or of SQL text.

mod checkpoint;
mod common_subplans;
mod common_type;
mod correlated;
mod date_bounds;
mod derived_aggregates;
mod duplicate_names;
mod empty_text;
mod execution;
mod function_bounds;
#[cfg(feature = "ballista")]
mod function_wire;
mod functional_dependencies;
mod histogram;
mod join_keys;
mod join_order;
mod join_subqueries;
mod json_document;
mod lateral;
mod list_items;
mod literal_scales;
mod literal_text;
mod low_memory;
mod memory_pool;
mod memory_pressure;
mod nullable_constants;
mod offsets;
mod only_value;
mod outer_references;
pub(crate) mod pass_through;
mod pg_functions;
mod pg_semantics;
mod planner_rules;
mod query_cluster;
mod replayable_input;
mod row_function;
mod row_width;
mod session;
mod statement_planner;
mod subquery_hoisting;
mod time_slice;
mod union_alternatives;
mod whole_sort_keys;
mod work;
mod work_state;
mod worker_threads;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use datafusion::execution::SessionState;
use salver_model::limits::{HELD_FILES_MAX, WAITING_DECODER_BYTES_MAX};
use salver_model::ports::Functions;
use salver_model::{Error, Result};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use crate::buckets::Buckets;
use crate::column_cache::ColumnCache;
use crate::residency::Budget;
use crate::udf::Files;

pub(crate) use checkpoint::place as place_checkpoints;
pub(crate) use empty_text::EmptyText;
use execution::BEGINNING_PER_THREAD;
pub(crate) use execution::{Cancel, PlanOutput, Started};
#[cfg(feature = "ballista")]
pub(crate) use function_wire::FunctionWire;
pub(crate) use literal_text::{Element, date, elements, time, timestamp, uuid, written_out};
use memory_pressure::Pressure;
pub use memory_pressure::own_bytes;
#[cfg(feature = "ballista")]
pub(crate) use nullable_constants::{is_unfixed, unfixed};
pub(crate) use pg_functions::spelled;
pub(crate) use pg_semantics::{DISTINCT, NOT_DISTINCT};
pub(crate) use pg_semantics::{avg, one_of_each, sum, unordered};
pub use query_cluster::ClusterOptions;
pub(crate) use query_cluster::{QueryCluster, Route};
pub(crate) use session::{CATALOG, SCHEMA};
#[cfg(feature = "ballista")]
pub(crate) use session::{elsewhere, environment};
pub(crate) use statement_planner::TableRules;
pub(crate) use work::QueryWork;
use worker_threads::Lanes;
pub(crate) use worker_threads::STACK_BYTES;

/// Memory for resident datasets and running queries if the machine's memory is unknown.
const FALLBACK_MEMORY_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Memory from which on the system may give huge pages: they make queries over much memory faster, and the process up
/// to twice as large as what it holds.
const HUGE_PAGES_FROM_BYTES: u64 = 1024 * 1024 * 1024;

/// Time after which an idle decoder thread ends.
const DECODER_KEPT_FOR: Duration = Duration::from_secs(10);

/// Options of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Memory for resident datasets and running queries together, in bytes; 0 takes half of the machine's memory.
    pub memory_bytes_max: u64,
    /// Directory for the spill files of sorts and joins, and for converted files.
    pub data_dir: PathBuf,
    /// Number of threads for queries; 0 takes as many as there are cores.
    pub threads: usize,
    /// Disk space for the spill files of all queries together, in bytes; 0 takes half of the free space.
    pub spill_bytes_max: u64,
    /// Maximum time for computing the rows of one query, in milliseconds; 0 is no limit. The time that a client waits
    /// is bounded by the caller; this limit includes the rows that are computed ahead of a slow reader.
    pub query_ms_max: u64,
    /// Time for computing the rows of one query after which it is logged with its plan, in milliseconds; 0 logs none.
    pub slow_ms: u64,
    /// Directory in which parts of objects are kept for the next process; `None` keeps them in `data_dir`.
    pub object_cache_dir: Option<PathBuf>,
    /// Disk space for parts of objects, in bytes; 0 takes a quarter of the free space.
    pub object_cache_bytes_max: u64,
    /// Whether the engine has the process to itself. If so, queries are cancelled when the process uses more memory
    /// than `memory_bytes_max` explains.
    pub owns_process: bool,
    /// The cluster to which large statements go; `None` runs all of them here.
    pub cluster: Option<ClusterOptions>,
}

/// Executes plans. There is one per server, shared by every dataset; it is also the catalog's SQL engine.
#[derive(Debug)]
pub struct Engine {
    lanes: Lanes,
    session: SessionState,
    ordered: SessionState,
    frugal: SessionState,
    narrow: SessionState,
    budget: Arc<Budget>,
    /// Columns of files that are scanned in place.
    columns: Arc<ColumnCache>,
    /// Memory for running queries, in bytes.
    query_bytes: u64,
    /// `None` if the engine does not have the process to itself.
    pressure: Option<Pressure>,
    query_ms_max: AtomicU64,
    /// Time after which a query is slow, in milliseconds; 0 if none is.
    slow_ms: AtomicU64,
    data_dir: PathBuf,
    /// The object stores that datasets are read from.
    buckets: Arc<Buckets>,
    /// Runtime on which exports are decoded. It has as many threads as there are for queries, and always reuses the
    /// same ones, because every thread keeps memory of its own for reuse.
    decoding: Option<Runtime>,
    decoders: usize,
    /// Permits for computing the first rows of a response.
    beginning: Arc<Semaphore>,
    /// Memory that suspended decoders may hold, in KiB.
    waiting_decoders: Arc<Semaphore>,
    /// Permits for files that are kept open for exports.
    held_files: Arc<Semaphore>,
    /// The files whose functions statements may call.
    functions: RwLock<Files>,
    /// The cluster to which large statements go.
    cluster: OnceLock<Arc<dyn QueryCluster>>,
}

impl Engine {
    /// Starts an engine with rules for particular tables: its threads, its memory pool and its spill directory.
    pub(crate) fn with_rules(options: &EngineOptions, rules: &TableRules) -> Result<Arc<Self>> {
        std::fs::create_dir_all(&options.data_dir).map_err(|error| {
            Error::internal(format!("can't make the data directory `{}`", options.data_dir.display()))
                .with_hint("give a directory that can be written to with `--data-dir`")
                .with_source(error)
        })?;
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(2, usize::from),
            n => n,
        };
        let memory_bytes = match options.memory_bytes_max {
            0 => machine_memory_bytes().map_or(FALLBACK_MEMORY_BYTES, |bytes| bytes / 2),
            bytes => bytes,
        };
        // Half is for resident rows and half for running queries, so that neither starves the other.
        let query_bytes = memory_bytes - memory_bytes / 2;
        let environment = session::environment(query_bytes, threads, &options.data_dir, options.spill_bytes_max)?;
        let pressure = options.owns_process.then(|| Pressure::new(memory_bytes));
        if options.owns_process {
            salver_model::memory::bound_read_ahead(memory_bytes / 4);
            if memory_bytes < HUGE_PAGES_FROM_BYTES {
                memory_pressure::without_huge_pages();
            }
        }
        let watched = |mut state: SessionState| {
            if let Some(pressure) = &pressure {
                state.config_mut().options_mut().extensions.insert(pressure.clone());
            }
            state
        };
        time_slice::trace_operators();
        let decoding = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(threads)
            .thread_name("salver-decoder")
            .thread_keep_alive(DECODER_KEPT_FOR)
            .build()
            .map_err(|error| Error::internal("can't start the threads that decode").with_source(error))?;
        let budget = Budget::new(memory_bytes / 2);
        Ok(Arc::new(Self {
            lanes: Lanes::start(threads)?,
            session: watched(session::state(&environment, query_bytes, threads, rules)?),
            ordered: watched(session::state(&environment, query_bytes, 1, rules)?),
            frugal: watched(session::frugal(&environment, query_bytes, rules)?),
            narrow: watched(session::narrow(&environment, query_bytes, rules)?),
            columns: ColumnCache::new(&budget),
            budget,
            query_bytes,
            pressure,
            query_ms_max: AtomicU64::new(options.query_ms_max),
            slow_ms: AtomicU64::new(options.slow_ms),
            data_dir: options.data_dir.clone(),
            buckets: Buckets::new(options.object_cache_dir.clone(), &options.data_dir, options.object_cache_bytes_max),
            decoding: Some(decoding),
            decoders: threads,
            beginning: Arc::new(Semaphore::new(BEGINNING_PER_THREAD * threads)),
            waiting_decoders: Arc::new(Semaphore::new(WAITING_DECODER_BYTES_MAX / 1024)),
            held_files: Arc::new(Semaphore::new(HELD_FILES_MAX)),
            functions: RwLock::new(Arc::new([])),
            cluster: OnceLock::new(),
        }))
    }

    /// Returns the memory that the process may use, in bytes, before queries are cancelled; unlimited if the engine
    /// does not have the process to itself.
    #[must_use]
    pub fn process_bytes_max(&self) -> u64 {
        self.pressure.as_ref().map_or(u64::MAX, Pressure::bytes_max)
    }

    /// Has each of the engine's threads do `work`, which must be short, if they are idle; at best, since which thread
    /// takes a task is not the engine's to say.
    pub fn on_each_idle_thread(&self, work: fn()) {
        self.lanes.on_each_idle(work);
    }

    /// Drops what is kept in memory and nothing has read for some minutes. Whoever owns the process calls it every few
    /// seconds.
    pub fn drop_idle(&self) {
        self.columns.drop_idle();
    }

    /// Sets the function that releases unused memory before a query is cancelled because the process uses too much. It
    /// returns whether it released any.
    pub fn relieve_with(&self, relief: impl Fn() -> bool + Send + Sync + 'static) {
        if let Some(pressure) = &self.pressure {
            let columns = Arc::clone(&self.columns);
            pressure.relieve_with(Box::new(move || columns.clear() || relief()));
        }
    }

    /// Sets the files whose functions statements may call.
    pub fn set_functions(&self, files: &[Arc<dyn Functions>]) {
        *self.functions.write().unwrap_or_else(PoisonError::into_inner) = files.into();
    }

    /// Returns the files whose functions statements may call.
    pub(crate) fn functions(&self) -> Files {
        Arc::clone(&self.functions.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the cluster to which large statements go, once.
    pub(crate) fn set_cluster(&self, cluster: Arc<dyn QueryCluster>) {
        // Whoever starts the engine does it.
        let _ = self.cluster.set(cluster);
    }

    /// Returns the cluster to which large statements go.
    pub(crate) fn cluster(&self) -> Option<&Arc<dyn QueryCluster>> {
        self.cluster.get()
    }

    /// Returns the memory for running queries, in bytes.
    pub(crate) fn query_bytes(&self) -> u64 {
        self.query_bytes
    }

    /// Returns the memory budget that resident datasets share.
    #[must_use]
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the cached columns of files that are scanned in place.
    pub(crate) fn columns(&self) -> &Arc<ColumnCache> {
        &self.columns
    }

    /// Returns the directory for files of this server.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Returns the object stores that datasets are read from.
    pub(crate) fn buckets(&self) -> &Arc<Buckets> {
        &self.buckets
    }

    /// Returns the time after which a query is slow; `None` if slow ones are not logged.
    pub(crate) fn slow_after(&self) -> Option<Duration> {
        Some(self.slow_ms.load(Ordering::Relaxed)).filter(|ms| *ms > 0).map(Duration::from_millis)
    }

    /// Sets the times of [`EngineOptions::query_ms_max`] and [`EngineOptions::slow_ms`], for queries that begin from
    /// now on.
    pub fn set_times(&self, query_ms_max: u64, slow_ms: u64) {
        self.query_ms_max.store(query_ms_max, Ordering::Relaxed);
        self.slow_ms.store(slow_ms, Ordering::Relaxed);
    }

    /// Returns the permits for files that are kept open for exports.
    pub(crate) fn held_files(&self) -> &Arc<Semaphore> {
        &self.held_files
    }

    /// Returns the number of threads that decode for exports.
    pub(crate) fn decoders(&self) -> usize {
        self.decoders
    }

    /// Returns the permits, in KiB, for decoders that wait for their readers.
    pub(crate) fn waiting_decoders(&self) -> &Arc<Semaphore> {
        &self.waiting_decoders
    }

    /// Returns the session for plans that may use every core.
    pub(crate) fn session(&self) -> &SessionState {
        &self.session
    }

    /// Returns the session for plans that must keep the order of the source: one partition.
    pub(crate) fn ordered(&self) -> &SessionState {
        &self.ordered
    }

    /// Returns the session for plans that ran out of memory: small batches, and sorts and joins that spill.
    pub(crate) fn frugal(&self) -> &SessionState {
        &self.frugal
    }

    /// Returns the session for plans whose rows are too wide for large batches.
    pub(crate) fn narrow(&self) -> &SessionState {
        &self.narrow
    }

    fn decoding(&self) -> Result<&Runtime> {
        self.decoding.as_ref().ok_or_else(|| Error::internal("the engine has been shut down"))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // The last reference may be dropped in a task of another runtime, where blocking is not allowed.
        self.decoding.take().into_iter().for_each(Runtime::shutdown_background);
        self.lanes.shut_down();
    }
}

/// Returns the machine's memory in bytes, or the container's limit if that is lower.
fn machine_memory_bytes() -> Option<u64> {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
    });
    let bound = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    match (total, bound) {
        (Some(total), Some(bound)) => Some(total.min(bound)),
        (total, bound) => total.or(bound),
    }
}
