//! Carries out a statement, of either protocol: what concerns the session is done here, everything else is asked of the
//! service, for the caller.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use salver_model::{Code, Error, Permission, PgValue, Result as ModelResult, Rows, SqlParameters, SqlQuery};
use salver_service::reception::{Outcome, Welcome};

use super::WIRE;
use super::client::{Client, Stop};
use super::column::Column;
use super::command::{Command, Rows as CursorRows};
use super::copy::{CopyWriter, code_of};
use super::message::Formats;
use super::outbox::Outbox;
use super::portal::{Admission, Portal, PortalState, RunningRows};
use super::prepared::{Prepared, RowColumns};
use super::refusal::{CURSOR_ENDED, NOT_SUPPORTED, Refusal, WRONG_STATE};
use super::row_encoder::EncodedBatch;
use super::session::Session;
use super::transaction::Transaction;

/// What comes of a statement.
pub(super) enum Answer {
    /// It is done.
    Done(String),
    /// It has rows.
    Rows(Box<RunningRows>),
    /// It has rows that are copied, of which the client is told.
    Copy(Box<RunningRows>, Box<CopyWriter>),
    /// Rows of a cursor are wanted.
    Cursor { name: String, most: usize, is_move: bool },
}

/// Begins a statement.
pub(super) async fn begin(
    client: &mut Client,
    session: &mut Session,
    prepared: &Prepared,
    parameters: Vec<PgValue>,
) -> Result<Answer, Stop> {
    let command = &prepared.command;
    session.check_transaction(command)?;
    match command {
        Command::Query => Ok(Answer::Rows(Box::new(run(client, session, prepared, parameters).await?))),
        Command::Show(name) => Ok(Answer::Rows(Box::new(shown(session, name.as_deref())?))),
        Command::Fetch { name, rows, is_move } => {
            session.portal(name)?;
            let most = match rows {
                CursorRows::Next(rows) => *rows,
                CursorRows::All => usize::MAX,
                CursorRows::Elsewhere => {
                    let refusal = Refusal::new(WRONG_STATE, "cursor can only scan forward");
                    return Err(refusal.with_hint("declare it again to read its rows once more").into());
                }
            };
            Ok(Answer::Cursor { name: name.clone(), most, is_move: *is_move })
        }
        Command::Declare { name, query_at, is_held } => {
            declare(session, (name, *is_held), prepared.text[*query_at..].to_owned(), (client, parameters)).await
        }
        Command::Copy(Err(refusal)) => Err(refused_copy(session, refusal).into()),
        Command::Copy(Ok(copy)) => {
            let began = Instant::now();
            let told = |error| refused(session, began, copy.placed(error, &prepared.text), &prepared.text);
            let (rows, welcome) = ask(client, session, (copy.query.clone(), SqlParameters::None), told).await?;
            let rows = RunningRows::new(rows, None, began, Some(Admission::new(welcome)));
            let writer = copy.begin(&rows.columns, &mut client.outbox);
            let writer = writer.map_err(|refusal| refused_copy(session, &refusal))?;
            Ok(Answer::Copy(Box::new(rows), Box::new(writer)))
        }
        other => done(&mut client.outbox, session, other).map(|tag| Answer::Done(tag.to_owned())).map_err(Stop::from),
    }
}

/// Does what concerns the session alone; returns the tag of the statement.
fn done(outbox: &mut Outbox, session: &mut Session, command: &Command) -> Result<&'static str, Refusal> {
    let mut told = |settings: Vec<(&'static str, String)>| {
        settings.iter().for_each(|(name, value)| outbox.setting(name, value));
    };
    Ok(match command {
        Command::Begin => {
            session.transaction = Transaction::Open;
            "BEGIN"
        }
        Command::Commit | Command::Rollback => {
            let failed = session.transaction == Transaction::Failed;
            session.end_transaction();
            if failed || *command == Command::Rollback { "ROLLBACK" } else { "COMMIT" }
        }
        Command::Savepoint(step, name) => session.savepoint(*step, name)?,
        Command::Set(setting) => {
            let set = setting.as_ref().map(|(name, value)| session.settings.set(name, value)).transpose()?;
            told(set.flatten().into_iter().collect());
            "SET"
        }
        Command::Reset(Some(name)) => {
            told(session.settings.reset(name)?.into_iter().collect());
            "RESET"
        }
        Command::Reset(None) => {
            told(session.settings.reset_all());
            "RESET"
        }
        Command::DiscardAll => {
            session.close_statements();
            session.close_portals();
            told(session.settings.reset_all());
            "DISCARD ALL"
        }
        Command::Deallocate(name) => {
            match name {
                Some(name) => {
                    session.statement(name)?;
                    session.close_statement(name);
                }
                None => session.close_statements(),
            }
            "DEALLOCATE"
        }
        Command::Close(name) => {
            match name {
                Some(name) => {
                    session.portal(name)?;
                    session.close_portal(name);
                }
                None => session.close_portals(),
            }
            "CLOSE CURSOR"
        }
        Command::Unlisten => "UNLISTEN",
        Command::Query | Command::Show(_) | Command::Fetch { .. } | Command::Declare { .. } | Command::Copy(_) => {
            "SELECT"
        }
    })
}

