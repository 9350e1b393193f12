//! Rows of CSV and TSV as events: a reader that gives a line of JSON for each record, under the names of the first.
//!
//! The types of columns come from the first records, so that a later run makes the same events. A value that does not
//! fit its column's type is sent as text, which the stream's shape then judges.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use salver_model::limits::EVENT_BYTES_MAX;
use serde_json::Value;

/// Records from which the types of columns are determined.
const TYPED_RECORDS: usize = 1_000;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What is wrong with a file of records.
#[derive(Debug)]
pub(super) struct CsvFault(String);

impl fmt::Display for CsvFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CsvFault {}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnType {
    Integer,
    Number,
    Boolean,
    Text,
}

/// Cell of a record.
#[derive(Debug, Default)]
struct CsvField {
    text: Vec<u8>,
    /// Whether it stands in quotes, so that an empty one is a text.
    is_quoted: bool,
}

/// Record, and the line it begins in.
#[derive(Debug)]
struct CsvRecord {
    line: u64,
    fields: Vec<CsvField>,
}

/// Where the parser of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldState {
    Start,
    Plain,
    Quoted,
    /// Behind a quote, which ends the field unless another follows.
    Quote,
}

/// Reader of events.
pub(super) struct CsvEvents<R> {
    reader: BufReader<R>,
    delimiter: u8,
    /// Number of lines read.
    line: u64,
    /// Names, each as a JSON text; `None` before the first record.
    columns: Option<Vec<String>>,
    types: Vec<ColumnType>,
    /// Records that are read but not written yet.
    ahead: VecDeque<CsvRecord>,
    /// The current event, and how much of it is read.
    event: (Vec<u8>, usize),
}

impl<R: Read> CsvEvents<R> {
    /// Makes events of records whose fields are separated by `delimiter`.
    pub(super) fn new(reader: R, delimiter: u8) -> Self {
        Self {
            reader: BufReader::new(reader),
            delimiter,
            line: 0,
            columns: None,
            types: Vec::new(),
            ahead: VecDeque::new(),
            event: (Vec::new(), 0),
        }
    }

    /// Reads the names of the columns, and the records that tell their types.
    fn begin(&mut self) -> io::Result<Vec<String>> {
        let Some(head) = self.record()? else { return Ok(Vec::new()) };
        let mut names: Vec<String> = Vec::new();
        for field in head.fields {
            let name = serde_json::to_string(utf8(&field.text, head.line)?)?;
            if name == "\"\"" || names.contains(&name) {
                let what = if name == "\"\"" { "without a name".to_owned() } else { format!("called {name} twice") };
                return Err(fault(format!("there is a column {what} in line {}", head.line)));
            }
            names.push(name);
        }
        while self.ahead.len() < TYPED_RECORDS
            && let Some(record) = self.record()?
        {
            self.ahead.push_back(record);
        }
        self.types = (0..names.len()).map(|at| type_of(&self.ahead, at)).collect();
        Ok(names)
    }

    /// Writes the next event; `false` at the end.
    fn advance(&mut self) -> io::Result<bool> {
        let columns = match self.columns.take() {
            Some(columns) => columns,
            None => self.begin()?,
        };
        let record = match self.ahead.pop_front() {
            Some(record) => Some(record),
            None => self.record()?,
        };
        let Some(CsvRecord { line, fields }) = record else {
            self.columns = Some(columns);
            return Ok(false);
        };
        if fields.len() != columns.len() {
            let (has, wants) = (fields.len(), columns.len());
            return Err(fault(format!("the record in line {line} has {has} fields, and the first line has {wants}")));
        }
        let mut event = b"{".to_vec();
        for ((name, field), kind) in columns.iter().zip(&fields).zip(&self.types) {
            if event.len() > 1 {
                event.push(b',');
            }
            event.extend_from_slice(name.as_bytes());
            event.push(b':');
            let text = utf8(&field.text, line)?;
            match text {
                "" if !field.is_quoted || *kind != ColumnType::Text => event.extend_from_slice(b"null"),
                _ if *kind != ColumnType::Text && fits(text, *kind) => {
                    event.extend_from_slice(text.to_ascii_lowercase().as_bytes());
                }
                _ => serde_json::to_writer(&mut event, text)?,
            }
        }
        event.extend_from_slice(b"}\n");
        (self.event, self.columns) = ((event, 0), Some(columns));
        Ok(true)
    }

