//! PostgreSQL's system catalog (`pg_catalog`) of what is served, for its clients: they read it to list tables and
//! columns before they ask for rows (<https://www.postgresql.org/docs/15/catalogs.html>). It has the relations and
//! columns of PostgreSQL 15, with rows where something here corresponds to them. A statement about it sees one
//! snapshot, like every statement, and so does not tell of entries that its caller may not see.

mod definitions;
mod filled_table;
mod functions;
mod information_schema;
mod oids;
mod pg_types;
mod relations;
mod rewrite;
mod statement;
mod system_table;
mod tables;
mod without_rows;

pub(crate) use functions::register;
pub(crate) use rewrite::rewrite;
pub(crate) use statement::is_about_it;
pub(crate) use system_table::SystemTable;
pub(crate) use tables::SystemTables;
