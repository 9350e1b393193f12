//! NDJSON in pieces to records.

use memchr::memchr;
use salver_model::records::Record;
use salver_model::{Code, Error, Result};

use super::too_long;
use crate::records::json::Reader;

/// Puts lines together and reads them.
#[derive(Debug)]
pub(super) struct LineReader {
    begun: Vec<u8>,
    row: u64,
    bytes_max: usize,
}

impl LineReader {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { begun: Vec::new(), row: 0, bytes_max }
    }

    pub(super) fn take(&mut self, mut bytes: &[u8], rows: &mut Vec<Record>) -> Result<()> {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.begun.is_empty() {
                self.line(line, rows)?;
            } else {
                let mut whole = std::mem::take(&mut self.begun);
                whole.extend_from_slice(line);
                self.line(&whole, rows)?;
            }
            bytes = rest;
        }
        if self.begun.len() + bytes.len() > self.bytes_max {
            return Err(too_long(self.row + 1, self.bytes_max));
        }
        self.begun.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn finish(&mut self, rows: &mut Vec<Record>) -> Result<()> {
        let last = std::mem::take(&mut self.begun);
        self.line(&last, rows)
    }

    fn line(&mut self, line: &[u8], rows: &mut Vec<Record>) -> Result<()> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        self.row += 1;
        if line.len() > self.bytes_max {
            return Err(too_long(self.row, self.bytes_max));
        }
        let text = std::str::from_utf8(line).ok();
        let record = text.and_then(|text| Reader::whole(text, Reader::record)).ok_or_else(|| {
            Error::new(Code::InvalidRequest, format!("row {} is not a JSON object", self.row))
                .with_hint("NDJSON has one object a line")
        })?;
        rows.push(record);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::LineReader;

    #[test]
    fn pieces_of_any_size_give_the_same_rows() {
        let text = "{\"a\":1}\n\n{\"a\":\"x\\ny\"}\r\n{\"a\":null}";
        for size in 1..text.len() {
            let mut reader = LineReader::new(100);
            let mut rows = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                reader.take(piece, &mut rows).unwrap();
            }
            reader.finish(&mut rows).unwrap();
            assert_eq!(rows.len(), 3, "{size}");
        }
    }

    #[test]
    fn bad_and_endless_lines_are_refused() {
        let mut rows = Vec::new();
        let error = LineReader::new(100).take(b"{\"a\":1}\n[1]\n", &mut rows).unwrap_err();
        assert!(error.message.contains("row 2"), "{error}");
        assert!(LineReader::new(10).take(&[b' '; 11], &mut rows).is_err());
    }
}
