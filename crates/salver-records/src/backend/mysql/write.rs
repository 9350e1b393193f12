//! Runs programs of changes, in one transaction or, when there is nothing to roll back, without any.

use std::borrow::Cow;

use salver_model::{Code, Error, Result};

use super::client::Client;
use super::error_numbers;
use super::pool::{MysqlLease, Pool};
use crate::cell::OwnedCell;
use crate::statement::{Bind, Done, Program, ProgramOutcome, ProgramStep, Returns};

/// Runs `program`.
pub(super) async fn write(pool: &Pool, program: Program) -> Result<ProgramOutcome> {
    match program.steps.as_slice() {
        [] => Ok(ProgramOutcome { steps: Vec::new(), committed: !program.dry_run }),
        // The database rolls back a failed statement, so that a single one needs no transaction around it.
        [only] if only.check.is_none() && !program.dry_run => alone(pool, only).await,
        _ => together(pool, &program).await,
    }
}

async fn alone(pool: &Pool, step: &ProgramStep) -> Result<ProgramOutcome> {
    let mut lease = pool.lease_alive().await?;
    let binds = match resolved(step, &[]) {
        Ok(binds) => binds,
        Err(error) => {
            pool.give_back(lease);
            return Ok(ProgramOutcome { steps: vec![Err(error)], committed: false });
        }
    };
    // Nothing of the change is sent before it is prepared, so a lost connection can be replaced.
    let mut prepared = lease.client.prepare(&step.sql).await;
    if prepared.as_ref().is_err_and(error_numbers::is_lost) {
        drop(lease);
        lease = pool.lease_new().await?;
        prepared = lease.client.prepare(&step.sql).await;
    }
    let done = match prepared {
        Ok(_) => run(&mut lease.client, step, &binds).await,
        Err(failure) if error_numbers::is_lost(&failure) => return Err(error_numbers::error(failure, pool.place())),
        Err(failure) => Err(Stopped::Failure(failure)),
    };
    let result = match done {
        Ok(done) => Ok(done),
        Err(Stopped::Failure(failure)) if error_numbers::is_lost(&failure) || error_numbers::is_overdue(&failure) => {
            return Err(error_numbers::outcome_unknown(failure, pool.place()));
        }
        Err(stopped) => Err(stopped.error(pool.place())),
    };
    pool.give_back(lease);
    let committed = result.is_ok();
    Ok(ProgramOutcome { steps: vec![result], committed })
}

async fn together(pool: &Pool, program: &Program) -> Result<ProgramOutcome> {
    let mut lease = begin(pool).await?;
    let mut steps: Vec<Result<Done>> = Vec::with_capacity(program.steps.len());
    let mut failed = false;
    for step in &program.steps {
        let result = match resolved(step, &steps) {
            Ok(binds) => match run(&mut lease.client, step, &binds).await {
                Ok(done) => checked(step, done),
                Err(Stopped::Failure(failure))
                    if error_numbers::is_lost(&failure) || error_numbers::is_overdue(&failure) =>
                {
                    // Closing the connection ends the transaction.
                    return Err(error_numbers::error(failure, pool.place()));
                }
                Err(stopped) => Err(stopped.error(pool.place())),
            },
            Err(error) => Err(error),
        };
        let error =
            result.as_ref().err().map(|error| (error_numbers::again(error), error_numbers::ends_transaction(error)));
        steps.push(result);
        let Some((error, ends_transaction)) = error else { continue };
        failed = true;
        if !program.try_all {
            break;
        }
        if ends_transaction {
            steps.resize_with(program.steps.len(), || Err(error_numbers::again(&error)));
            break;
        }
    }
    finish(pool, lease, !failed && !program.dry_run).await?;
    Ok(ProgramOutcome { steps, committed: !failed && !program.dry_run })
}

/// Takes a connection and begins a transaction on it.
pub(super) async fn begin(pool: &Pool) -> Result<MysqlLease> {
    let mut lease = pool.lease_alive().await?;
    let mut begun = lease.client.run("START TRANSACTION").await;
    if begun.as_ref().is_err_and(error_numbers::is_lost) {
        drop(lease);
        lease = pool.lease_new().await?;
        begun = lease.client.run("START TRANSACTION").await;
    }
    match begun {
        Ok(()) => Ok(lease),
        Err(failure) => Err(error_numbers::error(failure, pool.place())),
    }
}

