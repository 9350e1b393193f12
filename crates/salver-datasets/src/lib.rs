//! Datasets: rows from files, held in memory or scanned from disk, and the SQL engine over the whole catalog.
//!
//! A request is either a [`salver_model::Query`] of one dataset or SQL text. `resolve` checks a query against the
//! dataset's columns and converts its literals; then either `direct` answers it from memory in microseconds, or `plan`
//! makes a plan for the engine. Both give the same bytes. SQL that a query can express is lowered to one. The rest goes
//! to the engine, behind `sql_allowlist`, which refuses statements that do more than read; `udf` registers user
//! functions for it.

mod append_only;
mod buckets;
mod cached_columns;
mod cached_table;
mod cell_area;
mod chunk_size;
#[cfg(feature = "ballista")]
mod cluster;
mod column_cache;
mod dataset;
mod decompress;
mod delta;
mod delta_source;
mod direct;
mod discover;
mod engine;
mod fault;
mod federate;
mod fetch;
mod file_stamp;
mod first_piece;
mod google_sheets;
mod held_rows;
mod hive_partitions;
mod index;
mod infer;
mod late_columns;
mod literal;
mod loader;
mod location;
mod parquet_filters;
mod parquet_table;
mod partitioning;
mod pg_names;
mod plan;
mod residency;
mod resident_provider;
mod resolve;
mod restricted;
mod source;
mod sql;
mod sql_allowlist;
mod start;
mod system_catalog;
mod text_views;
mod udf;
#[cfg(not(feature = "ballista"))]
mod without_cluster;

pub use append_only::growing;
pub use chunk_size::CHUNK_ROWS;
#[cfg(feature = "ballista")]
pub use cluster::{ExecutorOptions, SchedulerOptions, run_executor, run_scheduler};
pub use dataset::Dataset;
pub use discover::{Stamp, discover, discover_beside, further_sheets, look};
pub use engine::{ClusterOptions, Engine, EngineOptions, own_bytes};
pub use loader::DatasetLoader;
pub use residency::{Budget, Content, Loaded, ParquetFile, Remote, Reservation, SourceFile, WideColumn, load, probe};
pub use restricted::{mask_misfit, rows_misfit};
