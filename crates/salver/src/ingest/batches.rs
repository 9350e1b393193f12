//! Splits the text of a source into batches of whole events. Events are found by the server's own parser, so that the
//! result does not depend on how a file is split; validation is left to the server.
//!
//! The end of a batch depends only on its start and the text, so that a later run makes the same batches.

use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use salver_model::limits::EVENT_BYTES_MAX;
use salver_model::streams::Framing;
use salver_model::{Code, Error, Result};
use salver_streams::{Cut, Cutter};

use super::source::{EventSource, unreadable};

/// Bytes at the beginning of a source from which its layout is detected.
const HEAD_BYTES: usize = 64 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whole events, in sequence or in an array, as in the source.
#[derive(Debug)]
pub(crate) struct EventBatch {
    /// Number of the batch in its source, from 0.
    pub(crate) number: u64,
    /// Text of the events.
    pub(crate) text: Vec<u8>,
    /// Offset of the next batch in the source's text.
    pub(crate) end: u64,
    /// Number of bytes of the file read so far.
    pub(crate) input_bytes: u64,
}

/// Iterator over the batches of a source.
pub(crate) struct Batches {
    name: String,
    reader: Box<dyn Read + Send>,
    input_bytes: Arc<AtomicU64>,
    is_array: bool,
    cutter: Cutter,
    batch_bytes: usize,
    /// Text that is read but not in a batch yet.
    held: Vec<u8>,
    is_over: bool,
    offset: u64,
    next: u64,
}

impl Batches {
    /// Opens the batches of about `batch_bytes` from byte `offset` of the text on, the first with number `next`.
    pub(crate) fn open(source: EventSource, batch_bytes: usize, offset: u64, next: u64) -> Result<Self> {
        let (reader, input_bytes) = source.open(0)?;
        let mut batches = Self {
            name: source.name.clone(),
            reader,
            input_bytes,
            is_array: false,
            cutter: Cutter::new(Framing::Start),
            batch_bytes,
            held: Vec::new(),
            is_over: false,
            offset: 0,
            next,
        };
        batches.fill(HEAD_BYTES)?;
        let text = batches.held.trim_ascii_start();
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii_start();
        batches.is_array = text.first() == Some(&b'[');
        if offset > 0 {
            (batches.reader, batches.input_bytes) = source.open(offset)?;
            (batches.held, batches.is_over, batches.offset) = (Vec::new(), false, offset);
            // A batch ends behind a value.
            batches.cutter = Cutter::new(if batches.is_array { Framing::ArrayComma } else { Framing::Values });
        }
        Ok(batches)
    }

