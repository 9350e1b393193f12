//! Runs programs that change rows.
//!
//! A program is sent in as few flights as its steps allow: begin, every step that does not need another's result, and
//! the commit too when there is nothing to check before. Only when a step fails and each needs its own result is the
//! program repeated, step by step behind savepoints.

use std::borrow::Cow;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Instant;

use futures::TryStreamExt;
use salver_model::{Code, Error, Result};
use tokio_postgres::{RowStream, Statement};

use super::Postgres;
use super::bind::{Wire, from_cell};
use super::connection::{Connection, start};
use super::decode::{PostgresForm, cells, forms, key_form};
use super::pool::PostgresLease;
use super::sqlstate::{Fault, ends_all, unknown_outcome};
use crate::cell::Cell;
use crate::statement::{Bind, Done, Program, ProgramOutcome, ProgramStep, Returns};

/// Most steps that are sent before the first response is read.
const FLIGHT_STEPS: usize = 256;

/// The result of one step.
type StepResult = std::result::Result<Done, Error>;

/// Reason why a program stopped without an outcome.
enum ProgramStop {
    /// A fault, and whether a commit may have happened all the same.
    Fault { fault: Fault, commit_sent: bool },
    /// Nothing has happened, and a retry is possible: a prepared statement is stale, or the connection was lost before
    /// anything was sent.
    Nothing(Fault),
    /// The steps must be run one by one.
    StepByStep,
}

impl From<Fault> for ProgramStop {
    fn from(fault: Fault) -> Self {
        Self::Fault { fault, commit_sent: false }
    }
}

impl Postgres {
    /// See [`crate::backend::Backend::write`].
    ///
    /// [`Returns::Key`]: the first column of the first row that the step returns, when it is an integer; so an insert
    /// whose key is wanted has a `RETURNING` with the key's column.
    pub(crate) async fn write(&self, program: Program) -> Result<ProgramOutcome> {
        if program.steps.is_empty() {
            return Ok(ProgramOutcome { steps: Vec::new(), committed: !program.dry_run });
        }
        let mut again = false;
        loop {
            let began = Instant::now();
            let mut lease = self.lease().await?;
            let ended = Box::pin(self.attempt(&mut lease, &program)).await;
            drop(lease);
            match ended {
                Ok(outcome) => return Ok(outcome),
                Err(ProgramStop::Nothing(fault)) if !again && fault.is_worth_another_try() => {
                    self.recover(&fault, began);
                    again = true;
                }
                Err(ProgramStop::Fault { fault, commit_sent: true }) if fault.is_lost() => {
                    self.pool.clear(began);
                    return Err(unknown_outcome(fault, &self.target.entry));
                }
                Err(ProgramStop::Fault { fault, .. } | ProgramStop::Nothing(fault)) => {
                    if fault.is_lost() {
                        self.pool.clear(began);
                    }
                    return Err(fault.into_error(&self.target.entry));
                }
                Err(ProgramStop::StepByStep) => return Err(Error::internal("a program went round in a circle")),
            }
        }
    }

    async fn attempt(&self, lease: &mut PostgresLease, program: &Program) -> Result<ProgramOutcome, ProgramStop> {
        let entry = self.target.entry.as_str();
        let texts: Vec<&Arc<str>> = program.steps.iter().map(|step| &step.sql).collect();
        lease.asks();
        let prepared = lease.within(lease.prepare_all(&texts)).await;
        lease.answered();
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(fault) if fault.is_lost() => return Err(ProgramStop::Nothing(fault)),
            // The repetition step by step tells which step failed.
            Err(_) => return step_by_step(lease, program, entry).await,
        };
        if let ([step], [statement], false) = (program.steps.as_slice(), prepared.as_slice(), program.dry_run)
            && step.check.is_none()
        {
            return alone(lease, step, statement, entry).await;
        }
        match in_flights(lease, program, &prepared, entry).await {
            Err(ProgramStop::StepByStep) => step_by_step(lease, program, entry).await,
            ended => ended,
        }
    }
}

