//! The JSON document of a list, written as its rows arrive: `{"records":[...]}`, followed by the number of all rows or
//! the token of the next page.

use salver_model::{Code, Error, Result, memory};

use super::cursor;
use super::root_rows::Root;
use super::rows::RowsWriter;
use crate::cell::{Cell, RowSink};
use crate::json;

/// Bytes sent at a time.
const PIECE_BYTES: usize = 64 * 1024;
/// Initial capacity for a list's document.
const FIRST_BYTES: usize = 4 * 1024;

/// The state for the next page's token.
#[derive(Clone, Debug)]
pub(crate) struct Next {
    fingerprint: u64,
    /// Index of the first cell with a value of the order.
    cells: usize,
    /// Most rows of this page.
    rows_max: u64,
    /// The token after the last row.
    token: Option<String>,
    /// The table.
    table: String,
    /// Which keys of the order belong to the primary key.
    primary: Vec<usize>,
    /// Whether the last row has null in its primary key.
    has_null_key: bool,
    /// Whether there is a row after this page.
    more: bool,
}

impl Next {
    pub(crate) fn new(root: &Root<'_>, cells: usize) -> Self {
        Self {
            fingerprint: cursor::fingerprint(root.table, &root.order),
            cells,
            rows_max: root.bounds.limit.unwrap_or(u64::MAX),
            token: None,
            table: root.table.name.clone(),
            primary: cursor::primary(root.table, &root.order),
            has_null_key: false,
            more: false,
        }
    }
}

/// The sink for the rows of a list.
#[derive(Debug)]
pub(crate) struct ListSink {
    begin: &'static [u8],
    rows: RowsWriter,
    out: Vec<u8>,
    /// Number of rows written.
    count: u64,
    /// Whether there is a count statement, and its result.
    counts: bool,
    results: u64,
    next: Option<Next>,
    /// Length of the document, in bytes, at which it fails unless a piece is taken.
    bytes_max: usize,
}

impl ListSink {
    pub(crate) fn records(rows: RowsWriter, counts: bool, next: Option<Next>) -> Self {
        Self::new(b"{\"records\":[", rows, counts, next)
    }

    pub(crate) fn features(rows: RowsWriter, counts: bool) -> Self {
        Self::new(b"{\"type\":\"FeatureCollection\",\"features\":[", rows, counts, None)
    }

    fn new(begin: &'static [u8], rows: RowsWriter, counts: bool, next: Option<Next>) -> Self {
        let out = begin.to_vec();
        Self { begin, rows, out, count: 0, counts, results: 0, next, bytes_max: usize::MAX }
    }

    /// Returns an empty sink of the same shape, with room for a small list.
    pub(crate) fn anew(&self) -> Self {
        let mut sink = Self::new(self.begin, self.rows.anew(), self.counts, self.next.clone());
        sink.out.reserve(FIRST_BYTES);
        sink
    }

    /// Rejects a document longer than so many bytes.
    pub(crate) fn within(mut self, bytes_max: usize) -> Self {
        self.bytes_max = bytes_max;
        self
    }

    /// Returns the rest of the document.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.push(b']');
        if self.counts {
            self.out.extend_from_slice(b",\"results\":");
            json::unsigned(self.results, &mut self.out);
        }
        if let Some(next) = self.next {
            self.out.extend_from_slice(b",\"next\":");
            match next.token.filter(|_| next.more) {
                Some(token) => json::string(&token, &mut self.out),
                None => self.out.extend_from_slice(b"null"),
            }
        }
        self.out.push(b'}');
        self.out
    }

    /// Writes one row of the first table.
    fn root(&mut self, cells: &[Cell<'_>]) -> Result<()> {
        if let Some(next) = &mut self.next {
            if self.count >= next.rows_max {
                next.more = true;
                return if next.has_null_key { Err(cursor::null_key(&next.table)) } else { Ok(()) };
            }
            if self.count + 1 == next.rows_max {
                let values = cells.get(next.cells..).unwrap_or_default();
                next.has_null_key = next.primary.iter().any(|at| matches!(values.get(*at), Some(Cell::Null)));
                next.token = Some(cursor::token(next.fingerprint, values));
            }
        }
        if self.count > 0 {
            self.out.push(b',');
        }
        self.count += 1;
        let before = self.out.len();
        self.rows.root(cells, &mut self.out)?;
        memory::room_for(self.out.len() - before)?;
        if self.out.len() > self.bytes_max {
            let message = format!("the list has more than {} bytes", self.bytes_max);
            return Err(Error::new(Code::AnswerTooLarge, message));
        }
        Ok(())
    }
}

impl RowSink for ListSink {
    type Piece = Vec<u8>;

    fn row(&mut self, read: usize, cells: &[Cell<'_>]) -> Result<()> {
        let branches = self.rows.branches();
        if read < branches {
            return self.rows.joined(read, cells);
        }
        if self.counts && read == branches {
            self.results = match cells.first() {
                Some(Cell::Int(count)) => u64::try_from(*count).unwrap_or(0),
                Some(Cell::UInt(count)) => *count,
                _ => 0,
            };
            return Ok(());
        }
        self.root(cells)
    }

    fn held_bytes(&self) -> usize {
        self.out.len() + self.rows.waiting_bytes()
    }

    fn piece(&mut self) -> Option<Vec<u8>> {
        if self.out.len() < PIECE_BYTES {
            return None;
        }
        Some(std::mem::replace(&mut self.out, Vec::with_capacity(PIECE_BYTES + FIRST_BYTES)))
    }
}
