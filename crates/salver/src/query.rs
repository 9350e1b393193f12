//! `salver query`: runs one statement through the same service as the server, and writes the rows to standard output or
//! a file.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use salver_config::Checked;
use salver_formats::Format;
use salver_model::limits::{COMMAND_FUNCTIONS_S_MAX, COMMAND_QUERY_MS_MAX};
use salver_model::observation::{Observer, Silent};
use salver_model::{Caller, Code, Error, Rows, SqlParameters, SqlQuery, Value};

use crate::cli::{OutputFormat, QueryArguments};
use crate::data_dir::DataDir;
use crate::failure::CommandFailure;
use crate::output_lock;
use crate::screen::Screen;
use crate::settings::Need;
use crate::shown_rows::{self, Target};
use crate::{functions, load_progress, logging, output, screen, secrets, settings, wiring};

/// Longest time for files of functions to load.
const PATIENCE: Duration = Duration::from_secs(COMMAND_FUNCTIONS_S_MAX);
/// Encoded bytes buffered before a write.
const WRITE_BYTES: usize = 256 * 1024;

/// Runs one query.
pub(crate) fn run(arguments: &QueryArguments) -> Result<(), CommandFailure> {
    let mut query = SqlQuery { text: statement(&arguments.sql)?, ..SqlQuery::default() };
    query.parameters = parameters(&arguments.parameters, &query.text)?;
    let format = format(arguments)?;
    let mut checked = settings::load(&arguments.sources, Vec::new(), Need::WhatIsNamed)?;
    checked.limits.query_ms_max = COMMAND_QUERY_MS_MAX;
    checked.limits.queue_ms_max = COMMAND_QUERY_MS_MAX;
    checked.limits.rows_max = 0;
    // The loads of a single query are not of interest.
    if checked.server.log == "info" {
        checked.server.log = "warn".to_owned();
    }
    logging::start(&checked.server, secrets::secrets(&checked));
    let data_dir = DataDir::open(checked.server.data_dir.as_deref())?;
    let engine = wiring::engine(&checked, data_dir.path())?;
    // Looking up a function in a file requires running the file.
    if !engine.lacks_function(&query) {
        checked.functions.clear();
    }
    let runtime = wiring::runtime(checked.server.threads)?;
    let done = runtime.block_on(async {
        let rows = answer(&checked, &engine, &query).await?;
        write(rows, format, arguments.output.as_deref()).await
    });
    runtime.shutdown_background();
    done
}

fn statement(text: &str) -> Result<String, CommandFailure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    io::stdin().read_to_string(&mut read).map_err(|error| {
        Error::new(Code::InvalidSql, "the statement on standard input can't be read").with_source(error)
    })?;
    Ok(read)
}

/// Returns values of placeholders, all by position or all by name. `NAME=VALUE` names one only if the statement has
/// `$NAME`.
fn parameters(written: &[String], sql: &str) -> Result<SqlParameters, CommandFailure> {
    let named = |text: &str| {
        let (name, value) = text.split_once('=')?;
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_') && sql.contains(&format!("${name}"));
        is_name.then(|| (name.to_owned(), parameter(value)))
    };
    let names: Vec<(String, Value)> = written.iter().filter_map(|text| named(text)).collect();
    if written.is_empty() {
        Ok(SqlParameters::None)
    } else if names.is_empty() {
        Ok(SqlParameters::Positional(written.iter().map(|text| parameter(text)).collect()))
    } else if names.len() == written.len() {
        Ok(SqlParameters::Named(names))
    } else {
        let error = Error::new(Code::InvalidRequest, "some `--param` are named by the statement and some are not");
        Err(CommandFailure::Usage(
            error.with_hint("give all of them as NAME=VALUE for `$NAME`, or all in order for `$1`, `$2`"),
        ))
    }
}

fn parameter(text: &str) -> Value {
    match text {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::exact_number(text).unwrap_or_else(|| Value::Text(text.to_owned())),
    }
}

/// Returns the requested format; `None` for the table.
fn format(arguments: &QueryArguments) -> Result<Option<Format>, CommandFailure> {
    let suffix = arguments.output.as_deref().and_then(Path::extension).and_then(|suffix| suffix.to_str());
    match (arguments.format, suffix) {
        (Some(OutputFormat::Table), _) | (None, None) => Ok(None),
        (Some(format), _) => {
            let word = format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
            Ok(Format::of_suffix(&word))
        }
        (None, Some("txt")) => Ok(None),
        (None, Some(suffix)) => match Format::of_suffix(suffix) {
            Some(format) => Ok(Some(format)),
            None => {
                let error =
                    Error::new(Code::UnknownFormat, format!("there is no format for files ending in `.{suffix}`"));
                Err(CommandFailure::Usage(error.with_hint("say which with `--format`")))
            }
        },
    }
}

