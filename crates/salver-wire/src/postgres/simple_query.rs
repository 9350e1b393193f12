//! The simple protocol: a text with any number of statements, each answered in text.

use salver_model::limits::SIMPLE_QUERY_STATEMENTS_MAX;

use super::client::{Client, Stop};
use super::command::Command;
use super::execute::{self, Answer};
use super::message::Formats;
use super::portal::Portal;
use super::prepared::Prepared;
use super::refusal::{LIMIT_EXCEEDED, Refusal};
use super::session::Session;
use super::statement_text::statements;

/// Answers every statement of a text, until one is refused.
pub(super) async fn answer(client: &mut Client, session: &mut Session, text: &str) -> Result<(), Stop> {
    // As in PostgreSQL, a simple query closes what the extended protocol left without a name.
    session.close_statement("");
    session.close_portal("");
    let statements = statements(text);
    if statements.is_empty() {
        client.outbox.empty();
    }
    if statements.len() > SIMPLE_QUERY_STATEMENTS_MAX {
        let message = format!("a simple query has {SIMPLE_QUERY_STATEMENTS_MAX} statements at most");
        return Err(Refusal::new(LIMIT_EXCEEDED, message).into());
    }
    for statement in statements {
        one(client, session, statement).await?;
    }
    session.end_group();
    Ok(())
}

async fn one(client: &mut Client, session: &mut Session, text: &str) -> Result<(), Stop> {
    let command = Command::of(text);
    let prepared = Prepared::plain(text.to_owned(), command);
    let formats = Formats::default();
    match execute::begin(client, session, &prepared, Vec::new()).await? {
        Answer::Done(tag) => client.outbox.complete(&tag),
        Answer::Rows(mut rows) => {
            client.outbox.columns(&rows.columns, |at| formats.at(at));
            let sent = execute::send_rows(client, session, text, &mut rows, (&formats, usize::MAX)).await?;
            execute::count(session, &rows);
            client.outbox.complete(&format!("{} {sent}", execute::rows_tag(&prepared.command)));
        }
        Answer::Copy(mut rows, mut writer) => {
            let sent = execute::send_copy(client, session, text, (&mut rows, &mut writer)).await?;
            client.outbox.complete(&format!("{} {sent}", execute::rows_tag(&prepared.command)));
        }
        Answer::Cursor { name, most, is_move } => {
            let mut portal: Portal = session.take_portal(&name)?;
            if !is_move && let Some(columns) = portal.prepared.columns.known() {
                client.outbox.columns(columns, |at| formats.at(at));
            }
            // A cursor that failed can't go on.
            let fetched = execute::fetch(client, session, &mut portal, (&formats, most, is_move)).await?;
            session.put_portal(&name, portal);
            client.outbox.complete(&format!("{} {fetched}", if is_move { "MOVE" } else { "FETCH" }));
        }
    }
    Ok(())
}
