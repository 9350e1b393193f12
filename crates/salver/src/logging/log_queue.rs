//! The lines of the log on their way to standard error, which one thread writes: whoever reads slowly, or not at all,
//! delays no request.
//!
//! Lines about requests, of which clients can cause any number, are dropped while too many wait. All others are kept;
//! if that many wait, whoever logs another waits, too. Nothing changes the order of lines.

use std::cell::Cell;
use std::io::{self, ErrorKind, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use salver_model::limits::{LOG_BYTES_MAX, LOG_FLUSH_MS_MAX, LOG_REQUESTS_BYTES_MAX};

/// Capacity in bytes above which a buffer is not kept.
const KEPT_CAPACITY: usize = 256 * 1024;
/// Pause before another try to write to a pipe that is full and does not wait.
const PAUSE: Duration = Duration::from_millis(5);

thread_local! {
    /// Whether this thread writes the log, and so must not wait for it.
    static WRITES: Cell<bool> = const { Cell::new(false) };
}

/// What becomes of a line when too many wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// It is about a request, and is dropped.
    Request,
    /// It is kept.
    Other,
}

impl LineKind {
    /// Returns the kind of the events of `target`.
    pub(super) fn of(target: &str) -> Self {
        if matches!(target, "access" | "slow") { Self::Request } else { Self::Other }
    }
}

/// The lines that wait to be written.
#[derive(Debug)]
pub(super) struct LogQueue {
    state: Mutex<QueueState>,
    /// Something was added.
    added: Condvar,
    /// Something was taken, or written.
    taken: Condvar,
}

#[derive(Debug)]
struct QueueState {
    lines: Vec<u8>,
    /// Lines about requests that were dropped, and not told of yet.
    dropped: u64,
    /// Whether there is a thread that writes.
    has_writer: bool,
    is_writing: bool,
}

impl LogQueue {
    pub(super) const fn new() -> Self {
        let state = QueueState { lines: Vec::new(), dropped: 0, has_writer: false, is_writing: false };
        Self { state: Mutex::new(state), added: Condvar::new(), taken: Condvar::new() }
    }

    /// Adds a line. Without a thread that writes, it is written at once.
    pub(super) fn add(&self, line: &[u8], kind: LineKind) {
        let mut state = self.lock();
        if !state.has_writer || WRITES.get() {
            drop(state);
            return write_whole(&mut io::stderr().lock(), line);
        }
        match kind {
            LineKind::Request if state.lines.len() + line.len() > LOG_REQUESTS_BYTES_MAX => {
                state.dropped += 1;
                return;
            }
            LineKind::Request => {}
            LineKind::Other => {
                let is_full =
                    |state: &mut QueueState| !state.lines.is_empty() && state.lines.len() + line.len() > LOG_BYTES_MAX;
                state = self.taken.wait_while(state, is_full).unwrap_or_else(PoisonError::into_inner);
            }
        }
        state.lines.extend_from_slice(line);
        drop(state);
        self.added.notify_one();
    }

    /// Starts the thread that writes; `notice` makes the line that tells how many were dropped. If there can be no
    /// thread, lines are written by those who log them.
    pub(super) fn start(&'static self, notice: fn(u64) -> String) {
        // Before the thread runs, so that no line passes another. A second start keeps the first thread.
        if std::mem::replace(&mut self.lock().has_writer, true) {
            return;
        }
        let started =
            thread::Builder::new().name("log".to_owned()).spawn(move || self.write(&mut io::stderr(), notice));
        if started.is_err() {
            self.lock().has_writer = false;
        }
    }