    /// Reads a record; empty lines are none.
    fn record(&mut self) -> io::Result<Option<CsvRecord>> {
        let mut record = CsvRecord { line: self.line + 1, fields: Vec::new() };
        let (mut field, mut state, mut bytes) = (CsvField::default(), FieldState::Start, 0);
        loop {
            let mut line = Vec::new();
            // One byte more than fits tells that a line is too long.
            let read = self.reader.by_ref().take(EVENT_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line)?;
            bytes += read;
            if bytes > EVENT_BYTES_MAX {
                let message = format!("the record in line {} is longer than {EVENT_BYTES_MAX} bytes", record.line);
                return Err(fault(message + "; is a quote not closed?"));
            }
            if self.line == 0 && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            self.line += 1;
            if read == 0 && state == FieldState::Quoted {
                return Err(fault(format!("the quote that begins in line {} is not closed", record.line)));
            }
            if state != FieldState::Quoted && read > 0 && line.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
                record.line += 1;
                continue;
            }
            for byte in line {
                state = self.step(state, byte, &mut field, &mut record.fields);
            }
            if state == FieldState::Quoted {
                continue;
            }
            if read == 0 && record.fields.is_empty() && field.text.is_empty() {
                return Ok(None);
            }
            if !field.is_quoted && field.text.last() == Some(&b'\r') {
                field.text.pop();
            }
            record.fields.push(field);
            return Ok(Some(record));
        }
    }

    /// Takes a byte of a record.
    fn step(&self, state: FieldState, byte: u8, field: &mut CsvField, fields: &mut Vec<CsvField>) -> FieldState {
        match (state, byte) {
            (FieldState::Quoted, b'"') => FieldState::Quote,
            (FieldState::Quoted, byte) => {
                field.text.push(byte);
                FieldState::Quoted
            }
            (FieldState::Quote, b'"') => {
                field.text.push(b'"');
                FieldState::Quoted
            }
            (FieldState::Start, b'"') => {
                field.is_quoted = true;
                FieldState::Quoted
            }
            (_, byte) if byte == self.delimiter => {
                fields.push(std::mem::take(field));
                FieldState::Start
            }
            (state, b'\n') => state,
            (FieldState::Quote, b'\r') => FieldState::Quote,
            (_, byte) => {
                field.text.push(byte);
                FieldState::Plain
            }
        }
    }
}

impl<R: Read> Read for CsvEvents<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.event.1 == self.event.0.len() && !self.advance()? {
            return Ok(0);
        }
        let (event, at) = &mut self.event;
        let count = buffer.len().min(event.len() - *at);
        buffer[..count].copy_from_slice(&event[*at..*at + count]);
        *at += count;
        Ok(count)
    }
}

/// Returns the type that every value of a column has that is not empty; text where there is none.
fn type_of(records: &VecDeque<CsvRecord>, column: usize) -> ColumnType {
    let texts = || {
        let fields = records.iter().filter_map(move |record| record.fields.get(column));
        fields.map(|field| std::str::from_utf8(&field.text).unwrap_or("?")).filter(|text| !text.is_empty())
    };
    if texts().next().is_none() {
        return ColumnType::Text;
    }
    let kinds = [ColumnType::Integer, ColumnType::Number, ColumnType::Boolean];
    kinds.into_iter().find(|kind| texts().all(|text| fits(text, *kind))).unwrap_or(ColumnType::Text)
}

/// Returns whether a text is a value of this type in JSON; `007` is none.
fn fits(text: &str, kind: ColumnType) -> bool {
    match kind {
        ColumnType::Text => true,
        ColumnType::Boolean => ["true", "false"].iter().any(|word| word.eq_ignore_ascii_case(text)),
        ColumnType::Integer | ColumnType::Number => match serde_json::from_str::<Value>(text) {
            Ok(Value::Number(number)) => kind == ColumnType::Number || number.is_i64(),
            _ => false,
        },
    }
}

fn utf8(text: &[u8], line: u64) -> io::Result<&str> {
    std::str::from_utf8(text).map_err(|_| fault(format!("the record in line {line} is not UTF-8")))
}

fn fault(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, CsvFault(message))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::CsvEvents;

    fn events(text: &str, delimiter: u8) -> Result<String, String> {
        let mut out = String::new();
        CsvEvents::new(text.as_bytes(), delimiter).read_to_string(&mut out).map_err(|error| error.to_string())?;
        Ok(out)
    }

    #[test]
    fn records_become_objects() {
        let text = "\u{feff}id,price,ok,name,code,none\r\n1,1.5,TRUE,\"a \"\"b\"\",\nc\",007,\r\n\r\n2,2,,\"\",9,\r\n";
        let expected = concat!(
            r#"{"id":1,"price":1.5,"ok":true,"name":"a \"b\",\nc","code":"007","none":null}"#,
            "\n",
            r#"{"id":2,"price":2,"ok":null,"name":"","code":"9","none":null}"#,
            "\n",
        );
        assert_eq!(events(text, b',').as_deref(), Ok(expected));
        assert_eq!(events("a\tb\nx,y\t5\" disk", b'\t').as_deref(), Ok("{\"a\":\"x,y\",\"b\":\"5\\\" disk\"}\n"));
        for nothing in ["", "\n\n", "a,b\n"] {
            assert_eq!(events(nothing, b',').as_deref(), Ok(""), "{nothing:?}");
        }
    }

    #[test]
    fn what_is_no_table_is_said_with_its_line() {
        for (text, message) in [
            ("a,b\n1,2\n\n3\n", "the record in line 4 has 1 fields, and the first line has 2"),
            ("a,b\n1,\"2\n3\n", "the quote that begins in line 2 is not closed"),
            ("a,a\n1,2\n", "there is a column called \"a\" twice in line 1"),
            ("a,\n1,2\n", "there is a column without a name in line 1"),
        ] {
            assert_eq!(events(text, b',').unwrap_err(), message);
        }
    }

    #[test]
    fn a_value_of_another_type_behind_the_first_records_is_text() {
        let mut text = "n\n".to_owned() + &"1\n".repeat(super::TYPED_RECORDS);
        text.push_str("x\n");
        assert!(events(&text, b',').unwrap().ends_with("{\"n\":1}\n{\"n\":\"x\"}\n"));
    }
}
