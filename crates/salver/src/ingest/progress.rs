//! Progress on a terminal: one line that is rewritten.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::sender::Counts;
use super::source::Source;
use crate::{pace, serve};

/// Interval between updates of the line.
const PERIOD: Duration = Duration::from_millis(200);
/// Most characters of a file's name that are shown, so that the line fits into a terminal.
const NAME_CHARS: usize = 24;

/// Progress line.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    is_shown: bool,
    written: Option<Instant>,
    name: String,
    bytes: Option<u64>,
    /// Start of the file, and the number of its bytes read by then, after the first batch.
    file: Option<(Instant, u64)>,
    file_started: Instant,
    /// Number of events of this file, and of the whole run.
    events: u64,
    events_all: u64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            is_shown: std::io::stderr().is_terminal(),
            written: None,
            name: String::new(),
            bytes: None,
            file: None,
            file_started: now,
            events: 0,
            events_all: 0,
        }
    }

    /// Starts another file.
    pub(crate) fn begin(&mut self, source: &Source) {
        let skipped = source.name.chars().count().saturating_sub(NAME_CHARS);
        self.name = source.name.chars().skip(skipped).collect();
        (self.bytes, self.file, self.events, self.file_started) = (source.bytes, None, 0, Instant::now());
    }

    /// Records a sent batch; `input_bytes` of the file have been read.
    pub(crate) fn advance(&mut self, counts: &Counts, input_bytes: u64) {
        self.events += counts.there() + counts.quarantined;
        self.events_all += counts.there() + counts.quarantined;
        // The work of an earlier run says nothing about the pace of this one.
        let (_, from) = *self.file.get_or_insert((Instant::now(), input_bytes));
        if self.is_shown && self.written.is_none_or(|written| written.elapsed() > PERIOD) {
            self.written = Some(Instant::now());
            let line = line(self, input_bytes, from);
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{line}");
        }
    }

    /// Clears the line.
    pub(crate) fn clear(&mut self) {
        if self.written.take().is_some() {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }

    /// Returns the total duration and the number of events per second.
    pub(crate) fn pace(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        format!("{seconds:.1} s, {} a second", serve::thousands(pace::rate(self.events_all, seconds)))
    }
}

fn line(progress: &Progress, input_bytes: u64, from: u64) -> String {
    let rate = pace::rate(progress.events, progress.file_started.elapsed().as_secs_f64());
    let pace = format!("{} events, {} a second", serve::thousands(progress.events), serve::thousands(rate));
    let Some(bytes) = progress.bytes.filter(|bytes| *bytes > 0) else { return format!("{}: {pace}", progress.name) };
    let share = (input_bytes as f64 / bytes as f64).min(1.0);
    let left = progress.file.map(|(since, _)| {
        let (left, done) = (bytes.saturating_sub(input_bytes), input_bytes.saturating_sub(from));
        pace::left(left, done, since.elapsed().as_secs_f64())
    });
    format!("{}: {:3.0} %, {pace}{}", progress.name, share * 100.0, left.unwrap_or_default())
}
