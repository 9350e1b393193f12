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
mod settings;
mod statement;
mod system_table;
mod tables;
mod unused_kinds;
mod without_rows;

use datafusion::sql::sqlparser::ast::Statement;
use salver_model::Result;

pub(crate) use functions::register;
pub(crate) use statement::is_about_it;
pub(crate) use system_table::SystemTable;
pub(crate) use tables::SystemTables;

/// Rewrites a statement about the catalog so that the engine understands it.
///
/// # Errors
/// `InvalidSql` for the number of something that there is not.
pub(crate) fn rewrite(statement: &mut Statement, tables: &SystemTables) -> Result<()> {
    unused_kinds::rewrite(statement);
    without_rows::rewrite(statement, tables);
    rewrite::rewrite(statement, tables)
}
