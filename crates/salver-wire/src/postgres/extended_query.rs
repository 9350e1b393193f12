//! The extended protocol: a statement is prepared, bound to its parameters, described and run by messages of their own.

use std::sync::Arc;
use std::time::Instant;

use salver_model::ports::StatementDescription;
use salver_model::{Code, Error, ParameterType, Permission};
use salver_service::reception::Welcome;

use super::client::{Client, Stop};
use super::column::{Column, columns};
use super::command::Command;
use super::execute::{self, Answer};
use super::message::{Bind, Format, Parse, Target};
use super::parameter::{self, ClientType};
use super::portal::{Portal, PortalState};
use super::prepared::Prepared;
use super::refusal::Refusal;
use super::session::Session;
use super::statement_text::statements;
use super::transaction::Transaction;
use salver_model::pg_type::UNSPECIFIED;

/// Prepares a statement.
pub(super) async fn parse(client: &mut Client, session: &mut Session, parse: Parse) -> Result<(), Stop> {
    let Parse { name, text, types } = parse;
    let texts = statements(&text);
    let text = match texts.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        _ => {
            let message = "cannot insert multiple commands into a prepared statement";
            return Err(Refusal::new("42601", message).into());
        }
    };
    let command = Command::of(&text);
    session.check_transaction(&command)?;
    let (parameters, columns) = match &command {
        _ if text.is_empty() => (Vec::new(), None),
        Command::Query => {
            let (parameters, columns) = described(client, session, &text, &types).await?;
            (parameters, Some(columns))
        }
        Command::Declare { query_at, .. } => (described(client, session, &text[*query_at..], &types).await?.0, None),
        Command::Show(name) => (Vec::new(), Some(execute::shown_columns(session, name.as_deref())?)),
        Command::Fetch { name, is_move: false, .. } => (Vec::new(), session.portal(name)?.prepared.columns.clone()),
        _ => (Vec::new(), None),
    };
    session.keep_statement(name, Prepared { text, command, parameters, columns })?;
    client.outbox.parsed();
    Ok(())
}

/// Asks the service what a query takes and gives.
async fn described(
    client: &mut Client,
    session: &Session,
    text: &str,
    types: &[u32],
) -> Result<(Vec<(u32, ParameterType)>, Arc<[Column]>), Stop> {
    let said = types.iter().map(|oid| Ok(ClientType::of(*oid)?.map(ClientType::kind)));
    let said = said.collect::<Result<Vec<_>, Refusal>>()?;
    let asked = async {
        let welcome = session.reception.admit(&session.visitor).await?;
        description(&welcome, text, &said).await
    };
    let began = Instant::now();
    let found = client.watch(asked, |error| execute::refused(session, began, error, text)).await?;
    let kinds = found.parameters.iter().enumerate();
    let parameters = kinds.map(|(at, kind)| match types.get(at).filter(|oid| !UNSPECIFIED.contains(oid)) {
        Some(oid) => (*oid, *kind),
        None => (parameter::oid(*kind), *kind),
    });
    Ok((parameters.collect(), columns(&found.columns)))
}

async fn description(
    welcome: &Welcome,
    text: &str,
    said: &[Option<ParameterType>],
) -> Result<StatementDescription, Error> {
    let Welcome { service, caller, .. } = welcome;
    let snapshot = service.snapshot(caller, Permission::Sql);
    match service.describe_statement(caller, &snapshot, text, said).await {
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            let settled = service.snapshot_settled(caller, Permission::Sql).await;
            service.describe_statement(caller, &settled, text, said).await
        }
        found => found,
    }
}

/// Makes a portal.
pub(super) fn bind(client: &mut Client, session: &mut Session, bind: &Bind) -> Result<(), Stop> {
    let prepared = Arc::clone(session.statement(&bind.statement)?);
    let parameters = parameter::values(bind, &prepared.parameters)?;
    let width = prepared.columns.as_ref().map_or(0, |columns| columns.len());
    if !bind.row_formats.fit(width) {
        let message = format!("bind message has result formats for another number of columns than {width}");
        return Err(Refusal::new("08P01", message).into());
    }
    let formats = bind.row_formats.clone();
    let portal = Portal { prepared, parameters, formats, state: PortalState::Bound, is_held: false };
    session.keep_portal(bind.portal.clone(), portal)?;
    client.outbox.bound();
    Ok(())
}

/// Says which parameters and columns there are.
pub(super) fn describe(client: &mut Client, session: &Session, target: &Target) -> Result<(), Stop> {
    match target {
        Target::Statement(name) => {
            let prepared = session.statement(name)?;
            let types: Vec<u32> = prepared.parameters.iter().map(|(oid, _)| *oid).collect();
            client.outbox.parameters(&types);
            match &prepared.columns {
                Some(columns) => client.outbox.columns(columns, |_| Format::Text),
                None => client.outbox.no_columns(),
            }
        }
        Target::Portal(name) => {
            let portal = session.portal(name)?;
            match &portal.prepared.columns {
                Some(columns) => client.outbox.columns(columns, |at| portal.formats.at(at)),
                None => client.outbox.no_columns(),
            }
        }
    }
    Ok(())
}

/// Runs a portal, for at most `rows` rows; 0 is for all.
pub(super) async fn execute(client: &mut Client, session: &mut Session, name: &str, rows: u32) -> Result<(), Stop> {
    // It is back only when all went well: a portal that failed can't go on.
    let mut portal = session.take_portal(name)?;
    session.check_transaction(&portal.prepared.command)?;
    if portal.prepared.text.is_empty() {
        client.outbox.empty();
        session.put_portal(name, portal);
        return Ok(());
    }
    let most = if rows == 0 { usize::MAX } else { usize::try_from(rows).unwrap_or(usize::MAX) };
    let tag = execute::rows_tag(&portal.prepared.command);
    if let PortalState::Bound = portal.state {
        let (prepared, parameters) = (Arc::clone(&portal.prepared), std::mem::take(&mut portal.parameters));
        match execute::begin(client, session, &prepared, parameters).await? {
            Answer::Done(tag) => {
                client.outbox.complete(&tag);
                portal.state = PortalState::Done;
                // What ends a transaction closes the portals that were made in it, of which this is one.
                if session.transaction != Transaction::Idle {
                    session.put_portal(name, portal);
                }
                return Ok(());
            }
            Answer::Rows(rows) => portal.state = PortalState::Running(rows),
            Answer::Cursor { name: cursor, most: wanted, is_move } => {
                let mut source = session.take_portal(&cursor)?;
                // A cursor that failed can't go on.
                let fetched = execute::fetch(client, session, &mut source, (&portal.formats, wanted, is_move)).await?;
                session.put_portal(&cursor, source);
                client.outbox.complete(&format!("{tag} {fetched}"));
                portal.state = PortalState::Done;
                session.put_portal(name, portal);
                return Ok(());
            }
        }
    } else if let PortalState::Running(rows) = &mut portal.state {
        execute::admit_again(client, session, &portal.prepared.text, rows).await?;
    }
    let Portal { prepared, formats, state, .. } = &mut portal;
    let sent = match state {
        PortalState::Running(rows) => {
            let sent = execute::send_rows(client, session, &prepared.text, rows, (formats, most)).await?;
            if sent < most {
                execute::count(session, rows);
                *state = PortalState::Done;
            }
            sent
        }
        PortalState::Bound | PortalState::Done => 0,
    };
    match sent == most {
        true => client.outbox.suspended(),
        false => client.outbox.complete(&format!("{tag} {sent}")),
    }
    session.put_portal(name, portal);
    if client.outbox.is_full() { client.send().await } else { Ok(()) }
}
