//! Finds the boundaries of rows in a JSON text without parsing their values. Rows are validated by the caller.

use std::io::BufRead;

use salver_model::limits::JSON_ROW_BYTES_MAX;
use salver_model::{Code, Error, Result};

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
        let mut depth = 0_usize;
        let mut in_text = false;
        let mut after_backslash = false;
        let mut is_first = true;
        loop {
            let bytes = self.buffer()?;
            if bytes.is_empty() {
                let is_open = depth > 0 || in_text || is_first;
                return if is_open { Err(self.error("the text ends in the middle of a value")) } else { Ok(()) };
            }
            let mut count = 0;
            let mut is_done = false;
            while let Some(&byte) = bytes.get(count) {
                if in_text {
                    if after_backslash {
                        after_backslash = false;
                        count += 1;
                        continue;
                    }
                    match memchr::memchr2(b'"', b'\\', &bytes[count..]) {
                        None => count = bytes.len(),
                        Some(run) => {
                            count += run + 1;
                            after_backslash = bytes[count - 1] == b'\\';
                            in_text = after_backslash;
                            is_done = !in_text && depth == 0;
                        }
                    }
                } else {
                    match byte {
                        // The byte that ends a number or word is not part of it.
                        b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => {
                            self.take(count, out)?;
                            return if is_first { Err(self.unexpected(Some(byte), "a value")) } else { Ok(()) };
                        }
                        b'"' => in_text = true,
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => {
                            depth -= 1;
                            is_done = depth == 0;
                        }
                        _ => {}
                    }
                    count += 1;
                }
                is_first = false;
                if is_done {
                    return self.take(count, out);
                }
            }
            self.take(count, out.as_deref_mut())?;
        }
    }
}

/// Returns an error at a position of a file.
pub(super) fn error_at(input: &Input, at: Position, why: impl std::fmt::Display) -> Error {
    let Position { line, column } = at;
    Error::new(Code::Source, format!("`{}` line {line} column {column}: {why}", input.label))
        .with_hint("check that the file is whole and valid JSON; `format` tells `json` from `ndjson`")
}
