//! `salver scheduler` and `salver executor`: the processes of a cluster, which must be of the same build as the servers
//! that send it statements.

mod library_log;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use salver_datasets::{ExecutorOptions, SchedulerOptions, run_executor, run_scheduler};
use salver_model::Error;

use crate::cli::SourceArguments;
use crate::failure::CommandFailure;
use crate::{logging, output, settings, signals, wiring};

/// `salver scheduler`
#[derive(Args, Debug)]
pub(crate) struct SchedulerArguments {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:50050")]
    listen: String,

    /// The host by which executors find the scheduler, if not by the address that it listens on.
    #[arg(long, value_name = "HOST")]
    advertise: Option<String>,

    /// Listen where others than this machine can reach it: whoever does can run anything there.
    #[arg(long)]
    insecure: bool,

    /// What is logged: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
}

/// `salver executor`
#[derive(Args, Debug)]
pub(crate) struct ExecutorArguments {
    /// The scheduler.
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: String,

    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    listen: String,

    /// The host by which others find the executor, if not by the address that the scheduler sees.
    #[arg(long, value_name = "HOST")]
    advertise: Option<String>,

    /// Listen where others than this machine can reach it: whoever does can run anything there.
    #[arg(long)]
    insecure: bool,

    /// Where the rows between stages and spilled rows are kept; without it, a directory of its own.
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,

    /// Memory for queries, like 8GiB; without it, seven tenths of the machine's.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<u64>,

    /// Tasks that run at once; without it, as many as there are cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,

    /// What is logged: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
}

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

/// Reads a size as settings have it.
fn bytes(text: &str) -> Result<u64, String> {
    salver_config::bytes(text).ok_or_else(|| "it is not a size like 8GiB".to_owned())
}
