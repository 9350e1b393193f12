//! Writes the messages of the server (<https://www.postgresql.org/docs/16/protocol-message-formats.html>). They are
//! collected, and sent together.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::STALL;
use super::cancellation::Cancellable;
use super::column::Column;
use super::message::Format;
use super::refusal::Refusal;
use super::transaction::Transaction;

/// Bytes from which on collected messages are sent.
const FULL_BYTES: usize = 64 * 1024;
/// Bytes of memory that are kept for the next messages.
const KEPT_BYTES: usize = 256 * 1024;
/// Bytes of a length.
const LENGTH_BYTES: usize = 4;

/// Kind of the message with a row.
pub(super) const ROW: u8 = b'D';
/// Kind of the message with a piece of a copy.
pub(super) const COPIED: u8 = b'd';

/// Messages to be sent.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pub(super) bytes: Vec<u8>,
}

impl Outbox {
    /// Returns whether they should be sent before there are more.
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= FULL_BYTES
    }

    /// Sends them.
    ///
    /// # Errors
    /// Those of the system, and `TimedOut` for a client that takes nothing.
    pub(super) async fn send(&mut self, client: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.bytes.len() {
            match tokio::time::timeout(STALL, client.write(&self.bytes[sent..])).await {
                Ok(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => sent += written?,
                Err(_) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        tokio::time::timeout(STALL, client.flush()).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Writes a message of this kind, whose body `write` writes.
    fn message(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.push(kind);
        let begin = self.bytes.len();
        self.bytes.extend([0; LENGTH_BYTES]);
        write(&mut self.bytes);
        fill_length(&mut self.bytes, begin);
    }

    /// Says how the client proves who it is: 0 that it has done so, 3 by a password in the clear, and 10 to 12 by SASL,
    /// with what belongs to the step.
    pub(super) fn authentication(&mut self, way: u32, content: &[u8]) {
        self.message(b'R', |out| {
            out.extend(way.to_be_bytes());
            out.extend(content);
        });
    }

    /// Says what the server speaks of a version and of options that the client asked for.
    pub(super) fn negotiated(&mut self, version: u32, unknown: &[&str]) {
        self.message(b'v', |out| {
            out.extend(version.to_be_bytes());
            out.extend((unknown.len() as u32).to_be_bytes());
            unknown.iter().for_each(|option| text(out, option));
        });
    }

    /// Says what a setting is.
    pub(super) fn setting(&mut self, name: &str, value: &str) {
        self.message(b'S', |out| {
            text(out, name);
            text(out, value);
        });
    }

    /// Says what the client needs to cancel a statement.
    pub(super) fn cancellable(&mut self, own: &Cancellable) {
        self.message(b'K', |out| {
            out.extend(own.number.to_be_bytes());
            out.extend(own.secret.to_be_bytes());
        });
    }

    /// Says that the next statement may come.
    pub(super) fn ready(&mut self, transaction: Transaction) {
        self.message(b'Z', |out| out.push(transaction.letter()));
    }

    /// Says that a statement is prepared.
    pub(super) fn parsed(&mut self) {
        self.message(b'1', |_| {});
    }

    /// Says that a portal is made.
    pub(super) fn bound(&mut self) {
        self.message(b'2', |_| {});
    }

    /// Says that a statement or a portal is closed.
    pub(super) fn closed(&mut self) {
        self.message(b'3', |_| {});
    }

    /// Says that there are no columns.
    pub(super) fn no_columns(&mut self) {
        self.message(b'n', |_| {});
    }

    /// Says that a text had no statement.
    pub(super) fn empty(&mut self) {
        self.message(b'I', |_| {});
    }

    /// Says that a portal has more rows.
    pub(super) fn suspended(&mut self) {
        self.message(b's', |_| {});
    }

    /// Says that a statement is done.
    pub(super) fn complete(&mut self, tag: &str) {
        self.message(b'C', |out| text(out, tag));
    }

    /// Says of which types the parameters are.
    pub(super) fn parameters(&mut self, types: &[u32]) {
        self.message(b't', |out| {
            out.extend((types.len() as u16).to_be_bytes());
            types.iter().for_each(|oid| out.extend(oid.to_be_bytes()));
        });
    }

    /// Says which columns the rows have, and how each is written.
    pub(super) fn columns(&mut self, columns: &[Column], format: impl Fn(usize) -> Format) {
        self.message(b'T', |out| {
            out.extend((columns.len() as u16).to_be_bytes());
            for (place, column) in columns.iter().enumerate() {
                text(out, &column.name);
                // No table of the system catalog, nor a column of one.
                out.extend([0; 6]);
                out.extend(column.pg_type.oid.to_be_bytes());
                out.extend(column.pg_type.size.to_be_bytes());
                out.extend(column.pg_type.modifier.to_be_bytes());
                out.extend((format(place) as u16).to_be_bytes());
            }
        });
    }

    /// Says that rows follow as a copy, in this format and of this many columns.
    pub(super) fn copy_begun(&mut self, columns: usize, format: Format) {
        self.message(b'H', |out| {
            out.push(format as u8);
            out.extend((columns as u16).to_be_bytes());
            (0..columns).for_each(|_| out.extend((format as u16).to_be_bytes()));
        });
    }

    /// Writes a piece of a copy.
    pub(super) fn copied(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.message(COPIED, write);
    }

    /// Says that a copy has no more rows.
    pub(super) fn copy_done(&mut self) {
        self.message(b'c', |_| {});
    }

    /// Begins a message with a row; [`Outbox::end_row`] ends it.
    pub(super) fn begin_row(&mut self, kind: u8) -> usize {
        self.bytes.push(kind);
        let begin = self.bytes.len();
        self.bytes.extend([0; LENGTH_BYTES]);
        begin
    }

    /// Ends the row that began there.
    pub(super) fn end_row(&mut self, begin: usize) {
        fill_length(&mut self.bytes, begin);
    }

    /// Takes back the row that began there, of which a value can't be said.
    pub(super) fn drop_row(&mut self, begin: usize) {
        self.bytes.truncate(begin - 1);
    }

    /// Says why a message was refused.
    pub(super) fn refuse(&mut self, refusal: &Refusal) {
        self.message(b'E', |out| {
            let mut field = |kind: u8, value: &str| {
                out.push(kind);
                text(out, value);
            };
            field(b'S', refusal.severity());
            field(b'V', refusal.severity());
            field(b'C', refusal.state);
            field(b'M', &refusal.message);
            if let Some(hint) = &refusal.hint {
                field(b'H', hint);
            }
            if let Some(position) = refusal.position {
                field(b'P', &position.to_string());
            }
            out.push(0);
        });
    }
}

/// Writes the length of what follows `begin`, which counts itself.
fn fill_length(out: &mut [u8], begin: usize) {
    let length = i32::try_from(out.len() - begin).unwrap_or(i32::MAX);
    out[begin..begin + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
}

/// Writes a text that ends with a zero byte; one in the text would end it early, and is left out.
fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.push(0);
}