    /// Returns the next batch; `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<EventBatch>> {
        let mut wanted = self.batch_bytes;
        loop {
            self.fill(wanted)?;
            let window = &self.held[..wanted.min(self.held.len())];
            let is_last = self.is_over && self.held.len() <= wanted;
            if window.is_empty() {
                return if self.cutter.may_end() { Ok(None) } else { Err(self.open_array()) };
            }
            let lines = if self.is_array { None } else { whole_lines(window, is_last) };
            let cut = match lines {
                Some(end) => {
                    self.cutter = Cutter::new(Framing::Values);
                    Cut::Events(0..end)
                }
                None => self.cutter.cut(window, is_last),
            };
            match cut {
                Cut::Events(range) => {
                    let text = self.text(&window[range.start..range.end], true);
                    self.drop_held(range.end);
                    // A batch of white space only is skipped; events may follow.
                    if !text.trim_ascii().is_empty() {
                        return Ok(Some(self.batch(text)));
                    }
                }
                Cut::Long(at) => {
                    // The server refuses an event that exceeds the limit, so one more byte suffices.
                    let mut events = window[at..window.len().min(at + EVENT_BYTES_MAX + 1)].to_vec();
                    self.drop_held(at);
                    let length = self.skip()?;
                    let is_whole = length <= events.len() as u64;
                    events.truncate(usize::try_from(length).unwrap_or(usize::MAX));
                    let text = self.text(&events, is_whole);
                    return Ok(Some(self.batch(text)));
                }
                Cut::Fault(..) if is_last && self.reaches_end(&cut) => return Err(self.open_array()),
                Cut::Fault(at, reason) => {
                    let at = self.offset + at as u64;
                    let message =
                        format!("`{}`: the array of events is malformed from byte {at} on: {reason}", self.name);
                    return Err(Error::new(Code::Source, message).with_hint("what stands before that place was sent"));
                }
                Cut::Nothing(0) if is_last => return Err(self.open_array()),
                // Enlarge the window for an event that did not end in it.
                Cut::Nothing(0) => wanted *= 2,
                Cut::Nothing(used) => self.drop_held(used),
            }
        }
    }

    /// Returns whether the only fault is that the text ends.
    fn reaches_end(&self, cut: &Cut) -> bool {
        matches!(cut, Cut::Fault(_, reason) if reason.starts_with("the text ends"))
    }

    fn open_array(&self) -> Error {
        Error::new(Code::Source, format!("`{}`: the array of events does not end", self.name))
            .with_hint("is the file whole? What stands before its end was sent")
    }

    /// Returns the text to send for some events. Values of an array are sent as an array, and so is text that would
    /// otherwise be taken for one; the array is left open when the last value is incomplete.
    fn text(&self, events: &[u8], is_whole: bool) -> Vec<u8> {
        let (before, behind): (&[u8], &[u8]) = match self.is_array || events.first() == Some(&b'[') {
            true if is_whole => (b"[", b"]"),
            true => (b"[", b""),
            false => (b"", b""),
        };
        [before, events, behind].concat()
    }

    fn batch(&mut self, text: Vec<u8>) -> EventBatch {
        let number = self.next;
        self.next += 1;
        EventBatch { number, text, end: self.offset, input_bytes: self.input_bytes.load(Ordering::Relaxed) }
    }

    fn drop_held(&mut self, bytes: usize) {
        self.held.drain(..bytes);
        self.offset += bytes as u64;
    }

    /// Skips a value that is too long for an event; returns its number of bytes.
    fn skip(&mut self) -> Result<u64> {
        let start = self.offset;
        loop {
            self.fill(self.batch_bytes)?;
            let (used, is_over) = self.cutter.skip(&self.held, self.is_over);
            self.drop_held(used);
            if is_over || self.is_over {
                return Ok(self.offset - start);
            }
        }
    }

    /// Reads until `wanted` bytes and one more are buffered, so that the end is detected.
    fn fill(&mut self, wanted: usize) -> Result<()> {
        while self.held.len() <= wanted && !self.is_over {
            let start = self.held.len();
            self.held.resize(wanted + 1, 0);
            let read = self.reader.read(&mut self.held[start..]);
            self.held.truncate(start + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => self.is_over = true,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&self.name, error)),
            }
        }
        Ok(())
    }
}

/// Returns how far `text`, which is not an array, can be split off without parsing its values: its end, or the start of
/// a line that begins with an object behind a line that ends with one. No value contains such a place, and an event
/// begins there even behind a malformed one.
fn whole_lines(text: &[u8], is_last: bool) -> Option<usize> {
    if text.trim_ascii_start().first() == Some(&b'[') {
        return None;
    }
    if is_last {
        return Some(text.len());
    }
    let mut rest = text;
    while let Some(newline) = rest.iter().rposition(|byte| *byte == b'\n') {
        if text.get(newline + 1) == Some(&b'{') && text[..newline].trim_ascii_end().last() == Some(&b'}') {
            return Some(newline + 1);
        }
        rest = &text[..newline];
    }
    None
}

#[cfg(test)]
mod tests {
    use salver_model::limits::EVENT_BYTES_MAX;

    use super::{Batches, EventSource};

