//! Deletes rows by key.

use salver_model::Result;
use salver_model::records::RecordKey;

use super::context::WriteContext;
use super::create::CreateContext;
use super::plan::{ChangePlan, ChangeResponse, Item};
use super::returned_rows::{step, with};
use super::update::{exports, nothing, select};
use crate::condition;
use crate::read::not_found;
use crate::statement::{Check, Returns};

/// Adds the steps that delete one row.
pub(crate) fn delete(
    plan: &mut ChangePlan,
    ground: &WriteContext<'_>,
    key: &RecordKey,
    shared: &mut CreateContext<'_>,
) -> Result<Item> {
    let first = plan.steps.len();
    let must_exist = ground.change.must_exist;
    let Some(by_key) = ground.by_key(key)? else {
        let absent = if must_exist { ChangeResponse::Failed(not_found(key)) } else { nothing(shared.shown.is_some()) };
        return Ok(Item { steps: first..first, answer: absent });
    };
    let wanted = if shared.exports.is_empty() { shared.wanted } else { &[] };
    let columns = with(shared.shown.as_ref(), wanted);
    let direct = !columns.is_empty() && ground.returns_rows();
    let mut shows = first;
    if !columns.is_empty() && !direct {
        let mut select = select(ground, &columns, &by_key, None)?;
        let mut text = select.sql.to_string();
        ground.scope.dialect.lock(&mut text);
        select.sql = text.into();
        shows = plan.step(select);
    }
    let mut sql = ground.scope.sql();
    sql.push("DELETE FROM ").name(&ground.table.real_name).push(" WHERE ");
    by_key.append(ground, &mut sql);
    condition::restrict(ground.scope, ground.operation, ground.table, "", &mut sql, &mut false)?;
    let returns = if direct {
        ground.scope.dialect.returning(&mut sql, |sql| ground.list(&columns, "", sql));
        ground.rows(&columns)
    } else {
        Returns::Count
    };
    let check = must_exist.then(|| {
        let key = key.clone();
        let found: Check = Box::new(move |done| if done.affected > 0 { Ok(()) } else { Err(not_found(&key)) });
        found
    });
    let check = ground.of_one_row(key, check);
    let delete = plan.step(step(sql, returns, check));
    if direct {
        shows = delete;
    }
    exports(shows, &columns, wanted, shared);
    let answer = match &shared.shown {
        Some(shown) => ChangeResponse::Row { step: shows, of: delete, row: shown.row.clone() },
        None => ChangeResponse::Affected(delete),
    };
    Ok(Item { steps: first..plan.steps.len(), answer })
}