/// Asks the service for the rows of a query.
async fn run(
    client: &mut Client,
    session: &Session,
    prepared: &Prepared,
    parameters: Vec<PgValue>,
) -> Result<RunningRows, Stop> {
    let began = Instant::now();
    let parameters = if parameters.is_empty() { SqlParameters::None } else { SqlParameters::Exact(parameters) };
    let told = |error| refused(session, began, error, &prepared.text);
    let (rows, welcome) = ask(client, session, (prepared.text.clone(), parameters), told).await?;
    if prepared.columns.known().is_some_and(|told| told.len() != rows.schema.fields().len()) {
        // Drivers know it, and prepare the statement again.
        return Err(Refusal::new(NOT_SUPPORTED, "cached plan must not change result type").into());
    }
    Ok(RunningRows::new(rows, prepared.columns.known().cloned(), began, Some(Admission::new(welcome))))
}

/// Lets the caller in, and asks the service for the rows of a query for it. `told` makes the refusal of an error.
async fn ask(
    client: &mut Client,
    session: &Session,
    (text, parameters): (String, SqlParameters),
    told: impl FnOnce(Error) -> Refusal,
) -> Result<(Rows, Welcome), Stop> {
    let query = SqlQuery { text, parameters, sees_system_catalog: true, ..SqlQuery::default() };
    let asked = async {
        let welcome = session.reception.admit(&session.visitor).await?;
        let rows = rows(&welcome, &query).await?;
        Ok::<_, Error>((rows, welcome))
    };
    client.watch(asked, told).await
}

/// Lets the caller in again before more rows of an earlier statement are sent, if it may see what it might then.
pub(super) async fn admit_again(
    client: &mut Client,
    session: &Session,
    text: &str,
    rows: &mut RunningRows,
) -> Result<(), Stop> {
    let Some(before) = &mut rows.admission else { return Ok(()) };
    // Callers with a limit on what runs at once have one place for both.
    before.running = None;
    let began = Instant::now();
    let asked = session.reception.admit(&session.visitor);
    let welcome = client.watch(asked, |error| refused(session, began, error, text)).await?;
    let admission = Admission::new(welcome);
    if admission.rights != before.rights {
        let message = "what callers may see was changed since the cursor was opened";
        return Err(Refusal::new(CURSOR_ENDED, message).with_hint("open it again").into());
    }
    *before = admission;
    Ok(())
}

/// Counts a refused statement, and returns what the client is told of it.
pub(super) fn refused(session: &Session, began: Instant, error: Error, text: &str) -> Refusal {
    session.reception.count(WIRE, Outcome { took: began.elapsed(), refused: Some(error.code) });
    session.refusal(error, text)
}

/// Counts a copy that was refused before anything ran, and returns what the client is told of it.
pub(super) fn refused_copy(session: &Session, refusal: &Refusal) -> Refusal {
    session.reception.count(WIRE, Outcome { took: Duration::ZERO, refused: Some(code_of(refusal)) });
    refusal.clone()
}

/// Runs a query. Only one that needs a table which is being loaded waits for it.
async fn rows(welcome: &Welcome, query: &SqlQuery) -> Result<Rows, Error> {
    let Welcome { service, caller, .. } = welcome;
    let snapshot = service.snapshot(caller, Permission::Sql);
    match service.sql(caller, &snapshot, query).await {
        Err(error) if error.code == Code::EntryUnavailable && !snapshot.settled() => {
            let settled = service.snapshot_settled(caller, Permission::Sql).await;
            service.sql(caller, &settled, query).await
        }
        rows => rows,
    }
}

/// Returns the value of a setting as a row, or all of them.
fn shown(session: &Session, name: Option<&str>) -> Result<RunningRows, Refusal> {
    let (fields, values): (Vec<&str>, Vec<Vec<String>>) = match name {
        Some(name) => (vec![name], vec![vec![session.settings.get(name)?]]),
        None => {
            let all = session.settings.all();
            let names = all.iter().map(|(name, _)| (*name).to_owned()).collect();
            (vec!["name", "setting"], vec![names, all.into_iter().map(|(_, value)| value).collect()])
        }
    };
    let schema =
        Arc::new(Schema::new(fields.iter().map(|name| Field::new(*name, DataType::Utf8, false)).collect::<Vec<_>>()));
    let arrays = values.into_iter().map(|values| Arc::new(StringArray::from(values)) as ArrayRef).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
        .map_err(|error| session.refusal(Error::internal("settings can't be shown").with_source(error), ""))?;
    Ok(RunningRows::new(Rows::ready(schema, vec![batch]), None, Instant::now(), None))
}

/// Returns the columns of a setting's value, or of all.
pub(super) fn shown_columns(session: &Session, name: Option<&str>) -> Result<Arc<[Column]>, Refusal> {
    Ok(shown(session, name)?.columns)
}