    fn cut(name: &str, text: &str, batch_bytes: usize, offset: u64) -> Vec<(String, u64)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let source = EventSource::find(path.to_str().unwrap()).unwrap();
        let mut batches = Batches::open(source, batch_bytes, offset, 0).unwrap();
        let mut all = Vec::new();
        while let Some(batch) = batches.next_batch().unwrap() {
            all.push((String::from_utf8(batch.text).unwrap(), batch.end));
        }
        all
    }

    fn texts(all: &[(String, u64)]) -> Vec<&str> {
        all.iter().map(|(text, _)| text.as_str()).collect()
    }

    #[test]
    fn lines() {
        let text = "{\"a\":1}\n{\"a\":2}\n\n{\"a\":\"long, longer\"}\n{\"a\":3}";
        assert_eq!(texts(&cut("x.ndjson", text, 1000, 0)), [text]);
        let small = cut("x.ndjson", text, 17, 0);
        assert_eq!(texts(&small), ["{\"a\":1}\n", "{\"a\":2}\n\n", "{\"a\":\"long, longer\"}\n{\"a\":3}"]);
        // A later run splits the rest in the same way.
        assert_eq!(cut("x.ndjson", text, 17, small[0].1), small[1..]);
        assert!(cut("x.ndjson", "", 10, 0).is_empty());
        assert!(cut("x.ndjson", "\n \n\n\n\n\n", 3, 0).is_empty());
    }

    #[test]
    fn arrays_and_values_over_lines() {
        let text = "[\n  {\"a\": [1, \"]\"]},\n  {\"b\": \"x\\\"}\"} ,{\"c\":3}\n]\n";
        let small = cut("x.json", text, 20, 0);
        assert_eq!(texts(&small), ["[{\"a\": [1, \"]\"]}]", "[{\"b\": \"x\\\"}\"}]", "[{\"c\":3}]"]);
        assert_eq!(cut("x.json", text, 20, small[0].1), small[1..]);
        let pretty = "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n";
        // Whatever its name says.
        for name in ["x.json", "x.ndjson"] {
            let small = cut(name, pretty, 16, 0);
            let texts: Vec<_> = texts(&small).into_iter().map(str::trim).collect();
            assert_eq!(texts, ["{\n  \"a\": 1\n}", "{\n  \"a\": 2\n}"]);
        }
        // A bad line is one event, as for the server.
        assert_eq!(texts(&cut("x.jsonl", "{\"a\":\n{\"a\":2}\n", 8, 0)).concat().trim(), "{\"a\":\n{\"a\":2}");
    }

    #[test]
    fn what_is_too_long_is_sent_as_far_as_it_takes_to_be_refused() {
        let long = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes));
        let whole = format!("[{{\"n\":1}},{},{{\"n\":2}}]", long(3 * EVENT_BYTES_MAX));
        let found = cut("x.json", &whole, 4_096, 0);
        assert_eq!(found.len(), 3);
        assert_eq!((&*found[0].0, found[1].0.len(), &*found[2].0), ("[{\"n\":1}]", EVENT_BYTES_MAX + 2, "[{\"n\":2}]"));
        assert_eq!(cut("x.json", &whole, 4_096, found[1].1), found[2..]);
        let lines = format!("{{\"n\":1}}\n{}\n{{\"n\":2}}\n", long(3 * EVENT_BYTES_MAX));
        let found = cut("x.ndjson", &lines, 4_096, 0);
        assert_eq!((found.len(), found[1].0.len(), found[2].0.trim()), (3, EVENT_BYTES_MAX + 1, "{\"n\":2}"));
    }

    #[test]
    fn an_array_that_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        for text in ["[{\"a\":1},{\"a\":", "[{\"a\":1},", "[{\"a\":1}"] {
            std::fs::write(&path, text).unwrap();
            let mut batches = Batches::open(EventSource::find(path.to_str().unwrap()).unwrap(), 100, 0, 0).unwrap();
            assert_eq!(batches.next_batch().unwrap().unwrap().text, b"[{\"a\":1}]");
            assert!(batches.next_batch().unwrap_err().message.contains("does not end"), "{text}");
        }
        for text in ["[{\"a\":1}] x", "[{\"a\":1} {\"a\":2}]"] {
            std::fs::write(&path, text).unwrap();
            let mut batches = Batches::open(EventSource::find(path.to_str().unwrap()).unwrap(), 100, 0, 0).unwrap();
            assert_eq!(batches.next_batch().unwrap().unwrap().text, b"[{\"a\":1}]");
            assert!(batches.next_batch().unwrap_err().message.contains("malformed"), "{text}");
        }
    }

    #[test]
    fn compressed() {
        use std::io::Write;
        let folder = tempfile::tempdir().unwrap();
        let text = "{\"a\":1}\n{\"a\":2}\n";
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
        for (name, bytes) in [("x.ndjson.gz", gzip.finish().unwrap()), ("x.json.zst", zstd)] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            for (offset, rest) in [(0, text), (8, &text[8..])] {
                let source = EventSource::find(path.to_str().unwrap()).unwrap();
                let mut batches = Batches::open(source, 100, offset, 0).unwrap();
                assert_eq!(batches.next_batch().unwrap().unwrap().text, rest.as_bytes());
                assert!(batches.next_batch().unwrap().is_none());
            }
        }
    }
}
