//! Datasets: rows from files, held in memory or scanned from disk, and the SQL engine over the whole catalog.
//!
//! A request is either a [`salver_model::Query`] of one dataset or SQL text. `resolve` checks a query against the
//! dataset's columns and converts its literals; then either `direct` answers it from memory in microseconds, or `plan`
//! makes a plan for the engine. Both give the same bytes. SQL that a query can express is lowered to one. The rest goes
//! to the engine, behind a guard that refuses statements that do more than read; `calls` registers user functions for
//! it.

mod calls;
mod chunk;
mod cuts;
mod dataset;
mod decompress;
mod direct;
mod discover;
mod engine;
mod fault;
mod federate;
mod fetch;
mod growing;
mod guard;
mod hold;
mod index;
mod infer;
mod literal;
mod loader;
mod location;
mod parquet_table;
mod partitions;
mod plan;
mod provider;
mod residency;
mod resolve;
mod source;
mod sql;
mod stamp;
mod sure_source;

pub use chunk::CHUNK_ROWS;
pub use dataset::Dataset;
pub use discover::discover;
pub use engine::{Engine, EngineOptions, own_bytes};
pub use growing::growing;
pub use loader::DatasetLoader;
pub use residency::{Budget, Content, Loaded, ParquetFile, Reservation, SourceFile, WideColumn, load, probe};
