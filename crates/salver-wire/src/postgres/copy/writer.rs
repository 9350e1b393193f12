//! The bytes of the rows of a copy around their values
//! (<https://www.postgresql.org/docs/15/sql-copy.html#id-1.9.3.55.9>).

use super::layout::Layout;
use crate::postgres::column::Column;
use crate::postgres::message::Format;
use crate::postgres::outbox::Outbox;

/// What a binary copy begins with: its signature, no flags, and nothing more.
const SIGNATURE: &[u8; 19] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What a binary copy ends with, in the place of a number of columns.
const TRAILER: [u8; 2] = (-1_i16).to_be_bytes();
/// What would end a copy, if it stood alone on a line.
const END_OF_DATA: &[u8] = b"\\.";

/// Writes the rows of a copy.
#[derive(Debug)]
pub(in crate::postgres) struct CopyWriter {
    layout: Layout,
    /// Number of columns.
    columns: u16,
    /// Whether values of each column stand in quotes in any case.
    quoted: Vec<bool>,
    /// Bytes that can't stand for themselves, or not without quotes.
    special: [bool; 256],
    /// Whether the signature was not written yet, which goes out with what comes first.
    is_signed_first: bool,
    /// A value while it is written again with its escapes.
    plain: Vec<u8>,
}

impl CopyWriter {
    /// Returns a writer of rows with as many columns as `quoted` has places.
    pub(super) fn new(layout: Layout, quoted: Vec<bool>) -> Self {
        let bytes: Vec<u8> = match &layout {
            Layout::Text { delimiter, .. } => [&b"\\\x08\x0c\n\r\t\x0b"[..], &[*delimiter]].concat(),
            Layout::Csv { delimiter, quote, .. } => vec![*delimiter, *quote, b'\n', b'\r'],
            Layout::Binary => Vec::new(),
        };
        let mut special = [false; 256];
        bytes.into_iter().for_each(|byte| special[usize::from(byte)] = true);
        let columns = u16::try_from(quoted.len()).unwrap_or(u16::MAX);
        let is_signed_first = layout == Layout::Binary;
        Self { layout, columns, quoted, special, is_signed_first, plain: Vec::new() }
    }

    /// Returns the format that values are written in.
    pub(in crate::postgres) fn format(&self) -> Format {
        if self.layout == Layout::Binary { Format::Binary } else { Format::Text }
    }

    /// Writes the line with the names of the columns.
    pub(super) fn header(&mut self, columns: &[Column], out: &mut Outbox) {
        let quoted = std::mem::replace(&mut self.quoted, vec![false; columns.len()]);
        out.copied(|out| {
            for (at, column) in columns.iter().enumerate() {
                self.begin_value(at, out);
                let begin = out.len();
                out.extend(column.name.as_bytes());
                self.end_value(at, begin, out);
            }
            self.end_row(out);
        });
        self.quoted = quoted;
    }

    /// Begins a row.
    pub(in crate::postgres) fn begin_row(&mut self, out: &mut Vec<u8>) {
        if self.layout == Layout::Binary {
            self.sign(out);
            out.extend(self.columns.to_be_bytes());
        }
    }

    /// Ends a row.
    pub(in crate::postgres) fn end_row(&self, out: &mut Vec<u8>) {
        if self.layout != Layout::Binary {
            out.push(b'\n');
        }
    }

    /// Writes what comes behind the last row.
    pub(in crate::postgres) fn end(&mut self, out: &mut Outbox) {
        if self.layout == Layout::Binary {
            out.copied(|out| {
                self.sign(out);
                out.extend(TRAILER);
            });
        }
    }

    /// Writes the signature, if nothing was written yet. As from PostgreSQL, it has no message of its own: some clients
    /// look for a row behind it.
    fn sign(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_signed_first) {
            out.extend(SIGNATURE);
        }
    }

    /// Begins the value of the column at this place.
    pub(in crate::postgres) fn begin_value(&self, at: usize, out: &mut Vec<u8>) {
        match &self.layout {
            Layout::Text { delimiter, .. } | Layout::Csv { delimiter, .. } if at > 0 => out.push(*delimiter),
            _ => {}
        }
    }

    /// Writes null in the column at this place.
    pub(in crate::postgres) fn null(&self, at: usize, out: &mut Vec<u8>) {
        self.begin_value(at, out);
        match &self.layout {
            Layout::Text { null, .. } | Layout::Csv { null, .. } => out.extend(null.as_bytes()),
            Layout::Binary => {}
        }
    }

    /// Ends the value of the column at this place, which was written as it is from `begin` on.
    pub(in crate::postgres) fn end_value(&mut self, at: usize, begin: usize, out: &mut Vec<u8>) {
        let value = &out[begin..];
        let special = value.iter().position(|byte| self.special[usize::from(*byte)]);
        match &self.layout {
            Layout::Binary => {}
            Layout::Text { .. } => {
                if let Some(first) = special {
                    self.escape(begin + first, out);
                }
            }
            Layout::Csv { null, quote, escape, .. } => {
                let could_end = self.columns == 1 && value == END_OF_DATA;
                if special.is_some() || self.quoted[at] || value == null.as_bytes() || could_end {
                    let (quote, escape) = (*quote, *escape);
                    self.put_in_quotes(begin, (quote, escape), out);
                }
            }
        }
    }

    /// Writes the rest of a value again, from its first byte that can't stand for itself.
    fn escape(&mut self, from: usize, out: &mut Vec<u8>) {
        self.plain.clear();
        self.plain.extend(&out[from..]);
        out.truncate(from);
        for byte in &self.plain {
            if !self.special[usize::from(*byte)] {
                out.push(*byte);
                continue;
            }
            let letter = match byte {
                8 => b'b',
                12 => b'f',
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                11 => b'v',
                other => *other,
            };
            out.extend([b'\\', letter]);
        }
    }

    fn put_in_quotes(&mut self, begin: usize, (quote, escape): (u8, u8), out: &mut Vec<u8>) {
        self.plain.clear();
        self.plain.extend(&out[begin..]);
        out.truncate(begin);
        out.push(quote);
        for byte in &self.plain {
            if *byte == quote || *byte == escape {
                out.push(escape);
            }
            out.push(*byte);
        }
        out.push(quote);
    }
}

