//! Finds the boundaries of rows in a JSON text without parsing their values. Rows are validated by the caller.

use std::io::BufRead;

use salver_model::limits::JSON_ROW_BYTES_MAX;
use salver_model::{Code, Error, Result};
use salver_text::json::Ending;

use super::super::{Input, io_error};

/// Position at which a row begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u64,
    pub(super) column: u64,
}

/// Bytes with a position.
pub(super) struct Scan<'a> {
    input: &'a Input,
    reader: Box<dyn BufRead + Send>,
    pub(super) at: Position,
    pub(super) used_bytes: u64,
}

impl<'a> Scan<'a> {
    pub(super) fn new(input: &'a Input, reader: Box<dyn BufRead + Send>) -> Self {
        Self { input, reader, at: Position { line: 1, column: 1 }, used_bytes: 0 }
    }

    fn buffer(&mut self) -> Result<&[u8]> {
        loop {
            match self.reader.fill_buf() {
                Ok(_) => break,
                Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(io_error(self.input, cause)),
            }
        }
        self.reader.fill_buf().map_err(|cause| io_error(self.input, cause))
    }

    /// Advances by `count` bytes of the buffer, and copies them to `out`.
    fn take(&mut self, count: usize, out: Option<&mut Vec<u8>>) -> Result<()> {
        let mut at = self.at;
        let bytes = &self.buffer()?[..count];
        match memchr::memrchr(b'\n', bytes) {
            Some(last) => {
                at.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
                at.column = (count - last) as u64;
            }
            None => at.column += count as u64,
        }
        if let Some(out) = out {
            out.extend_from_slice(bytes);
            if out.len() > JSON_ROW_BYTES_MAX {
                return Err(self.error("a row does not end within 256 MiB"));
            }
        }
        self.at = at;
        self.used_bytes += count as u64;
        self.reader.consume(count);
        Ok(())
    }

    /// Returns the next byte that is not white space; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let bytes = self.buffer()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let blank = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
            let found = bytes.get(blank).copied();
            self.take(blank, None)?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Skips `byte`, which must be next.
    pub(super) fn expect(&mut self, byte: u8, what: &str) -> Result<()> {
        match self.peek()? {
            Some(found) if found == byte => self.take(1, None),
            found => Err(self.unexpected(found, what)),
        }
    }

    /// Returns the error "expected `,` or `]`, found `}`".
    pub(super) fn unexpected(&self, found: Option<u8>, what: &str) -> Error {
        let found =
            found.map_or_else(|| "the end".to_owned(), |byte| format!("`{}`", char::from(byte).escape_default()));
        self.error(format!("expected {what}, found {found}"))
    }

    /// Returns an error at the current position.
    pub(super) fn error(&self, why: impl std::fmt::Display) -> Error {
        error_at(self.input, self.at, why)
    }

    /// Copies the rest of the line; returns false at the end.
    pub(super) fn line(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let mut any = false;
        loop {
            let bytes = self.buffer()?;
            if bytes.is_empty() {
                return Ok(any);
            }
            any = true;
            let end = memchr::memchr(b'\n', bytes);
            let count = end.map_or(bytes.len(), |end| end + 1);
            self.take(count, Some(out))?;
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Copies or skips one value, whose first byte is next.
    pub(super) fn value(&mut self, mut out: Option<&mut Vec<u8>>) -> Result<()> {
        let mut ending = Ending::default();
        loop {
            let is_open = ending.is_open();
            let bytes = self.buffer()?;
            let Some(&next) = bytes.first() else {
                return if is_open { Err(self.error("the text ends in the middle of a value")) } else { Ok(()) };
            };
            let end = ending.find(bytes, 0);
            let count = end.unwrap_or(bytes.len());
            self.take(count, out.as_deref_mut())?;
            match end {
                // The byte that ends a number or word is not part of it.
                Some(0) if is_open => return Err(self.unexpected(Some(next), "a value")),
                Some(_) => return Ok(()),
                None => {}
            }
        }
    }
}

/// Returns an error at a position of a file.
pub(super) fn error_at(input: &Input, at: Position, why: impl std::fmt::Display) -> Error {
    let Position { line, column } = at;
    Error::new(Code::Source, format!("`{}` line {line} column {column}: {why}", input.label))
        .with_hint("check that the file is whole and valid JSON; `format` tells `json` from `ndjson`")
}
