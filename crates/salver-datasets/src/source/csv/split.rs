//! Splits bytes into records and fields. It handles quotes and line ends, but neither types nor headers.
//!
//! It is written here because CSV crates lose two things: the line on which a record begins, which messages need, and
//! whether a field was quoted, without which `""` and an empty field are the same.

use salver_model::limits::{CSV_FIELDS_MAX, CSV_RECORD_BYTES_MAX};

/// Bytes after which a block ends with the current record.
const BLOCK_BYTES: usize = 8 * 1024 * 1024;
/// Fields after which a block ends with the current record: empty fields have no bytes.
const BLOCK_FIELDS: usize = 4 * 1024 * 1024;

const QUOTED: u32 = 1 << 31;

/// The special characters of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// `None` if fields are never quoted.
    pub(super) quote: Option<u8>,
    pub(super) escape: Option<u8>,
    pub(super) comment: Option<u8>,
}

/// A block of records: the bytes of all fields, and the end of each.
#[derive(Debug, Default)]
pub(super) struct Block {
    data: Vec<u8>,
    ends: Vec<u32>,
    row_ends: Vec<u32>,
    lines: Vec<u64>,
}

impl Block {
    /// Returns the number of records.
    pub(super) fn rows(&self) -> usize {
        self.row_ends.len()
    }

    /// Returns the line on which a record begins, from 1.
    pub(super) fn line(&self, row: usize) -> u64 {
        self.lines[row]
    }

    /// Removes all records; an incomplete record stays in the splitter.
    pub(super) fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
        self.row_ends.clear();
        self.lines.clear();
    }

    /// Returns the fields as text; `None` if they are not UTF-8.
    pub(super) fn view(&self) -> Option<View<'_>> {
        let text = std::str::from_utf8(&self.data).ok()?;
        let is_cut = |end: &u32| text.is_char_boundary((end & !QUOTED) as usize);
        self.ends.iter().all(is_cut).then_some(View { block: self, text })
    }

    /// Returns the first record that is not UTF-8, for the message.
    pub(super) fn first_not_utf8(&self) -> usize {
        let ends = |row: usize| self.row_ends.get(row).map_or(0, |end| *end as usize);
        let is_bad = |row: &usize| {
            let fields = if *row == 0 { 0 } else { ends(row - 1) }..ends(*row);
            fields.into_iter().any(|field| std::str::from_utf8(self.bytes(field)).is_err())
        };
        (0..self.rows()).find(is_bad).unwrap_or(0)
    }

    fn bytes(&self, field: usize) -> &[u8] {
        let start = field.checked_sub(1).map_or(0, |before| (self.ends[before] & !QUOTED) as usize);
        &self.data[start..(self.ends[field] & !QUOTED) as usize]
    }
}

/// A block whose bytes are valid UTF-8.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    block: &'a Block,
    text: &'a str,
}

impl<'a> View<'a> {
    /// Returns the number of fields of a record.
    pub(super) fn width(&self, row: usize) -> usize {
        (self.block.row_ends[row] - self.start(row)) as usize
    }

    fn start(&self, row: usize) -> u32 {
        row.checked_sub(1).map_or(0, |before| self.block.row_ends[before])
    }

    /// Returns a field and whether it was quoted; `None` if the record is shorter.
    pub(super) fn field(&self, row: usize, column: usize) -> Option<(&'a str, bool)> {
        let field = self.start(row) as usize + column;
        if field >= self.block.row_ends[row] as usize {
            return None;
        }
        let start = field.checked_sub(1).map_or(0, |before| (self.block.ends[before] & !QUOTED) as usize);
        let end = self.block.ends[field];
        Some((&self.text[start..(end & !QUOTED) as usize], end & QUOTED != 0))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Comment,
    FieldStart,
    Plain,
    Quoted,
    QuoteEnd,
    Escaped,
}

/// The reason why the rest of a file is unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) line: u64,
    pub(super) what: &'static str,
}

/// The state between two buffers of a file.
#[derive(Debug)]
pub(super) struct Splitter {
    dialect: Dialect,
    /// The bytes that end an unquoted field.
    is_stop: [bool; 256],
    state: State,
    after_cr: bool,
    is_quoted: bool,
    line: u64,
    record_line: u64,
    quote_line: u64,
    record_fields: usize,
}

impl Splitter {
    /// Returns a splitter at the start of line `line`.
    pub(super) fn new(dialect: Dialect, line: u64) -> Self {
        let mut is_stop = [false; 256];
        for stop in [dialect.delimiter, b'\n', b'\r'] {
            is_stop[usize::from(stop)] = true;
        }
        Self {
            dialect,
            is_stop,
            state: State::Start,
            after_cr: false,
            is_quoted: false,
            line,
            record_line: line,
            quote_line: line,
            record_fields: 0,
        }
    }

