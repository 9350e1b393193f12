//! A load on the writer thread: one transaction, which commits all rows or none.

use rusqlite::{Connection, Statement};
use salver_model::limits::LOAD_PROBLEMS_MAX;
use salver_model::{Code, Error, Result};

use super::connections::WriteConnection;
use super::error_codes::{commit_fault, fault};
use super::load_feed::{Feed, LoadSource};
use super::program::execute;
use super::rows::{RowsEnd, bind_all};
use crate::statement::{Bind, BulkLoad, Loaded};

/// Rows after which the timeout restarts: it applies to statements, and each row is one.
const ROWS_PER_LIMIT: usize = 256;

/// Runs a load.
pub(super) fn run(
    writer: &WriteConnection,
    load: &BulkLoad,
    rows: LoadSource,
    run: u64,
    ms_max: u64,
) -> Result<Loaded> {
    let connection = &writer.connection;
    writer.watch.begin(0, 0);
    execute(connection, "BEGIN IMMEDIATE").map_err(fault)?;
    let filled = fill(writer, load, rows, run, ms_max);
    writer.watch.begin(0, 0);
    let undo = || {
        if !connection.is_autocommit() {
            let _ = execute(connection, "ROLLBACK");
        }
    };
    let mut loaded = match filled {
        Ok(loaded) => loaded,
        Err(error) => {
            undo();
            return Err(error);
        }
    };
    if load.dry_run || (loaded.refused > 0 && !load.keep_good) {
        undo();
        loaded.kept = 0;
        return Ok(loaded);
    }
    if let Err(error) = execute(connection, "COMMIT") {
        undo();
        return Err(commit_fault(error));
    }
    Ok(loaded)
}

fn fill(writer: &WriteConnection, load: &BulkLoad, mut rows: LoadSource, run: u64, ms_max: u64) -> Result<Loaded> {
    let mut statement = prepare(&writer.connection, &load.insert)?;
    let mut loaded = Loaded::default();
    loop {
        match rows.next()? {
            Some(Feed::Rows(piece)) => {
                for rows in piece.chunks(ROWS_PER_LIMIT) {
                    writer.watch.begin(run, ms_max);
                    for row in rows {
                        insert(writer, &mut statement, row, &mut loaded)?;
                    }
                }
            }
            Some(Feed::End) => return Ok(loaded),
            None => return Err(Error::new(Code::Execution, "the caller is gone")),
        }
    }
}

fn prepare<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>> {
    connection.prepare(sql).map_err(fault)
}

/// Inserts one row, or records why not. Fails when the row is not at fault.
fn insert(writer: &WriteConnection, statement: &mut Statement<'_>, row: &[Bind], loaded: &mut Loaded) -> Result<()> {
    let inserted = bind_all(statement, row, &[]).and_then(|()| Ok(statement.raw_execute()?));
    let error = match inserted {
        Ok(_) => {
            loaded.kept += 1;
            return Ok(());
        }
        Err(RowsEnd::Sqlite(error)) => writer.watch.explain(error),
        Err(RowsEnd::Own(error)) => error,
    };
    let of_the_row = matches!(error.code, Code::DuplicateKey | Code::Integrity | Code::Raised | Code::Invalid);
    if !of_the_row || writer.connection.is_autocommit() {
        return Err(error);
    }
    let number = loaded.kept + loaded.refused;
    loaded.refused += 1;
    if loaded.problems.len() < LOAD_PROBLEMS_MAX {
        loaded.problems.push((number, error));
    }
    Ok(())
}
