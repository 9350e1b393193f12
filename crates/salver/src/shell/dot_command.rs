//! What can be asked of the prompt besides SQL.

use salver_model::{Code, Error, Result, suggest};

use crate::cli::PromptFormat;

/// What the commands do.
pub(super) const HELP: &str = "\
SQL ends with `;` and may have several lines. Besides there are:
  .help                   this text
  .tables                 the entries there are, with their rows
  .schema NAME            the columns of an entry, or of all
  .mode table|csv|json    how rows are shown
  .timing on|off          whether the time of each statement is told
  .quit                   leave, as Ctrl-D does
Ctrl-C stops a statement. Statements that begin with a space are not remembered.
";

const NAMES: [&str; 7] = [".help", ".tables", ".schema", ".mode", ".timing", ".quit", ".exit"];

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DotCommand {
    Help,
    Tables,
    Schema(Option<String>),
    Mode(PromptFormat),
    Timing(bool),
    Quit,
}

impl DotCommand {
    /// Reads a line that begins with a point; a `;` at its end is not needed.
    pub(super) fn read(line: &str) -> Result<Self> {
        let line = line.trim().trim_end_matches(';').trim_end();
        let (name, word) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let word = word.trim();
        let takes = |hint: &str| {
            let message = format!("`{name}` does not take `{word}`");
            Error::new(Code::InvalidRequest, message).with_hint(format!("write `{hint}`"))
        };
        match (name, word) {
            (".help", "") => Ok(Self::Help),
            (".tables", "") => Ok(Self::Tables),
            (".schema", "") => Ok(Self::Schema(None)),
            (".schema", name) => Ok(Self::Schema(Some(name.trim_matches('"').to_owned()))),
            (".mode", "table") => Ok(Self::Mode(PromptFormat::Table)),
            (".mode", "csv") => Ok(Self::Mode(PromptFormat::Csv)),
            (".mode", "json") => Ok(Self::Mode(PromptFormat::Json)),
            (".timing", "on") => Ok(Self::Timing(true)),
            (".timing", "off") => Ok(Self::Timing(false)),
            (".quit" | ".exit", "") => Ok(Self::Quit),
            (".mode", _) => Err(takes(".mode table`, `.mode csv` or `.mode json")),
            (".timing", _) => Err(takes(".timing on` or `.timing off")),
            (known, _) if NAMES.contains(&known) => Err(takes(known)),
            _ => Err(Error::new(Code::InvalidRequest, format!("there is no command `{name}`"))
                .with_hint_if(suggest::hint(name, NAMES))),
        }
    }

    /// Returns what a command can begin with.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::{DotCommand, PromptFormat};

    #[test]
    fn commands() {
        for (line, expected) in [
            (".help", DotCommand::Help),
            (" .tables ; ", DotCommand::Tables),
            (".schema", DotCommand::Schema(None)),
            (".schema \"my table\"", DotCommand::Schema(Some("my table".to_owned()))),
            (".mode\tcsv", DotCommand::Mode(PromptFormat::Csv)),
            (".timing off", DotCommand::Timing(false)),
            (".exit", DotCommand::Quit),
        ] {
            assert_eq!(DotCommand::read(line).unwrap(), expected, "{line}");
        }
        for (line, said) in [(".mode xml", "`.mode table`"), (".help me", "`.help`"), (".tabels", "`.tables`")] {
            let error = DotCommand::read(line).unwrap_err();
            assert!(error.hint.as_deref().unwrap_or_default().contains(said), "{line}: {error:?}");
        }
    }
}
