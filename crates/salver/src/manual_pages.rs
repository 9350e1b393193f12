//! `salver man`: the manual pages of the commands, made from the command line itself.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use salver_model::{Code, Error};

use crate::cli::Cli;
use crate::failure::CommandFailure;
use crate::output;

/// Prints the page of the program, or writes those of all commands into `directory`.
pub(crate) fn run(directory: Option<&Path>) -> Result<(), CommandFailure> {
    match directory {
        None => output::out(&page()?),
        Some(directory) => Ok(write_all(directory)?),
    }
}

/// The command line, without the command `help`, of which there would be a page, too.
fn command() -> Command {
    Cli::command().disable_help_subcommand(true)
}

/// Returns the page of the program as a text of `roff`.
fn page() -> Result<String, Error> {
    let mut page = Vec::new();
    let made = Man::new(command()).render(&mut page);
    made.map_err(|error| Error::internal("the manual page can't be made").with_source(error))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Writes `salver.1`, `salver-serve.1` and so on.
fn write_all(directory: &Path) -> Result<(), Error> {
    clap_mangen::generate_to(command(), directory).map_err(|error| {
        let message = format!("can't write the manual pages into `{}`: {error}", directory.display());
        Error::new(Code::Config, message).with_hint("name a directory that is there and that you may write to")
    })
}
