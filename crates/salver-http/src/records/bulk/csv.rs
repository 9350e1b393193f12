//! CSV in pieces to records (RFC 4180): a line of names, then rows. A field without quotes that is empty is null.

use salver_model::limits::{NEW_COLUMNS_MAX, NEW_NAME_BYTES_MAX};
use salver_model::records::{Field, Record};
use salver_model::{Code, Error, Result};

use super::too_long;

/// Where the reader stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the beginning of a field.
    Field,
    /// In a field without quotes.
    Bare,
    /// In a field with quotes.
    Quoted,
    /// Behind a quote in such a field: its end, or the first of two that mean one.
    Quote,
}

/// Puts fields together and makes records of them.
#[derive(Debug)]
pub(super) struct CsvReader {
    state: State,
    names: Option<Vec<String>>,
    fields: Vec<Field>,
    field: Vec<u8>,
    quoted: bool,
    row: u64,
    row_bytes: usize,
    bytes_max: usize,
}

impl CsvReader {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            state: State::Field,
            names: None,
            fields: Vec::new(),
            field: Vec::new(),
            quoted: false,
            row: 0,
            row_bytes: 0,
            bytes_max,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8], rows: &mut Vec<Record>) -> Result<()> {
        for byte in bytes {
            self.row_bytes += 1;
            if self.row_bytes > self.bytes_max {
                return Err(too_long(self.row + 1, self.bytes_max));
            }
            match (self.state, byte) {
                (State::Field, b'"') => {
                    self.quoted = true;
                    self.state = State::Quoted;
                }
                // Behind a byte order mark the field still begins.
                (State::Bare, b'"') if self.field == b"\xef\xbb\xbf" => {
                    self.field.clear();
                    self.quoted = true;
                    self.state = State::Quoted;
                }
                (State::Quoted, b'"') => self.state = State::Quote,
                (State::Quote, b'"') => {
                    self.field.push(b'"');
                    self.state = State::Quoted;
                }
                (State::Quoted, byte) => self.field.push(*byte),
                (_, b',') => self.end_field()?,
                (_, b'\n') => self.end_row(rows)?,
                // Before the end of a line; in the middle of one it is nothing that was meant.
                (_, b'\r') => {}
                (State::Quote, _) => {
                    return Err(self
                        .refuse("has text behind a closing quote")
                        .with_hint("double the quotes inside a field that stands in quotes"));
                }
                (State::Field | State::Bare, byte) => {
                    self.state = State::Bare;
                    self.field.push(*byte);
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, rows: &mut Vec<Record>) -> Result<()> {
        if self.state == State::Quoted {
            return Err(self.refuse("ends inside of quotes"));
        }
        self.end_row(rows)
    }

    fn refuse(&self, what: &str) -> Error {
        Error::new(Code::InvalidRequest, format!("row {} {what}", self.row + u64::from(self.names.is_some())))
    }

    fn end_field(&mut self) -> Result<()> {
        if self.fields.len() >= NEW_COLUMNS_MAX {
            return Err(self.refuse(&format!("has more than {NEW_COLUMNS_MAX} fields")));
        }
        let bytes = std::mem::take(&mut self.field);
        let field = if bytes.is_empty() && !self.quoted {
            Field::Null
        } else {
            Field::Text(String::from_utf8(bytes).map_err(|error| self.refuse("is not UTF-8").with_source(error))?)
        };
        self.fields.push(field);
        self.quoted = false;
        self.state = State::Field;
        Ok(())
    }

    fn end_row(&mut self, rows: &mut Vec<Record>) -> Result<()> {
        self.row_bytes = 0;
        if self.state == State::Field && self.fields.is_empty() {
            // An empty line.
            return Ok(());
        }
        self.end_field()?;
        let fields = std::mem::take(&mut self.fields);
        let Some(names) = &self.names else {
            let names = fields.into_iter().map(|field| match field {
                Field::Text(name) => Some(name.trim_start_matches('\u{feff}').to_owned()),
                _ => None,
            });
            let names: Vec<String> = names.collect::<Option<_>>().ok_or_else(|| self.refuse("has an empty name"))?;
            if names.iter().any(|name| name.len() > NEW_NAME_BYTES_MAX) {
                return Err(self.refuse(&format!("has a name of more than {NEW_NAME_BYTES_MAX} bytes")));
            }
            self.names = Some(names);
            return Ok(());
        };
        if fields.len() != names.len() {
            let (has, wants) = (fields.len(), names.len());
            return Err(self.refuse(&format!("has {has} fields, and the first line has {wants}")));
        }
        self.row += 1;
        rows.push(names.iter().cloned().zip(fields).collect());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use salver_model::records::{Field, Record};

    use super::CsvReader;

    fn read(text: &str, size: usize) -> Result<Vec<Record>, String> {
        let mut reader = CsvReader::new(1000);
        let mut rows = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            reader.take(piece, &mut rows).map_err(|error| error.message)?;
        }
        reader.finish(&mut rows).map_err(|error| error.message)?;
        Ok(rows)
    }

    #[test]
    fn pieces_of_any_size_give_the_same_rows() {
        let text = "\u{feff}a,\"b\"\r\n1,\n\n\"x,\"\"y\nz\",\"\"\r\n,é";
        let record = |a: Field, b: Field| vec![("a".to_owned(), a), ("b".to_owned(), b)];
        let text_of = |text: &str| Field::Text(text.to_owned());
        let expected = vec![
            record(text_of("1"), Field::Null),
            record(text_of("x,\"y\nz"), text_of("")),
            record(Field::Null, text_of("é")),
        ];
        for size in 1..text.len() {
            assert_eq!(read(text, size), Ok(expected.clone()), "{size}");
        }
    }

    #[test]
    fn what_is_not_csv_is_refused() {
        for (bad, row) in [("a,b\n1", "row 1"), ("a\n\"x", "row 1"), ("a\n1\n\"x\"y", "row 2"), ("a,\n1,2", "row 0")] {
            let error = read(bad, 3).unwrap_err();
            assert!(error.starts_with(row), "{bad}: {error}");
        }
        assert_eq!(read("", 1), Ok(vec![]));
        assert_eq!(read("a,b", 1), Ok(vec![]));
    }
}
