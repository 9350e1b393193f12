//! Cuts the text of a source into batches of whole events. Looks no closer at an event than that takes: what is wrong
//! with one, the server says.
//!
//! Where a batch ends follows from where it begins and from the text alone, so that a later run cuts the same ones.

use std::io::{ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use salver_model::{Code, Error, Result};

use super::batches_of_values::{Values, is_split_over_lines};
use super::source::{Source, unreadable};

/// Most bytes of one event; the server takes none that is as large.
const EVENT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes at the beginning of a source that tell how its events lie in it.
const HEAD_BYTES: usize = 64 * 1024;

/// Some whole events, one after the other.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Which one of its source, from 0 on.
    pub(crate) number: u64,
    /// The events.
    pub(crate) text: Vec<u8>,
    /// Where the next batch begins in the source's text.
    pub(crate) end: u64,
    /// How many bytes of the file had been read when it was made.
    pub(crate) input_bytes: u64,
}

/// How events lie in a source.
enum Layout {
    /// One in each line.
    Lines,
    /// An array of them, or one after the other over several lines.
    Values(Values),
}

/// The batches of a source.
pub(crate) struct Batches {
    name: String,
    reader: Box<dyn Read + Send>,
    input_bytes: Arc<AtomicU64>,
    layout: Layout,
    batch_bytes: usize,
    /// What was read and is in no batch yet.
    held: Vec<u8>,
    is_over: bool,
    offset: u64,
    next: u64,
}

impl Batches {
    /// The batches of about `batch_bytes` from byte `offset` of the text on, the first with number `next`.
    pub(crate) fn open(source: Source, batch_bytes: usize, offset: u64, next: u64) -> Result<Self> {
        let (reader, input_bytes) = source.open(0)?;
        let mut batches = Self {
            name: source.name.clone(),
            reader,
            input_bytes,
            layout: Layout::Lines,
            batch_bytes,
            held: Vec::new(),
            is_over: false,
            offset: 0,
            next,
        };
        batches.fill(HEAD_BYTES)?;
        let first = batches.held.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'[') {
            batches.layout = Layout::Values(Values::in_array(offset > 0));
        } else if !source.has_lines && is_split_over_lines(&batches.held) {
            batches.layout = Layout::Values(Values::apart());
        }
        if offset > 0 {
            (batches.reader, batches.input_bytes) = source.open(offset)?;
            (batches.held, batches.is_over, batches.offset) = (Vec::new(), false, offset);
        }
        Ok(batches)
    }

    /// The next batch; `None` at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            let (used, text) = match &self.layout {
                Layout::Lines => self.lines()?,
                Layout::Values(_) => self.values()?,
            };
            if used == 0 {
                return self.ended().map(|()| None);
            }
            self.held.drain(..used);
            self.offset += used as u64;
            // White space only is no batch; events may come behind it.
            if !text.iter().all(u8::is_ascii_whitespace) {
                let input_bytes = self.input_bytes.load(Ordering::Relaxed);
                let batch = Batch { number: self.next, text, end: self.offset, input_bytes };
                self.next += 1;
                return Ok(Some(batch));
            }
        }
    }

    /// Whether the text may end here.
    fn ended(&self) -> Result<()> {
        match &self.layout {
            Layout::Values(values) if values.is_open() => {
                Err(Error::new(Code::Source, format!("`{}`: the array of events does not end", self.name))
                    .with_hint("is the file whole? What stands before its end was sent"))
            }
            _ => Ok(()),
        }
    }

    /// The lines that end within the size of a batch; of a line that is longer than that, all.
    fn lines(&mut self) -> Result<(usize, Vec<u8>)> {
        let mut wanted = self.batch_bytes;
        loop {
            self.fill(wanted)?;
            let window = &self.held[..wanted.min(self.held.len())];
            if self.is_over && self.held.len() <= self.batch_bytes {
                return Ok((window.len(), window.to_vec()));
            }
            // A line that is longer than a batch goes alone.
            let is_long = wanted > self.batch_bytes;
            let mut bytes = window.iter();
            let end = if is_long { bytes.position(is_newline) } else { bytes.rposition(is_newline) };
            if let Some(at) = end {
                return Ok((at + 1, window[..=at].to_vec()));
            }
            if self.is_over && self.held.len() <= wanted {
                return Ok((window.len(), window.to_vec()));
            }
            wanted = self.more(wanted)?;
        }
    }

    /// The values that end within the size of a batch, each on a line of its own; of a longer one, all.
    fn values(&mut self) -> Result<(usize, Vec<u8>)> {
        let mut wanted = self.batch_bytes;
        loop {
            self.fill(wanted)?;
            let window = &self.held[..wanted.min(self.held.len())];
            let is_last = self.is_over && self.held.len() <= wanted;
            let Layout::Values(values) = &mut self.layout else { return Ok((0, Vec::new())) };
            let (used, text) = values
                .cut(window, is_last)
                .map_err(|why| Error::new(Code::Source, format!("`{}`: {why}", self.name)))?;
            if used > 0 || is_last {
                return Ok((used, text));
            }
            wanted = self.more(wanted)?;
        }
    }

    /// A larger window, for an event that did not end in this one.
    fn more(&self, wanted: usize) -> Result<usize> {
        if wanted >= EVENT_BYTES_MAX {
            let at = self.offset;
            return Err(Error::new(Code::Source, format!("`{}`: the event at byte {at} does not end", self.name))
                .with_hint("events stand one a line, one after the other, or in an array"));
        }
        Ok((wanted * 2).min(EVENT_BYTES_MAX))
    }

    /// Reads until `wanted` bytes and one more are held, so that the end is known when it is there.
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

