//! Failure reports to the server.

use std::io;
use std::os::unix::net::UnixStream;

use super::frame;
use super::session::RSession;
use super::start::{self, Runtime};
use crate::wire::answer::RAISED;

/// Kind of a failure in a frame `X`.
pub(super) const USER_CODE: u8 = 0;
pub(super) const OUT_OF_MEMORY: u8 = 1;
pub(super) const WRONG_ARGUMENT: u8 = 2;

/// Reports that R raised an error.
pub(super) fn fail_raised(
    session: &RSession,
    runtime: Runtime,
    (stream, out): (&UnixStream, &mut Vec<u8>),
    raised: &str,
) -> io::Result<()> {
    let kind = if session.is_memory(raised) { OUT_OF_MEMORY } else { USER_CODE };
    start::forget(session, runtime);
    fail(stream, out, kind, if raised.is_empty() { "R left the function without an error" } else { raised })
}

/// Reports a failed call: a message for the client, and a detail for the log.
pub(super) fn fail(stream: &UnixStream, out: &mut Vec<u8>, kind: u8, detail: &str) -> io::Result<()> {
    let message = match kind {
        OUT_OF_MEMORY => "the function ran out of memory",
        WRONG_ARGUMENT => detail,
        _ => RAISED,
    };
    frame::begin(out, b'X');
    out.push(kind);
    frame::put(out, message.as_bytes());
    frame::put(out, if kind == WRONG_ARGUMENT { b"" } else { detail.as_bytes() });
    frame::send(&mut &*stream, out, &[])
}
