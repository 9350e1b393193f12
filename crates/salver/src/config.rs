//! `salver config`: settings, written out.

use crate::cli::{ConfigArguments, ConfigCommand};
use crate::failure::Failure;
use crate::{output, settings};

/// Prints what was asked for.
pub(crate) fn run(arguments: &ConfigArguments) -> Result<(), Failure> {
    match &arguments.what {
        ConfigCommand::Example => output::out(&salver_config::example()),
        ConfigCommand::Show(sources) => {
            let sources = settings::sources(sources)?;
            let (checked, warnings) = salver_config::load(&sources).map_err(Failure::Mistakes)?;
            output::warnings(&warnings);
            output::out(&salver_config::show(&checked))
        }
    }
}
