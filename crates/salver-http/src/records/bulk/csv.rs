//! Parses CSV incrementally (RFC 4180): a header, then rows. An empty field without quotes is null. A malformed row is
//! reported, and parsing continues with the next line.

use salver_model::limits::{NEW_COLUMNS_MAX, NEW_NAME_BYTES_MAX};
use salver_model::ports::ArrivingRow;
use salver_model::records::Field;
use salver_model::{Code, Error, Result};

use super::{too_long, unreadable};

/// The state of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CsvState {
    /// At the beginning of a field.
    Field,
    /// In a field without quotes.
    Bare,
    /// In a field with quotes.
    Quoted,
    /// After a quote in a quoted field: either its end, or the first half of an escaped quote.
    Quote,
}

/// Assembles fields, and builds records of them.
#[derive(Debug)]
pub(super) struct CsvReader {
    state: CsvState,
    names: Option<Vec<String>>,
    fields: Vec<Field>,
    field: Vec<u8>,
    quoted: bool,
    /// The error of the current row, whose fields are then dropped.
    bad: Option<Error>,
    row_bytes: usize,
    bytes_max: usize,
}

impl CsvReader {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            state: CsvState::Field,
            names: None,
            fields: Vec::new(),
            field: Vec::new(),
            quoted: false,
            bad: None,
            row_bytes: 0,
            bytes_max,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8], rows: &mut Vec<ArrivingRow>) -> Result<()> {
        for byte in bytes {
            self.row_bytes += 1;
            if self.row_bytes > self.bytes_max && self.bad.is_none() {
                self.refuse(too_long(self.bytes_max));
            }
            match (self.state, byte) {
                (CsvState::Field, b'"') => {
                    self.quoted = true;
                    self.state = CsvState::Quoted;
                }
                // After a byte order mark the field still begins.
                (CsvState::Bare, b'"') if self.field == b"\xef\xbb\xbf" => {
                    self.field.clear();
                    self.quoted = true;
                    self.state = CsvState::Quoted;
                }
                (CsvState::Quoted, b'"') => self.state = CsvState::Quote,
                (CsvState::Quote, b'"') => {
                    self.keep(b'"');
                    self.state = CsvState::Quoted;
                }
                (CsvState::Quoted, byte) => self.keep(*byte),
                (_, b',') => self.end_field(),
                (_, b'\n') => self.end_row(rows)?,
                // Part of a line end; elsewhere it is ignored.
                (_, b'\r') => {}
                (CsvState::Quote, _) => {
                    self.state = CsvState::Bare;
                    self.refuse(
                        unreadable("the row has text behind a closing quote")
                            .with_hint("double the quotes inside a field that stands in quotes"),
                    );
                }
                (CsvState::Field | CsvState::Bare, byte) => {
                    self.state = CsvState::Bare;
                    self.keep(*byte);
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, rows: &mut Vec<ArrivingRow>) -> Result<()> {
        if self.state == CsvState::Quoted {
            self.refuse(unreadable("the row ends inside of quotes"));
        }
        self.end_row(rows)
    }

    fn keep(&mut self, byte: u8) {
        if self.bad.is_none() {
            self.field.push(byte);
        }
    }

    /// Marks the row as malformed; the first error is kept.
    fn refuse(&mut self, why: Error) {
        if self.bad.is_none() {
            self.bad = Some(why);
            self.field = Vec::new();
            self.fields = Vec::new();
        }
    }

    fn end_field(&mut self) {
        let bytes = std::mem::take(&mut self.field);
        let quoted = std::mem::take(&mut self.quoted);
        self.state = CsvState::Field;
        if self.bad.is_some() {
            return;
        }
        if self.fields.len() >= NEW_COLUMNS_MAX {
            self.refuse(unreadable(format!("the row has more than {NEW_COLUMNS_MAX} fields")));
        } else if bytes.is_empty() && !quoted {
            self.fields.push(Field::Null);
        } else {
            match String::from_utf8(bytes) {
                Ok(text) => self.fields.push(Field::Text(text)),
                Err(error) => self.refuse(unreadable("the row is not UTF-8").with_source(error)),
            }
        }
    }

    fn end_row(&mut self, rows: &mut Vec<ArrivingRow>) -> Result<()> {
        self.row_bytes = 0;
        if self.state == CsvState::Field && self.fields.is_empty() && self.bad.is_none() {
            // An empty line.
            return Ok(());
        }
        self.end_field();
        let (fields, bad) = (std::mem::take(&mut self.fields), self.bad.take());
        let Some(names) = &self.names else {
            self.names = Some(names(fields, bad)?);
            return Ok(());
        };
        let row = match bad {
            Some(why) => Err(why),
            None if fields.len() != names.len() => {
                let (has, wants) = (fields.len(), names.len());
                Err(unreadable(format!("the row has {has} fields, and the first line has {wants}")))
            }
            None => Ok(names.iter().cloned().zip(fields).collect()),
        };
        rows.push(row);
        Ok(())
    }
}

/// Parses the header, without which no row can be read.
fn names(fields: Vec<Field>, bad: Option<Error>) -> Result<Vec<String>> {
    let refuse = |what: &str| Error::new(Code::InvalidRequest, format!("the line of names {what}"));
    if let Some(why) = bad {
        return Err(refuse("can't be read").with_hint(why.message.clone()).with_source(why));
    }
    let names = fields.into_iter().map(|field| match field {
        Field::Text(name) => Some(name.trim_start_matches('\u{feff}').to_owned()),
        _ => None,
    });
    let names: Vec<String> = names.collect::<Option<_>>().ok_or_else(|| refuse("has an empty name"))?;
    if names.iter().any(|name| name.len() > NEW_NAME_BYTES_MAX) {
        return Err(refuse(&format!("has a name of more than {NEW_NAME_BYTES_MAX} bytes")));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use salver_model::records::{Field, Record};

    use super::CsvReader;

    /// Parses rows; a malformed row becomes its error message.
    fn read(text: &[u8], size: usize) -> Result<Vec<Result<Record, String>>, String> {
        let mut reader = CsvReader::new(60);
        let mut rows = Vec::new();
        for piece in text.chunks(size) {
            reader.take(piece, &mut rows).map_err(|error| error.message)?;
            assert!(reader.field.len() <= 60);
        }
        reader.finish(&mut rows).map_err(|error| error.message)?;
        Ok(rows.into_iter().map(|row| row.map_err(|error| error.message)).collect())
    }

    #[test]
    fn pieces_of_any_size_give_the_same_rows() {
        let text = "\u{feff}a,\"b\"\r\n1,\n\n\"x,\"\"y\nz\",\"\"\r\n,é";
        let record = |a: Field, b: Field| Ok(vec![("a".to_owned(), a), ("b".to_owned(), b)]);
        let text_of = |text: &str| Field::Text(text.to_owned());
        let expected = vec![
            record(text_of("1"), Field::Null),
            record(text_of("x,\"y\nz"), text_of("")),
            record(Field::Null, text_of("é")),
        ];
        for size in 1..text.len() {
            assert_eq!(read(text.as_bytes(), size), Ok(expected.clone()), "{size}");
        }
    }

    #[test]
    fn rows_that_are_none_are_told_and_those_behind_them_read() {
        let mut text = b"a,b\n1\n1,2\n\"x\"y,2\n1,2\n1,2,3\n\xff,2\n1,2\n".to_vec();
        text.extend_from_slice("z".repeat(200).as_bytes());
        text.extend_from_slice(b"\n1,2\n\"open\n1,2");
        for size in 1..text.len() {
            let rows = read(&text, size).unwrap();
            let told: Vec<&str> = rows.iter().map(|row| row.as_ref().err().map_or("", String::as_str)).collect();
            let expected = [
                "the row has 1 fields, and the first line has 2",
                "",
                "the row has text behind a closing quote",
                "",
                "the row has 3 fields, and the first line has 2",
                "the row is not UTF-8",
                "",
                "the row has more than 60 bytes",
                "",
                "the row ends inside of quotes",
            ];
            assert_eq!(told, expected, "{size}");
        }
    }

    #[test]
    fn a_first_line_without_names_is_refused() {
        for bad in ["a,\n1,2", "\"x", "\"a\"b\n1"] {
            let error = read(bad.as_bytes(), 3).unwrap_err();
            assert!(error.starts_with("the line of names"), "{bad}: {error}");
        }
        assert_eq!(read(b"", 1), Ok(vec![]));
        assert_eq!(read(b"a,b", 1), Ok(vec![]));
    }
}
