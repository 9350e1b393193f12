//! Converts JSON to XML incrementally, in the format of PHP-CRUD-API's `format=xml`: `<root>`, `<item>` for the
//! elements of an array, and the attribute `type` for `array` and `null`.
//!
//! Characters that are invalid in XML names are removed; PHP-CRUD-API also removes capital letters and non-ASCII ones.

use futures::{Stream, StreamExt, stream};
use salver_model::records::DocumentStream;
use salver_model::{Error, Result};

/// The state of the JSON parser.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Before a value, or the end of an array.
    Value,
    /// Before a name, or the end of an object.
    Name,
    /// In a string: the name of a member or a value.
    Text { name: bool },
    /// After a backslash in a string.
    Escape { name: bool },
    /// In the four digits of an escape.
    Hex { name: bool, digits: u8, code: u32 },
    /// In a number or a literal.
    Bare,
}

/// An open element.
#[derive(Debug)]
struct Open {
    name: String,
    array: bool,
    /// Whether the start tag is not closed with `>` yet, because the element is still empty.
    unfinished: bool,
}

/// Converts JSON in pieces of any size to XML. The JSON must be valid: it comes from a database's writer.
#[derive(Debug)]
pub(crate) struct XmlWriter {
    state: State,
    open: Vec<Open>,
    name: Vec<u8>,
    bare: Vec<u8>,
    /// The first half of a surrogate pair.
    high: Option<u32>,
    done: bool,
}

impl XmlWriter {
    pub(super) fn new() -> Self {
        Self { state: State::Value, open: Vec::new(), name: Vec::new(), bare: Vec::new(), high: None, done: false }
    }

    /// Converts a whole document.
    pub(crate) fn whole(json: &[u8]) -> Result<Vec<u8>> {
        let mut writer = Self::new();
        let mut out = Vec::with_capacity(json.len() * 2);
        writer.write(json, &mut out);
        writer.finish(&mut out)?;
        Ok(out)
    }

    /// Converts a stream of JSON to a stream of XML.
    pub(crate) fn stream(json: DocumentStream) -> impl Stream<Item = Result<Vec<u8>>> + Send {
        stream::unfold(Some((json, Self::new())), |state| async move {
            let (mut json, mut writer) = state?;
            let mut out = Vec::new();
            match json.next().await {
                Some(Ok(piece)) => {
                    writer.write(&piece, &mut out);
                    Some((Ok(out), Some((json, writer))))
                }
                Some(Err(error)) => Some((Err(error), None)),
                None => Some((writer.finish(&mut out).map(|()| out), None)),
            }
        })
    }

    fn write(&mut self, json: &[u8], out: &mut Vec<u8>) {
        for byte in json {
            self.step(*byte, out);
        }
    }

    fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.state == State::Bare {
            self.end_bare(out);
        }
        if self.done { Ok(()) } else { Err(Error::internal("the JSON that should become XML is not whole")) }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        match self.state {
            State::Text { name } => match byte {
                b'"' if name => self.state = State::Value,
                b'"' => self.end_value(out),
                b'\\' => self.state = State::Escape { name },
                _ => self.put(byte, name, out),
            },
            State::Escape { name } => {
                let plain = match byte {
                    b'b' => 0x08,
                    b'f' => 0x0c,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'u' => {
                        self.state = State::Hex { name, digits: 0, code: 0 };
                        return;
                    }
                    other => other,
                };
                self.put(plain, name, out);
                self.state = State::Text { name };
            }
            State::Hex { name, digits, code } => {
                let code = code * 16 + char::from(byte).to_digit(16).unwrap_or(0);
                if digits < 3 {
                    self.state = State::Hex { name, digits: digits + 1, code };
                } else {
                    self.put_code(code, name, out);
                    self.state = State::Text { name };
                }
            }
            State::Bare if !matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') => self.bare.push(byte),
            State::Bare => {
                self.end_bare(out);
                self.step(byte, out);
            }
            State::Value | State::Name => self.structure(byte, out),
        }
    }

    fn structure(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' | b':' | b',' => {}
            b'"' if self.state == State::Name => {
                self.name.clear();
                self.state = State::Text { name: true };
            }
            b'"' => {
                self.begin("", out);
                self.settle(out);
                self.state = State::Text { name: false };
            }
            b'{' => {
                self.begin("", out);
                self.state = State::Name;
            }
            b'[' => {
                self.begin(" type=\"array\"", out);
                if let Some(open) = self.open.last_mut() {
                    open.array = true;
                }
            }
            b'}' | b']' => self.end_value(out),
            _ => {
                self.bare.clear();
                self.bare.push(byte);
                self.state = State::Bare;
            }
        }
    }

    /// Ends a number or a literal.
    fn end_bare(&mut self, out: &mut Vec<u8>) {
        self.begin(if self.bare == b"null" { " type=\"null\"" } else { "" }, out);
        self.settle(out);
        if self.bare != b"null" {
            out.extend_from_slice(&self.bare);
        }
        self.end_value(out);
    }

    /// Writes the start tag of a value.
    fn begin(&mut self, attribute: &str, out: &mut Vec<u8>) {
        self.settle(out);
        let name = match self.open.last() {
            None => "root".to_owned(),
            Some(parent) if parent.array => "item".to_owned(),
            Some(_) => element_name(&String::from_utf8_lossy(&self.name)),
        };
        out.push(b'<');
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(attribute.as_bytes());
        self.open.push(Open { name, array: false, unfinished: true });
    }

    /// Closes the start tag of the open element before its content is written.
    fn settle(&mut self, out: &mut Vec<u8>) {
        if let Some(open) = self.open.last_mut()
            && std::mem::take(&mut open.unfinished)
        {
            out.push(b'>');
        }
    }

    fn end_value(&mut self, out: &mut Vec<u8>) {
        if let Some(open) = self.open.pop() {
            if open.unfinished {
                out.extend_from_slice(b"/>");
            } else {
                out.extend_from_slice(b"</");
                out.extend_from_slice(open.name.as_bytes());
                out.push(b'>');
            }
        }
        self.state = match self.open.last() {
            Some(parent) if !parent.array => State::Name,
            Some(_) => State::Value,
            None => {
                self.done = true;
                State::Value
            }
        };
    }

    fn put(&mut self, byte: u8, name: bool, out: &mut Vec<u8>) {
        if name {
            self.name.push(byte);
            return;
        }
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'\r' => out.extend_from_slice(b"&#13;"),
            b'\t' | b'\n' | 0x20.. => out.push(byte),
            // XML can't represent the other control characters.
            _ => out.extend_from_slice("\u{fffd}".as_bytes()),
        }
    }

    fn put_code(&mut self, code: u32, name: bool, out: &mut Vec<u8>) {
        let code = match (self.high.take(), code) {
            (_, 0xd800..=0xdbff) => {
                self.high = Some(code);
                return;
            }
            (Some(high), 0xdc00..=0xdfff) => 0x1_0000 + ((high - 0xd800) << 10) + (code - 0xdc00),
            (_, code) => code,
        };
        let character = char::from_u32(code).unwrap_or('\u{fffd}');
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            self.put(byte, name, out);
        }
    }
}

/// Converts a name to a valid XML name (<https://www.w3.org/TR/xml/#NT-NameChar>).
fn element_name(name: &str) -> String {
    let starts = |c: char| {
        matches!(c, 'A'..='Z' | 'a'..='z' | '_' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
            | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
            | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}'
            | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
    };
    let holds = |c: &char| {
        starts(*c) || matches!(c, '0'..='9' | '-' | '.' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
    };
    let mut kept: String = name.chars().filter(holds).collect();
    if !kept.starts_with(starts) {
        kept.insert(0, '_');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::XmlWriter;

    fn xml(json: &str) -> String {
        String::from_utf8(XmlWriter::whole(json.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn documents() {
        assert_eq!(xml("1"), "<root>1</root>");
        assert_eq!(xml("[1,1]"), "<root type=\"array\"><item>1</item><item>1</item></root>");
        assert_eq!(xml("null"), "<root type=\"null\"></root>");
        assert_eq!(
            xml(r#"{"records":[],"a":{},"b":"","c":true,"d":[[1.5],null]}"#),
            "<root><records type=\"array\"/><a/><b></b><c>true</c><d type=\"array\"><item type=\"array\">\
             <item>1.5</item></item><item type=\"null\"></item></d></root>"
        );
        assert_eq!(
            xml(r#"{"Größe m²":"a<b>&\"\/é\ud83e\udd80\r\u0001","1x":2}"#),
            "<root><Größem>a&lt;b&gt;&amp;\"/é🦀&#13;\u{fffd}</Größem><_1x>2</_1x></root>"
        );
    }

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let json = r#"{"records":[{"id":1,"t":"a\u00e9<","n":null,"l":[1,true]},{"id":-2.5}],"results":12}"#;
        let expected = xml(json);
        for size in 1..json.len() {
            let mut writer = XmlWriter::new();
            let mut out = Vec::new();
            for piece in json.as_bytes().chunks(size) {
                writer.write(piece, &mut out);
            }
            writer.finish(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{size}");
        }
    }

    #[test]
    fn what_is_not_whole_is_no_answer() {
        for cut in ["", "{", "{\"a\":1", "[1,"] {
            assert!(XmlWriter::whole(cut.as_bytes()).is_err(), "{cut}");
        }
    }
}
