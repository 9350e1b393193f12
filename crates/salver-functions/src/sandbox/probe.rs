//! Finds out whether processes can be started in a sandbox.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use super::Sandbox;

/// Program that says what it hears, until it hears no more.
const ECHO: &str = "cat";

/// Starts a program in the sandbox, and ends it as the server ends user code.
///
/// # Errors
/// Returns the reason why this does not work.
pub(super) fn works(sandbox: &Sandbox) -> Result<(), String> {
    let mut command = sandbox.command(Path::new(ECHO));
    command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|error| format!("`{program}` can't be started: {error}"))?;
    // What it says comes from the program itself, so everything before it has worked.
    let is_heard = exchange(&mut child);
    let ended = child.kill();
    // Ends it where it can't be killed.
    drop(child.stdin.take());
    let said = child.wait_with_output().map_err(|error| format!("`{program}` can't be waited for: {error}"))?;
    if !is_heard {
        let text = String::from_utf8_lossy(&said.stderr);
        let line = text.lines().find(|line| !line.trim().is_empty()).map(str::trim);
        return Err(line.map_or_else(|| format!("`{program}` ended with {}", said.status), str::to_owned));
    }
    ended.map_err(|error| format!("its processes can't be ended: {error}"))
}

/// Sends something, and returns whether it comes back.
fn exchange(child: &mut Child) -> bool {
    let (Some(input), Some(output)) = (&mut child.stdin, &mut child.stdout) else { return false };
    // A program that could not start ends, and with it the pipe.
    input.write_all(b"\n").is_ok() && matches!(output.read(&mut [0]), Ok(1))
}
