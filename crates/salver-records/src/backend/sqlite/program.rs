//! Runs one program in a transaction that is already open: its steps, its checks and its rollback.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;
use salver_model::{Code, Error, Result};

use super::interrupt::Watch;
use super::rows::{self, RowsEnd};
use crate::statement::{Done, Program, ProgramOutcome, ProgramStep, Returns};

/// A connection with an open transaction, and the bounds of its statements.
#[derive(Clone, Copy)]
pub(super) struct Within<'a> {
    pub(super) connection: &'a Connection,
    pub(super) watch: &'a Watch,
    /// The number of the run, for callers that stop waiting for it.
    pub(super) run: u64,
    pub(super) ms_max: u64,
}

/// Runs a statement without values or result.
pub(super) fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(drop)
}

/// Runs `program`. An outcome marked committed is so once the enclosing transaction commits. A failed program leaves
/// nothing, unless the transaction is gone: then nothing of the transaction is left at all.
pub(super) fn run(within: Within<'_>, program: &Program) -> ProgramOutcome {
    // SQLite itself rolls back a single statement that fails.
    let single = program.steps.len() == 1 && program.steps.iter().all(|step| step.check.is_none());
    let behind_savepoint = program.dry_run || !single;
    if behind_savepoint && let Err(error) = execute(within.connection, "SAVEPOINT program") {
        return ProgramOutcome { steps: vec![Err(within.watch.explain(error))], committed: false };
    }
    let steps = steps(within, program);
    let good = steps.iter().all(Result::is_ok);
    let committed = good && !program.dry_run;
    if behind_savepoint && within.connection.is_autocommit() {
        return ProgramOutcome { steps, committed: false };
    }
    if behind_savepoint {
        within.watch.begin(0, 0);
        let back = if committed { Ok(()) } else { execute(within.connection, "ROLLBACK TO program") };
        if let Err(error) = back.and_then(|()| execute(within.connection, "RELEASE program")) {
            // A transaction that can't roll back to a savepoint is in an unknown state: all of it is rolled back.
            let undone = execute(within.connection, "ROLLBACK");
            tracing::error!(%error, ?undone, "a savepoint failed");
            return ProgramOutcome { steps: vec![Err(super::error_codes::fault(error))], committed: false };
        }
    }
    ProgramOutcome { steps, committed }
}

fn steps(within: Within<'_>, program: &Program) -> Vec<Result<Done>> {
    let mut results: Vec<Result<Done>> = Vec::with_capacity(program.steps.len());
    for step in &program.steps {
        within.watch.begin(within.run, within.ms_max);
        let result = checked(within, step, &results);
        let failed = result.is_err();
        results.push(result);
        if failed && !program.try_all {
            break;
        }
        // Some failures end the transaction; a further statement would autocommit.
        if within.connection.is_autocommit() {
            let left = program.steps.len() - results.len();
            results.extend(
                std::iter::repeat_with(|| {
                    Err(Error::new(Code::Execution, "not tried: an earlier failure ended the transaction"))
                })
                .take(left),
            );
            break;
        }
    }
    results
}

fn checked(within: Within<'_>, step: &ProgramStep, earlier: &[Result<Done>]) -> Result<Done> {
    let done = run_step(within.connection, step, earlier).map_err(|stop| match stop {
        RowsEnd::Sqlite(error) => within.watch.explain(error),
        RowsEnd::Own(error) => error,
    })?;
    if let Some(check) = &step.check {
        // A check is foreign code, and other programs share the transaction.
        catch_unwind(AssertUnwindSafe(|| check(&done)))
            .unwrap_or_else(|_| Err(Error::internal("the check of a change broke off")))?;
    }
    Ok(done)
}

fn run_step(connection: &Connection, step: &ProgramStep, earlier: &[Result<Done>]) -> Result<Done, RowsEnd> {
    let mut statement = connection.prepare_cached(&step.sql)?;
    rows::bind_all(&mut statement, &step.binds, earlier)?;
    let mut done = Done::default();
    match &step.returns {
        Returns::Count => done.affected = statement.raw_execute()? as u64,
        Returns::Key => {
            done.affected = statement.raw_execute()? as u64;
            done.key = (done.affected > 0).then(|| connection.last_insert_rowid());
        }
        Returns::Rows(kinds) => {
            let columns = statement.column_count();
            let reads = statement.readonly();
            let mut answer = statement.raw_query();
            while let Some(row) = answer.next()? {
                done.rows.push(rows::owned(row, columns, kinds)?);
            }
            drop(answer);
            done.affected = if reads { done.rows.len() as u64 } else { connection.changes() };
        }
    }
    Ok(done)
}
