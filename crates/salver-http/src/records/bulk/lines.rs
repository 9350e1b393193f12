//! Parses NDJSON incrementally. A malformed line is reported, and parsing continues with the next one.

use memchr::memchr;
use salver_model::ports::ArrivingRow;

use super::{too_long, unreadable};
use crate::records::json::Reader;

/// Assembles lines and parses them.
#[derive(Debug)]
pub(super) struct LineReader {
    begun: Vec<u8>,
    /// Whether the current line is too long, so that its content is dropped.
    overlong: bool,
    bytes_max: usize,
}

impl LineReader {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { begun: Vec::new(), overlong: false, bytes_max }
    }

    pub(super) fn take(&mut self, mut bytes: &[u8], rows: &mut Vec<ArrivingRow>) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if self.begun.is_empty() && !self.overlong {
                self.line(line, rows);
            } else {
                self.begin(line);
                self.finish(rows);
            }
            bytes = rest;
        }
        self.begin(bytes);
    }

    pub(super) fn finish(&mut self, rows: &mut Vec<ArrivingRow>) {
        let line = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.overlong) {
            rows.push(Err(too_long(self.bytes_max)));
        } else {
            self.line(&line, rows);
        }
    }

    /// Buffers a part of a line.
    fn begin(&mut self, bytes: &[u8]) {
        if self.overlong || self.begun.len() + bytes.len() > self.bytes_max {
            self.overlong = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(bytes);
        }
    }

    fn line(&self, line: &[u8], rows: &mut Vec<ArrivingRow>) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if line.len() > self.bytes_max {
            rows.push(Err(too_long(self.bytes_max)));
            return;
        }
        let text = std::str::from_utf8(line).ok();
        let record = text.and_then(|text| Reader::whole(text, Reader::record));
        let refused = || unreadable("the line is not a JSON object").with_hint("NDJSON has one object a line");
        rows.push(record.ok_or_else(refused));
    }
}

#[cfg(test)]
mod tests {
    use salver_model::Code;

    use super::LineReader;

    #[test]
    fn pieces_of_any_size_give_the_same_rows() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(100));
        let text = format!("{{\"a\":1}}\n\n{{\"a\":\"x\\ny\"}}\r\n[1]\n{long}\nnull\n{{\"a\":null}}\n{long}");
        for size in 1..=text.len() {
            let mut reader = LineReader::new(100);
            let mut rows = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                reader.take(piece, &mut rows);
                assert!(reader.begun.len() <= 100, "{size}");
            }
            reader.finish(&mut rows);
            let told: Vec<Option<Code>> = rows.iter().map(|row| row.as_ref().err().map(|error| error.code)).collect();
            let (bad, long) = (Some(Code::Invalid), Some(Code::BodyTooLarge));
            assert_eq!(told, [None, None, bad, long, bad, None, long], "{size}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_told() {
        let mut rows = Vec::new();
        LineReader::new(100).take(b"{\"a\":\"\xff\"}\n{\"a\":1}\n", &mut rows);
        assert!(rows[0].is_err() && rows[1].is_ok());
    }
}
