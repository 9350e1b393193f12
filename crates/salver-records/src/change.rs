//! Changes records: a request becomes the steps of one transaction, and their results the response.
//!
//! `context` checks what may be written, `record` converts values, one file per operation creates the steps, and
//! `response` writes the response. Nothing is sent before everything is checked.

mod back_references;
mod by_condition;
mod context;
mod convert;
mod create;
mod database_validation;
mod decimal;
mod delete;
mod error_hints;
mod html_tags;
mod if_match;
mod load;
mod loose_moment;
mod new_key;
mod plan;
mod record;
mod response;
mod returned_rows;
mod row_rules;
mod sanitize;
mod update;
mod upsert;
mod validation;
mod wkt;

#[cfg(test)]
pub(crate) mod tests;

use salver_model::limits::CHANGES_MAX;
use salver_model::records::{Change, ChangeKind, Changed, Operation, Record};
use salver_model::{Code, Error, Result};

use self::context::WriteContext;
use self::create::{CreateContext, NewRow};
pub(crate) use self::plan::ChangePlan;
use self::plan::{ChangeResponse, Item, Planned};
use self::record::{Backs, Values};
use self::returned_rows::Shown;
use crate::scope::Scope;
use crate::statement::{Program, ProgramOutcome};

pub(crate) use load::load;

/// Plans changes: one with a response of its own (`alone`), or several, all or none.
///
/// # Errors
/// Errors that forbid the whole request.
pub(crate) fn plan(scope: &Scope<'_>, changes: &[Change], alone: bool) -> Result<ChangePlan> {
    if changes.len() > CHANGES_MAX {
        return Err(Error::new(
            Code::InvalidRequest,
            format!("{} operations are too many for one request", changes.len()),
        )
        .with_hint(format!("{CHANGES_MAX} are the most")));
    }
    let wanted = back_references::wanted(changes)?;
    let mut plan = ChangePlan::default();
    for (at, (change, wanted)) in changes.iter().zip(&wanted).enumerate() {
        add(&mut plan, scope, change, wanted).map_err(|error| {
            let hint = match &error.hint {
                _ if alone => return error,
                None => format!("see operation {at}"),
                Some(hint) => format!("{hint} (operation {at})"),
            };
            error.with_hint(hint)
        })?;
    }
    Ok(plan)
}

/// Runs a plan.
pub(crate) async fn run(scope: &Scope<'_>, mut plan: ChangePlan, alone: bool) -> Result<Changed> {
    let batch = !alone || plan.changes.iter().any(|change| change.batch);
    if !batch && let Some(error) = plan.take_failure() {
        return Err(error);
    }
    let mut outcome = executed(scope, &mut plan, batch).await?;
    if !outcome.committed {
        tell(scope, &plan, &mut outcome);
    }
    if alone { response::one(&plan, outcome) } else { response::several(&plan, outcome) }
}

/// Removes from failures what is hidden from the caller.
fn tell(scope: &Scope<'_>, plan: &ChangePlan, outcome: &mut ProgramOutcome) {
    for change in &plan.changes {
        let Some(table) = scope.schema.table(&change.table) else { continue };
        for (at, item) in change.items.iter().enumerate() {
            for step in item.steps.clone() {
                if let Some(Err(error)) = outcome.steps.get_mut(step) {
                    error_hints::keep_discreet(scope, table, error);
                    let own = change.judged.iter().filter(|(item, _)| *item == at).flat_map(|(_, judged)| judged);
                    database_validation::blame(table, own, error);
                }
            }
        }
    }
}

/// Runs the steps of a plan in one transaction. When a part of it has failed already, the others are only tried, so
/// that each has a result.
async fn executed(scope: &Scope<'_>, plan: &mut ChangePlan, try_all: bool) -> Result<ProgramOutcome> {
    let dry_run = !plan.is_sound();
    let steps = std::mem::take(&mut plan.steps);
    if steps.is_empty() {
        return Ok(ProgramOutcome { steps: Vec::new(), committed: !dry_run });
    }
    scope.backend.write(Program { steps, try_all, dry_run }).await
}

