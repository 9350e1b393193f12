//! Tables of SQLite, PostgreSQL and MySQL behind one port: reads, joins and changes rows, reflects and alters schemas.
//! The only crate that knows a database driver; it knows no protocol.
//!
//! A request is checked against the schema and its caller's rules, compiled to SQL text with bound values (`dialect`
//! has the differences between the systems), and passed to the backend as a `statement::Read` or a
//! `statement::Program`. Rows come back as cells into a sink, which writes the requested format: JSON, or Arrow.

// Without a driver, what only its backend asks of the shared parts has no caller.
#![cfg_attr(not(all(feature = "postgres", feature = "mysql")), allow(dead_code))]

pub(crate) mod access;
pub(crate) mod backend;
pub(crate) mod buffered_rows;
pub(crate) mod calendar;
pub(crate) mod cell;
pub(crate) mod change;
pub(crate) mod condition;
pub(crate) mod database;
pub(crate) mod define;
pub(crate) mod dialect;
pub(crate) mod discover;
mod geometry;
pub(crate) mod json;
pub(crate) mod moment;
pub(crate) mod name_mapping;
pub(crate) mod per_caller;
pub(crate) mod prepared_cache;
pub(crate) mod read;
pub(crate) mod relation;
pub(crate) mod schema_cache;
pub(crate) mod scope;
pub(crate) mod statement;
pub(crate) mod table;

pub use database::RecordsDatabase;
pub use dialect::mask::masked_kind;
pub use discover::discover;
pub use per_caller::PerCallerDatabases;
