//! Specification of a file of user code, validated from the settings.

use std::path::PathBuf;
use std::time::Duration;

use crate::functions::Language;
use crate::name::Name;

use super::SandboxSpec;

/// Function of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPath {
    /// Name of the file.
    pub file: String,
    /// Name of the function.
    pub function: String,
}

impl FunctionPath {
    /// Parses `FILE/FUNCTION`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (file, function) = text.split_once('/')?;
        let is_whole = !file.is_empty() && !function.is_empty() && !function.contains('/');
        is_whole.then(|| Self { file: file.to_owned(), function: function.to_owned() })
    }
}

impl std::fmt::Display for FunctionPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.file, self.function)
    }
}

/// Declaration of a file of functions.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSpec {
    /// Name of the file: `fib` for `functions/fib.R`.
    pub name: Name,
    /// Path of the file.
    pub file: PathBuf,
    /// Language of the file.
    pub language: Language,
    /// Interpreter (`python3`, `R`); `None` to find it in the search path.
    pub interpreter: Option<PathBuf>,
    /// Mount point of its routes, without a trailing slash; empty for the root.
    pub path: String,
    /// Minimum and maximum number of worker processes.
    pub workers_min: usize,
    /// See `workers_min`.
    pub workers_max: usize,
    /// Maximum number of calls that wait for a worker.
    pub waiting_max: usize,
    /// Longest wait for a worker.
    pub wait: Duration,
    /// Timeout of a call; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Maximum number of workers used by jobs.
    pub job_workers: usize,
    /// Timeout of a job; `None` for no limit.
    pub job_timeout: Option<Duration>,
    /// Maximum memory of a process, in bytes, beyond its size when the file was loaded; `None` for no limit.
    pub memory_bytes_max: Option<u64>,
    /// Number of calls after which a process is replaced; `None` for never.
    pub calls_max: Option<u64>,
    /// Additional environment variables of the processes.
    pub environment: Vec<(String, String)>,
    /// Variables inherited from the server's own environment beside those that every program needs, with `*`.
    pub inherited: Vec<String>,
    /// How far the processes are kept from the machine.
    pub sandbox: SandboxSpec,
}

impl FunctionSpec {
    /// Creates a file with default settings.
    #[must_use]
    pub fn new(name: Name, file: PathBuf, language: Language) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let workers_max = processors.max(2);
        Self {
            name,
            file,
            language,
            interpreter: None,
            path: String::new(),
            workers_min: 1,
            workers_max,
            waiting_max: 1_024,
            wait: Duration::from_secs(10),
            timeout: Some(Duration::from_secs(30)),
            job_workers: Self::job_workers_of(workers_max),
            job_timeout: Some(Duration::from_secs(60 * 60)),
            memory_bytes_max: Some(2 * 1024 * 1024 * 1024),
            calls_max: None,
            environment: Vec::new(),
            inherited: Vec::new(),
            sandbox: SandboxSpec::default(),
        }
    }

    /// Returns the default number of workers that jobs may use: all but one, which stays free for other calls.
    #[must_use]
    pub fn job_workers_of(workers_max: usize) -> usize {
        workers_max.saturating_sub(1).max(1)
    }
}
