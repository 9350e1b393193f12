//! Reads columns of a dataset's files into the cache, on a thread of its own that ends with them.

use std::sync::{Arc, Weak};

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use salver_model::Result;

use super::CachedColumns;
use crate::column_cache::{CachedColumn, ReadingTurn};
use crate::fault;
use crate::held_rows::{Files, WholeColumns};
use crate::residency::Chunks;

/// Bytes of a value whose size is not known, at least: its offset.
const OFFSET_BYTES: u64 = 4;

/// Starts to read `columns`, if there is room for them and no others are being read.
pub(super) fn start(own: &Arc<CachedColumns>, columns: Vec<usize>) {
    let Some(turn) = own.cache.turn() else { return };
    let Some(room) = own.cache.make_room(bytes_min(&own.files, &columns)) else {
        own.cache.refuse(own.key, &columns);
        return;
    };
    let (files, own) = (Arc::clone(&own.files), Arc::downgrade(own));
    let reader = Reader { own, files, columns, room, turn };
    let thread = std::thread::Builder::new().name("salver-columns".into()).spawn(move || reader.run());
    if let Err(error) = thread {
        // Statements read the files, and the next one tries again.
        tracing::debug!(%error, "no thread to read columns into memory");
    }
}

/// Returns the size that columns have at least, in bytes.
fn bytes_min(files: &Files, columns: &[usize]) -> u64 {
    let schema = files.schema();
    let value_bytes = |column: &usize| match schema.field(*column).data_type() {
        DataType::Boolean | DataType::Null => 0,
        other => other.primitive_width().map_or(OFFSET_BYTES, |width| width as u64),
    };
    let row_bytes: u64 = columns.iter().map(value_bytes).sum();
    files.rows().saturating_mul(row_bytes)
}

struct Reader {
    /// The columns of a dataset that may be replaced meanwhile.
    own: Weak<CachedColumns>,
    files: Arc<Files>,
    columns: Vec<usize>,
    /// Most bytes that they may take.
    room: u64,
    turn: ReadingTurn,
}

impl Reader {
    fn run(self) {
        match self.read() {
            Ok(true) => tracing::debug!(columns = self.columns.len(), "columns were read into memory"),
            Ok(false) => self.refuse(),
            Err(error) => {
                tracing::debug!(%error, "columns can't be read into memory");
                self.refuse();
            }
        }
    }

    fn refuse(&self) {
        if let Some(own) = self.own.upgrade() {
            self.turn.cache().refuse(own.key, &self.columns);
        }
    }

    /// Reads the columns; returns whether they fit.
    fn read(&self) -> Result<bool> {
        let mut chunks = Chunks::new(self.turn.cache().budget())?;
        for batch in WholeColumns::of(&self.files, &self.columns)? {
            if self.own.strong_count() == 0 || !chunks.push(batch?, self.room)? {
                return Ok(false);
            }
        }
        let (chunks, mut reservation) = chunks.finish()?;
        let mut columns = Vec::with_capacity(self.columns.len());
        for index in 0..self.columns.len() {
            let own: Vec<ArrayRef> = chunks.iter().map(|chunk| Arc::clone(chunk.column(index))).collect();
            let bytes = own.iter().map(|chunk| chunk.get_array_memory_size() as u64).sum();
            columns.push(CachedColumn::new(own, reservation.split(bytes)).map_err(fault::execution)?);
        }
        if let Some(own) = self.own.upgrade() {
            for (index, column) in self.columns.iter().zip(columns) {
                self.turn.cache().keep(own.key, *index, column);
            }
        }
        Ok(true)
    }
}