    /// Writes what is added, for ever.
    fn write(&self, out: &mut impl Write, notice: fn(u64) -> String) {
        WRITES.set(true);
        let mut batch = Vec::new();
        loop {
            let mut state = self.lock();
            state.is_writing = false;
            self.taken.notify_all();
            let is_idle = |state: &mut QueueState| state.lines.is_empty() && state.dropped == 0;
            state = self.added.wait_while(state, is_idle).unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut state.lines, &mut batch);
            // What was dropped came after the lines that took all of the room.
            let dropped = std::mem::take(&mut state.dropped);
            state.is_writing = true;
            drop(state);
            self.taken.notify_all();
            write_whole(out, &batch);
            batch.clear();
            batch.shrink_to(KEPT_CAPACITY);
            if dropped > 0 {
                write_whole(out, notice(dropped).as_bytes());
            }
        }
    }

    /// Waits until everything is written, for a while.
    pub(super) fn flush(&self) {
        if WRITES.get() {
            return;
        }
        let state = self.lock();
        if !state.has_writer {
            return;
        }
        let patience = Duration::from_millis(LOG_FLUSH_MS_MAX);
        let is_busy = |state: &mut QueueState| state.is_writing || !state.lines.is_empty() || state.dropped > 0;
        drop(self.taken.wait_timeout_while(state, patience, is_busy));
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes all bytes, as far as that is possible: a failure can't be reported. A pipe that does not wait when it is full
/// (it was handed down so) is tried again.
fn write_whole(out: &mut impl Write, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match out.write(bytes) {
            Ok(0) => return,
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(PAUSE),
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    use salver_model::limits::{LOG_BYTES_MAX, LOG_REQUESTS_BYTES_MAX};

    use super::{LineKind, LogQueue};

    /// A reader that takes each write when it is told to.
    struct Reader {
        asked: Sender<Vec<u8>>,
        takes: Receiver<()>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.asked.send(bytes.to_vec());
            // Without the other end, everything is taken.
            let _ = self.takes.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns a queue that is being written, what is written, and the way to let it be taken.
    fn queue() -> (&'static LogQueue, Receiver<Vec<u8>>, Sender<()>) {
        let queue: &'static LogQueue = Box::leak(Box::new(LogQueue::new()));
        let ((asked, written), (take, takes)) = (channel(), channel());
        queue.lock().has_writer = true;
        thread::spawn(move || queue.write(&mut Reader { asked, takes }, |dropped| format!("dropped {dropped}\n")));
        (queue, written, take)
    }

    #[test]
    fn lines_about_requests_are_dropped_and_counted_and_others_kept_in_order() {
        let (queue, written, take) = queue();
        queue.add(b"first\n", LineKind::Other);
        assert_eq!(written.recv().unwrap(), b"first\n");
        // Nobody takes it. These fit, and three do not.
        let line = vec![b'r'; LOG_REQUESTS_BYTES_MAX / 4];
        for _ in 0..7 {
            queue.add(&line, LineKind::Request);
        }
        queue.add(b"warning\n", LineKind::Other);
        queue.add(b"r\n", LineKind::Request);
        take.send(()).unwrap();
        let batch = written.recv().unwrap();
        assert_eq!(batch.len(), LOG_REQUESTS_BYTES_MAX + b"warning\n".len());
        assert!(batch.ends_with(b"rwarning\n"));
        take.send(()).unwrap();
        assert_eq!(written.recv().unwrap(), b"dropped 4\n");
        // There is room again.
        queue.add(b"r\n", LineKind::Request);
        take.send(()).unwrap();
        assert_eq!(written.recv().unwrap(), b"r\n");
        drop(take);
        queue.flush();
        assert!(written.try_recv().is_err() && queue.lock().lines.is_empty());
    }

    #[test]
    fn who_logs_more_than_may_wait_waits() {
        let (queue, written, take) = queue();
        queue.add(b"first\n", LineKind::Other);
        assert_eq!(written.recv().unwrap(), b"first\n");
        queue.add(&vec![b'a'; LOG_BYTES_MAX], LineKind::Other);
        let (told, waits) = channel();
        let waiting = thread::spawn(move || {
            told.send(()).unwrap();
            queue.add(b"last\n", LineKind::Other);
        });
        waits.recv().unwrap();
        assert!(queue.lock().lines.len() <= LOG_BYTES_MAX);
        drop(take);
        waiting.join().unwrap();
        queue.flush();
        let all: Vec<u8> = written.try_iter().flatten().collect();
        assert_eq!(all.len(), LOG_BYTES_MAX + b"last\n".len());
        assert!(all.ends_with(b"alast\n"));
    }
}
