//! The commands of the processes of a cluster.

use std::path::PathBuf;

use clap::Args;

/// `salver scheduler`
#[derive(Args, Debug)]
pub(crate) struct SchedulerArguments {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:50050")]
    pub(crate) listen: String,

    /// The host by which executors find the scheduler, if not by the address that it listens on.
    #[arg(long, value_name = "HOST")]
    pub(crate) advertise: Option<String>,

    /// Listen where others than this machine can reach it: whoever does can run anything there.
    #[arg(long)]
    pub(crate) insecure: bool,

    /// What is logged: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
}

/// `salver executor`
#[derive(Args, Debug)]
pub(crate) struct ExecutorArguments {
    /// The scheduler.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) scheduler: String,

    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,

    /// The host by which others find the executor, if not by the address that the scheduler sees.
    #[arg(long, value_name = "HOST")]
    pub(crate) advertise: Option<String>,

    /// Listen where others than this machine can reach it: whoever does can run anything there.
    #[arg(long)]
    pub(crate) insecure: bool,

    /// Where the rows between stages and spilled rows are kept; without it, a directory of its own.
    #[arg(long, value_name = "DIR")]
    pub(crate) work_dir: Option<PathBuf>,

    /// Memory for queries, like 8GiB; without it, seven tenths of the machine's.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) memory: Option<u64>,

    /// Tasks that run at once; without it, as many as there are cores.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,

    /// What is logged: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
}

/// Reads a size as settings have it.
fn bytes(text: &str) -> Result<u64, String> {
    salver_config::bytes(text).ok_or_else(|| "it is not a size like 8GiB".to_owned())
}
