//! What tests of several crates share: an obviously correct [`MemoryTable`], fakes of the other ports, the contract
//! suites that every implementation of a port must pass, tables of the documentation, real database servers, and what
//! stands for the Google Sheets API. Never part of the binary.

pub mod contract;
pub mod doc_table;
pub mod fake;
pub mod fake_database;
pub mod google_sheets;
pub mod memory_scan;
pub mod memory_table;
pub mod servers;

pub use fake::{FakeLoader, NoSql};
pub use fake_database::{DatabaseRequest, FakeDatabase};
pub use memory_scan::MemoryScan;
pub use memory_table::MemoryTable;