/// Ends a transaction: commits it if `keep`, else rolls it back.
pub(super) async fn finish(pool: &Pool, mut lease: MysqlLease, keep: bool) -> Result<()> {
    match lease.client.run(if keep { "COMMIT" } else { "ROLLBACK" }).await {
        Ok(()) => {
            pool.give_back(lease);
            Ok(())
        }
        // Closing the connection rolls the transaction back anyway.
        Err(_) if !keep => Ok(()),
        Err(failure) if error_numbers::is_lost(&failure) || error_numbers::is_overdue(&failure) => {
            Err(error_numbers::outcome_unknown(failure, pool.place()))
        }
        Err(failure) => Err(error_numbers::error(failure, pool.place())),
    }
}

/// Reason why a step did not finish.
enum Stopped {
    Failure(mysql_async::Error),
    Error(Error),
}

impl Stopped {
    fn error(self, place: &str) -> Error {
        match self {
            Self::Failure(failure) => error_numbers::error(failure, place),
            Self::Error(error) => error,
        }
    }
}

async fn run(client: &mut Client, step: &ProgramStep, binds: &[Bind]) -> Result<Done, Stopped> {
    client.start(&step.sql, &[binds]).await.map_err(Stopped::Failure)?;
    let mut done = Done::default();
    match &step.returns {
        Returns::Rows(kinds) => {
            while let Some(row) = client.next().await.map_err(Stopped::Failure)? {
                done.rows.push(client.buffer.keep(&row, kinds).map_err(Stopped::Error)?);
            }
            done.affected = done.rows.len() as u64;
            if done.rows.is_empty() {
                // MySQL has no `RETURNING`: what it changed is known all the same.
                done.affected = client.affected();
                done.key = client.last_key();
            }
        }
        returns => {
            client.skip().await.map_err(Stopped::Failure)?;
            done.affected = client.affected();
            if matches!(returns, Returns::Key) {
                done.key = client.last_key();
            }
        }
    }
    Ok(done)
}

fn checked(step: &ProgramStep, done: Done) -> Result<Done> {
    if let Some(check) = &step.check {
        check(&done)?;
    }
    Ok(done)
}

/// Returns the values of a step, with references replaced by the results of earlier steps.
fn resolved<'a>(step: &'a ProgramStep, steps: &[Result<Done>]) -> Result<Cow<'a, [Bind]>> {
    if !step.binds.iter().any(|bind| bind.refers_to().is_some()) {
        return Ok(Cow::Borrowed(&step.binds));
    }
    step.binds.iter().map(|bind| value(bind, steps)).collect::<Result<_>>().map(Cow::Owned)
}

/// Returns a value, with a reference replaced by the result of the earlier step.
fn value(bind: &Bind, steps: &[Result<Done>]) -> Result<Bind> {
    let cell = |step: usize, column: usize| {
        let row = earlier(steps, step)?.rows.first();
        Ok::<_, Error>(row.and_then(|row| row.get(column)).map(bound))
    };
    match bind {
        Bind::Back { step, column } => cell(*step, *column)?.ok_or_else(|| nothing(*step)),
        Bind::BackKey { step } => earlier(steps, *step)?.key.map(Bind::Int).ok_or_else(|| nothing(*step)),
        Bind::BackOr { step, column, otherwise } => match cell(*step, *column)? {
            Some(found) => Ok(found),
            None => value(otherwise, steps),
        },
        other => Ok(other.clone()),
    }
}

fn earlier(steps: &[Result<Done>], step: usize) -> Result<&Done> {
    match steps.get(step) {
        Some(Ok(done)) => Ok(done),
        Some(Err(_)) => Err(Error::new(Code::Invalid, "a change refers to an earlier one, which failed")),
        None => Err(Error::new(Code::Invalid, "a change refers to one that comes later")),
    }
}

fn nothing(step: usize) -> Error {
    Error::new(Code::Invalid, format!("a change refers to step {step}, which answered nothing it could take"))
}

fn bound(cell: &OwnedCell) -> Bind {
    match cell {
        OwnedCell::Null => Bind::Null,
        OwnedCell::Bool(value) => Bind::Bool(*value),
        OwnedCell::Int(value) => Bind::Int(*value),
        // Numbers this large are sent as text, without loss.
        OwnedCell::UInt(value) => Bind::Text(value.to_string()),
        OwnedCell::Float(value) => Bind::Float(*value),
        OwnedCell::Single(value) => Bind::Float(f64::from(*value)),
        OwnedCell::Text(text) => Bind::Text(text.clone()),
        OwnedCell::Bytes(bytes) => Bind::Bytes(bytes.clone()),
    }
}
