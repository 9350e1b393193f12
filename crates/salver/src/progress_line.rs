//! A line on a terminal that tells of progress, and is rewritten.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::output::tamed;

/// Interval between updates.
const PERIOD: Duration = Duration::from_millis(200);

/// The line; there is none where standard error is no terminal.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    is_shown: bool,
    written: Option<Instant>,
}

impl ProgressLine {
    pub(crate) fn new() -> Self {
        Self { is_shown: std::io::stderr().is_terminal(), written: None }
    }

    /// Returns whether it is time for an update.
    pub(crate) fn is_due(&self) -> bool {
        self.is_shown && self.written.is_none_or(|written| written.elapsed() > PERIOD)
    }

    /// Replaces the line.
    pub(crate) fn write(&mut self, line: &str) {
        self.written = Some(Instant::now());
        let _ = write!(std::io::stderr().lock(), "{}", rewritten(line));
    }

    /// Clears the line.
    pub(crate) fn clear(&mut self) {
        if self.written.take().is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// Returns what replaces the line. The names in it come from a server or a file.
fn rewritten(line: &str) -> String {
    format!("\r\x1b[K{}", tamed(line))
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn a_name_gives_the_terminal_nothing_to_obey() {
        assert_eq!(rewritten("a\x1b]0;x\x07: 1 rows"), "\r\x1b[Ka\u{241b}]0;x\u{2407}: 1 rows");
    }
}
