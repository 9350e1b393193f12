//! `salver export`: writes all rows of an entry of a running server to a file, each exactly once.
//!
//! The server holds a snapshot of the rows and serves it in streams (`session`). Each stream is fetched into its own
//! file, batch by batch, with a checksum (`fetch`, `stream_file`); the progress is stored in a file beside them
//! (`resume_state`), so that the same command resumes after any interruption. When all streams are complete they are
//! joined into one file (`finish`).

mod batch;
mod fetch;
mod finish;
mod progress;
mod resume_state;
mod session;
mod sink;
mod stream_file;
mod target;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use salver_formats::Encoder;
use salver_model::{Code, Error};

use crate::cli::ExportArguments;
use crate::client::{Client, usage};
use crate::failure::CommandFailure;
use crate::{grouped_digits, output, signals};
use batch::Layout;
use fetch::FetchRange;
use progress::ExportProgress;
use resume_state::ExportState;
use session::ExportSession;
use sink::Sink;
use stream_file::StreamFile;
use target::ExportTarget;

/// Default number of streams.
const STREAMS: u64 = 4;

/// Runs the export.
pub(crate) fn run(arguments: &ExportArguments) -> Result<(), CommandFailure> {
    let layout = Layout::of(arguments.format, arguments.output.as_deref())?;
    let target = ExportTarget::of(arguments)?;
    let interrupted = signals::interrupted()?;
    let client = Client::new(&target.base, &arguments.work, &interrupted)?;
    match arguments.output.as_deref() {
        Some(path) => {
            // The target of a symbolic link is written, and not the link replaced.
            let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) {
                let message = format!("`{}` is not a file that parts could come together in", path.display());
                return Err(usage(message, "leave `--output` out, and say where standard output goes"));
            }
            to_file(arguments, &target, &client, layout, path, &interrupted)
        }
        None => to_stdout(arguments, &target, &client, layout, &interrupted),
    }
}

/// Writes all rows in order to standard output.
fn to_stdout(
    arguments: &ExportArguments,
    target: &ExportTarget,
    client: &Client,
    layout: Layout,
    interrupted: &AtomicBool,
) -> Result<(), CommandFailure> {
    if arguments.streams.is_some_and(|streams| streams > 1) {
        return Err(usage("several streams need a file to come together in".to_owned(), "add `--output FILE`"));
    }
    let session = ExportSession::open(client, target, 1)?;
    holds(layout, &session, client)?;
    let mut sink = Sink::new(layout, std::io::stdout().lock(), "standard output");
    let mut next = Some(0);
    let mut rows = 0;
    while let Some(offset) = next {
        if interrupted.load(Ordering::Acquire) {
            output::note(&format!("interrupted after {} rows", grouped_digits::thousands(rows)));
            return Err(CommandFailure::Told);
        }
        let place = FetchRange { stream: 0, offset, rows_max: arguments.batch_rows };
        let batch = fetch::batch(client, &session, layout, place)?;
        rows += batch.rows;
        no_more_than(session.rows, &session, rows)?;
        next = batch.next;
        sink.put(&batch.bytes)?;
    }
    drop(sink.finish()?);
    session.end(client);
    check(&session, rows)
}

/// Writes all rows to a file, resuming an earlier run.
fn to_file(
    arguments: &ExportArguments,
    target: &ExportTarget,
    client: &Client,
    layout: Layout,
    path: &Path,
    interrupted: &AtomicBool,
) -> Result<(), CommandFailure> {
    let streams = arguments.streams.unwrap_or(STREAMS);
    let mut state = ExportState::begin(arguments, target, layout, path)?;
    if state.session.is_none() {
        state.set_session(ExportSession::open(client, target, streams)?)?;
    }
    let Some(session) = state.session.clone() else { return Err(Error::internal("no export was opened").into()) };
    if let Err(failure) = holds(layout, &session, client) {
        state.finish();
        return Err(failure);
    }
    let mut progress = ExportProgress::new(&session, state.rows());
    if !state.is_fetched() {
        session.confirm(client)?;
        let fetched = fetch_all(client, &session, layout, &state, &mut progress, interrupted);
        progress.clear();
        if fetched.is_err() && state.rows() == 0 {
            // There is nothing to resume.
            state.finish();
            session.end(client);
            return fetched;
        }
        tell_of_an_end(fetched, &state, path, interrupted)?;
    }
    let rows = state.rows();
    check(&session, rows)?;
    finish::finish(&mut state, layout, path)?;
    session.end(client);
    let (rows, entry) = (grouped_digits::thousands(rows), &session.entry);
    output::note(&format!("{rows} rows of `{entry}` in {}; {}", path.display(), progress.pace()));
    Ok(())
}

