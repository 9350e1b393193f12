//! The contract suites: what every implementation of a port must do, whoever wrote it.

pub mod held;
pub mod scan;
pub mod table;