    /// Appends the records of `input` to `block`, until it has `rows_max` records or is full; returns the number of
    /// bytes consumed.
    pub(super) fn feed(&mut self, input: &[u8], block: &mut Block, rows_max: usize) -> Result<usize, Trouble> {
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            match self.state {
                State::Start => at += self.start(rest[0]),
                State::Comment => match memchr::memchr2(b'\n', b'\r', rest) {
                    Some(end) => {
                        at += end;
                        self.state = State::Start;
                    }
                    None => at = input.len(),
                },
                State::FieldStart => {
                    self.is_quoted = Some(rest[0]) == self.dialect.quote;
                    self.state = if self.is_quoted { State::Quoted } else { State::Plain };
                    self.quote_line = self.line;
                    at += usize::from(self.is_quoted);
                }
                State::Plain => {
                    let run = rest.iter().position(|b| self.is_stop[usize::from(*b)]);
                    block.data.extend_from_slice(&rest[..run.unwrap_or(rest.len())]);
                    at += run.map_or(rest.len(), |run| run + 1);
                    if let Some(run) = run {
                        self.end_field(block);
                        if rest[run] == self.dialect.delimiter {
                            self.state = State::FieldStart;
                        } else {
                            self.end_record(block);
                            self.line += 1;
                            self.after_cr = rest[run] == b'\r';
                            if block.rows() >= rows_max
                                || block.data.len() >= BLOCK_BYTES
                                || block.ends.len() >= BLOCK_FIELDS
                            {
                                return Ok(at);
                            }
                        }
                    }
                }
                State::Quoted => at += self.quoted(rest, block),
                State::QuoteEnd if Some(rest[0]) == self.dialect.quote => {
                    block.data.push(rest[0]);
                    self.state = State::Quoted;
                    at += 1;
                }
                // Text after the closing quote is kept as part of the field, so that nothing is lost.
                State::QuoteEnd => self.state = State::Plain,
                State::Escaped => {
                    block.data.push(rest[0]);
                    self.state = State::Quoted;
                    at += 1;
                }
            }
            self.check(block)?;
        }
        Ok(at)
    }

    fn start(&mut self, byte: u8) -> usize {
        let after_cr = std::mem::take(&mut self.after_cr);
        match byte {
            b'\n' => self.line += u64::from(!after_cr),
            b'\r' => {
                self.line += 1;
                self.after_cr = true;
            }
            _ if self.dialect.comment == Some(byte) => {
                self.state = State::Comment;
                return 0;
            }
            _ => {
                self.record_line = self.line;
                self.record_fields = 0;
                self.state = State::FieldStart;
                return 0;
            }
        }
        1
    }

    fn quoted(&mut self, rest: &[u8], block: &mut Block) -> usize {
        let Some(quote) = self.dialect.quote else { return 0 };
        let stop = match self.dialect.escape {
            Some(escape) => memchr::memchr2(quote, escape, rest),
            None => memchr::memchr(quote, rest),
        };
        let run = &rest[..stop.unwrap_or(rest.len())];
        self.line += memchr::memchr_iter(b'\n', run).count() as u64;
        block.data.extend_from_slice(run);
        let Some(stop) = stop else { return rest.len() };
        self.state = if rest[stop] == quote { State::QuoteEnd } else { State::Escaped };
        stop + 1
    }

    fn end_field(&mut self, block: &mut Block) {
        // A block has less than 2^31 bytes: see `check`.
        let end = u32::try_from(block.data.len()).unwrap_or(u32::MAX) & !QUOTED;
        block.ends.push(end | if self.is_quoted { QUOTED } else { 0 });
        self.record_fields += 1;
    }

    fn end_record(&mut self, block: &mut Block) {
        block.row_ends.push(u32::try_from(block.ends.len()).unwrap_or(u32::MAX));
        block.lines.push(self.record_line);
        self.state = State::Start;
    }

    fn check(&self, block: &Block) -> Result<(), Trouble> {
        let what = if self.record_fields > CSV_FIELDS_MAX {
            "has too many fields"
        } else if block.data.len() > BLOCK_BYTES + CSV_RECORD_BYTES_MAX {
            "does not end within 64 MiB"
        } else {
            return Ok(());
        };
        Err(Trouble { line: self.record_line, what })
    }

    /// Ends the last record, which may lack a line end.
    pub(super) fn finish(&mut self, block: &mut Block) -> Result<(), Trouble> {
        match self.state {
            State::Start | State::Comment => {}
            State::Quoted | State::Escaped => {
                return Err(Trouble { line: self.quote_line, what: "opens a quote that is never closed" });
            }
            State::FieldStart => {
                self.is_quoted = false;
                self.end_field(block);
                self.end_record(block);
            }
            State::Plain | State::QuoteEnd => {
                self.end_field(block);
                self.end_record(block);
            }
        }
        Ok(())
    }
}
