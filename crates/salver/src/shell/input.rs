//! Where lines come from: a terminal, where they are edited, or standard input.

use std::io::{self, BufRead, BufReader, Read};

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{CompletionType, Config, Editor};
use salver_model::limits::{HISTORY_STATEMENTS_MAX, PROMPT_STATEMENT_BYTES_MAX};
use salver_model::{Code, Error};

use super::completion::Completion;
use super::history::{self, History};
use crate::failure::CommandFailure;

const FIRST: &str = "salver> ";
const FURTHER: &str = "   ...> ";

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    /// What was typed is not meant.
    Interrupted,
    End,
}

/// The source of lines.
pub(super) enum Input {
    Prompt {
        editor: Box<Editor<Completion, MemHistory>>,
        history: History,
    },
    Piped {
        lines: BufReader<io::Stdin>,
        /// Whether a line was read: before the first there may be a byte order mark.
        has_begun: bool,
    },
}

impl Input {
    /// Opens the terminal, with the statements of earlier prompts.
    pub(super) fn prompt(completion: Completion) -> Result<Self, CommandFailure> {
        let config = Config::builder().completion_type(CompletionType::List).max_history_size(HISTORY_STATEMENTS_MAX);
        let config = config.map_err(broken)?.history_ignore_space(true).build();
        let memory = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, memory).map_err(broken)?;
        editor.set_helper(Some(completion));
        let history = History::of_user();
        for statement in history.read() {
            let _ = editor.add_history_entry(statement);
        }
        Ok(Self::Prompt { editor: Box::new(editor), history })
    }

    pub(super) fn piped() -> Self {
        Self::Piped { lines: BufReader::new(io::stdin()), has_begun: false }
    }

    pub(super) fn is_prompt(&self) -> bool {
        matches!(self, Self::Prompt { .. })
    }

    /// Reads a line; `is_first` tells that no statement has begun.
    pub(super) fn line(&mut self, is_first: bool) -> Result<Line, CommandFailure> {
        match self {
            Self::Prompt { editor, .. } => match editor.readline(if is_first { FIRST } else { FURTHER }) {
                Ok(line) => Ok(Line::Text(line)),
                Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(error) => Err(broken(error)),
            },
            Self::Piped { lines, has_begun } => {
                let line = piped_line(lines)?;
                match line {
                    Line::Text(text) if !std::mem::replace(has_begun, true) => {
                        Ok(Line::Text(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
                    }
                    line => Ok(line),
                }
            }
        }
    }

    /// Remembers a statement, for this prompt and later ones.
    pub(super) fn remember(&mut self, statement: &str) {
        if let Self::Prompt { editor, history } = self
            && history::is_remembered(statement)
            && editor.add_history_entry(statement).unwrap_or(false)
        {
            history.add(statement);
        }
    }
}

fn piped_line(lines: &mut impl BufRead) -> Result<Line, CommandFailure> {
    let unreadable = |error: io::Error| Error::new(Code::InvalidSql, "standard input can't be read").with_source(error);
    let mut line = Vec::new();
    let most = PROMPT_STATEMENT_BYTES_MAX as u64 + 1;
    lines.take(most).read_until(b'\n', &mut line).map_err(unreadable)?;
    if line.is_empty() {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    match String::from_utf8(line) {
        Ok(line) => Ok(Line::Text(line)),
        Err(_) => Err(Error::new(Code::InvalidSql, "standard input is not text in UTF-8").into()),
    }
}

fn broken(error: ReadlineError) -> CommandFailure {
    Error::internal("the terminal can't be read").with_source(error).into()
}
