//! What prepared statements take and give. They are planned when a client asks for it, and before that only as far as
//! it must be: a statement that is prepared, bound and run in one go is planned when it runs, and tells its columns
//! then.

use std::sync::Arc;
use std::time::Instant;

use salver_model::pg_parameter::Element;
use salver_model::pg_type::{PgType, Scalar, UNSPECIFIED};
use salver_model::ports::{StatementDescription, StatementQuestion};
use salver_model::{Code, Error, Permission, PgParameter};
use salver_service::reception::Welcome;

use super::client::{Client, Stop};
use super::column::{Column, columns};
use super::command::Command;
use super::execute;
use super::known_descriptions::{KnownDescriptions, PlannedOver};
use super::parameter;
use super::prepared::{Parameters, Prepared, RowColumns};
use super::refusal::Refusal;
use super::session::Session;
use super::statement_text::largest_parameter;

/// Returns a statement of which everything is known that can be without planning it.
///
/// # Errors
/// `0A000` for parameters of types that there are not, and what the session refuses.
pub(super) fn unplanned(session: &Session, text: String, declared: Vec<u32>) -> Result<Prepared, Refusal> {
    let command = Command::of(&text);
    session.check_transaction(&command)?;
    let (takes_values, columns) = match &command {
        _ if text.is_empty() => (false, RowColumns::Nothing),
        Command::Query => (true, RowColumns::Unknown),
        Command::Declare { .. } => (true, RowColumns::Nothing),
        Command::Copy(Err(refusal)) => return Err(execute::refused_copy(session, refusal)),
        Command::Show(name) => (false, RowColumns::Known(execute::shown_columns(session, name.as_deref())?)),
        Command::Fetch { name, is_move: false, .. } => {
            let columns = session.portal(name)?.columns().cloned();
            (false, columns.map_or(RowColumns::Nothing, RowColumns::Known))
        }
        _ => (false, RowColumns::Nothing),
    };
    let parameters = if takes_values { declared_alone(&text, &declared)? } else { Parameters::Known(Vec::new()) };
    Ok(Prepared { text, command, declared, parameters, columns })
}

/// Returns the parameters of a statement for which the client said the types of all.
fn declared_alone(text: &str, declared: &[u32]) -> Result<Parameters, Refusal> {
    let types = declared.iter().map(|oid| Ok(parameter::declared(*oid)?.map(|kind| (*oid, kind))));
    let types = types.collect::<Result<Vec<_>, Refusal>>()?.into_iter().collect::<Option<Vec<_>>>();
    let are_all = largest_parameter(text).is_some_and(|largest| largest <= declared.len());
    Ok(types.filter(|_| are_all).map_or(Parameters::Unknown, Parameters::Known))
}

/// Finds out what the parameters of a statement are, and with `wants_columns` what its columns are, and keeps it with
/// the statement.
///
/// # Errors
/// Those of planning.
pub(super) async fn find_out(
    client: &mut Client,
    session: &mut Session,
    name: &str,
    wants_columns: bool,
) -> Result<Arc<Prepared>, Stop> {
    let known = Arc::clone(session.statement(name)?);
    let wants_columns = wants_columns && matches!(known.columns, RowColumns::Unknown);
    if matches!(known.parameters, Parameters::Known(_)) && !wants_columns {
        return Ok(known);
    }
    let query_at = if let Command::Declare { query_at, .. } = known.command { query_at } else { 0 };
    let text = &known.text[query_at..];
    let said = known.declared.iter().map(|oid| parameter::declared(*oid)).collect::<Result<Vec<_>, Refusal>>()?;
    let question = StatementQuestion { text, types: &said, wants_columns };
    let began = Instant::now();
    let mut descriptions = std::mem::take(&mut session.descriptions);
    let found = {
        let asked = async {
            let welcome = session.reception.admit(&session.visitor).await?;
            description(&welcome, question, &mut descriptions).await
        };
        client.watch(asked, |error| execute::refused(session, began, error, text)).await
    };
    session.descriptions = descriptions;
    let found = found?;
    let parameters = match &known.parameters {
        Parameters::Known(_) => known.parameters.clone(),
        Parameters::Unknown => {
            let told = found.parameters.iter().enumerate().map(|(at, kind)| oid(&known.declared, at, *kind));
            Parameters::Known(told.collect())
        }
    };
    let columns = match &found.columns {
        Some(schema) => RowColumns::Known(columns_of_any_digits(columns(schema), &found.parameters)),
        None => known.columns.clone(),
    };
    let prepared = Prepared { parameters, columns, ..Prepared::clone(&known) };
    Ok(Arc::clone(session.keep_planned(name, prepared)?))
}

/// Returns a parameter with the number of the type that the client said, or else is told.
fn oid(declared: &[u32], at: usize, kind: PgParameter) -> (u32, PgParameter) {
    let said = declared.get(at).filter(|oid| !UNSPECIFIED.contains(oid));
    (said.copied().unwrap_or(kind.oid()), kind)
}

/// Returns columns as they are with any values of the parameters. How many digits a column has can come from the digits
/// of a value, which are not known yet, and clients round to what they were told.
fn columns_of_any_digits(columns: Arc<[Column]>, parameters: &[PgParameter]) -> Arc<[Column]> {
    let have_digits = |kind: &PgParameter| matches!(kind.element, Element::Of(Scalar::Numeric | Scalar::Text));
    if !parameters.iter().any(have_digits) {
        return columns;
    }
    let of_any = |column: &Column| match column.pg_type.scalar {
        Scalar::Numeric => Column { pg_type: PgType { modifier: -1, ..column.pg_type }, ..column.clone() },
        _ => column.clone(),
    };
    columns.iter().map(of_any).collect()
}

async fn description(
    welcome: &Welcome,
    question: StatementQuestion<'_>,
    known: &mut KnownDescriptions,
) -> Result<StatementDescription, Error> {
    let Welcome { service, caller, .. } = welcome;
    let snapshot = service.snapshot(caller, Permission::Sql);
    let over = PlannedOver::of(&snapshot, caller);
    if let Some(description) = known.get(question, over) {
        return Ok(description);
    }
    match service.describe_statement(caller, &snapshot, question).await {
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            let settled = service.snapshot_settled(caller, Permission::Sql).await;
            service.describe_statement(caller, &settled, question).await
        }
        found => {
            if let Ok(description) = &found {
                known.keep(question, over, description);
            }
            found
        }
    }
}
