//! The command line: what can be typed. What it means stands in the file of each command.

#[cfg(feature = "ballista")]
mod cluster;

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

#[cfg(feature = "ballista")]
pub(crate) use cluster::{ExecutorArguments, SchedulerArguments};

/// Serve data files as a fast, safe API: REST, SQL and GraphQL, with no code to write.
#[derive(Debug, Parser)]
#[command(name = "salver", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Try: salver serve DIRECTORY, then open the address it prints.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve files over HTTP.
    Serve(ServeArguments),
    /// Answer one SQL query without a server.
    Query(QueryArguments),
    /// Answer SQL at a prompt, or the statements on standard input, without a server.
    Sql(PromptArguments),
    /// Send the events of files into a stream of a running server.
    Ingest(IngestArguments),
    /// Write all rows of an entry of a running server to a file, in parallel and from where it was interrupted.
    Export(ExportArguments),
    /// Say every mistake in the settings, and try every source.
    Check(CheckArguments),
    /// Show settings: all there are, or those in force.
    Config(ConfigArguments),
    /// Say who may do what, and by which rule.
    Access(AccessArguments),
    /// Make keys of callers.
    Key(KeyArguments),
    /// Run the scheduler of a cluster, to which servers send large SQL statements.
    #[cfg(feature = "ballista")]
    Scheduler(SchedulerArguments),
    /// Run an executor of a cluster, which does the work of its scheduler.
    #[cfg(feature = "ballista")]
    Executor(ExecutorArguments),
    /// Print the completions of a shell.
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands into a directory.
    Man {
        /// The directory, which must be there.
        directory: Option<PathBuf>,
    },
    /// Run a file of R for a server that started this.
    #[cfg(feature = "functions")]
    #[command(name = crate::functions::R_HOST, hide = true)]
    RHost {
        /// What the server says: the file and a socket.
        arguments: Vec<std::ffi::OsString>,
    },
}

/// `salver key`
#[derive(Args, Debug)]
pub(crate) struct KeyArguments {
    #[command(subcommand)]
    pub(crate) what: KeyCommand,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make an API key: print it once, with the hash of it for the settings.
    New(NewKeyArguments),
    /// Make a password of a user: print it once, with the verifier of it for the settings.
    Password(NewPasswordArguments),
}

/// `salver key password`
#[derive(Args, Debug)]
pub(crate) struct NewPasswordArguments {
    /// The name of the user.
    pub(crate) name: String,

    /// Take the first line of the standard input for the password, and print the verifier alone.
    #[arg(long)]
    pub(crate) stdin: bool,
}

/// `salver key new`
#[derive(Args, Debug)]
pub(crate) struct NewKeyArguments {
    /// The name of the caller who gets the key; rules see it as `caller.user`.
    pub(crate) name: String,

    /// When the key ends: a date, a moment, or a time from now like `90d`.
    #[arg(long, value_name = "DATE | TIME")]
    pub(crate) expires: Option<String>,

    /// A file of keys (`auth.api_keys_file`) to add the hash to; it is made if it is not there.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// `salver access`
#[derive(Args, Debug)]
pub(crate) struct AccessArguments {
    #[command(subcommand)]
    pub(crate) what: AccessCommand,
}

/// What to say of access.
#[derive(Debug, Subcommand)]
pub(crate) enum AccessCommand {
    /// Say what a caller may do with each entry, and by which [[access]].
    Explain(ExplainArguments),
}

/// `salver access explain`
#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    /// The caller: an identity like `api_key:reporting`, or NAME=VALUE for an attribute, like `address=192.0.2.7`.
    /// Without it, one of whom nothing is known.
    #[arg(long = "as", value_name = "CALLER | NAME=VALUE")]
    pub(crate) attributes: Vec<String>,

    /// The only entry to tell of; a table of a database is DATABASE.TABLE.
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,

    #[command(flatten)]
    pub(crate) sources: SourceArguments,
}

/// Where entries and settings come from.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SourceArguments {
    /// A directory (every supported file in it becomes an entry), a file, or NAME=URI[,key=value]...
    #[arg(value_name = "PATH | NAME=URI")]
    pub(crate) targets: Vec<String>,

    #[command(flatten)]
    pub(crate) settings: SettingArguments,
}

/// Settings that are given by options.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SettingArguments {
    /// The configuration file; without it, `salver.toml` of the directory that is served.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// One more entry, with options as in `[[dataset]]`: NAME=URI[,key=value]...
    #[arg(long = "table", value_name = "NAME=URI")]
    pub(crate) tables: Vec<String>,

    /// Where converted files and spilled queries are kept.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<String>,

    /// What is logged: off, error, warn, info, debug or trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
}

/// `salver serve`
#[derive(Args, Debug)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,

    /// Address and port to listen on (port 0 takes a free one), `unix:PATH` for a Unix socket, or `systemd`.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,

    /// Let everybody in where others than this machine can reach the server, without [auth], [[access]] or a firewall.
    #[arg(long)]
    pub(crate) insecure: bool,

    /// Let callers with `administer` save and remove named queries, as files in `server.queries`.
    #[arg(long)]
    pub(crate) edit: bool,

    /// End with a message, instead of waiting, where another server has the data directory.
    #[arg(long)]
    pub(crate) no_wait: bool,

    /// Open the page in a browser.
    #[arg(long)]
    pub(crate) open: bool,
}

