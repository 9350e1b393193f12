//! The contract suites: what every implementation of a port must do, whoever wrote it.

pub mod courier;
pub mod database;
pub mod event_stream;
pub mod functions;
pub mod held;
pub mod loader;
pub mod scan;
pub mod sql_engine;
pub mod table;