/// Loads the tables the statement mentions and runs it. When it fails, everything is loaded for a second attempt: a
/// name may be written in a way that was not detected, and a message that suggests names should know them all.
async fn answer(
    checked: &Checked,
    engine: &Arc<salver_datasets::Engine>,
    query: &SqlQuery,
) -> Result<Rows, CommandFailure> {
    let lower = query.text.to_lowercase();
    let mentioned = |name: &str| lower.contains(&name.to_lowercase());
    let has_view = checked.views.iter().any(|spec| mentioned(spec.name.as_str()));
    let all = has_view || lower.contains("information_schema") || lower.contains("show ");
    let mut some = checked.clone();
    some.datasets.retain(|spec| all || mentioned(spec.name.as_str()) || spec.sources.iter().any(|s| s == "-"));
    some.stores.clear();
    let first = run_once(&some, engine, query).await;
    let partial = some.datasets.len() < checked.datasets.len();
    let can_repeat = !some.datasets.iter().any(|spec| spec.sources.iter().any(|source| source == "-"));
    match first {
        Err(error) if partial && can_repeat && matches!(error.code, Code::InvalidSql | Code::UnknownEntry) => {
            Ok(run_once(checked, engine, query).await?)
        }
        other => Ok(other?),
    }
}

async fn run_once(
    checked: &Checked,
    engine: &Arc<salver_datasets::Engine>,
    query: &SqlQuery,
) -> salver_model::Result<Rows> {
    let observer: Arc<dyn Observer> = Arc::new(Silent);
    let wired = wiring::wire(checked, engine, &observer, wiring::Streams::LeaveOut);
    load_progress::settled(wired.service.catalog()).await;
    functions::settled(wired.service.functions(), PATIENCE).await;
    wired.service.sql(&Caller::default(), &wired.service.catalog().snapshot(), query).await
}

/// Writes rows to standard output.
async fn write_out(rows: Rows, format: Option<Format>) -> Result<(), CommandFailure> {
    const WHAT: &str = "standard output";
    let Some((width, _)) = screen::terminal() else {
        return write_to(BufWriter::with_capacity(WRITE_BYTES, io::stdout()), (WHAT, None), rows, format).await;
    };
    if let Some(format) = format.filter(|format| !format.is_text()) {
        let error = Error::new(Code::InvalidRequest, format!("a terminal can't show {}", format.suffix()));
        return Err(CommandFailure::Usage(
            error.with_hint("write it to a file with `--output`, or to another program"),
        ));
    }
    write_to(Screen::new(false), (WHAT, Some(width)), rows, format).await
}

/// Writes rows to a file, or to standard output.
async fn write(rows: Rows, format: Option<Format>, file: Option<&Path>) -> Result<(), CommandFailure> {
    let Some(path) = file else { return write_out(rows, format).await };
    let what = format!("`{}`", path.display());
    let writing = |error| CommandFailure::writing(&what, error);
    // The target of a symbolic link is written, and not the link replaced.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        let out = OpenOptions::new().write(true).open(path).map_err(writing)?;
        return write_to(BufWriter::with_capacity(WRITE_BYTES, out), (&what, None), rows, format).await;
    }
    // Renamed when complete: a partial result must not look complete.
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let claimed = output_lock::claim(&part, path)?;
    let out = claimed.set_len(0).and_then(|()| claimed.try_clone()).map_err(writing)?;
    let done = write_to(BufWriter::with_capacity(WRITE_BYTES, out), (&what, None), rows, format).await;
    let done = done.and_then(|()| std::fs::rename(&part, path).map_err(writing));
    if done.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    done
}

/// Writes rows in a format, or draws them.
async fn write_to(
    out: impl Write,
    (what, width): (&str, Option<usize>),
    rows: Rows,
    format: Option<Format>,
) -> Result<(), CommandFailure> {
    let target = Target { out, name: what, width };
    let (mut out, told) = match format {
        Some(format) => (shown_rows::encoded(rows, format, target).await?, None),
        None => {
            let (out, told) = shown_rows::table(rows, target).await?;
            (out, Some(told))
        }
    };
    out.flush().map_err(|error| CommandFailure::writing(what, error))?;
    if let Some(told) = told {
        output::note(&told);
    }
    Ok(())
}