/// `salver query`
#[derive(Args, Debug)]
pub(crate) struct QueryArguments {
    /// The statement, or `-` to read it from standard input.
    pub(crate) sql: String,

    #[command(flatten)]
    pub(crate) sources: SourceArguments,

    /// Format of the rows; without it, that of the suffix of `--output`, else `table`.
    #[arg(long, short, value_enum)]
    pub(crate) format: Option<OutputFormat>,

    /// Write to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// A value for the next placeholder ($1, $2, ...), or NAME=VALUE for $NAME.
    #[arg(long = "param", short, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) parameters: Vec<String>,
}

/// `salver sql`
#[derive(Args, Debug)]
pub(crate) struct PromptArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,

    /// How rows are shown; `.mode` changes it.
    #[arg(long, short, value_enum, default_value_t = PromptFormat::Table)]
    pub(crate) format: PromptFormat,

    /// Show long results at once, and not in a pager (`$PAGER`, or less).
    #[arg(long)]
    pub(crate) no_pager: bool,
}

/// Formats of `salver sql`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptFormat {
    /// An aligned table, for people.
    Table,
    /// Comma-separated values.
    Csv,
    /// One JSON array of objects.
    Json,
}

/// Formats of `salver query`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// An aligned table, for people.
    Table,
    /// One JSON array of objects.
    Json,
    /// One JSON object a line.
    Ndjson,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Arrow IPC stream.
    Arrows,
    /// Arrow IPC file.
    Arrow,
    /// Parquet.
    Parquet,
    /// A workbook of spreadsheet programs.
    Xlsx,
    /// An HTML page with a table.
    Html,
}

/// `salver ingest`
#[derive(Args, Debug)]
pub(crate) struct IngestArguments {
    /// The stream.
    pub(crate) stream: String,

    /// Files of events: one a line, one after the other, or in an array, or the records of CSV and TSV; `.gz` and
    /// `.zst` are unpacked. `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,

    /// The server.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub(crate) url: String,

    /// What must hold before a batch counts as sent.
    #[arg(long, value_enum, default_value_t = AckWord::Disk)]
    pub(crate) ack: AckWord,

    /// About how many bytes of events one request carries.
    #[arg(long, value_name = "BYTES", default_value_t = 1024 * 1024,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=16 * 1024 * 1024))]
    pub(crate) batch_bytes: usize,

    /// Send several batches at a time; events may come in another order than in the file.
    #[arg(long)]
    pub(crate) unordered: bool,

    #[command(flatten)]
    pub(crate) work: LongWork,
}

/// What is said of work on a server that takes a while and may be interrupted.
#[derive(Args, Debug)]
pub(crate) struct LongWork {
    /// Begin anew, even if an earlier run was interrupted.
    #[arg(long)]
    pub(crate) restart: bool,

    /// How long a request is tried again while the server is busy or away, in seconds; no single try takes longer, or
    /// than ten seconds where that is more.
    #[arg(long = "patience", value_name = "SECONDS", default_value_t = 300)]
    pub(crate) patience_s: u64,

    /// A header of each request, as in `Authorization: Bearer ...`.
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,

    /// A file of certificates (PEM) to trust, instead of the public authorities: for a server that has one of its own.
    #[arg(long = "cacert", value_name = "FILE")]
    pub(crate) trusted: Option<PathBuf>,
}

/// What an append waits for, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AckWord {
    /// Nothing: the events are in the server's memory.
    Memory,
    /// The events are on the server's disk.
    Disk,
    /// The events are in Kafka.
    Broker,
}

impl AckWord {
    /// As requests say it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Broker => "broker",
        }
    }
}

/// `salver export`
#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// The entry: a name, or an address as in `http://127.0.0.1:8080/NAME`.
    #[arg(value_name = "[URL/]NAME")]
    pub(crate) entry: String,

    /// The file to write; without it, standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Format of the rows; without it, that of the suffix of `--output`, else `ndjson`.
    #[arg(long, short, value_enum)]
    pub(crate) format: Option<ExportFormat>,

    /// The columns, in this order; without it, all.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,

    /// How many parts of the rows are fetched at the same time.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..=64))]
    pub(crate) streams: Option<u64>,

    /// Most rows of one request; about 8 MB are fetched at a time in any case.
    #[arg(long, value_name = "N", default_value_t = 10_000_000,
        value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub(crate) batch_rows: u64,

    /// The server of a NAME.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub(crate) url: String,

    #[command(flatten)]
    pub(crate) work: LongWork,
}

/// Formats of `salver export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object a line.
    Ndjson,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Arrow IPC stream.
    Arrows,
    /// Arrow IPC file.
    Arrow,
    /// Parquet.
    Parquet,
    /// A workbook of spreadsheet programs.
    Xlsx,
}

/// `salver check`
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,

    /// Check the settings only; open no source.
    #[arg(long)]
    pub(crate) no_sources: bool,

    /// Where the server is to listen, as for `salver serve`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Check the settings for `salver serve --insecure`, which lets everybody in.
    #[arg(long)]
    pub(crate) insecure: bool,
}

/// `salver config`
#[derive(Args, Debug)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) what: ConfigCommand,
}

/// What to show of settings.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Every setting with its help, as a file to start from.
    Example,
    /// The settings in force, as a file that reads back to the same.
    Show(SourceArguments),
}

/// The completions of a shell, as a script.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut <Cli as clap::CommandFactory>::command(), "salver", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
