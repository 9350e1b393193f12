//! The result of a plan: numbers and keys as JSON on success, else the error of each part, without one for parts that
//! would have succeeded.

use salver_model::records::Changed;
use salver_model::{Code, Error, Result};

use super::context::invalid;
use super::plan::{ChangePlan, ChangeResponse, Item, Planned};
use crate::cell::{Cell, OwnedCell};
use crate::json;
use crate::statement::{Done, ProgramOutcome};

/// Writes the response to a plan of one change.
pub(crate) fn one(plan: &ChangePlan, outcome: ProgramOutcome) -> Result<Changed> {
    let Some(change) = plan.changes.first() else { return Ok(Changed::Done(b"[]".to_vec())) };
    if outcome.committed && !change.items.iter().any(|item| matches!(item.answer, ChangeResponse::Failed(_))) {
        let mut out = Vec::with_capacity(16 * change.items.len());
        write_change(change, &outcome.steps, &mut out);
        return Ok(Changed::Done(out));
    }
    let outcome = survivable(outcome, plan)?;
    if !change.batch {
        let error = outcome.steps.into_iter().find_map(Result::err).unwrap_or_else(uncommitted);
        return Err(known(error, &change.table));
    }
    Ok(undone(change.items.iter().map(|item| (failure(item, &outcome.steps), change.table.as_str()))))
}

/// Writes the response to a plan of several changes: an array with the result of each.
pub(crate) fn several(plan: &ChangePlan, outcome: ProgramOutcome) -> Result<Changed> {
    if outcome.committed && plan.is_sound() {
        let mut out = vec![b'['];
        for (at, change) in plan.changes.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_change(change, &outcome.steps, &mut out);
        }
        out.push(b']');
        return Ok(Changed::Done(out));
    }
    let outcome = survivable(outcome, plan)?;
    let failure = |item| failure(item, &outcome.steps);
    Ok(undone(plan.changes.iter().map(|change| (change.items.iter().find_map(failure), change.table.as_str()))))
}

/// Returns the error if it concerns the whole request and not one part: such a request may be retried.
fn survivable(outcome: ProgramOutcome, plan: &ChangePlan) -> Result<ProgramOutcome> {
    let whole = |error: &Error| {
        matches!(
            error.code,
            Code::DatabaseUnavailable
                | Code::Contention
                | Code::Timeout
                | Code::OutOfMemory
                | Code::Internal
                | Code::UnknownTable
                | Code::UnknownColumn
        )
    };
    let at = outcome.steps.iter().position(|step| step.as_ref().is_err_and(whole));
    let failed = outcome.steps.iter().any(Result::is_err) || !plan.is_sound();
    match at {
        Some(at) => {
            let error = outcome.steps.into_iter().nth(at).and_then(Result::err);
            Err(error.unwrap_or_else(uncommitted))
        }
        None if !failed => Err(uncommitted()),
        None => Ok(outcome),
    }
}

fn uncommitted() -> Error {
    Error::new(Code::DatabaseUnavailable, "the database did not keep the change").with_hint("try again")
}

/// Returns the error of an item, if it failed.
fn failure<'o>(item: &'o Item, steps: &'o [Result<Done>]) -> Option<&'o Error> {
    match &item.answer {
        ChangeResponse::Failed(error) => Some(error),
        _ => steps.get(item.steps.clone())?.iter().find_map(|step| step.as_ref().err()),
    }
}

/// Rewrites a backend's error in terms of the client's names, since the backend does not know the table's.
fn known(mut error: Error, table: &str) -> Error {
    if error.code == Code::Invalid && !error.message.starts_with("Input validation failed") {
        let own = invalid(table, std::mem::take(&mut error.details));
        error.hint = error.hint.or(Some(std::mem::replace(&mut error.message, own.message)));
        error.details = own.details;
    }
    error
}

/// Returns the errors of parts that were rolled back together.
fn undone<'e>(parts: impl Iterator<Item = (Option<&'e Error>, &'e str)>) -> Changed {
    let own = |(error, table): (Option<&Error>, &str)| {
        let mut error = error?.shared();
        if error.code == Code::Invalid {
            error.message = invalid(table, Vec::new()).message;
        }
        Some(error)
    };
    Changed::Undone(parts.map(own).collect())
}

/// Appends the result of a change.
fn write_change(change: &Planned, steps: &[Result<Done>], out: &mut Vec<u8>) {
    if !change.batch {
        match change.items.first() {
            Some(item) => write_item(item, steps, out),
            None => out.extend_from_slice(b"[]"),
        }
        return;
    }
    out.push(b'[');
    for (at, item) in change.items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_item(item, steps, out);
    }
    out.push(b']');
}

fn write_item(item: &Item, steps: &[Result<Done>], out: &mut Vec<u8>) {
    write_answer(&item.answer, steps, out);
}

fn write_answer(answer: &ChangeResponse, steps: &[Result<Done>], out: &mut Vec<u8>) {
    let nothing = Done::default();
    let done = |step: usize| steps.get(step).and_then(|step| step.as_ref().ok()).unwrap_or(&nothing);
    match answer {
        ChangeResponse::Ready(json) => out.extend_from_slice(json),
        ChangeResponse::Affected(step) => json::unsigned(done(*step).affected, out),
        ChangeResponse::Key(step) => json::integer(done(*step).key.unwrap_or(0), out),
        ChangeResponse::Cell { step, form } => {
            let cell = done(*step).rows.first().and_then(|row| row.first()).map_or(Cell::Null, OwnedCell::borrow);
            json::value(cell, *form, out);
        }
        ChangeResponse::Row { step, of, row } => match done(*step).rows.first() {
            Some(cells) if done(*of).affected > 0 => write_row(row, cells, out),
            _ => out.extend_from_slice(b"null"),
        },
        ChangeResponse::Rows { step, row } => {
            out.push(b'[');
            for (at, cells) in done(*step).rows.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_row(row, cells, out);
            }
            out.push(b']');
        }
        ChangeResponse::Either { step, told, otherwise } => {
            let has_row = !done(*step).rows.is_empty();
            write_answer(if has_row { told } else { otherwise }, steps, out);
        }
        ChangeResponse::Failed(_) => out.extend_from_slice(b"null"),
    }
}

/// Appends one row.
fn write_row(row: &json::JsonRow, cells: &[OwnedCell], out: &mut Vec<u8>) {
    let cells: Vec<Cell<'_>> = cells.iter().map(OwnedCell::borrow).collect();
    row.write(&cells, out);
}