/// Runs one statement, which is a transaction by itself: one round trip.
async fn alone(
    lease: &mut PostgresLease,
    step: &ProgramStep,
    statement: &Statement,
    entry: &str,
) -> Result<ProgramOutcome, ProgramStop> {
    let binds = resolve(step, &[] as &[Done]).map_err(own)?;
    let forms = answer_forms(statement, &step.returns).map_err(own)?;
    lease.asks();
    let ended = async {
        let stream = lease.within(lease.client.query_raw(statement, binds.iter().map(Wire))).await?;
        done(lease, stream, (&forms, &step.returns)).await
    }
    .await;
    lease.answered();
    match ended {
        Ok(done) => Ok(ProgramOutcome { steps: vec![Ok(done)], committed: true }),
        Err(fault) if fault.is_stale() => Err(ProgramStop::Nothing(fault)),
        Err(fault) if fault.is_lost() => Err(ProgramStop::Fault { fault, commit_sent: true }),
        Err(Fault::Own(error)) => Err(own(error)),
        Err(fault) => {
            let error = fault.into_error(entry);
            if ends_all(&error) { Err(own(error)) } else { Ok(undone(error, Vec::new())) }
        }
    }
}

/// Pipelines the steps, as many as possible at once.
async fn in_flights(
    lease: &mut PostgresLease,
    program: &Program,
    prepared: &[Statement],
    entry: &str,
) -> Result<ProgramOutcome, ProgramStop> {
    let steps = &program.steps;
    let mut results: Vec<Done> = Vec::with_capacity(steps.len());
    lease.begins();
    while results.len() < steps.len() {
        let first = results.len();
        let end = flight_end(steps, first).map_err(own)?;
        let mut binds = Vec::with_capacity(end - first);
        let mut unresolved = None;
        for step in &steps[first..end] {
            match resolve(step, results.as_slice()) {
                Ok(resolved) => binds.push(resolved),
                Err(error) => {
                    unresolved = Some(Fault::Own(error));
                    break;
                }
            }
        }
        let end = first + binds.len();
        let looked_at = steps[first..end].iter().any(|step| step.check.is_some());
        let commits = end == steps.len() && !program.dry_run && !looked_at;
        let flight = Flight {
            connection: lease,
            steps: &steps[first..end],
            prepared: &prepared[first..end],
            begins: first == 0,
            commits,
        };
        let (mut more, ended) = Box::pin(flight.fly(&binds)).await;
        drop(binds);
        results.append(&mut more);
        match ended.and(unresolved.map_or(Ok(()), Err)) {
            Ok(()) if commits => {
                lease.ended();
                return Ok(ProgramOutcome { steps: results.into_iter().map(Ok).collect(), committed: true });
            }
            Ok(()) => {}
            Err(fault) if fault.is_lost() => return Err(ProgramStop::Fault { fault, commit_sent: commits }),
            Err(fault) => {
                // If the commit came too late, there is nothing to roll back, which does no harm.
                roll_back(lease).await?;
                if fault.is_stale() {
                    return Err(ProgramStop::Nothing(fault));
                }
                let error = fault.into_error(entry);
                // When all steps are done, the commit failed: no step's fault.
                return if ends_all(&error) || results.len() == steps.len() {
                    Err(own(error))
                } else if program.try_all {
                    Err(ProgramStop::StepByStep)
                } else {
                    Ok(undone(error, results.into_iter().map(Ok).collect()))
                };
            }
        }
    }
    finish(lease, results.into_iter().map(Ok).collect(), !program.dry_run).await
}

/// Returns the end of the flight that begins at `first`: the step that needs a result which is not here yet.
fn flight_end(steps: &[ProgramStep], first: usize) -> Result<usize> {
    let mut end = first;
    while end < steps.len() && end - first < FLIGHT_STEPS {
        let needs = steps[end].binds.iter().filter_map(Bind::refers_to);
        match needs.max() {
            Some(step) if step >= end => return Err(Error::internal("a step refers to one that is not before it")),
            Some(step) if step >= first => break,
            _ => end += 1,
        }
    }
    Ok(end)
}

/// Steps that are sent together.
struct Flight<'a> {
    connection: &'a Connection,
    steps: &'a [ProgramStep],
    prepared: &'a [Statement],
    begins: bool,
    commits: bool,
}

