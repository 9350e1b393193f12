//! What the line of progress says.

use std::time::Instant;

use super::session::ExportSession;
use crate::progress_line::ProgressLine;
use crate::{grouped_digits, pace};

/// Most characters of an entry's name that are shown, so that the line fits into a terminal.
const NAME_CHARS: usize = 24;

/// Progress line.
#[derive(Debug)]
pub(super) struct ExportProgress {
    started: Instant,
    line: ProgressLine,
    name: String,
    all: Option<u64>,
    /// Number of rows of earlier runs, and of this one.
    before: u64,
    rows: u64,
}

impl ExportProgress {
    pub(super) fn new(session: &ExportSession, before: u64) -> Self {
        Self {
            started: Instant::now(),
            line: ProgressLine::new(),
            name: session.entry.chars().take(NAME_CHARS).collect(),
            all: session.rows,
            before,
            rows: 0,
        }
    }

    /// Adds fetched rows.
    pub(super) fn advance(&mut self, rows: u64) {
        self.rows += rows;
        if rows > 0 && self.line.is_due() {
            let text = self.text(self.started.elapsed().as_secs_f64());
            self.line.write(&text);
        }
    }

    /// Clears the line.
    pub(super) fn clear(&mut self) {
        self.line.clear();
    }

    /// Returns the total duration and the number of rows per second.
    pub(super) fn pace(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        format!("{seconds:.1} s, {} a second", grouped_digits::thousands(pace::rate(self.rows, seconds)))
    }

    fn text(&self, seconds: f64) -> String {
        let there = self.before + self.rows;
        let rate = grouped_digits::thousands(pace::rate(self.rows, seconds));
        let rows = format!("{} rows, {rate} a second", grouped_digits::thousands(there));
        let Some(all) = self.all.filter(|all| *all > 0) else { return format!("{}: {rows}", self.name) };
        let share = (there as f64 / all as f64).min(1.0) * 100.0;
        let left = pace::left(all.saturating_sub(there), self.rows, seconds);
        format!("{}: {share:3.0} %, {rows}{left}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::{ExportProgress, ExportSession};

    #[test]
    fn the_line() {
        let (token, entry) = (String::new(), "people".to_owned());
        let mut session = ExportSession { token, entry, rows: Some(1000), streams: Vec::new() };
        let mut progress = ExportProgress::new(&session, 250);
        progress.rows = 250;
        assert_eq!(progress.text(10.0), "people:  50 %, 500 rows, 25 a second, 0:20 left");
        session.rows = None;
        let progress = ExportProgress::new(&session, 0);
        assert_eq!(progress.text(10.0), "people: 0 rows, 0 a second");
    }
}
