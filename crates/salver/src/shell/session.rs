//! What statements and commands are answered with: the entries, and how rows are shown.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use salver_config::Checked;
use salver_datasets::Engine;
use salver_formats::Format;
use salver_model::limits::COMMAND_FUNCTIONS_S_MAX;
use salver_model::observation::{Observer, Silent};
use salver_model::secrecy::masked;
use salver_model::{Caller, Error, Rows, SqlQuery};
use salver_service::{Entry, Snapshot};
use tokio::runtime::Runtime;

use super::completion::Completion;
use super::dot_command::{DotCommand, HELP};
use crate::cli::{PromptArguments, PromptFormat};
use crate::failure::CommandFailure;
use crate::grouped_digits::thousands;
use crate::screen::{self, Screen};
use crate::shown_rows::{self, Target};
use crate::wiring::Wired;
use crate::{functions, load_progress, output, signals, wiring};

const STDOUT: &str = "standard output";
/// Bytes that are written at a time.
const WRITE_BYTES: usize = 64 * 1024;
/// Longest time for files of functions to load.
const PATIENCE: Duration = Duration::from_secs(COMMAND_FUNCTIONS_S_MAX);

/// What comes after a command or a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    GoOn,
    Leave,
}

/// A session.
pub(super) struct Session {
    runtime: Runtime,
    engine: Arc<Engine>,
    checked: Checked,
    wired: Wired,
    /// Whether files of functions are loaded: running user code takes a statement that calls it.
    has_functions: bool,
    /// The signals of Ctrl-C at a prompt; without a prompt they end the program.
    interrupts: Option<signals::Interrupts>,
    format: PromptFormat,
    tells_time: bool,
    with_pager: bool,
}

impl Session {
    /// Loads the entries.
    pub(super) fn begin(
        arguments: &PromptArguments,
        (checked, engine): (Checked, Arc<Engine>),
        runtime: Runtime,
        is_prompt: bool,
    ) -> Result<Self, CommandFailure> {
        let has_functions = checked.functions.is_empty();
        let (wired, interrupts) = runtime
            .block_on(async {
                let wired = load(&Checked { functions: Vec::new(), ..checked.clone() }, &engine).await;
                // Not before the entries are loaded, which Ctrl-C ends like any program.
                let interrupts = is_prompt.then(signals::interrupts).transpose();
                interrupts.map(|interrupts| (wired, interrupts))
            })
            .map_err(|error| Error::internal("can't wait for signals").with_source(error))?;
        Ok(Self {
            runtime,
            engine,
            checked,
            wired,
            has_functions,
            interrupts,
            format: arguments.format,
            tells_time: false,
            with_pager: is_prompt && !arguments.no_pager,
        })
    }

    /// Ends the session, and leaves what still runs behind.
    pub(super) fn end(self) {
        drop(self.wired);
        self.runtime.shutdown_background();
    }

    pub(super) fn completion(&self) -> Completion {
        Completion::of(&self.wired.service.catalog().snapshot())
    }

    /// Runs a statement and shows its rows.
    pub(super) fn statement(&mut self, text: &str) -> Result<Next, CommandFailure> {
        let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
        let begun = Instant::now();
        let Self { runtime, engine, checked, wired, has_functions, interrupts, .. } = self;
        let (format, with_pager) = (self.format, self.with_pager);
        let work = async {
            if !*has_functions && engine.lacks_function(&query) {
                *wired = load(checked, engine).await;
                functions::settled(wired.service.functions(), PATIENCE).await;
                *has_functions = true;
            }
            let snapshot = wired.service.catalog().snapshot();
            let rows = wired.service.sql(&Caller::default(), &snapshot, &query).await?;
            show(rows, format, with_pager).await
        };
        let done = runtime.block_on(async {
            match interrupts {
                Some(interrupts) => {
                    let done = tokio::select! {
                        biased;
                        () = interrupts.next() => None,
                        done = work => Some(done),
                    };
                    // Those that were meant for the pager, too.
                    interrupts.forget().await;
                    done
                }
                None => Some(work.await),
            }
        });
        match done {
            None => output::note("stopped"),
            Some(done) => {
                if let Some(told) = done? {
                    output::note(&told);
                }
            }
        }
        if self.tells_time {
            output::note(&format!("{:.3} s", begun.elapsed().as_secs_f64()));
        }
        Ok(Next::GoOn)
    }

