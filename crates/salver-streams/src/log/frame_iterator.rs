//! Iteration over a file of the log, frame by frame, skipping damage.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use memchr::memmem;

use super::frame::{Frame, HEADER_BYTES, Head, MAGIC};

/// Fewest bytes read from a file at a time.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Place where frames are missing or damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Damage {
    /// Position in the file.
    pub(super) at: u64,
    /// First offset that cannot be read.
    pub(super) from: u64,
    /// Next offset that can be read.
    pub(super) to: u64,
}

/// Result of a step.
#[derive(Debug)]
pub(super) enum FrameStep {
    /// Frame, and its position in the file.
    Frame(u64, Frame),
    /// Damage, followed by frames or the end.
    Damage(Damage),
    /// No more frames.
    End,
}

/// Iterator over the frames of a file.
#[derive(Debug)]
pub(super) struct FrameIterator {
    file: File,
    /// Position of the next expected frame in the file.
    at: u64,
    /// Offset it should have.
    next: u64,
    /// Position behind the last frame.
    file_end: u64,
    /// Offset behind the last record, if known.
    end: Option<u64>,
    chunk: Bytes,
    chunk_at: u64,
}

impl FrameIterator {
    /// Creates a walk from the position `at`, where the record `next` should be, to the position `file_end`, where the
    /// record `end` would be.
    pub(super) fn new(file: File, at: u64, next: u64, file_end: u64, end: Option<u64>) -> Self {
        Self { file, at, next, file_end, end, chunk: Bytes::new(), chunk_at: 0 }
    }

    /// Returns the next step.
    pub(super) fn step(&mut self) -> io::Result<FrameStep> {
        if self.end.is_some_and(|end| self.next >= end) {
            return Ok(FrameStep::End);
        }
        if let Some(frame) = self.frame_at(self.at)?
            && frame.head.offset == self.next
        {
            let at = self.at;
            self.at += frame.bytes.len() as u64;
            self.next = frame.head.end();
            return Ok(FrameStep::Frame(at, frame));
        }
        let (at, from) = (self.at, self.next);
        match self.search()? {
            Some((found_at, offset)) => {
                (self.at, self.next) = (found_at, offset);
                // The damage may have held no record; then no event is lost.
                if offset == from { self.step() } else { Ok(FrameStep::Damage(Damage { at, from, to: offset })) }
            }
            None => match self.end {
                Some(end) => {
                    self.next = end;
                    Ok(FrameStep::Damage(Damage { at, from, to: end }))
                }
                None => Ok(FrameStep::End),
            },
        }
    }

    /// Finds the next complete frame behind a damaged place.
    fn search(&mut self) -> io::Result<Option<(u64, u64)>> {
        // If only the body is damaged, the header has the position of the next frame; a search could mistake bytes in
        // the body for a frame.
        if let Some(head) = Head::read(&self.peek(self.at, HEADER_BYTES)?) {
            let behind = self.at + head.frame_bytes() as u64;
            if let Some(offset) = self.fits(behind)? {
                return Ok(Some((behind, offset)));
            }
        }
        let magic = memmem::Finder::new(&MAGIC.to_le_bytes()).into_owned();
        let mut from = self.at + 1;
        loop {
            let bytes = self.peek_chunk(from)?;
            for found in magic.find_iter(&bytes) {
                let at = from + found as u64;
                if let Some(offset) = self.fits(at)? {
                    return Ok(Some((at, offset)));
                }
            }
            // The magic may cross the end of the chunk.
            match bytes.len().checked_sub(size_of_val(&MAGIC)) {
                Some(further) if from + (bytes.len() as u64) < self.file_end => from += further as u64 + 1,
                _ => return Ok(None),
            }
        }
    }

    /// Returns the offset of a complete frame at this position, if it can be a later one.
    fn fits(&mut self, at: u64) -> io::Result<Option<u64>> {
        let frame = self.frame_at(at)?;
        let is_ahead = |offset: u64| offset >= self.next && self.end.is_none_or(|end| offset < end);
        Ok(frame.map(|frame| frame.head.offset).filter(|offset| is_ahead(*offset)))
    }

    fn frame_at(&mut self, at: u64) -> io::Result<Option<Frame>> {
        let Some(head) = Head::read(&self.peek(at, HEADER_BYTES)?) else { return Ok(None) };
        if head.count == 0 || head.frame_bytes() as u64 > self.file_end.saturating_sub(at) {
            return Ok(None);
        }
        Ok(Frame::read(&self.peek(at, head.frame_bytes())?))
    }

    /// Reads up to `count` bytes at a position.
    fn peek(&mut self, at: u64, count: usize) -> io::Result<Bytes> {
        let rest = usize::try_from(self.file_end.saturating_sub(at)).unwrap_or(usize::MAX);
        let count = count.min(rest);
        if count == 0 {
            return Ok(Bytes::new());
        }
        if let Some(skip) = at.checked_sub(self.chunk_at).and_then(|skip| usize::try_from(skip).ok())
            && let Some(end) = skip.checked_add(count)
            && end <= self.chunk.len()
        {
            return Ok(self.chunk.slice(skip..end));
        }
        let wanted = count.max(CHUNK_BYTES).min(rest);
        let mut bytes = vec![0; wanted];
        let mut filled = 0;
        while filled < wanted {
            match self.file.read_at(&mut bytes[filled..], at + filled as u64) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        self.chunk = Bytes::from(bytes);
        self.chunk_at = at;
        Ok(self.chunk.slice(..count.min(filled)))
    }

    /// Returns the buffered bytes from a position on; less than a magic only at the end.
    fn peek_chunk(&mut self, at: u64) -> io::Result<Bytes> {
        if self.peek(at, size_of_val(&MAGIC))?.is_empty() {
            return Ok(Bytes::new());
        }
        let skip = usize::try_from(at - self.chunk_at).unwrap_or(usize::MAX);
        Ok(self.chunk.get(skip..).map(|rest| self.chunk.slice_ref(rest)).unwrap_or_default())
    }
}
