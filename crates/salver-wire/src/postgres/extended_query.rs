//! The extended protocol: a statement is prepared, bound to its parameters, described and run by messages of their own.

use std::sync::Arc;
use std::time::Instant;

use super::client::{Client, Stop};
use super::command::Command;
use super::execute::{self, Answer};
use super::message::{Bind, Format, Formats, Message, Parse, Target};
use super::parameter;
use super::portal::{Portal, PortalState};
use super::prepared::RowColumns;
use super::refusal::Refusal;
use super::session::Session;
use super::statement_plan::{find_out, unplanned};
use super::statement_text::statements;
use super::transaction::Transaction;

/// Prepares a statement. It is planned with the next message: often that binds it, and then it is planned for its
/// values alone.
pub(super) fn parse(client: &mut Client, session: &mut Session, parse: Parse) -> Result<(), Stop> {
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
    let prepared = unplanned(session, text, types)?;
    let is_planned = !matches!(prepared.command, Command::Query | Command::Declare { .. }) || prepared.text.is_empty();
    session.keep_statement(name.clone(), prepared)?;
    if is_planned {
        client.outbox.parsed();
    } else {
        session.unplanned = Some(name);
    }
    Ok(())
}

/// Completes the statement that was prepared last, before anything else is answered: what is wrong with it is told in
/// its place. The message that binds it needs no more than its parameters; `None` is a message that can't be read.
pub(super) async fn settle(client: &mut Client, session: &mut Session, next: Option<&Message>) -> Result<(), Stop> {
    let Some(name) = session.unplanned.take() else { return Ok(()) };
    let is_bound = matches!(next, Some(Message::Bind(bind)) if bind.statement == name);
    if let Err(stop) = find_out(client, session, &name, !is_bound).await {
        session.close_statement(&name);
        return Err(stop);
    }
    client.outbox.parsed();
    Ok(())
}

/// Makes a portal.
pub(super) async fn bind(client: &mut Client, session: &mut Session, bind: &Bind) -> Result<(), Stop> {
    let prepared = find_out(client, session, &bind.statement, false).await?;
    let parameters = parameter::values(bind, prepared.parameters())?;
    match &prepared.columns {
        RowColumns::Known(columns) => check_formats(&bind.row_formats, columns.len())?,
        RowColumns::Nothing => check_formats(&bind.row_formats, 0)?,
        RowColumns::Unknown => {}
    }
    let formats = bind.row_formats.clone();
    let portal = Portal { prepared, parameters, formats, state: PortalState::Bound, is_held: false };
    session.keep_portal(bind.portal.clone(), portal)?;
    client.outbox.bound();
    Ok(())
}

fn check_formats(formats: &Formats, columns: usize) -> Result<(), Refusal> {
    if formats.fit(columns) {
        return Ok(());
    }
    let message = format!("bind message has result formats for another number of columns than {columns}");
    Err(Refusal::new("08P01", message))
}

/// Says which parameters and columns there are.
pub(super) async fn describe(client: &mut Client, session: &mut Session, target: &Target) -> Result<(), Stop> {
    match target {
        Target::Statement(name) => {
            let prepared = find_out(client, session, name, true).await?;
            let types: Vec<u32> = prepared.parameters().iter().map(|(oid, _)| *oid).collect();
            client.outbox.parameters(&types);
            match prepared.columns.known() {
                Some(columns) => client.outbox.columns(columns, |_| Format::Text),
                None => client.outbox.no_columns(),
            }
        }
        Target::Portal(name) => {
            begin_unplanned(client, session, name).await?;
            let portal = session.portal(name)?;
            match portal.columns() {
                Some(columns) => client.outbox.columns(columns, |at| portal.formats.at(at)),
                None => client.outbox.no_columns(),
            }
        }
    }
    Ok(())
}

/// Begins a portal whose statement was not planned: its rows tell its columns.
async fn begin_unplanned(client: &mut Client, session: &mut Session, name: &str) -> Result<(), Stop> {
    let portal = session.portal(name)?;
    if !matches!((&portal.state, &portal.prepared.columns), (PortalState::Bound, RowColumns::Unknown)) {
        return Ok(());
    }
    // It is back only when all went well: a portal that failed can't go on.
    let mut portal = session.take_portal(name)?;
    let (prepared, parameters) = (Arc::clone(&portal.prepared), std::mem::take(&mut portal.parameters));
    let Answer::Rows(mut rows) = execute::begin(client, session, &prepared, parameters).await? else {
        return Err(Refusal::broken("a statement without rows was to tell its columns").into());
    };
    check_formats(&portal.formats, rows.columns.len())?;
    // A query at rest takes no place, but one that has not begun does.
    client.watch(rows.current(), |error| execute::refused(session, Instant::now(), error, &prepared.text)).await?;
    portal.state = PortalState::Running(rows);
    session.put_portal(name, portal);
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
        let sent = match execute::begin(client, session, &prepared, parameters).await? {
            Answer::Done(tag) => {
                client.outbox.complete(&tag);
                portal.state = PortalState::Done;
                // What ends a transaction closes the portals that were made in it, of which this is one.
                if session.transaction != Transaction::Idle {
                    session.put_portal(name, portal);
                }
                return Ok(());
            }
            Answer::Rows(rows) => {
                check_formats(&portal.formats, rows.columns.len())?;
                portal.state = PortalState::Running(rows);
                None
            }
            // As in PostgreSQL, all rows of it, however many the client asks for.
            Answer::Copy(mut rows, mut writer) => {
                Some(execute::send_copy(client, session, &prepared.text, (&mut rows, &mut writer)).await?)
            }
            Answer::Cursor { name: cursor, most: wanted, is_move } => {
                let mut source = session.take_portal(&cursor)?;
                // A cursor that failed can't go on.
                let fetched = execute::fetch(client, session, &mut source, (&portal.formats, wanted, is_move)).await?;
                session.put_portal(&cursor, source);
                Some(fetched)
            }
        };
        if let Some(sent) = sent {
            client.outbox.complete(&format!("{tag} {sent}"));
            portal.state = PortalState::Done;
            session.put_portal(name, portal);
            return Ok(());
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
