//! A request over HTTP/2, written by hand (RFC 9113, RFC 7541): enough to say any authority and read the status.

use std::io::{Read, Write};
use std::time::Duration;

use crate::server::Server;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
/// Most bytes of a frame that nobody has to be asked for.
const FRAME_BYTES: usize = 16_384;
const END_HEADERS: u8 = 4;

/// Sends one request and gives the status of its answer, once that is whole; 0 without one. A long body follows its
/// head after a while, when the server may have answered.
pub(super) fn ask(
    server: &Server,
    (method, path, authority): (&str, &str, &str),
    headers: &[(&str, &str)],
    body: &[u8],
) -> u16 {
    let mut block = Vec::new();
    let pseudo = [(":method", method), (":scheme", "http"), (":path", path), (":authority", authority)];
    for (name, value) in pseudo.iter().chain(headers) {
        // A literal that is not indexed, without Huffman's code.
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).expect("short"));
            block.extend_from_slice(text.as_bytes());
        }
    }
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(SETTINGS, 0, 0, &[]));
    bytes.extend(frame(HEADERS, END_HEADERS | if body.is_empty() { END_STREAM } else { 0 }, 1, &block));
    let mut stream = server.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    if body.len() > FRAME_BYTES {
        stream.write_all(&bytes).expect("sent");
        bytes.clear();
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut pieces = body.chunks(FRAME_BYTES).peekable();
    while let Some(piece) = pieces.next() {
        bytes.extend(frame(DATA, if pieces.peek().is_none() { END_STREAM } else { 0 }, 1, piece));
    }
    stream.write_all(&bytes).expect("sent");
    let mut told = 0;
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return 0;
        }
        let mut payload = vec![0; usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])];
        stream.read_exact(&mut payload).expect("a frame");
        if head[3] == HEADERS {
            told = status(&payload);
        }
        if matches!(head[3], HEADERS | DATA) && head[4] & END_STREAM != 0 {
            return told;
        }
        assert!(head[3] != 3 && head[3] != 7, "the stream or the connection was ended: {payload:?}");
    }
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags, 0, 0, 0, stream];
    bytes.extend_from_slice(payload);
    bytes
}

/// The status, which is the first field: one of the static table, or a literal of three digits.
fn status(block: &[u8]) -> u16 {
    // A new size of the dynamic table may stand before it.
    let start = block.iter().position(|byte| byte & 0xe0 != 0x20).expect("a field");
    match block[start] {
        indexed @ 0x88..=0x8e => [200, 204, 206, 304, 400, 404, 500][usize::from(indexed - 0x88)],
        _ => {
            let (length, text) = (block[start + 1], &block[start + 2..]);
            let text = &text[..usize::from(length & 0x7f)];
            if length & 0x80 == 0 { decimal(text) } else { decimal(&digits(text)) }
        }
    }
}

fn decimal(text: &[u8]) -> u16 {
    std::str::from_utf8(text).expect("digits").parse().expect("a status")
}

/// Digits in Huffman's code: five bits for the first three, six for the others.
fn digits(text: &[u8]) -> Vec<u8> {
    let bits = text.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte)) << (64 - 8 * text.len());
    let (mut at, mut out) = (0, Vec::new());
    while out.len() < 3 {
        let five = u8::try_from(bits << at >> 59).expect("five bits");
        if five < 3 {
            out.push(b'0' + five);
            at += 5;
        } else {
            out.push(b'3' + u8::try_from(bits << at >> 58).expect("six bits") - 0b01_1001);
            at += 6;
        }
    }
    out
}
