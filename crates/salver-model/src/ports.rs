//! The ports: one trait each, that a backend implements. Each file states the contract; `salver-testkit` has a suite
//! for each that every implementation runs.

pub mod database;
pub mod loader;
pub mod sql_engine;
pub mod table;

pub use database::{Database, RecordStream};
pub use loader::{Loader, WaitsFor};
pub use sql_engine::{SqlEngine, Tables};
pub use table::Table;
