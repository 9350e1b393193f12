//! A file that is served for the length of a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use salver_functions::{FunctionFile, Program};
use salver_model::functions::{Answer, AnswerBody, Call, Language};
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use salver_model::{Name, Result};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// How long anything that must happen may take, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A file, and the task that keeps it. Dropped, the task ends.
pub(crate) struct Served {
    pub(crate) file: Arc<FunctionFile>,
    keeper: JoinHandle<()>,
    directory: TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl Served {
    /// Serves Python functions.
    pub(crate) async fn python(text: &str) -> Self {
        Self::python_with(text, |_| {}).await
    }

    /// The same, with settings.
    pub(crate) async fn python_with(text: &str, set: impl FnOnce(&mut FunctionSpec)) -> Self {
        let served = Self::start(Language::Python, text, set);
        served.loaded(1).await;
        served
    }

    /// Serves R functions.
    pub(crate) async fn r_with(text: &str, set: impl FnOnce(&mut FunctionSpec)) -> Self {
        let served = Self::start(Language::R, text, set);
        served.loaded(1).await;
        served
    }

    /// Begins to serve a file, whatever becomes of it.
    pub(crate) fn start(language: Language, text: &str, set: impl FnOnce(&mut FunctionSpec)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(match language {
            Language::R => "file.R",
            Language::Python => "file.py",
        });
        fs::write(&path, text).unwrap();
        let mut spec = FunctionSpec::new(Name::new("file").unwrap(), path, language);
        spec.workers_max = 2;
        set(&mut spec);
        let program = match language {
            Language::R => Program::new(r_host(), Vec::new()),
            Language::Python => Program::python(spec.interpreter.as_deref().unwrap_or_else(|| Path::new("python3"))),
        };
        let file = FunctionFile::open(spec, program).unwrap();
        let keeper = tokio::spawn(Arc::clone(&file).keep());
        Self { file, keeper, directory }
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.spec().file.clone()
    }

    /// Where a test may leave other files.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Waits until the file was loaded so many times.
    pub(crate) async fn loaded(&self, times: u64) {
        let what = || format!("{times} loads; fault: {:?}", self.file.fault());
        until_some(what, || (self.file.workers().loads >= times).then_some(())).await;
    }

    /// Calls a function.
    pub(crate) async fn call(&self, function: &str, arguments: &str) -> Result<Answer> {
        self.call_with(function, arguments, Bytes::new()).await
    }

    /// Calls a function with a body.
    pub(crate) async fn call_with(&self, function: &str, arguments: &str, body: Bytes) -> Result<Answer> {
        let call = call(&self.file, function, arguments)?;
        self.file.call(Call { body, ..call }).await
    }

    /// The text that a function answers.
    pub(crate) async fn text(&self, function: &str, arguments: &str) -> Result<String> {
        self.call(function, arguments).await.map(text_of)
    }

    /// The process group of its zygote, which is that of all its processes: found through a function `pid`.
    pub(crate) async fn group(&self) -> u32 {
        let pid = self.text("pid", "{}").await.unwrap().parse().unwrap();
        stat(pid).expect("a worker that has just answered").group
    }
}

/// A call of a function as the doors make it.
pub(crate) fn call(file: &Arc<FunctionFile>, function: &str, arguments: &str) -> Result<Call> {
    let interface = file.interface()?;
    let endpoint = interface.endpoints.iter().position(|endpoint| endpoint.function == function);
    Ok(Call {
        endpoint: Some(endpoint.unwrap_or_else(|| panic!("no function {function}"))),
        interface: Some(interface),
        method: "POST".to_owned(),
        path: format!("/api/functions/file/{function}"),
        arguments: Bytes::copy_from_slice(arguments.as_bytes()),
        ..Call::default()
    })
}

/// The text of an answer that is whole.
pub(crate) fn text_of(answer: Answer) -> String {
    match answer.body {
        AnswerBody::Whole(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("{other:?} in place of a text"),
    }
}

/// The host of R, which Cargo builds with the tests.
fn r_host() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let examples = tests.parent().and_then(Path::parent).unwrap().join("examples/r_host");
    assert!(examples.exists(), "{} is not there", examples.display());
    examples
}

/// Looks again and again until something is true.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    until_some(|| what.to_owned(), || is_so().then_some(())).await;
}

/// Looks again and again until there is something.
pub(crate) async fn until_some<T>(what: impl Fn() -> String, mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "never: {}", what());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What the kernel says of a process.
pub(crate) struct Stat {
    pub(crate) parent: u32,
    pub(crate) group: u32,
    /// Dead, and not yet waited for.
    pub(crate) is_zombie: bool,
}

/// What the kernel says of process `pid`, if there is one.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may have anything in it.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    let is_zombie = fields.next()? == "Z";
    Some(Stat { parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()?, is_zombie })
}

/// The living processes of a group.
pub(crate) fn members(group: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| stat(*pid).is_some_and(|stat| stat.group == group && !stat.is_zombie)).collect()
}

/// Kills a process as an operator would.
pub(crate) fn kill_9(pid: u32) {
    signal("KILL", pid);
}

/// Sends a signal to a process as an operator would.
pub(crate) fn signal(name: &str, pid: u32) {
    let command = format!("kill -{name} {pid} 2>&-");
    std::process::Command::new("sh").args(["-c", &command]).status().unwrap();
}
