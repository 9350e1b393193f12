//! What a file of user code is served with, as proved from the settings.

use std::path::PathBuf;
use std::time::Duration;

use crate::functions::Language;
use crate::name::Name;

/// Most workers of a file unless its settings say another number: the processors there are, and at least two.
pub const WORKERS_MIN: usize = 1;

/// One function of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPath {
    /// The file, by its name.
    pub file: String,
    /// The function.
    pub function: String,
}

impl FunctionPath {
    /// Reads `FILE/FUNCTION`.
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

/// How a file of functions is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSpec {
    /// Its name: `fib` of `functions/fib.R`.
    pub name: Name,
    /// The file.
    pub file: PathBuf,
    /// What it is written in.
    pub language: Language,
    /// The program that runs it (`python3`, `R`); `None` for what is found in the search path.
    pub interpreter: Option<PathBuf>,
    /// Where its routes are mounted, without a slash at the end; empty for the root.
    pub path: String,
    /// Processes kept ready, and most of them.
    pub workers_min: usize,
    /// See `workers_min`.
    pub workers_max: usize,
    /// Most calls that wait for a worker.
    pub waiting_max: usize,
    /// Longest wait for a worker.
    pub wait: Duration,
    /// Longest run of a call; `None` without a bound.
    pub timeout: Option<Duration>,
    /// Most workers that jobs may have at once.
    pub job_workers: usize,
    /// Longest run of a job; `None` without a bound.
    pub job_timeout: Option<Duration>,
    /// Most memory of a process, in bytes, over what it had when the file was loaded; `None` without a bound.
    pub memory_bytes_max: Option<u64>,
    /// A process is replaced after so many calls; `None` for never.
    pub calls_max: Option<u64>,
    /// Further environment variables of the processes.
    pub environment: Vec<(String, String)>,
    /// Which variables of the server's own environment they get beside those that every program needs, with `*`.
    pub inherited: Vec<String>,
}

impl FunctionSpec {
    /// A file with nothing else said.
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
            workers_min: WORKERS_MIN,
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
        }
    }

    /// How many of so many workers jobs may have, unless the settings say another number: all but one, which other
    /// calls find free of them.
    #[must_use]
    pub fn job_workers_of(workers_max: usize) -> usize {
        workers_max.saturating_sub(1).max(1)
    }
}
