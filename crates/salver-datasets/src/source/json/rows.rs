//! Iterates over the rows of a JSON text: the lines of NDJSON, the elements of an array (the document, or the target of
//! a pointer), or a single object.

use salver_model::spec::{DatasetSpec, SourceFormat};
use salver_model::{Code, Error, Result};

use super::super::{Input, encoding};
use super::geojson;
use super::row_boundaries::{Position, Scan, error_at};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Lines,
    /// Consecutive values; many programs give NDJSON the suffix of JSON.
    Values,
    Array {
        is_first: bool,
    },
    /// A single object, the target of a pointer.
    One,
    Done,
}

/// Reads rows.
pub(super) struct JsonRows<'a> {
    scan: Scan<'a>,
    mode: Mode,
    /// The open brackets around the rows, outermost first.
    around: Vec<u8>,
    /// Of GeoJSON: the features.
    features: Option<Features<'a>>,
}

/// The features of a file.
struct Features<'a> {
    input: &'a Input,
    /// Features so far.
    count: u64,
    /// The current feature, as it is in the file.
    text: Vec<u8>,
    /// A feature that was read to find out whether it is a collection.
    first: Option<(Position, Vec<u8>)>,
}

impl<'a> JsonRows<'a> {
    /// Opens a file and moves to the rows.
    pub(super) fn open(input: &'a Input, spec: &DatasetSpec) -> Result<Self> {
        // JSON is UTF-8 by its standard; a byte order mark is removed, and identifies UTF-16.
        let scan = Scan::new(input, encoding::open(input, None, false)?.reader);
        let mut rows = Self { scan, mode: Mode::Lines, around: Vec::new(), features: None };
        if input.format == SourceFormat::NdJson {
            return Ok(rows);
        }
        if input.format == SourceFormat::GeoJson {
            rows.open_features(input)?;
            return Ok(rows);
        }
        if let Some(pointer) = spec.json.pointer.as_deref().filter(|pointer| !pointer.is_empty()) {
            rows.follow(input, pointer)?;
        }
        rows.mode = match rows.scan.peek()? {
            Some(b'[') => {
                rows.enter(b'[')?;
                Mode::Array { is_first: true }
            }
            Some(b'{') | None if rows.around.is_empty() => Mode::Values,
            Some(b'{') => Mode::One,
            found => return Err(rows.scan.unexpected(found, "an array of rows")),
        };
        Ok(rows)
    }

    /// Returns the number of bytes read.
    pub(super) fn used_bytes(&self) -> u64 {
        self.scan.used_bytes
    }

    /// Moves to the features: of a collection, of an array, or one after another.
    fn open_features(&mut self, input: &'a Input) -> Result<()> {
        self.mode = Mode::Values;
        let mut features = Features { input, count: 0, text: Vec::new(), first: None };
        match self.peek_feature()? {
            Some(b'[') => {
                self.enter(b'[')?;
                self.mode = Mode::Array { is_first: true };
            }
            Some(b'{') => {
                let at = self.scan.at;
                features.first = self.enter_collection()?.map(|text| (at, text));
                if features.first.is_none() {
                    self.mode = Mode::Array { is_first: true };
                }
            }
            None => {}
            found => return Err(self.scan.unexpected(found, "a FeatureCollection or a Feature")),
        }
        self.features = Some(features);
        Ok(())
    }

    /// Moves to the features of a collection. Of another object, all of it is read and returned.
    fn enter_collection(&mut self) -> Result<Option<Vec<u8>>> {
        let mut text = vec![b'{'];
        self.enter(b'{')?;
        while self.scan.peek()? != Some(b'}') {
            if text.len() > 1 {
                self.scan.expect(b',', "`,` or `}`")?;
                text.push(b',');
            }
            match self.scan.peek()? {
                Some(b'"') => {}
                found => return Err(self.scan.unexpected(found, "a name in quotes")),
            }
            let start = text.len();
            self.scan.value(Some(&mut text))?;
            let is_features = &text[start..] == b"\"features\"";
            self.scan.expect(b':', "`:`")?;
            text.push(b':');
            if self.scan.peek()? == Some(b'[') && is_features {
                self.enter(b'[')?;
                return Ok(None);
            }
            self.scan.value(Some(&mut text))?;
        }
        self.scan.expect(b'}', "`}`")?;
        self.around.pop();
        text.push(b'}');
        Ok(Some(text))
    }

    /// Returns the next byte that is neither white space nor a record separator, which RFC 8142 puts before features.
    fn peek_feature(&mut self) -> Result<Option<u8>> {
        while self.scan.peek()? == Some(0x1e) {
            self.scan.expect(0x1e, "a feature")?;
        }
        self.scan.peek()
    }

    fn enter(&mut self, bracket: u8) -> Result<()> {
        self.scan.expect(bracket, if bracket == b'{' { "an object" } else { "an array" })?;
        self.around.push(bracket);
        Ok(())
    }

