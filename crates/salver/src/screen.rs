//! Standard output for people: on a terminal, what is longer than the screen goes through a pager.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use crate::output;

/// The pager where the environment names none: it quits if everything fits on the screen, and leaves long lines whole.
const PAGER: (&str, &str) = ("less", "-SFRX");
/// Lines of a screen that are not known.
const LINES: usize = 24;

/// Bytes that are held to see whether they fit: rows of JSON are one line, however many they are.
const HELD_BYTES: usize = 64 * 1024;

/// The size of the terminal that standard output is: columns and lines. `None` if it is none.
pub(crate) fn terminal() -> Option<(usize, usize)> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(io::stdout());
    let size = size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)));
    Some(size.filter(|(width, height)| *width > 0 && *height > 0).unwrap_or((80, LINES)))
}

/// Writes to the terminal, or to standard output that is none.
pub(crate) struct Screen {
    /// What fits on the screen so far; `None` if it goes straight through.
    held: Option<(Vec<u8>, usize)>,
    /// Lines of the screen.
    lines: usize,
    is_terminal: bool,
    pager: Option<Child>,
}

impl Screen {
    /// Opens the screen, with a pager or without one.
    pub(crate) fn new(with_pager: bool) -> Self {
        let terminal = terminal();
        let held = (with_pager && terminal.is_some() && io::stdin().is_terminal()).then(|| (Vec::new(), 0));
        let lines = terminal.map_or(LINES, |(_, lines)| lines);
        Self { held, lines, is_terminal: terminal.is_some(), pager: None }
    }

    /// Writes what is held and waits for the pager to be left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Some((held, _)) = self.held.take() {
            self.put(&held)?;
        }
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            pager.wait()?;
            return Ok(());
        }
        io::stdout().lock().flush()
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(into) = self.pager.as_mut().and_then(|pager| pager.stdin.as_mut()) {
            return into.write_all(bytes);
        }
        io::stdout().lock().write_all(bytes)
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A value must not give the terminal orders. Rows are written whole, so that no character is cut in two.
        let tamed = self.is_terminal.then(|| output::tamed(&String::from_utf8_lossy(bytes)));
        let text = tamed.as_deref().map_or(bytes, str::as_bytes);
        let Some((mut held, mut lines)) = self.held.take() else {
            self.put(text)?;
            return Ok(bytes.len());
        };
        held.extend_from_slice(text);
        lines += text.iter().filter(|byte| **byte == b'\n').count();
        // The last line is that of the next prompt.
        if lines < self.lines && held.len() <= HELD_BYTES {
            self.held = Some((held, lines));
        } else {
            self.pager = start();
            self.put(&held)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held.is_none() && self.pager.is_none() { io::stdout().lock().flush() } else { Ok(()) }
    }
}

/// Starts the pager: that of the environment, by the shell, or the usual one. Without one, everything is written as it
/// is; of one that is not there, the shell would tell after it took the rows.
fn start() -> Option<Child> {
    let mut command = match std::env::var("PAGER") {
        Ok(pager) if pager.trim().is_empty() => return None,
        Ok(pager) if !is_there(&pager) => {
            output::note(&format!("`{}` of PAGER is not there", pager.trim()));
            return None;
        }
        Ok(pager) => {
            let mut command = Command::new("sh");
            command.args(["-c", &pager]);
            command
        }
        Err(_) => {
            let mut command = Command::new(PAGER.0);
            command.arg(PAGER.1);
            command
        }
    };
    command.stdin(Stdio::piped()).spawn().ok()
}

/// Returns whether the shell knows the program of a pager, which settings of its environment may stand before.
fn is_there(pager: &str) -> bool {
    let Some(program) = pager.split_whitespace().find(|word| !word.contains('=')) else { return true };
    // What the shell has to make sense of first is left to it.
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+".contains(character);
    if !program.chars().all(is_plain) {
        return true;
    }
    let mut asked = Command::new("sh");
    asked.args(["-c", "command -v \"$1\"", "sh", program]).stdin(Stdio::null()).stdout(Stdio::null());
    asked.status().is_ok_and(|status| status.success())
}

impl Drop for Screen {
    fn drop(&mut self) {
        // After a failure, too, the terminal is the pager's until it is left.
        if let Some(mut pager) = self.pager.take() {
            drop(pager.stdin.take());
            let _ = pager.wait();
        }
    }
}