/// Adds a change to a plan; `wanted` columns of its first row are kept for later ones.
fn add(plan: &mut ChangePlan, scope: &Scope<'_>, change: &Change, wanted: &[String]) -> Result<()> {
    let ground = WriteContext::new(scope, change)?;
    let wanted_columns = back_references::columns(&ground, wanted)?;
    let mut shared = CreateContext { shown: Shown::of(&ground)?, wanted: &wanted_columns, ..CreateContext::default() };
    let earlier = std::mem::take(&mut plan.changes);
    let backs = |change: usize, column: &str| back_references::resolve(&earlier, change, column);
    let guarded = plan.steps.len();
    if_match::guard(plan, &ground)?;
    let items = items(plan, &ground, &backs, &mut shared);
    plan.changes = earlier;
    let mut items = items?;
    if let Some(first) = items.first_mut() {
        // Guards of the change belong to its first part.
        first.steps.start = guarded;
    }
    let exports = wanted.iter().cloned().zip(shared.exports).collect();
    let (table, judged) = (ground.table.name.clone(), shared.judged);
    plan.changes.push(Planned { table, batch: change.batch, items, judged, exports });
    Ok(())
}

/// Returns the parts of a change.
fn items(
    plan: &mut ChangePlan,
    ground: &WriteContext<'_>,
    backs: &Backs<'_>,
    shared: &mut CreateContext<'_>,
) -> Result<Vec<Item>> {
    let change = ground.change;
    if let Some(condition) = &change.filter {
        let values = match change.records.first() {
            Some(record) if change.kind != ChangeKind::Delete => values(ground, record, backs)?,
            _ => Ok(Values::new()),
        };
        return Ok(vec![match values {
            Ok(values) => {
                shared.judge(0, ground, &values);
                by_condition::filtered(plan, ground, condition, values, shared)?
            }
            Err(error) => failed(plan, error),
        }]);
    }
    if change.kind == ChangeKind::Delete {
        return change.keys.iter().map(|key| delete::delete(plan, ground, key, shared)).collect();
    }
    let mut items = Vec::with_capacity(change.records.len());
    for (at, record) in change.records.iter().enumerate() {
        let item = match (&change.kind, change.keys.get(at)) {
            (ChangeKind::Update | ChangeKind::Increment, Some(key)) => match values(ground, record, backs)? {
                Ok(_) if let Err(error) = ground.keeps_key(record, key) => failed(plan, error),
                Ok(values) => {
                    shared.judge(at, ground, &values);
                    update::update(plan, ground, key, values, shared)?
                }
                Err(error) => failed(plan, error),
            },
            _ => new_row(plan, ground, record, backs, (at, shared))?,
        };
        items.push(item);
    }
    Ok(items)
}

/// Adds a row that is new, or may be.
fn new_row(
    plan: &mut ChangePlan,
    ground: &WriteContext<'_>,
    record: &Record,
    backs: &Backs<'_>,
    (at, shared): (usize, &mut CreateContext<'_>),
) -> Result<Item> {
    let keyed;
    let record = match ground.change.keys.get(at) {
        // The key in the path takes precedence over the record's.
        Some(key) if matches!(ground.change.kind, ChangeKind::Upsert { .. }) => {
            keyed = ground.with_key(record, key)?;
            &keyed
        }
        _ => record,
    };
    let fields = ground.fields(record)?;
    let row = match ground.values(&fields, backs) {
        Ok(values) => {
            shared.judge(at, ground, &values);
            NewRow { fields: &fields, values }
        }
        Err(error) => return Ok(failed(plan, error)),
    };
    match ground.change.kind {
        ChangeKind::Upsert { .. } => upsert::upsert(plan, ground, row, shared),
        _ => create::create(plan, ground, row, shared),
    }
}

/// Converts the values of a record that changes rows; the inner error says why they don't fit.
fn values(ground: &WriteContext<'_>, record: &Record, backs: &Backs<'_>) -> Result<Result<Values>> {
    let mut fields = ground.fields(record)?;
    if ground.operation == Operation::Increment {
        fields = ground.numbers(fields)?;
    }
    Ok(ground.values(&fields, backs))
}

/// Creates a part without steps, which has failed.
fn failed(plan: &ChangePlan, error: Error) -> Item {
    let at = plan.steps.len();
    Item { steps: at..at, answer: ChangeResponse::Failed(error) }
}
