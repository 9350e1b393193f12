//! The ports: one trait each, that a backend implements. Each file states the contract; `salver-testkit` has a suite
//! for each that every implementation runs.

pub mod loader;
pub mod sql_engine;
pub mod table;

pub use loader::{Loader, WaitsFor};
pub use sql_engine::{SqlEngine, Tables};
pub use table::Table;
