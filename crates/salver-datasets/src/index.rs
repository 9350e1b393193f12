//! Hash index that finds rows by key. It is built once, when a dataset is loaded.
//!
//! A hash table with chaining: one head for each bucket and one link for each row, eight bytes a row, built without
//! comparisons. The rows of a chain are in the order of the source. A look-up returns candidates, whose hashes share a
//! bucket; the caller's filter decides which of them match.

mod hash;
mod zone_maps;

use arrow::array::{ArrayRef, RecordBatch};

pub(crate) use zone_maps::Zones;

/// End of a chain.
const END: u32 = u32::MAX;

/// A hash index over one or more columns of a dataset.
#[derive(Debug)]
pub(crate) struct KeyIndex {
    columns: Vec<usize>,
    heads: Vec<u32>,
    next: Vec<u32>,
}

impl KeyIndex {
    /// Indexes `columns` of `chunks`; `None` if the type of a column can't be hashed, or there are too many rows.
    pub(crate) fn build(chunks: &[RecordBatch], columns: Vec<usize>) -> Option<Self> {
        let rows: usize = chunks.iter().map(RecordBatch::num_rows).sum();
        if columns.is_empty() || rows >= END as usize {
            return None;
        }
        let mut hashes = Vec::with_capacity(rows);
        for chunk in chunks {
            let start = hashes.len();
            hashes.resize(start + chunk.num_rows(), 0);
            for column in &columns {
                hash::combine(chunk.column(*column), &mut hashes[start..])?;
            }
        }
        let buckets = rows.next_power_of_two();
        let mut heads = vec![END; buckets];
        let mut next = vec![END; rows];
        for (row, hash) in hashes.iter().enumerate().rev() {
            let head = &mut heads[*hash as usize & (buckets - 1)];
            next[row] = std::mem::replace(head, row as u32);
        }
        Some(Self { columns, heads, next })
    }

    /// Returns the indexed columns.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Returns the size of the index in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        ((self.heads.len() + self.next.len()) * size_of::<u32>()) as u64
    }

    /// Appends to `found` the positions of rows whose key may be `values`: an array of one value for each indexed
    /// column.
    pub(crate) fn candidates(&self, values: &[ArrayRef], found: &mut Vec<u32>) -> Option<()> {
        let mut hash = [0_u64];
        for value in values {
            hash::combine(value, &mut hash)?;
        }
        if self.heads.is_empty() {
            return Some(());
        }
        let mut at = self.heads[hash[0] as usize & (self.heads.len() - 1)];
        while at != END {
            found.push(at);
            at = self.next[at as usize];
        }
        Some(())
    }
}
