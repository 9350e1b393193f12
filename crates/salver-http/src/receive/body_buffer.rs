//! A buffer of bytes of a body.

use bytes::{Bytes, BytesMut};
use salver_model::limits::APPEND_PIECE_BYTES;

/// Joined bytes; a single chunk is passed on without a copy.
#[derive(Debug, Default)]
pub(crate) struct BodyBuffer {
    single: Bytes,
    joined: BytesMut,
}

impl BodyBuffer {
    /// Creates a piece that begins with the rest of the piece before.
    pub(crate) fn of(rest: Bytes) -> Self {
        Self { single: rest, joined: BytesMut::new() }
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.single.len() + self.joined.len()
    }

    /// Appends bytes.
    pub(crate) fn push(&mut self, bytes: Bytes) {
        if self.len() == 0 {
            self.single = bytes;
        } else if !bytes.is_empty() {
            self.joined().extend_from_slice(&bytes);
        }
    }

    /// Returns the buffer to append to.
    pub(crate) fn joined(&mut self) -> &mut BytesMut {
        if !self.single.is_empty() {
            self.joined.reserve(self.single.len().max(APPEND_PIECE_BYTES / 16) * 2);
            self.joined.extend_from_slice(&self.single);
            self.single = Bytes::new();
        }
        &mut self.joined
    }

    /// Returns all bytes.
    pub(crate) fn into_bytes(self) -> Bytes {
        if self.joined.is_empty() { self.single } else { self.joined.freeze() }
    }
}
