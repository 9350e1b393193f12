//! HTTP/2 by hand: frames that no library would send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::server::Server;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RESET: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;
/// A kind that nobody knows.
pub(super) const UNKNOWN: u8 = 99;

pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
/// A whole request without a body.
pub(super) const WHOLE: u8 = END_STREAM | END_HEADERS;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long a server may say nothing. A guard against hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A frame that was received.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

impl Frame {
    /// The error of a GOAWAY.
    pub(super) fn error(&self) -> Option<u32> {
        let code = self.payload.get(4..8).filter(|_| self.kind == GOAWAY)?;
        Some(u32::from_be_bytes(code.try_into().expect("four bytes")))
    }

    /// Whether it begins an answer whose status is 200, which is the first byte of the compressed head.
    pub(super) fn is_success(&self) -> bool {
        self.kind == HEADERS && self.payload.first() == Some(&0x88)
    }
}

/// A frame to be sent.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame");
    [&length.to_be_bytes()[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header without compression.
pub(super) fn literal(name: &str, value: &[u8]) -> Vec<u8> {
    [&[0][..], &text(name.as_bytes()), &text(value)].concat()
}

/// A header that is also put into the table of the connection.
pub(super) fn indexed(name: &str, value: &[u8]) -> Vec<u8> {
    [&[0x40][..], &text(name.as_bytes()), &text(value)].concat()
}

/// A text with its length (RFC 7541, section 5).
fn text(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match u8::try_from(bytes.len()) {
        Ok(length) if length < 127 => out.push(length),
        _ => {
            out.push(127);
            let mut rest = bytes.len() - 127;
            while rest >= 128 {
                out.push(u8::try_from(rest % 128).expect("seven bits") | 128);
                rest /= 128;
            }
            out.push(u8::try_from(rest).expect("seven bits"));
        }
    }
    out.extend_from_slice(bytes);
    out
}

/// The head of a request.
pub(super) fn head(method: &str, path: &str) -> Vec<u8> {
    let pairs = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost")];
    pairs.iter().flat_map(|(name, value)| literal(name, value.as_bytes())).collect()
}

/// A connection.
#[derive(Debug)]
pub(super) struct Http2 {
    stream: TcpStream,
}

impl Http2 {
    /// Connects, with these settings.
    pub(super) fn open(server: &Server, settings: &[u8]) -> Self {
        Self::begin(server.connect(), settings)
    }

    /// Connects to a server that has no [`Server`].
    pub(super) fn connect(address: &str) -> Self {
        Self::begin(TcpStream::connect(address).expect("a connection"), b"")
    }

    fn begin(mut stream: TcpStream, settings: &[u8]) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        stream.set_write_timeout(Some(PATIENCE)).expect("a time-out");
        stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, settings)].concat()).expect("sent");
        Self { stream }
    }

    /// Sends bytes; whether the server took them all.
    pub(super) fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends the same bytes until there are `bytes_max`, or the server takes no more.
    pub(super) fn flood(&mut self, bytes: &[u8], bytes_max: usize) {
        self.stream.set_write_timeout(Some(Duration::from_secs(1))).expect("a time-out");
        let mut sent = 0;
        while sent < bytes_max && self.send(bytes) {
            sent += bytes.len();
        }
    }

    /// The next frame; `None` at the end of the connection.
    pub(super) fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.read(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).expect("a length")];
        self.read(&mut payload)?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
        Some(Frame { kind: head[3], stream, payload })
    }

    /// Frames up to the first that fits; all to the end if none does.
    pub(super) fn until(&mut self, fits: impl Fn(&Frame) -> bool) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next() {
            let is_last = fits(&frame);
            frames.push(frame);
            if is_last {
                break;
            }
        }
        frames
    }

    fn read(&mut self, bytes: &mut [u8]) -> Option<()> {
        match self.stream.read_exact(bytes) {
            Ok(()) => Some(()),
            Err(error) => {
                let is_late = matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut);
                assert!(!is_late, "the server says nothing and does not close");
                None
            }
        }
    }
}
