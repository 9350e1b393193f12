//! The process that runs R: blocking, single-threaded.
//!
//! The program opens R's shared library when it runs (`library`), so that it links to nothing; evaluates the runtime
//! written in R (`start`) and the file; and is from then on the zygote of its workers (`zygote`, `worker`). Unsafe code
//! is in `library` (symbols), `session` and `value` (R's interface, made safe) and `process` (the operating system).

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod argument;
mod batch;
mod call;
mod combined_calls;
mod environment;
mod failure;
mod frame;
mod json;
mod library;
mod process;
mod query;
mod session;
mod start;
mod table;
mod value;
mod worker;
mod zygote;

use session::RSession;
use start::{Loaded, Runtime};
use zygote::Control;

/// Runs a file of R, as a hidden command of the program. The last two arguments are the file and the socket; standard
/// input is the control channel.
///
/// Must be called on the main thread, before any other thread is started.
#[must_use]
pub fn run_r(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments: Vec<_> = arguments.into_iter().collect();
    let (Some(socket), Some(file)) = (arguments.pop(), arguments.pop()) else {
        return ExitCode::from(2);
    };
    // This may re-execute the process, so it comes first.
    let socket = PathBuf::from(socket);
    let private = environment::private_directory().or_else(|| socket.parent().map(Path::to_owned));
    let private = private.as_deref().filter(|directory| is_private(directory));
    let home = environment::home(private);
    let Ok(mut control) = process::take_standard_input().and_then(Control::new) else {
        return ExitCode::FAILURE;
    };
    let loaded = match home {
        Ok(home) => load(&home, private, Path::new(&file)),
        Err(reason) => Err((b'N', reason)),
    };
    match loaded {
        Err((kind, reason)) => {
            // The server may be gone, too.
            let _ = control.say(kind, &reason);
            ExitCode::FAILURE
        }
        Ok((session, runtime, offer)) => match control.say(b'R', &offer) {
            Err(_) => ExitCode::FAILURE,
            Ok(()) => zygote::run(&session, runtime, control, &socket),
        },
    }
}

/// Returns whether no other user can access the directory.
fn is_private(directory: &Path) -> bool {
    directory.metadata().is_ok_and(|found| found.is_dir() && found.permissions().mode() & 0o077 == 0)
}

/// Starts R and loads the file. An error is the kind of its frame, with the reason.
fn load(home: &Path, private: Option<&Path>, file: &Path) -> Result<(RSession, Runtime, String), (u8, String)> {
    let failed = |reason: String| (b'X', reason);
    if !process::on_main_thread() {
        return Err(failed("R must run on the main thread".to_owned()));
    }
    let file = file.canonicalize().map_err(|error| failed(format!("{} can't be read: {error}", file.display())))?;
    let text = file.to_str().ok_or_else(|| failed(format!("the path {} is not UTF-8", file.display())))?;
    if let Some(directory) = file.parent() {
        env::set_current_dir(directory).map_err(|error| failed(format!("{}: {error}", directory.display())))?;
    }
    process::raise_stack();
    let session = RSession::start(home, text).map_err(failed)?;
    let runtime = start::start(&session, private).map_err(|raised| failed(raised.0))?;
    match start::load(&session, runtime, text).map_err(|raised| failed(raised.0))? {
        Loaded::Offer(offer) => Ok((session, runtime, offer)),
        Loaded::Refused(reason) => Err((b'P', reason)),
    }
}
