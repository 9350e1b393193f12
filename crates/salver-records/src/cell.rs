//! Cells, the values that a database returns, and sinks for rows of them.

use salver_model::Result;

/// A value as the driver has it, borrowed from the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    /// A 32-bit float, which has less precision.
    Single(f32),
    /// Text, also the text form of dates, decimals, JSON, UUIDs and geometries, as the database writes it.
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// An owned value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnedCell {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    Single(f32),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell<'_> {
    /// Returns the length of a variable-length value, in bytes; 0 for all others.
    pub(crate) fn varying_bytes(self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }

    pub(crate) fn owned(self) -> OwnedCell {
        match self {
            Self::Null => OwnedCell::Null,
            Self::Bool(value) => OwnedCell::Bool(value),
            Self::Int(value) => OwnedCell::Int(value),
            Self::UInt(value) => OwnedCell::UInt(value),
            Self::Float(value) => OwnedCell::Float(value),
            Self::Single(value) => OwnedCell::Single(value),
            Self::Text(value) => OwnedCell::Text(value.to_owned()),
            Self::Bytes(value) => OwnedCell::Bytes(value.to_vec()),
        }
    }
}

impl OwnedCell {
    pub(crate) fn borrow(&self) -> Cell<'_> {
        match self {
            Self::Null => Cell::Null,
            Self::Bool(value) => Cell::Bool(*value),
            Self::Int(value) => Cell::Int(*value),
            Self::UInt(value) => Cell::UInt(*value),
            Self::Float(value) => Cell::Float(*value),
            Self::Single(value) => Cell::Single(*value),
            Self::Text(value) => Cell::Text(value),
            Self::Bytes(value) => Cell::Bytes(value),
        }
    }
}

/// A consumer of rows.
pub(crate) trait RowSink: Send + 'static {
    /// The unit of output while rows still arrive: bytes of JSON, a record batch.
    type Piece: Send + 'static;

    /// Takes one row of the read with this index.
    fn row(&mut self, read: usize, cells: &[Cell<'_>]) -> Result<()>;

    /// Takes the finished output, once there is enough of it to be worth sending.
    fn piece(&mut self) -> Option<Self::Piece> {
        None
    }

    /// Returns the approximate number of bytes it holds that were not taken yet.
    fn held_bytes(&self) -> usize {
        0
    }

    /// Returns whether it has enough, so that the remaining rows need not come. Only called for reads of a snapshot,
    /// which can be repeated, and for those of SQLite at once.
    fn full(&self) -> bool {
        false
    }
}

/// Collects rows: `rows[read]` has the rows of each read.
#[derive(Debug, Default)]
pub(crate) struct Collect {
    pub(crate) rows: Vec<Vec<Vec<OwnedCell>>>,
}

impl RowSink for Collect {
    type Piece = ();

    fn row(&mut self, read: usize, cells: &[Cell<'_>]) -> Result<()> {
        if self.rows.len() <= read {
            self.rows.resize_with(read + 1, Vec::new);
        }
        self.rows[read].push(cells.iter().map(|cell| cell.owned()).collect());
        Ok(())
    }
}