    /// Does what a command says.
    pub(super) fn command(&mut self, command: &DotCommand) -> Result<Next, CommandFailure> {
        match command {
            DotCommand::Help => self.put(HELP)?,
            DotCommand::Tables => self.put(&tables(&self.wired.service.catalog().snapshot()))?,
            DotCommand::Schema(None) => {
                let snapshot = self.wired.service.catalog().snapshot();
                let all: Vec<String> = snapshot.entries().filter_map(columns).collect();
                self.put(&all.join("\n"))?;
            }
            DotCommand::Schema(Some(name)) => {
                let snapshot = self.wired.service.catalog().snapshot();
                snapshot.resolve(name)?;
                let shown = snapshot.entry(name).and_then(columns).unwrap_or_default();
                self.put(&shown)?;
            }
            DotCommand::Mode(format) => self.format = *format,
            DotCommand::Timing(tells_time) => self.tells_time = *tells_time,
            DotCommand::Quit => return Ok(Next::Leave),
        }
        Ok(Next::GoOn)
    }

    fn put(&self, text: &str) -> Result<(), CommandFailure> {
        let mut screen = Screen::new(self.with_pager);
        let written = screen.write_all(text.as_bytes()).and_then(|()| screen.finish());
        written.map_err(|error| CommandFailure::writing(STDOUT, error))
    }
}

/// Opens the entries and waits for them.
async fn load(checked: &Checked, engine: &Arc<Engine>) -> Wired {
    let observer: Arc<dyn Observer> = Arc::new(Silent);
    let wired = wiring::wire(checked, engine, &observer, wiring::Streams::LeaveOut);
    load_progress::settled(wired.service.catalog()).await;
    wired
}

/// Shows rows, and returns what to tell of them.
async fn show(rows: Rows, format: PromptFormat, with_pager: bool) -> Result<Option<String>, CommandFailure> {
    let width = screen::terminal().map(|(width, _)| width);
    let out = BufWriter::with_capacity(WRITE_BYTES, Screen::new(with_pager));
    let target = Target { out, name: STDOUT, width };
    let (out, told) = match format {
        PromptFormat::Table => {
            let (out, told) = shown_rows::table(rows, target).await?;
            (out, Some(told))
        }
        PromptFormat::Csv => (shown_rows::encoded(rows, Format::Csv, target).await?, None),
        PromptFormat::Json => (shown_rows::encoded(rows, Format::Json, target).await?, None),
    };
    let written = out.into_inner().map_err(io::IntoInnerError::into_error).and_then(Screen::finish);
    written.map_err(|error| CommandFailure::writing(STDOUT, error))?;
    Ok(told)
}

/// Lists the entries.
fn tables(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for entry in snapshot.entries() {
        let state = match (entry.table(), entry.failure()) {
            (Some(table), _) => match table.describe().rows {
                Some(1) => "1 row".to_owned(),
                Some(rows) => format!("{} rows", thousands(rows)),
                None => String::new(),
            },
            (None, Some(failure)) => masked(&format!("FAILED: {}", failure.message)).into_owned(),
            (None, None) => "is not loaded".to_owned(),
        };
        text.push_str(format!("{}  {state}", entry.name.as_str()).trim_end());
        text.push('\n');
    }
    text
}

/// Lists the columns of an entry.
fn columns(entry: &Entry) -> Option<String> {
    let description = entry.table()?.describe();
    let mut text = format!("{}\n", entry.name.as_str());
    for field in description.schema.fields() {
        let nulls = if field.is_nullable() { "" } else { " not null" };
        text.push_str(&format!("  {}  {}{nulls}\n", field.name(), field.data_type()));
    }
    Some(text)
}
