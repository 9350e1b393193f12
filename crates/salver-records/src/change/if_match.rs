//! Preconditions by entity tag (`If-Match`): the row is read and locked, its entity tag computed as a read does, and
//! the change rolled back when it differs.

use salver_model::records::{Operation, RecordKey};
use salver_model::{Code, Error, Result};

use super::context::WriteContext;
use super::plan::ChangePlan;
use super::update::select;
use crate::cell::{Cell, OwnedCell};
use crate::read::EtagColumns;
use crate::statement::{Check, Done};

/// Adds the check of the row, when the change has a precondition.
pub(crate) fn guard(plan: &mut ChangePlan, ground: &WriteContext<'_>) -> Result<()> {
    let Some(tag) = &ground.change.if_match else { return Ok(()) };
    let [key] = ground.change.keys.as_slice() else {
        return Err(Error::new(Code::InvalidRequest, "`If-Match` says what one record must be")
            .with_hint("change one record at a time with it"));
    };
    ground.scope.table(Operation::Read, &ground.change.table)?;
    let Some(seen) = EtagColumns::by(ground.scope, ground.table, tag) else { return Err(changed()) };
    let columns = seen.columns().to_vec();
    add(plan, ground, key, &columns, matches(tag.clone(), seen))
}

fn add(
    plan: &mut ChangePlan,
    ground: &WriteContext<'_>,
    key: &RecordKey,
    columns: &[usize],
    check: Check,
) -> Result<()> {
    let Some(by_key) = ground.by_key(key)? else { return Err(changed()) };
    let mut select = select(ground, columns, &by_key, Some(check))?;
    let mut text = select.sql.to_string();
    ground.scope.dialect.lock(&mut text);
    select.sql = text.into();
    plan.step(select);
    Ok(())
}

fn matches(tag: String, seen: EtagColumns) -> Check {
    Box::new(move |done: &Done| {
        let Some(cells) = done.rows.first() else { return Err(changed()) };
        let cells: Vec<Cell<'_>> = cells.iter().map(OwnedCell::borrow).collect();
        if tag == "*" || seen.tag(seen.columns(), &cells) == tag { Ok(()) } else { Err(changed()) }
    })
}

fn changed() -> Error {
    Error::new(Code::PreconditionFailed, "the record is not what `If-Match` says")
        .with_hint("read it again, and change what is there now")
}
