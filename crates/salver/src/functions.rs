//! The files of functions of the configuration: opened at the start, and loaded concurrently with everything else.

#[cfg(feature = "functions")]
mod host;
#[cfg(not(feature = "functions"))]
mod without_host;

use std::time::Duration;

use salver_model::secrecy::masked;
use salver_service::FunctionFile;
use tokio::time::{Instant, sleep};

#[cfg(feature = "functions")]
pub(crate) use host::{R_HOST, discover, open, run_r};
#[cfg(not(feature = "functions"))]
pub(crate) use without_host::{discover, open};

/// Interval at which loading is polled.
const LOOK: Duration = Duration::from_millis(20);

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
