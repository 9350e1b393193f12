//! Forwarding of user code's standard output and error to the log, line by line.
//!
//! The output is always read, even if it is discarded, so that a process never blocks on a full pipe.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use salver_model::Name;
use salver_model::limits::{FUNCTION_LINE_BYTES_MAX, FUNCTION_LINES_PER_SECOND_MAX};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};

/// Number of lines of standard error kept to explain the end of a process.
const KEPT_LINES: usize = 8;
const SECOND: Duration = Duration::from_secs(1);

/// Last lines of standard error.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<VecDeque<String>>);

impl Tail {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Returns the lines, concatenated.
    pub(super) fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Reads both streams until they end.
pub(super) async fn pump(name: &Name, output: Option<ChildStdout>, error: Option<ChildStderr>, tail: &Tail) {
    let said = lines(output, |line| tracing::info!(target: "function", entry = %name, "{line}"));
    let complained = lines(error, |line| {
        tail.push(line);
        tracing::warn!(target: "function", entry = %name, "{line}");
    });
    futures::join!(said, complained);
}

/// Reads lines to the end of `source`. Lines that are too long are split.
async fn lines(source: Option<impl AsyncRead + Unpin>, log: impl Fn(&str)) {
    let Some(mut source) = source else { return };
    let mut measure = Measure::new(log);
    let mut room = vec![0; FUNCTION_LINE_BYTES_MAX];
    let mut filled = 0;
    while let Ok(count @ 1..) = source.read(&mut room[filled..]).await {
        filled += count;
        let mut begin = 0;
        while let Some(length) = room[begin..filled].iter().position(|byte| *byte == b'\n') {
            measure.line(&room[begin..begin + length]);
            begin += length + 1;
        }
        if begin == 0 && filled == room.len() {
            measure.line(&room);
            begin = filled;
        }
        room.copy_within(begin..filled, 0);
        filled -= begin;
    }
    if filled > 0 {
        measure.line(&room[..filled]);
    }
    measure.tell();
}

/// Rate limit in lines per second; the rest is counted.
struct Measure<L> {
    log: L,
    since: Instant,
    lines: u32,
    left_out: u64,
}

impl<L: Fn(&str)> Measure<L> {
    fn new(log: L) -> Self {
        Self { log, since: Instant::now(), lines: 0, left_out: 0 }
    }

    fn line(&mut self, line: &[u8]) {
        if self.lines >= FUNCTION_LINES_PER_SECOND_MAX {
            if self.since.elapsed() < SECOND {
                self.left_out += 1;
                return;
            }
            self.tell();
            (self.since, self.lines) = (Instant::now(), 0);
        }
        self.lines += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.is_empty() {
            (self.log)(&String::from_utf8_lossy(line));
        }
    }

    fn tell(&mut self) {
        if self.left_out > 0 {
            (self.log)(&format!("[{} lines left out]", self.left_out));
            self.left_out = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use salver_model::limits::{FUNCTION_LINE_BYTES_MAX, FUNCTION_LINES_PER_SECOND_MAX};

    use super::lines;

    async fn logged(text: &[u8]) -> Vec<String> {
        let log = RefCell::new(Vec::new());
        lines(Some(text), |line| log.borrow_mut().push(line.to_owned())).await;
        log.into_inner()
    }

    #[tokio::test]
    async fn lines_and_long_ones() {
        assert_eq!(logged(b"a\r\n\nb\n\xff\nlast").await, ["a", "b", "\u{fffd}", "last"]);
        let long = [&vec![b'x'; 2 * FUNCTION_LINE_BYTES_MAX + 1][..], b"\ny\n"].concat();
        let lengths: Vec<_> = logged(&long).await.iter().map(String::len).collect();
        assert_eq!(lengths, [FUNCTION_LINE_BYTES_MAX, FUNCTION_LINE_BYTES_MAX, 1, 1]);
    }

    /// Checks that every line is either in the log or counted there, however long it takes.
    #[tokio::test]
    async fn a_flood_is_counted() {
        let count = 5 * u64::from(FUNCTION_LINES_PER_SECOND_MAX);
        let log = logged("z\n".repeat(usize::try_from(count).unwrap()).as_bytes()).await;
        let told = log.iter().map(|line| match line.strip_prefix('[').and_then(|line| line.split_once(' ')) {
            Some((number, _)) => number.parse::<u64>().unwrap(),
            None => 1,
        });
        assert_eq!(told.sum::<u64>(), count);
    }
}
