//! Frames on a blocking socket: one `read` gets what is available, one `write` sends it all.

use std::io::{self, IoSlice, Read, Write};

/// Most bytes of capacity that a buffer keeps between two frames.
const KEPT_BYTES: usize = 1 << 20;
/// Bytes requested per read.
const READ_BYTES: usize = 16 * 1024;
/// Length of the prefix of a frame.
const PREFIX_BYTES: usize = 4;

/// Reader of frames.
#[derive(Debug)]
pub(super) struct Reader<S> {
    stream: S,
    buffer: Vec<u8>,
    /// Number of bytes in the buffer.
    filled: usize,
    /// End of the last frame.
    taken: usize,
}

/// Received frame.
#[derive(Debug)]
pub(super) enum Frame<'a> {
    /// Complete frame: its kind and payload.
    Whole(u8, &'a [u8]),
    /// Frame that did not fit into memory; it was read and dropped.
    TooLarge,
}

impl<S: Read> Reader<S> {
    /// Creates a reader of this stream.
    pub(super) fn new(stream: S) -> Self {
        Self { stream, buffer: vec![0; READ_BYTES], filled: 0, taken: 0 }
    }

    /// Returns the next frame; `None` when the stream ended between two frames.
    pub(super) fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled -= self.taken;
        self.taken = 0;
        if self.buffer.len() > KEPT_BYTES && self.filled <= READ_BYTES {
            self.buffer.truncate(READ_BYTES);
            self.buffer.shrink_to_fit();
        }
        if !self.fill(PREFIX_BYTES)? {
            return Ok(None);
        }
        let length = u32::from_le_bytes([self.buffer[0], self.buffer[1], self.buffer[2], self.buffer[3]]) as usize;
        let end = PREFIX_BYTES + length;
        if length == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame without a kind"));
        }
        if end > self.buffer.len() {
            if self.buffer.try_reserve_exact(end - self.buffer.len()).is_err() {
                self.skip(end)?;
                return Ok(Some(Frame::TooLarge));
            }
            self.buffer.truncate(self.filled);
            let missing = (end - self.filled) as u64;
            if (self.stream.by_ref().take(missing).read_to_end(&mut self.buffer)? as u64) < missing {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.filled = end;
        } else if !self.fill(end)? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.taken = end;
        Ok(Some(Frame::Whole(self.buffer[PREFIX_BYTES], &self.buffer[PREFIX_BYTES + 1..end])))
    }

    /// Reads until `wanted` bytes are buffered; returns `false` when the stream ended before the first of them.
    fn fill(&mut self, wanted: usize) -> io::Result<bool> {
        while self.filled < wanted {
            match self.stream.read(&mut self.buffer[self.filled..])? {
                0 if self.filled == 0 => return Ok(false),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.filled += count,
            }
        }
        Ok(true)
    }

    /// Skips the rest of a frame that does not fit into memory.
    fn skip(&mut self, end: usize) -> io::Result<()> {
        let missing = (end - self.filled) as u64;
        io::copy(&mut self.stream.by_ref().take(missing), &mut io::sink())?;
        self.filled = 0;
        self.taken = 0;
        Ok(())
    }
}

/// Begins a frame in an empty buffer; [`send`] fills in the length.
pub(super) fn begin(buffer: &mut Vec<u8>, kind: u8) {
    buffer.clear();
    buffer.shrink_to(KEPT_BYTES);
    buffer.extend_from_slice(&[0, 0, 0, 0, kind]);
}

/// Appends a text or bytes.
pub(super) fn put(buffer: &mut Vec<u8>, bytes: &[u8]) {
    buffer.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    buffer.extend_from_slice(bytes);
}

/// Returns whether the frame with `rest` behind the buffer does not exceed the length limit.
pub(super) fn fits(buffer: &[u8], rest: &[u8]) -> bool {
    u32::try_from(buffer.len() + rest.len()).is_ok()
}

/// Sends a frame: the buffer, followed by `rest`.
pub(super) fn send(stream: &mut impl Write, buffer: &mut [u8], rest: &[u8]) -> io::Result<()> {
    let length = u32::try_from(buffer.len() + rest.len() - PREFIX_BYTES)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a frame of over 4 GiB"))?;
    buffer[..PREFIX_BYTES].copy_from_slice(&length.to_le_bytes());
    if rest.is_empty() {
        return stream.write_all(buffer);
    }
    let mut sent = loop {
        match stream.write_vectored(&[IoSlice::new(buffer), IoSlice::new(rest)]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    if sent < buffer.len() {
        stream.write_all(&buffer[sent..])?;
        sent = buffer.len();
    }
    stream.write_all(&rest[sent - buffer.len()..])
}
