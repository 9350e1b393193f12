//! The engine and its fast paths: every way to run a query gives the same bytes, SQL only reads, and nothing that a
//! client sends breaks anything.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

#[path = "engine/agree.rs"]
mod agree;
#[path = "engine/bounds.rs"]
mod bounds;
#[path = "engine/column_cache.rs"]
mod column_cache;
#[path = "engine/contract.rs"]
mod contract;
#[path = "engine/dependencies.rs"]
mod dependencies;
#[path = "engine/extremes.rs"]
mod extremes;
#[path = "engine/far_times.rs"]
mod far_times;
#[path = "engine/finer.rs"]
mod finer;
#[path = "engine/fuzz.rs"]
mod fuzz;
#[path = "engine/generated.rs"]
mod generated;
#[path = "engine/growing.rs"]
mod growing;
#[path = "engine/held.rs"]
mod held;
#[path = "engine/held_files.rs"]
mod held_files;
#[path = "engine/held_source.rs"]
mod held_source;
#[path = "engine/kept_footers.rs"]
mod kept_footers;
#[path = "engine/key.rs"]
mod key;
#[path = "engine/late.rs"]
mod late;
#[path = "engine/lowering.rs"]
mod lowering;
#[path = "engine/meaning.rs"]
mod meaning;
#[path = "engine/measure.rs"]
mod measure;
#[path = "engine/measure_held.rs"]
mod measure_held;
#[path = "engine/paging.rs"]
mod paging;
#[path = "engine/pruning.rs"]
mod pruning;
#[path = "engine/queries.rs"]
mod queries;
#[path = "engine/read_only.rs"]
mod read_only;
#[path = "engine/repeated_names.rs"]
mod repeated_names;
#[path = "engine/spill.rs"]
mod spill;
#[path = "engine/sql.rs"]
mod sql;
#[path = "engine/text_views.rs"]
mod text_views;
#[path = "engine/unions.rs"]
mod unions;
#[path = "engine/wide_decimals.rs"]
mod wide_decimals;
