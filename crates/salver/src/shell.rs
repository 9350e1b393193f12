//! `salver sql`: answers statements at a prompt, or those on standard input, through the same service as the server.

mod caret;
mod completion;
mod dot_command;
mod history;
mod input;
mod session;
mod statements;

use std::io::{self, IsTerminal};

use salver_model::limits::{COMMAND_QUERY_MS_MAX, PROMPT_STATEMENT_BYTES_MAX};
use salver_model::{Code, Error};

use crate::cli::PromptArguments;
use crate::data_dir::DataDir;
use crate::failure::CommandFailure;
use crate::settings::Need;
use crate::{logging, output, secrets, settings, wiring};
use dot_command::DotCommand;
use input::{Input, Line};
use session::{Next, Session};
use statements::{Statement, Statements};

/// Runs until the input ends, or `.quit`. At a prompt errors are told; else the first one ends it.
pub(crate) fn run(arguments: &PromptArguments) -> Result<(), CommandFailure> {
    let mut checked = settings::load(&arguments.sources, Vec::new(), Need::WhatIsNamed)?;
    if checked.datasets.iter().any(|spec| spec.sources.iter().any(|source| source == "-")) {
        let error = Error::new(Code::Config, "standard input has the statements, and can't be an entry");
        return Err(CommandFailure::Usage(error.with_hint("name a file, or use `salver query`")));
    }
    checked.limits.query_ms_max = COMMAND_QUERY_MS_MAX;
    checked.limits.queue_ms_max = COMMAND_QUERY_MS_MAX;
    checked.limits.rows_max = 0;
    // Loads are not of interest.
    if checked.server.log == "info" {
        checked.server.log = "warn".to_owned();
    }
    logging::start(&checked.server, secrets::secrets(&checked));
    let data_dir = DataDir::open(checked.server.data_dir.as_deref())?;
    let engine = wiring::engine(&checked, data_dir.path())?;
    let runtime = wiring::runtime(checked.server.threads)?;
    let is_prompt = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut session = Session::begin(arguments, (checked, engine), runtime, is_prompt)?;
    let mut input = if is_prompt { Input::prompt(session.completion())? } else { Input::piped() };
    let done = answer(&mut session, &mut input);
    session.end();
    done
}

/// Reads and answers until the end.
fn answer(session: &mut Session, input: &mut Input) -> Result<(), CommandFailure> {
    let mut statements = Statements::new();
    // Whether a statement began with a space, as what should not be remembered does in shells.
    let mut is_forgotten = false;
    loop {
        match input.line(statements.is_empty())? {
            Line::Text(line) if statements.is_empty() && line.trim_start().starts_with('.') => {
                input.remember(line.trim_end());
                let done = DotCommand::read(&line).map_err(Into::into).and_then(|command| session.command(&command));
                if told(done, input)? == Next::Leave {
                    return Ok(());
                }
                statements.skip_line();
            }
            Line::Text(line) => {
                if statements.is_empty() {
                    is_forgotten = line.starts_with(' ');
                }
                statements.push(&line);
                while let Some(statement) = statements.next() {
                    if !is_forgotten {
                        input.remember(&statement.with_end());
                    }
                    told(
                        session.statement(&statement.text).map_err(|failure| placed(failure, &statement, input)),
                        input,
                    )?;
                }
                if statements.waiting_bytes() > PROMPT_STATEMENT_BYTES_MAX {
                    statements.clear();
                    let message = format!("a statement has more than {PROMPT_STATEMENT_BYTES_MAX} bytes");
                    let error = Error::new(Code::InvalidSql, message).with_hint("end it with `;`");
                    told(Err(error.into()), input)?;
                }
            }
            Line::Interrupted => statements.clear(),
            Line::End if input.is_prompt() => return Ok(()),
            Line::End => {
                let Some(statement) = statements.last() else { return Ok(()) };
                return session
                    .statement(&statement.text)
                    .map_err(|failure| placed(failure, &statement, input))
                    .map(drop);
            }
        }
    }
}

/// Writes an error of a statement with its place. What is left to do is what was told already.
fn placed(failure: CommandFailure, statement: &Statement, input: &Input) -> CommandFailure {
    let CommandFailure::Error(error) = failure else { return failure };
    let place = if input.is_prompt() { String::new() } else { format!("statement of line {}: ", statement.line) };
    output::note(&format!("error: {place}{}", caret::shown(&error, &statement.text)));
    CommandFailure::Told
}

/// At a prompt, tells of a failure and goes on.
fn told(done: Result<Next, CommandFailure>, input: &Input) -> Result<Next, CommandFailure> {
    match done {
        Err(CommandFailure::Closed | CommandFailure::Told) if input.is_prompt() => Ok(Next::GoOn),
        Err(failure) if input.is_prompt() => {
            output::failure(&failure);
            Ok(Next::GoOn)
        }
        other => other,
    }
}
