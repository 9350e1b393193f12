//! `salver`: serves data files as an API. This is the only place that names a concrete backend.

mod access;
mod allocator;
mod check;
mod cli;
mod client;
#[cfg(feature = "ballista")]
mod cluster;
mod config;
mod data_dir;
mod data_dir_lock;
mod data_format;
mod databases;
mod descriptors;
mod export;
mod exposure;
mod failure;
mod functions;
mod grouped_digits;
mod identity_provider;
mod ingest;
mod key;
mod key_set_source;
mod listening;
mod load_progress;
mod logging;
mod manual_pages;
mod memory_monitor;
mod named_queries;
mod output;
mod output_lock;
mod pace;
mod private_file;
mod progress_line;
mod query;
mod query_edits;
mod query_file;
mod reload;
mod result_table;
mod root_key;
mod screen;
mod secrets;
mod serve;
mod service_manager;
mod session_file;
mod sessions;
mod settings;
mod shell;
mod shown_rows;
mod signals;
mod socket_activation;
mod streams;
mod tls;
mod traces;
mod watch;
mod webhook_sender;
mod wire;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{AccessArguments, AccessCommand, Cli, Command, KeyArguments, KeyCommand};

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// Runs one command. Exit codes: 0 success, 1 failure, 2 wrong usage, which `clap` reports itself where it can.
fn main() -> ExitCode {
    // First, while the numbers of descriptors still say what they are.
    let activated = socket_activation::take();
    if std::env::args_os().nth(1).is_some_and(|command| command == "serve") {
        // At once, since one may come at any time. If it can't be done, a hang-up ends the server, as everywhere.
        let _ = signals::survive_first_hang_ups();
    }
    // Without it everything works as by default.
    let _ = signals::survive_file_limits();
    let done = match Cli::parse().command {
        Command::Serve(arguments) => {
            activated.map_err(Into::into).and_then(|activated| serve::run(arguments, activated))
        }
        Command::Query(arguments) => query::run(&arguments),
        Command::Sql(arguments) => shell::run(&arguments),
        Command::Ingest(arguments) => ingest::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Access(AccessArguments { what: AccessCommand::Explain(arguments) }) => access::explain(&arguments),
        Command::Key(KeyArguments { what: KeyCommand::New(arguments) }) => key::run(&arguments),
        Command::Key(KeyArguments { what: KeyCommand::Password(arguments) }) => key::password(&arguments),
        #[cfg(feature = "ballista")]
        Command::Scheduler(arguments) => cluster::scheduler(&arguments),
        #[cfg(feature = "ballista")]
        Command::Executor(arguments) => cluster::executor(&arguments),
        Command::Completions { shell } => output::out(&cli::completions(shell)),
        Command::Man { directory } => manual_pages::run(directory.as_deref()),
        #[cfg(feature = "functions")]
        Command::RHost { arguments } => return functions::run_r(arguments),
    };
    logging::flush();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::failure(&failure);
            failure.exit_code()
        }
    }
}
