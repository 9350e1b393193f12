//! What the line of progress says.

use std::time::Instant;

use super::sender::Counts;
use super::source::EventSource;
use crate::progress_line::ProgressLine;
use crate::{grouped_digits, pace};

/// Most characters of a file's name that are shown, so that the line fits into a terminal.
const NAME_CHARS: usize = 24;

/// Progress line.
#[derive(Debug)]
pub(crate) struct IngestProgress {
    started: Instant,
    line: ProgressLine,
    name: String,
    bytes: Option<u64>,
    /// Start of the file, and the number of its bytes read by then, after the first batch.
    file: Option<(Instant, u64)>,
    file_started: Instant,
    /// Number of events of this file, and of the whole run.
    events: u64,
    events_all: u64,
}

impl IngestProgress {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self {
            started: now,
            line: ProgressLine::new(),
            name: String::new(),
            bytes: None,
            file: None,
            file_started: now,
            events: 0,
            events_all: 0,
        }
    }

    /// Starts another file.
    pub(crate) fn begin(&mut self, source: &EventSource) {
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
        if self.line.is_due() {
            let text = text(self, input_bytes, from);
            self.line.write(&text);
        }
    }

    /// Clears the line.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
    }

    /// Returns the total duration and the number of events per second.
    pub(crate) fn pace(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        format!("{seconds:.1} s, {} a second", grouped_digits::thousands(pace::rate(self.events_all, seconds)))
    }
}

fn text(progress: &IngestProgress, input_bytes: u64, from: u64) -> String {
    let rate = pace::rate(progress.events, progress.file_started.elapsed().as_secs_f64());
    let pace =
        format!("{} events, {} a second", grouped_digits::thousands(progress.events), grouped_digits::thousands(rate));
    let Some(bytes) = progress.bytes.filter(|bytes| *bytes > 0) else { return format!("{}: {pace}", progress.name) };
    let share = (input_bytes as f64 / bytes as f64).min(1.0);
    let left = progress.file.map(|(since, _)| {
        let (left, done) = (bytes.saturating_sub(input_bytes), input_bytes.saturating_sub(from));
        pace::left(left, done, since.elapsed().as_secs_f64())
    });
    format!("{}: {:3.0} %, {pace}{}", progress.name, share * 100.0, left.unwrap_or_default())
}