/// Explains how to resume, if the export ended early.
fn tell_of_an_end(
    fetched: Result<(), CommandFailure>,
    state: &ExportState,
    path: &Path,
    interrupted: &AtomicBool,
) -> Result<(), CommandFailure> {
    let path = path.display();
    if let Err(failure) = fetched {
        output::note(&format!("{path}: the same command goes on from here"));
        return Err(failure);
    }
    if interrupted.load(Ordering::Acquire) && !state.is_fetched() {
        let rows = grouped_digits::thousands(state.rows());
        output::note(&format!("{path}: interrupted after {rows} rows; the same command goes on from here"));
        return Err(CommandFailure::Told);
    }
    Ok(())
}

/// Fetches the rest of all streams concurrently.
fn fetch_all(
    client: &Client,
    session: &ExportSession,
    layout: Layout,
    state: &ExportState,
    progress: &mut ExportProgress,
    interrupted: &AtomicBool,
) -> Result<(), CommandFailure> {
    let has_failed = AtomicBool::new(false);
    let is_over = || interrupted.load(Ordering::Acquire) || has_failed.load(Ordering::Acquire);
    let mut failure = None;
    thread::scope(|scope| {
        let (tell, told) = std::sync::mpsc::channel::<Result<u64, CommandFailure>>();
        for stream in 0..session.streams.len() {
            let (tell, is_over) = (tell.clone(), &is_over);
            scope.spawn(move || {
                let done = fetch_stream(client, session, layout, state, stream, &|rows| {
                    // The receiver exists as long as this runs.
                    let _ = tell.send(Ok(rows));
                    !is_over()
                });
                if let Err(failure) = done {
                    let _ = tell.send(Err(failure));
                }
            });
        }
        drop(tell);
        for word in told {
            match word {
                Ok(rows) => progress.advance(rows),
                Err(error) => {
                    has_failed.store(true, Ordering::Release);
                    failure = failure.take().or(Some(error));
                }
            }
        }
    });
    failure.map_or(Ok(()), Err)
}

/// Fetches the rest of one stream; `go_on` is called for each batch.
fn fetch_stream(
    client: &Client,
    session: &ExportSession,
    layout: Layout,
    state: &ExportState,
    stream: usize,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<(), CommandFailure> {
    let mut part = StreamFile::open(state, stream)?;
    let rows_max = state.batch_rows;
    while let Some(offset) = part.next {
        if !go_on(0) {
            return Ok(());
        }
        let batch = fetch::batch(client, session, layout, FetchRange { stream, offset, rows_max })?;
        no_more_than(session.streams.get(stream).copied().flatten().or(session.rows), session, part.rows + batch.rows)?;
        if offset == 0 {
            sink::fits(layout, &batch.bytes)?;
        }
        part.append(&batch)?;
        state.done(stream, part.progress())?;
        go_on(batch.rows);
    }
    Ok(())
}

/// Checks that the output format holds as many rows, before they are fetched.
fn holds(layout: Layout, session: &ExportSession, client: &Client) -> Result<(), CommandFailure> {
    let checked = session.rows.map_or(Ok(()), |rows| Encoder::check_rows(layout.format(), rows));
    if checked.is_err() {
        session.end(client);
    }
    Ok(checked?)
}

/// Checks that these are all rows.
fn check(session: &ExportSession, rows: u64) -> Result<(), CommandFailure> {
    match session.rows {
        Some(all) if all != rows => Err(miscounted(session, all, rows)),
        _ => Ok(()),
    }
}

/// Checks that a stream, or all of them, do not have more rows than announced. A server that never ends a stream would
/// fill the disk.
fn no_more_than(all: Option<u64>, session: &ExportSession, rows: u64) -> Result<(), CommandFailure> {
    match all {
        Some(all) if all < rows => Err(miscounted(session, all, rows)),
        _ => Ok(()),
    }
}

fn miscounted(session: &ExportSession, all: u64, rows: u64) -> CommandFailure {
    let message = format!("`{}` has {all} rows, but {rows} came", session.entry);
    Error::new(Code::Source, message).with_hint("begin anew with `--restart`").into()
}
