//! Converts JSON to XML incrementally, in the format of PHP-CRUD-API's `format=xml`: `<root>`, `<item>` for the
//! elements of an array, and the attribute `type` for `array` and `null`.
//!
//! Characters that are invalid in XML names are removed, and the attribute `name` has the whole name then, so that no
//! two members are alike; PHP-CRUD-API also removes capital letters and non-ASCII ones, and has no such attribute.

use futures::{Stream, StreamExt, stream};
use salver_model::records::DocumentStream;
use salver_model::{Error, Result};
use salver_text::json::{Ending, Reader, string_end};

/// An open element.
#[derive(Debug)]
struct Open {
    name: String,
    array: bool,
    /// Whether the start tag is not closed with `>` yet, because the element is still empty.
    unfinished: bool,
}

/// The name of an element.
#[derive(Debug, Default)]
struct ElementName {
    name: String,
    /// The name of the member, where XML can't have it as a name.
    whole: Option<String>,
}

/// Converts JSON in pieces of any size to XML. The JSON must be valid: it comes from a database's writer.
#[derive(Debug, Default)]
pub(crate) struct XmlWriter {
    open: Vec<Open>,
    /// The name of the member whose value is next.
    name: Option<ElementName>,
    /// What was read of a string, number or literal whose end is in the next piece.
    rest: Vec<u8>,
    done: bool,
}

impl XmlWriter {
    /// Converts a whole document.
    pub(crate) fn whole(json: &[u8]) -> Result<Vec<u8>> {
        let mut writer = Self::default();
        let mut out = Vec::with_capacity(json.len() * 2);
        writer.write(json, &mut out);
        writer.finish(&mut out)?;
        Ok(out)
    }

    /// Converts a stream of JSON to a stream of XML.
    pub(crate) fn stream(json: DocumentStream) -> impl Stream<Item = Result<Vec<u8>>> + Send {
        stream::unfold(Some((json, Self::default())), |state| async move {
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
        let mut rest = std::mem::take(&mut self.rest);
        let text = if rest.is_empty() {
            json
        } else {
            rest.extend_from_slice(json);
            &rest
        };
        let mut at = 0;
        while let Some(end) = self.token(text, at, out) {
            at = end;
        }
        self.rest = text[at..].to_vec();
    }

    fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        // A number at the end has no end of its own.
        self.write(b" ", out);
        if self.done { Ok(()) } else { Err(Error::internal("the JSON that should become XML is not whole")) }
    }

    /// Converts the token at `at` and returns its end; `None` when it is not whole.
    fn token(&mut self, text: &[u8], at: usize, out: &mut Vec<u8>) -> Option<usize> {
        match text.get(at)? {
            b' ' | b'\n' | b'\r' | b'\t' | b':' | b',' => {}
            b'"' => {
                let (end, _) = string_end(text, at)?;
                let string = Reader::new(&text[at..end]).string()?;
                if self.name.is_none() && self.open.last().is_some_and(|parent| !parent.array) {
                    self.name = Some(element_name(&string.to_text()));
                } else {
                    self.begin("", out);
                    self.settle(out);
                    put_text(&string.unescaped(), put, out);
                    self.end_value(out);
                }
                return Some(end);
            }
            b'{' => self.begin("", out),
            b'[' => {
                self.begin(" type=\"array\"", out);
                if let Some(open) = self.open.last_mut() {
                    open.array = true;
                }
            }
            b'}' | b']' => self.end_value(out),
            _ => {
                let end = Ending::default().find(text, at)?;
                let bare = &text[at..end];
                self.begin(if bare == b"null" { " type=\"null\"" } else { "" }, out);
                self.settle(out);
                if bare != b"null" {
                    out.extend_from_slice(bare);
                }
                self.end_value(out);
                return Some(end);
            }
        }
        Some(at + 1)
    }

    /// Writes the start tag of a value.
    fn begin(&mut self, attribute: &str, out: &mut Vec<u8>) {
        self.settle(out);
        let plain = |name: &str| ElementName { name: name.to_owned(), whole: None };
        let ElementName { name, whole } = match self.open.last() {
            None => plain("root"),
            Some(parent) if parent.array => plain("item"),
            Some(_) => self.name.take().unwrap_or_default(),
        };
        out.push(b'<');
        out.extend_from_slice(name.as_bytes());
        if let Some(whole) = whole {
            out.extend_from_slice(b" name=\"");
            put_text(whole.as_bytes(), put_in_attribute, out);
            out.push(b'"');
        }
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
        self.done |= self.open.is_empty();
    }
}

/// Writes text. XML can represent any character but the controls, halves of surrogate pairs, U+FFFE and U+FFFF
/// (<https://www.w3.org/TR/xml/#NT-Char>); text in UTF-8 has no halves.
fn put_text(text: &[u8], put: fn(u8, &mut Vec<u8>), out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(b"\xef\xbf\xbe").or_else(|| rest.strip_prefix(b"\xef\xbf\xbf")) {
            out.extend_from_slice("\u{fffd}".as_bytes());
            rest = after;
        } else {
            put(*byte, out);
            rest = after;
        }
    }
}

/// Writes a byte of text.
fn put(byte: u8, out: &mut Vec<u8>) {
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

/// Writes a byte of the value of an attribute, which white space and quotes would change
/// (<https://www.w3.org/TR/xml/#AVNormalize>).
fn put_in_attribute(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' => out.extend_from_slice(b"&quot;"),
        b'\t' => out.extend_from_slice(b"&#9;"),
        b'\n' => out.extend_from_slice(b"&#10;"),
        _ => put(byte, out),
    }
}

/// Converts a name to a valid XML name (<https://www.w3.org/TR/xml/#NT-NameChar>).
fn element_name(name: &str) -> ElementName {
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
    let whole = (kept != name).then(|| name.to_owned());
    ElementName { name: kept, whole }
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
            "<root><Größem name=\"Größe m²\">a&lt;b&gt;&amp;\"/é🦀&#13;\u{fffd}</Größem>\
             <_1x name=\"1x\">2</_1x></root>"
        );
        // Names that are alike without what XML can't have are told apart.
        assert_eq!(
            xml(r#"{"ab":1,"a b":2,"a\tb":[],"<\"":null}"#),
            "<root><ab>1</ab><ab name=\"a b\">2</ab><ab name=\"a&#9;b\" type=\"array\"/>\
             <_ name=\"&lt;&quot;\" type=\"null\"></_></root>"
        );
    }

    #[test]
    fn characters_that_xml_lacks_are_replaced() {
        assert_eq!(
            xml("[\"a\u{fffe}b\u{ffff}\u{fffd}\u{feff}\u{85}\u{7f}\",\"\\ufffe\\uffff\\u0000\\u001f\\t\\ud800\"]"),
            "<root type=\"array\"><item>a\u{fffd}b\u{fffd}\u{fffd}\u{feff}\u{85}\u{7f}</item>\
             <item>\u{fffd}\u{fffd}\u{fffd}\u{fffd}\t\u{fffd}</item></root>"
        );
    }

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let json = r#"{"records":[{"id":1,"t":"a\u00e9<","n":null,"l":[1,true]},{"id":-2.5}],"results":12}"#;
        let expected = xml(json);
        for size in 1..json.len() {
            let mut writer = XmlWriter::default();
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
