//! `salver config`: prints settings.

use crate::cli::{ConfigArguments, ConfigCommand};
use crate::failure::CommandFailure;
use crate::{output, settings};

/// Prints the requested settings.
pub(crate) fn run(arguments: &ConfigArguments) -> Result<(), CommandFailure> {
    match &arguments.what {
        ConfigCommand::Example => output::out(&salver_config::example()),
        ConfigCommand::Show(sources) => {
            let sources = settings::sources(sources)?;
            let (checked, warnings) = salver_config::load(&sources).map_err(CommandFailure::Mistakes)?;
            output::warnings(&warnings);
            output::out(&salver_config::show(&checked))
        }
    }
}
