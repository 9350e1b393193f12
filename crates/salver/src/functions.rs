//! The files of functions of the configuration: opened at the start, and loaded concurrently with everything else.

#[cfg(feature = "functions")]
mod host;
#[cfg(not(feature = "functions"))]
mod without_host;

use std::sync::{Arc, Weak};
use std::time::Duration;

#[cfg(feature = "functions")]
use host::open_file;
use salver_model::ports::Functions;
use salver_model::secrecy::masked;
use salver_model::spec::FunctionSpec;
use salver_service::{FunctionFile, Service};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
#[cfg(not(feature = "functions"))]
use without_host::open_file;

#[cfg(feature = "functions")]
pub(crate) use host::{R_HOST, check, discover, run_r};
#[cfg(not(feature = "functions"))]
pub(crate) use without_host::{check, discover};

/// Interval at which loading is polled.
const LOOK: Duration = Duration::from_millis(20);

/// Time after which a file that is not served any more may end with its last call, whoever may still make one.
const LET_GO: Duration = Duration::from_secs(60);

/// A file of functions, with the task that keeps it loaded until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// How it was declared.
    pub(crate) declared: FunctionSpec,
    pub(crate) file: Arc<dyn Functions>,
    keeping: JoinHandle<()>,
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        self.keeping.abort();
    }
}

impl OpenFile {
    /// Waits until nothing calls the file any more, which only `users` may still call.
    pub(crate) async fn drained(&self, users: &[Weak<Service>]) {
        let began = Instant::now();
        loop {
            let workers = self.file.workers();
            let is_idle = workers.busy == 0 && workers.waiting == 0;
            let is_let_go = users.iter().all(|user| user.strong_count() == 0);
            if is_idle && (is_let_go || began.elapsed() > LET_GO) {
                return;
            }
            sleep(LOOK).await;
        }
    }
}

/// Opens the files of `specs`, and keeps them loaded. One that cannot be opened is logged and left out; the others are
/// served. Call it inside the runtime.
pub(crate) fn open<'s>(specs: impl IntoIterator<Item = &'s FunctionSpec>) -> Vec<OpenFile> {
    let open = |spec: &FunctionSpec| match open_file(spec) {
        Ok((file, keeping)) => Some(OpenFile { declared: spec.clone(), file, keeping }),
        Err(error) => {
            tracing::error!(name = %spec.name, error = %error.chain(), "functions are left out");
            None
        }
    };
    specs.into_iter().filter_map(open).collect()
}

/// Returns the files.
pub(crate) fn files(open: &[OpenFile]) -> Vec<Arc<dyn Functions>> {
    open.iter().map(|open| Arc::clone(&open.file)).collect()
}

/// Waits until every one of these is loaded or has failed, for at most `patience`.
pub(crate) async fn loaded(files: &[OpenFile], patience: Duration) {
    let deadline = Instant::now() + patience;
    let is_loading = |open: &OpenFile| open.file.interface().is_err() && open.file.fault().is_none();
    while files.iter().any(is_loading) && Instant::now() < deadline {
        sleep(LOOK).await;
    }
}

/// Waits until every file is loaded or has failed, for at most `patience`.
pub(crate) async fn settled(files: &[FunctionFile], patience: Duration) {
    let deadline = Instant::now() + patience;
    while files.iter().any(FunctionFile::is_loading) && Instant::now() < deadline {
        sleep(LOOK).await;
    }
}

/// Describes a file in one line: its functions, with the `url` of the full list, or the reason why it has none.
pub(crate) fn state(file: &FunctionFile, url: &str) -> String {
    let spec = file.spec();
    match file.interface() {
        Ok(interface) if interface.application => format!("application at {}/, {url}", spec.path),
        Ok(interface) => match interface.endpoints.len() {
            1 => format!("1 function, {url}"),
            count => format!("{count} functions, {url}"),
        },
        Err(_) if file.is_loading() => "is still being loaded".to_owned(),
        Err(error) => {
            let hint = error.hint.as_deref().map(|hint| format!("\n      hint: {hint}")).unwrap_or_default();
            masked(&format!("FAILED: {}{hint}", error.message)).into_owned()
        }
    }
}
