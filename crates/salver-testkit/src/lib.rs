//! What tests of several crates share: an obviously correct [`MemoryTable`], fakes of the other ports, and the
//! contract suites that every implementation of a port must pass. Never part of the binary.

pub mod contract;
pub mod fake;
pub mod memory_table;

pub use fake::{FakeLoader, NoSql};
pub use memory_table::MemoryTable;