fn is_newline(byte: &u8) -> bool {
    *byte == b'\n'
}

#[cfg(test)]
mod tests {
    use super::{Batches, Source};

    fn cut(name: &str, text: &str, batch_bytes: usize, offset: u64) -> Vec<(String, u64)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let source = Source::find(path.to_str().unwrap()).unwrap();
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
        assert_eq!(texts(&small), ["{\"a\":1}\n{\"a\":2}\n\n", "{\"a\":\"long, longer\"}\n", "{\"a\":3}"]);
        // A later run cuts the rest in the same way.
        assert_eq!(cut("x.ndjson", text, 17, small[0].1), small[1..]);
        assert!(cut("x.ndjson", "", 10, 0).is_empty());
        assert!(cut("x.ndjson", "\n \n\n\n\n\n", 3, 0).is_empty());
    }

    #[test]
    fn arrays_and_values_over_lines() {
        let text = "[\n  {\"a\": [1, \"]\"]},\n  {\"b\": \"x\\\"}\"} ,{\"c\":3}\n]\n";
        let small = cut("x.json", text, 20, 0);
        assert_eq!(texts(&small), ["{\"a\": [1, \"]\"]}\n", "{\"b\": \"x\\\"}\"}\n", "{\"c\":3}\n"]);
        assert_eq!(cut("x.json", text, 20, small[0].1), small[1..]);
        let pretty = "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n";
        assert_eq!(texts(&cut("x.json", pretty, 16, 0)), ["{\n  \"a\": 1\n}\n", "{\n  \"a\": 2\n}\n"]);
        // One bad line does not make lines into something else.
        assert_eq!(texts(&cut("x.jsonl", "{\"a\":\n{\"a\":2}\n", 8, 0)), ["{\"a\":\n", "{\"a\":2}\n"]);
    }

    #[test]
    fn an_array_that_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        for text in ["[{\"a\":1},{\"a\":", "[{\"a\":1},", "[{\"a\":1}"] {
            std::fs::write(&path, text).unwrap();
            let mut batches = Batches::open(Source::find(path.to_str().unwrap()).unwrap(), 100, 0, 0).unwrap();
            assert_eq!(batches.next_batch().unwrap().unwrap().text, b"{\"a\":1}\n");
            assert!(batches.next_batch().unwrap_err().message.contains("does not end"), "{text}");
        }
        std::fs::write(&path, "[{\"a\":1}] x").unwrap();
        let mut batches = Batches::open(Source::find(path.to_str().unwrap()).unwrap(), 100, 0, 0).unwrap();
        assert!(batches.next_batch().is_err());
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
                let source = Source::find(path.to_str().unwrap()).unwrap();
                let mut batches = Batches::open(source, 100, offset, 0).unwrap();
                assert_eq!(batches.next_batch().unwrap().unwrap().text, rest.as_bytes());
                assert!(batches.next_batch().unwrap().is_none());
            }
        }
    }
}