impl Flight<'_> {
    /// Runs the steps; returns the results up to the first failure, and the failure.
    async fn fly(self, binds: &[Cow<'_, [Bind]>]) -> (Vec<Done>, Result<(), Fault>) {
        let mut results = Vec::with_capacity(self.steps.len());
        let ended = self.run(binds, &mut results).await;
        (results, ended)
    }

    async fn run(&self, binds: &[Cow<'_, [Bind]>], results: &mut Vec<Done>) -> Result<(), Fault> {
        type Question<'a> = Pin<Box<dyn Future<Output = Result<RowStream, tokio_postgres::Error>> + Send + 'a>>;
        let client = &self.connection.client;
        let all_forms = self.steps.iter().zip(self.prepared);
        let all_forms = all_forms.map(|(step, statement)| answer_forms(statement, &step.returns));
        let all_forms = all_forms.collect::<Result<Vec<_>>>()?;
        let mut begin = Box::pin(client.batch_execute("BEGIN"));
        let begun = if self.begins { start(&mut begin).await } else { Some(Ok(())) };
        let mut questions = Vec::with_capacity(self.steps.len());
        for (statement, binds) in self.prepared.iter().zip(binds) {
            let mut question: Question<'_> = Box::pin(client.query_raw(statement, binds.iter().map(Wire)));
            let early = start(&mut question).await;
            questions.push((question, early));
        }
        let mut commit = Box::pin(client.batch_execute("COMMIT"));
        let committed = if self.commits { start(&mut commit).await } else { Some(Ok(())) };

        self.connection.within_or(begun, begin).await?;
        for ((step, forms), (question, early)) in self.steps.iter().zip(all_forms).zip(questions) {
            let stream = self.connection.within_or(early, question).await?;
            let done = done(self.connection, stream, (&forms, &step.returns)).await?;
            if let Some(check) = &step.check {
                check(&done)?;
            }
            results.push(done);
        }
        self.connection.within_or(committed, commit).await
    }
}

/// Runs one step after the other; with `try_all` each behind a savepoint, so that the program continues after a failed
/// one.
async fn step_by_step(
    lease: &mut PostgresLease,
    program: &Program,
    entry: &str,
) -> Result<ProgramOutcome, ProgramStop> {
    let mut results: Vec<StepResult> = Vec::with_capacity(program.steps.len());
    lease.begins();
    lease.within(lease.client.batch_execute("BEGIN")).await?;
    for step in &program.steps {
        if program.try_all {
            let mark = if results.is_empty() { "SAVEPOINT step" } else { "RELEASE step; SAVEPOINT step" };
            lease.within(lease.client.batch_execute(mark)).await?;
        }
        let error = match single(lease, step, &results).await {
            Ok(done) => {
                results.push(Ok(done));
                continue;
            }
            Err(fault) if fault.is_lost() => return Err(ProgramStop::Fault { fault, commit_sent: false }),
            Err(fault) if fault.is_stale() => {
                roll_back(lease).await?;
                return Err(ProgramStop::Nothing(fault));
            }
            Err(fault) => fault.into_error(entry),
        };
        if ends_all(&error) {
            roll_back(lease).await?;
            return Err(own(error));
        }
        results.push(Err(error));
        if !program.try_all {
            break;
        }
        lease.within(lease.client.batch_execute("ROLLBACK TO step")).await?;
    }
    let keep = !program.dry_run && results.iter().all(Result::is_ok);
    finish(lease, results, keep).await
}

async fn single(connection: &Connection, step: &ProgramStep, results: &[StepResult]) -> Result<Done, Fault> {
    let binds = resolve(step, results)?;
    let statement = connection.within(connection.prepare(&step.sql)).await?;
    let forms = answer_forms(&statement, &step.returns)?;
    let stream = connection.within(connection.client.query_raw(&statement, binds.iter().map(Wire))).await?;
    let done = done(connection, stream, (&forms, &step.returns)).await?;
    if let Some(check) = &step.check {
        check(&done)?;
    }
    Ok(done)
}

/// Commits or rolls back.
async fn finish(lease: &mut PostgresLease, steps: Vec<StepResult>, keep: bool) -> Result<ProgramOutcome, ProgramStop> {
    if keep {
        if let Err(fault) = lease.within(lease.client.batch_execute("COMMIT")).await {
            if !fault.is_lost() {
                lease.ended();
            }
            return Err(ProgramStop::Fault { fault, commit_sent: true });
        }
        lease.ended();
    } else {
        roll_back(lease).await?;
    }
    Ok(ProgramOutcome { steps, committed: keep })
}

async fn roll_back(lease: &mut PostgresLease) -> Result<(), Fault> {
    lease.within(lease.client.batch_execute("ROLLBACK")).await?;
    lease.ended();
    Ok(())
}

/// Returns the outcome of a program with a failed step: nothing is kept.
fn undone(error: Error, mut steps: Vec<StepResult>) -> ProgramOutcome {
    steps.push(Err(error));
    ProgramOutcome { steps, committed: false }
}

fn own(error: Error) -> ProgramStop {
    ProgramStop::Fault { fault: Fault::Own(error), commit_sent: false }
}

/// Returns the decoders of a step's result. Checked before anything is sent, since afterwards it may be committed.
fn answer_forms(statement: &Statement, returns: &Returns) -> Result<Vec<PostgresForm>> {
    match returns {
        Returns::Rows(kinds) => forms(statement, kinds),
        Returns::Key => Ok(key_form(statement).into_iter().collect()),
        Returns::Count => Ok(Vec::new()),
    }
}

/// Reads a step's whole result.
async fn done(
    connection: &Connection,
    stream: RowStream,
    (forms, returns): (&[PostgresForm], &Returns),
) -> Result<Done, Fault> {
    let mut done = Done::default();
    let mut stream = pin!(stream);
    while let Some(row) = connection.within(stream.try_next()).await? {
        if forms.is_empty() {
            continue;
        }
        let mut values = Vec::with_capacity(forms.len());
        cells(&row, forms, &mut values)?;
        match returns {
            Returns::Rows(_) => done.rows.push(values.into_iter().map(Cell::owned).collect()),
            _ if done.key.is_none() => {
                if let Some(Cell::Int(key)) = values.first() {
                    done.key = Some(*key);
                }
            }
            _ => {}
        }
    }
    done.affected = stream.rows_affected().unwrap_or(0);
    Ok(done)
}

/// The results of earlier steps.
trait Earlier {
    fn step(&self, index: usize) -> Option<&Done>;
}

impl Earlier for [Done] {
    fn step(&self, index: usize) -> Option<&Done> {
        self.get(index)
    }
}

impl Earlier for [StepResult] {
    fn step(&self, index: usize) -> Option<&Done> {
        self.get(index)?.as_ref().ok()
    }
}

/// Returns the step's values, with references replaced by the results of earlier steps.
fn resolve<'a, E: Earlier + ?Sized>(step: &'a ProgramStep, earlier: &E) -> Result<Cow<'a, [Bind]>> {
    if !step.binds.iter().any(|bind| bind.refers_to().is_some()) {
        return Ok(Cow::Borrowed(&step.binds));
    }
    let binds = step.binds.iter().map(|bind| resolved(bind, earlier));
    Ok(Cow::Owned(binds.collect::<Result<_>>()?))
}

/// Returns a value, with a reference replaced by the result of the earlier step.
fn resolved<E: Earlier + ?Sized>(bind: &Bind, earlier: &E) -> Result<Bind> {
    let missing =
        |step: usize| Error::new(Code::Invalid, format!("step {step} answered nothing that could be referred to"));
    let cell = |step: usize, column: usize| {
        let row = earlier.step(step).and_then(|done| done.rows.first());
        row.and_then(|row| row.get(column)).map(from_cell)
    };
    match bind {
        Bind::Back { step, column } => cell(*step, *column).ok_or_else(|| missing(*step)),
        Bind::BackKey { step } => {
            earlier.step(*step).and_then(|done| done.key).map(Bind::Int).ok_or_else(|| missing(*step))
        }
        Bind::BackOr { step, column, otherwise } => match cell(*step, *column) {
            Some(found) => Ok(found),
            None => resolved(otherwise, earlier),
        },
        plain => Ok(plain.clone()),
    }
}
