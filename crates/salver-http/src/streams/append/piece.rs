//! Bytes of a body, put together.

use bytes::{Bytes, BytesMut};
use salver_model::limits::APPEND_PIECE_BYTES;

/// Bytes put together; a single one is passed on as it is.
#[derive(Debug, Default)]
pub(super) struct Piece {
    single: Bytes,
    joined: BytesMut,
}

impl Piece {
    /// One that begins with what was left of the piece before.
    pub(super) fn of(rest: Bytes) -> Self {
        Self { single: rest, joined: BytesMut::new() }
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> usize {
        self.single.len() + self.joined.len()
    }

    /// Adds bytes.
    pub(super) fn push(&mut self, bytes: Bytes) {
        if self.len() == 0 {
            self.single = bytes;
        } else if !bytes.is_empty() {
            self.joined().extend_from_slice(&bytes);
        }
    }

    /// Where more can be written.
    pub(super) fn joined(&mut self) -> &mut BytesMut {
        if !self.single.is_empty() {
            self.joined.reserve(self.single.len().max(APPEND_PIECE_BYTES / 16) * 2);
            self.joined.extend_from_slice(&self.single);
            self.single = Bytes::new();
        }
        &mut self.joined
    }

    /// All of them.
    pub(super) fn into_bytes(self) -> Bytes {
        if self.joined.is_empty() { self.single } else { self.joined.freeze() }
    }
}