/// Makes a cursor.
async fn declare(
    session: &mut Session,
    (name, is_held): (&str, bool),
    text: String,
    (client, parameters): (&mut Client, Vec<PgValue>),
) -> Result<Answer, Stop> {
    if session.transaction != Transaction::Open && !is_held {
        return Err(Refusal::new("25P01", "DECLARE CURSOR can only be used in transaction blocks").into());
    }
    let query = Prepared::plain(text, Command::Query);
    let mut rows = run(client, session, &query, parameters.clone()).await?;
    // A query at rest takes no place, but one that has not begun does.
    client.watch(rows.current(), |error| refused(session, Instant::now(), error, &query.text)).await?;
    let prepared = Arc::new(Prepared { columns: RowColumns::Known(Arc::clone(&rows.columns)), ..query });
    let state = PortalState::Running(Box::new(rows));
    session
        .keep_portal(name.to_owned(), Portal { prepared, parameters, formats: Formats::default(), state, is_held })?;
    Ok(Answer::Done("DECLARE CURSOR".to_owned()))
}

/// Sends rows, at most `most`; returns how many there were.
pub(super) async fn send_rows(
    client: &mut Client,
    session: &Session,
    text: &str,
    rows: &mut RunningRows,
    (formats, most): (&Formats, usize),
) -> Result<usize, Stop> {
    let write =
        |batch: &EncodedBatch, at: usize, sent: usize, out: &mut Outbox| batch.write(at, most - sent, formats, out);
    send_each(client, session, text, (rows, most), write).await
}

/// Sends rows as those of a copy, and its end; returns how many rows there were.
pub(super) async fn send_copy(
    client: &mut Client,
    session: &Session,
    text: &str,
    (rows, writer): (&mut RunningRows, &mut CopyWriter),
) -> Result<usize, Stop> {
    let write = |batch: &EncodedBatch, at: usize, _: usize, out: &mut Outbox| batch.write_copied(at, writer, out);
    let sent = send_each(client, session, text, (rows, usize::MAX), write).await?;
    writer.end(&mut client.outbox);
    client.outbox.copy_done();
    count(session, rows);
    Ok(sent)
}

/// Sends rows, at most `most`, as `write` writes those of a batch from a place on when so many were sent; returns how
/// many there were.
async fn send_each(
    client: &mut Client,
    session: &Session,
    text: &str,
    (rows, most): (&mut RunningRows, usize),
    mut write: impl FnMut(&EncodedBatch, usize, usize, &mut Outbox) -> ModelResult<usize>,
) -> Result<usize, Stop> {
    let mut sent = 0;
    while sent < most {
        let began = rows.began;
        let told = |error| refused(session, began, error, text);
        let Some((batch, at)) = client.watch(rows.current(), told).await? else { break };
        let before = client.outbox.bytes.len();
        let written = write(batch, *at, sent, &mut client.outbox);
        let written = written.map_err(|error| refused(session, began, error, text))?;
        *at += written;
        sent += written;
        if let Err(error) = rows.count_bytes(client.outbox.bytes.len() - before) {
            client.outbox.bytes.truncate(before);
            return Err(refused(session, began, error, text).into());
        }
        if client.outbox.is_full() {
            client.send().await?;
        }
    }
    Ok(sent)
}

/// Sends rows of a cursor, or skips them; returns how many.
pub(super) async fn fetch(
    client: &mut Client,
    session: &Session,
    portal: &mut Portal,
    (formats, most, is_move): (&Formats, usize, bool),
) -> Result<usize, Stop> {
    let text = portal.prepared.text.clone();
    let PortalState::Running(rows) = &mut portal.state else { return Ok(0) };
    admit_again(client, session, &text, rows).await?;
    let fetched = match is_move {
        true => skip_rows(client, session, &text, rows, most).await?,
        false => send_rows(client, session, &text, rows, (formats, most)).await?,
    };
    if fetched < most {
        count(session, rows);
        portal.state = PortalState::Done;
    }
    Ok(fetched)
}

async fn skip_rows(
    client: &mut Client,
    session: &Session,
    text: &str,
    rows: &mut RunningRows,
    most: usize,
) -> Result<usize, Stop> {
    let mut skipped = 0;
    while skipped < most {
        let began = rows.began;
        let told = |error| refused(session, began, error, text);
        let Some((batch, at)) = client.watch(rows.current(), told).await? else { break };
        let step = (batch.rows() - *at).min(most - skipped);
        *at += step;
        skipped += step;
    }
    Ok(skipped)
}

/// Counts a statement whose rows were all sent.
pub(super) fn count(session: &Session, rows: &RunningRows) {
    session.reception.count(WIRE, Outcome { took: rows.began.elapsed(), refused: None });
}

/// Returns the word that a statement with rows ends with, before their number.
pub(super) fn rows_tag(command: &Command) -> &'static str {
    match command {
        Command::Show(_) => "SHOW",
        Command::Fetch { is_move: true, .. } => "MOVE",
        Command::Fetch { .. } => "FETCH",
        Command::Copy(_) => "COPY",
        _ => "SELECT",
    }
}
