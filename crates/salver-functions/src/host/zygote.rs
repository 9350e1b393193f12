//! The zygote: it has loaded the file, and forks workers on request of the server.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::frame::{self, Frame, FrameReader};
use super::session::RSession;
use super::start::{self, Runtime};
use super::{environment, process, worker};

/// Control channel to the server.
#[derive(Debug)]
pub(super) struct Control {
    reader: FrameReader<File>,
    writer: File,
}

/// Order of the server.
enum Order {
    Fork(u32),
    Kill(i32),
}

impl Control {
    /// Creates both directions of this channel.
    pub(super) fn new(channel: OwnedFd) -> io::Result<Self> {
        let writer = File::from(channel);
        Ok(Self { reader: FrameReader::new(writer.try_clone()?), writer })
    }

    /// Sends a frame of text: `R`, `X` or `N`.
    pub(super) fn say(&mut self, kind: u8, text: &str) -> io::Result<()> {
        let mut out = Vec::new();
        frame::begin(&mut out, kind);
        frame::send(&mut self.writer, &mut out, text.as_bytes())?;
        self.writer.flush()
    }

    /// Returns the next order; `None` when the server is gone.
    fn next(&mut self) -> io::Result<Option<Order>> {
        let Some(frame) = self.reader.next()? else { return Ok(None) };
        let number = |payload: &[u8]| payload.try_into().map(u32::from_le_bytes).ok();
        match frame {
            Frame::Whole(b'F', payload) => Ok(number(payload).map(Order::Fork)),
            Frame::Whole(b'K', payload) => {
                Ok(number(payload).and_then(|child| i32::try_from(child).ok()).map(Order::Kill))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Serves until the control channel ends, then kills the process group. Also runs workers after a fork, and never
/// returns.
pub(super) fn run(session: &RSession, runtime: Runtime, mut control: Control, socket: &Path) -> ! {
    start::settle(session);
    let signal = process::wake_on_child();
    let mut children = Vec::new();
    loop {
        children.retain(|child| !process::has_ended(*child));
        match control.next() {
            Ok(Some(Order::Fork(count))) => {
                for _ in 0..count {
                    match process::fork() {
                        Ok(None) => {
                            process::restore(signal);
                            drop(control);
                            work(session, runtime, socket);
                        }
                        Ok(Some(child)) => children.push(child),
                        // The server notices that no worker connects, and retries.
                        Err(error) => complain("a worker can't be made", &error),
                    }
                }
            }
            Ok(Some(Order::Kill(child))) => {
                if children.contains(&child) {
                    process::kill(child);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(None) | Err(_) => {
                session.clean();
                process::kill_group();
            }
        }
    }
}

/// Runs a worker.
fn work(session: &RSession, runtime: Runtime, socket: &Path) -> ! {
    session.is_copy();
    start::seed(session, runtime);
    if let Some(Err(error)) = environment::memory_bytes_max().map(process::bound_memory) {
        complain("a worker's memory can't be bounded", &error);
        process::end(1);
    }
    let done = UnixStream::connect(socket).and_then(|stream| worker::run(session, runtime, &stream));
    if let Err(error) = done {
        complain("a worker ends", &error);
        process::end(1);
    }
    process::end(0)
}

/// Writes a message to standard error, which the server reads and logs.
fn complain(what: &str, error: &io::Error) {
    // There may be no standard error.
    let _ = writeln!(io::stderr(), "{what}: {error}");
}