    fn follow(&mut self, input: &Input, pointer: &str) -> Result<()> {
        let missing = || {
            Error::new(Code::Source, format!("`{}` has nothing at the pointer `{pointer}`", input.label))
                .with_hint("a pointer looks like `/data/items`; `~1` stands for `/` in a name and `~0` for `~`")
        };
        let Some(path) = pointer.strip_prefix('/') else { return Err(missing()) };
        for part in path.split('/') {
            let part = part.replace("~1", "/").replace("~0", "~");
            match self.scan.peek()? {
                Some(b'{') => {
                    self.enter(b'{')?;
                    if !self.find_key(&part)? {
                        return Err(missing());
                    }
                }
                Some(b'[') => {
                    self.enter(b'[')?;
                    let index: usize = part.parse().map_err(|_| missing())?;
                    if self.scan.peek()? == Some(b']') {
                        return Err(missing());
                    }
                    for _ in 0..index {
                        self.scan.value(None)?;
                        if self.scan.peek()? != Some(b',') {
                            return Err(missing());
                        }
                        self.scan.expect(b',', "`,`")?;
                        self.scan.peek()?;
                    }
                }
                _ => return Err(missing()),
            }
        }
        Ok(())
    }

    fn find_key(&mut self, wanted: &str) -> Result<bool> {
        if self.scan.peek()? == Some(b'}') {
            return Ok(false);
        }
        loop {
            if self.key()? == wanted {
                return Ok(true);
            }
            self.scan.value(None)?;
            match self.scan.peek()? {
                Some(b',') => self.scan.expect(b',', "`,`")?,
                Some(b'}') => return Ok(false),
                found => return Err(self.scan.unexpected(found, "`,` or `}`")),
            }
        }
    }

    /// Reads `"key":`, and moves to the value.
    fn key(&mut self) -> Result<String> {
        match self.scan.peek()? {
            Some(b'"') => {}
            found => return Err(self.scan.unexpected(found, "a name in quotes")),
        }
        let mut raw = Vec::new();
        self.scan.value(Some(&mut raw))?;
        let key = serde_json::from_slice(&raw).map_err(|cause| self.scan.error(cause))?;
        self.scan.expect(b':', "`:`")?;
        self.scan.peek()?;
        Ok(key)
    }

    /// Appends the next row to `out` and returns its position; `None` at the end.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> Result<Option<Position>> {
        let Some(mut features) = self.features.take() else { return self.next_value(out) };
        features.text.clear();
        let found = match features.first.take() {
            Some((at, text)) => {
                features.text = text;
                Some(at)
            }
            None => {
                if self.mode == Mode::Values {
                    self.peek_feature()?;
                }
                self.next_value(&mut features.text)?
            }
        };
        if let Some(at) = found {
            features.count += 1;
            geojson::row(features.text.trim_ascii_end(), out).map_err(|why| {
                let why = format!("feature {}: {why}", features.count);
                error_at(features.input, at, why).with_hint("a FeatureCollection has features, as RFC 7946 says")
            })?;
        }
        self.features = Some(features);
        Ok(found)
    }

    fn next_value(&mut self, out: &mut Vec<u8>) -> Result<Option<Position>> {
        match self.mode {
            Mode::Lines => loop {
                let (at, start) = (self.scan.at, out.len());
                if !self.scan.line(out)? {
                    self.mode = Mode::Done;
                    return Ok(None);
                }
                if !out[start..].trim_ascii().is_empty() {
                    return Ok(Some(at));
                }
                out.truncate(start);
            },
            Mode::Values => {
                if self.scan.peek()?.is_none() {
                    self.mode = Mode::Done;
                    return Ok(None);
                }
                self.copy(out).map(Some)
            }
            Mode::Array { is_first } => {
                match self.scan.peek()? {
                    Some(b']') => {
                        self.close()?;
                        return Ok(None);
                    }
                    Some(b',') if !is_first => {
                        self.scan.expect(b',', "`,`")?;
                        self.scan.peek()?;
                    }
                    Some(_) if is_first => {}
                    found => return Err(self.scan.unexpected(found, "`,` or `]`")),
                }
                self.mode = Mode::Array { is_first: false };
                self.copy(out).map(Some)
            }
            Mode::One => {
                let at = self.copy(out)?;
                self.close()?;
                Ok(Some(at))
            }
            Mode::Done => Ok(None),
        }
    }

    fn copy(&mut self, out: &mut Vec<u8>) -> Result<Position> {
        let at = self.scan.at;
        self.scan.value(Some(out))?;
        Ok(at)
    }

    /// Reads the rest after the rows, to detect a truncated file.
    fn close(&mut self) -> Result<()> {
        self.mode = Mode::Done;
        while let Some(bracket) = self.around.pop() {
            let end = if bracket == b'{' { b'}' } else { b']' };
            loop {
                match self.scan.peek()? {
                    Some(found) if found == end => {
                        self.scan.expect(end, "the end")?;
                        break;
                    }
                    Some(b',') => {
                        self.scan.expect(b',', "`,`")?;
                        if bracket == b'{' {
                            self.key()?;
                        }
                        self.scan.peek()?;
                        self.scan.value(None)?;
                    }
                    found => return Err(self.scan.unexpected(found, &format!("`,` or `{}`", char::from(end)))),
                }
            }
        }
        match self.scan.peek()? {
            None => Ok(()),
            found => Err(self.scan.unexpected(found, "the end of the document")),
        }
    }
}
