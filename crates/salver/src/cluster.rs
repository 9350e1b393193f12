//! `salver scheduler` and `salver executor`: the processes of a cluster, which must be of the same build as the servers
//! that send it statements.

mod library_log;

use std::net::SocketAddr;

use salver_datasets::{ExecutorOptions, SchedulerOptions, run_executor, run_scheduler};
use salver_model::Error;

use crate::cli::{ExecutorArguments, SchedulerArguments, SourceArguments};
use crate::failure::CommandFailure;
use crate::{logging, output, settings, signals, wiring};

/// Runs a scheduler until it is asked to end.
pub(crate) fn scheduler(arguments: &SchedulerArguments) -> Result<(), CommandFailure> {
    let options = SchedulerOptions {
        listen: arguments.listen.clone(),
        advertise: arguments.advertise.clone(),
        insecure: arguments.insecure,
    };
    start_log(arguments.log.as_deref())?;
    wiring::runtime(0)?.block_on(async {
        let asked_to_end = signals::asked_to_end().map_err(no_signals)?;
        run_scheduler(&options, |own| tell(own, "scheduler"), asked_to_end).await.map_err(Into::into)
    })
}

/// Runs an executor until it is asked to end.
pub(crate) fn executor(arguments: &ExecutorArguments) -> Result<(), CommandFailure> {
    let options = ExecutorOptions {
        scheduler: arguments.scheduler.clone(),
        listen: arguments.listen.clone(),
        advertise: arguments.advertise.clone(),
        insecure: arguments.insecure,
        work_dir: arguments.work_dir.clone(),
        memory_bytes_max: arguments.memory.unwrap_or(0),
        threads: arguments.threads,
    };
    start_log(arguments.log.as_deref())?;
    let runtime = wiring::runtime(0)?;
    let done = runtime.block_on(async {
        let asked_to_end = signals::asked_to_end().map_err(no_signals)?;
        run_executor(&options, |own| tell(own, "executor"), asked_to_end).await.map_err(CommandFailure::from)
    });
    runtime.shutdown_background();
    done
}

/// Starts the log, as the variables of a server say, and this option.
fn start_log(level: Option<&str>) -> Result<(), CommandFailure> {
    let mut sources = settings::sources(&SourceArguments::default())?;
    sources.file = None;
    sources.overrides.extend(settings::given("server.log", "log", level));
    let (checked, _) = salver_config::load(&sources).map_err(CommandFailure::Mistakes)?;
    logging::start(&checked.server, Vec::new());
    library_log::forward();
    Ok(())
}

fn tell(own: SocketAddr, what: &str) {
    let told = format!("salver {}\n{what} listening on {own}\n", env!("CARGO_PKG_VERSION"));
    // Standard output may be closed; the process continues.
    let _ = output::out(&told);
}

fn no_signals(error: std::io::Error) -> CommandFailure {
    CommandFailure::Error(Error::internal("can't wait for signals").with_source(error))
}