#[cfg(test)]
mod tests {
    use super::{CopyWriter, Layout};
    use crate::postgres::outbox::Outbox;

    fn text(delimiter: u8) -> Layout {
        Layout::Text { delimiter, null: "\\N".to_owned() }
    }

    fn csv(null: &str, quote: u8, escape: u8) -> Layout {
        Layout::Csv { delimiter: b',', null: null.to_owned(), quote, escape }
    }

    /// Returns a row of these values.
    fn row(layout: Layout, quoted: &[bool], values: &[Option<&str>]) -> String {
        let (mut writer, mut out) = (CopyWriter::new(layout, quoted.to_vec()), Vec::new());
        writer.begin_row(&mut out);
        for (at, value) in values.iter().enumerate() {
            match value {
                Some(value) => {
                    writer.begin_value(at, &mut out);
                    let begin = out.len();
                    out.extend(value.as_bytes());
                    writer.end_value(at, begin, &mut out);
                }
                None => writer.null(at, &mut out),
            }
        }
        writer.end_row(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_escapes_what_is_special() {
        let one = |delimiter, value| row(text(delimiter), &[false], &[Some(value)]);
        for (value, wanted) in [
            ("", ""),
            ("plain ü", "plain ü"),
            ("a\tb\nc\rd\\e", "a\\tb\\nc\\rd\\\\e"),
            ("\u{8}\u{c}\u{b}\u{1}\u{7f}", "\\b\\f\\v\u{1}\u{7f}"),
            ("\\N", "\\\\N"),
            ("\\.", "\\\\."),
            ("|", "|"),
        ] {
            assert_eq!(one(b'\t', value), format!("{wanted}\n"), "{value:?}");
        }
        assert_eq!(one(b'|', "a|b\tc"), "a\\|b\\tc\n");
        assert_eq!(one(1, "a\u{1}b"), "a\\\u{1}b\n");
        assert_eq!(row(text(b'|'), &[false; 3], &[None, Some(""), Some("x")]), "\\N||x\n");
    }

    #[test]
    fn csv_has_quotes_where_they_are_needed() {
        let one = |value| row(csv("", b'"', b'"'), &[false], &[Some(value)]);
        for (value, wanted) in [
            ("plain", "plain"),
            ("", "\"\""),
            (" a ", " a "),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb", "\"a\nb\""),
            ("a\rb", "\"a\rb\""),
            ("a\tb\\c", "a\tb\\c"),
            ("\\.", "\"\\.\""),
            ("\\.x", "\\.x"),
        ] {
            assert_eq!(one(value), format!("{wanted}\n"), "{value:?}");
        }
        let two = |layout, quoted: [bool; 2], values: [Option<&str>; 2]| row(layout, &quoted, &values);
        assert_eq!(two(csv("", b'"', b'"'), [false; 2], [Some("\\."), None]), "\\.,\n");
        assert_eq!(two(csv("null", b'"', b'"'), [false; 2], [Some("null"), None]), "\"null\",null\n");
        assert_eq!(two(csv("", b'"', b'"'), [true, true], [Some("a"), None]), "\"a\",\n");
        assert_eq!(two(csv("", b'\'', b'\\'), [false; 2], [Some("it's\\"), Some("a\\b")]), "'it\\'s\\\\',a\\b\n");
    }

    #[test]
    fn the_signature_goes_with_what_comes_first() {
        let signature = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
        let mut writer = CopyWriter::new(Layout::Binary, vec![false; 2]);
        let mut row = Vec::new();
        writer.begin_row(&mut row);
        assert_eq!(row, [&signature[..], b"\0\x02"].concat());
        row.clear();
        writer.begin_row(&mut row);
        assert_eq!(row, b"\0\x02");
        let mut out = Outbox::default();
        writer.end(&mut out);
        assert_eq!(out.bytes, b"d\0\0\0\x06\xff\xff");
        let mut out = Outbox::default();
        CopyWriter::new(Layout::Binary, vec![false]).end(&mut out);
        assert_eq!(out.bytes, [b"d\0\0\0\x19", &signature[..], b"\xff\xff"].concat());
    }
}
