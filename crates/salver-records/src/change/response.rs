//! Writes the result of a plan as JSON: numbers and keys on success, else one document per part, which also says which
//! parts would have succeeded.

use salver_model::records::number::TREEQL_SUCCESS;
use salver_model::records::{Document, treeql_code, treeql_message};
use salver_model::{Code, Error, Result};

use super::context::invalid;
use super::error_hints::words;
use super::plan::{ChangePlan, ChangeResponse, Item, Planned};
use crate::cell::{Cell, OwnedCell};
use crate::json;
use crate::statement::{Done, ProgramOutcome};

/// Writes the response to a plan of one change.
pub(crate) fn one(plan: &ChangePlan, outcome: ProgramOutcome) -> Result<Document> {
    let Some(change) = plan.changes.first() else { return Ok(Document::whole(b"[]".to_vec())) };
    if outcome.committed && !change.items.iter().any(|item| matches!(item.answer, ChangeResponse::Failed(_))) {
        let mut out = Vec::with_capacity(16 * change.items.len());
        write_change(change, &outcome.steps, &mut out);
        return Ok(Document::whole(out));
    }
    let outcome = survivable(outcome, plan)?;
    if !change.batch {
        let error = outcome.steps.into_iter().find_map(Result::err).unwrap_or_else(uncommitted);
        return Err(known(error, &change.table));
    }
    // These documents are PHP-CRUD-API's, which has no hints.
    undone(change.items.iter().map(|item| (failure(item, &outcome.steps), change.table.as_str())), false)
}

/// Writes the response to a plan of several changes: an array with the result of each.
pub(crate) fn several(plan: &ChangePlan, outcome: ProgramOutcome) -> Result<Document> {
    if outcome.committed && plan.is_sound() {
        let mut out = vec![b'['];
        for (at, change) in plan.changes.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_change(change, &outcome.steps, &mut out);
        }
        out.push(b']');
        return Ok(Document::whole(out));
    }
    let outcome = survivable(outcome, plan)?;
    undone(
        plan.changes
            .iter()
            .map(|change| (change.items.iter().find_map(|item| failure(item, &outcome.steps)), change.table.as_str())),
        true,
    )
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

fn undone<'e>(parts: impl Iterator<Item = (Option<&'e Error>, &'e str)>, hints: bool) -> Result<Document> {
    let mut out = vec![b'['];
    let mut told = None;
    for (error, table) in parts {
        told = told.or_else(|| error.and_then(words).map(str::to_owned));
        let hint = error.and_then(|error| error.hint.as_deref()).filter(|_| hints);
        if out.len() > 1 {
            out.push(b',');
        }
        match error {
            None => document(TREEQL_SUCCESS, "Success", (&[], None), &mut out),
            Some(error) if error.code == Code::Invalid => {
                let own = invalid(table, Vec::new());
                document(treeql_code(error.code), &own.message, (&error.details, hint), &mut out);
            }
            Some(error) => {
                document(treeql_code(error.code), &treeql_message(error), (&error.details, hint), &mut out);
            }
        }
    }
    out.push(b']');
    let mut document = Document::whole(out);
    (document.undone, document.told) = (true, told);
    Ok(document)
}

/// Appends `{"code":1010,"message":"..."}`.
fn document(code: u16, message: &str, (details, hint): (&[(String, String)], Option<&str>), out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"code\":");
    json::unsigned(u64::from(code), out);
    out.extend_from_slice(b",\"message\":");
    json::string(message, out);
    if !details.is_empty() {
        out.extend_from_slice(b",\"details\":");
        for (at, (name, why)) in details.iter().enumerate() {
            out.push(if at == 0 { b'{' } else { b',' });
            json::string(name, out);
            out.push(b':');
            json::string(why, out);
        }
        out.push(b'}');
    }
    if let Some(hint) = hint {
        out.extend_from_slice(b",\"hint\":");
        json::string(hint, out);
    }
    out.push(b'}');
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
    let nothing = Done::default();
    let done = |step: usize| steps.get(step).and_then(|step| step.as_ref().ok()).unwrap_or(&nothing);
    match &item.answer {
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
        ChangeResponse::Failed(_) => out.extend_from_slice(b"null"),
    }
}

/// Appends one row.
fn write_row(row: &json::JsonRow, cells: &[OwnedCell], out: &mut Vec<u8>) {
    let cells: Vec<Cell<'_>> = cells.iter().map(OwnedCell::borrow).collect();
    row.write(&cells, out);
}
