//! Builder of a text column.

use arrow::array::StringArray;
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use salver_text::json::Text;

/// Concatenated texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// End of each text.
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl Texts {
    /// Appends a text.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.bytes.extend(text);
        self.ends.push(end_of(self.bytes.len()));
    }

    /// Appends a JSON string.
    pub(super) fn push_string(&mut self, text: Text<'_>) {
        if text.is_escaped {
            text.unescape_into(&mut self.bytes);
            self.ends.push(end_of(self.bytes.len()));
        } else {
            self.push(text.raw);
        }
    }

    /// Appends empty texts up to `length`.
    pub(super) fn fill(&mut self, length: usize) {
        self.ends.resize(length, end_of(self.bytes.len()));
    }

    /// Removes the texts behind the first `length`.
    pub(super) fn truncate(&mut self, length: usize) {
        self.ends.truncate(length);
        self.bytes.truncate(self.ends.last().map_or(0, |end| *end as usize));
    }

    /// Returns the texts as an array.
    pub(super) fn finish(mut self, nulls: Option<NullBuffer>) -> StringArray {
        // It may have grown to twice as much, which would be kept as long as its rows wait for their client.
        if self.bytes.len() < self.bytes.capacity() / 4 * 3 {
            self.bytes.shrink_to_fit();
        }
        let (offsets, bytes) = (offsets(&self.ends), Buffer::from_vec(self.bytes));
        let array = StringArray::try_new(offsets.clone(), bytes.clone(), nulls.clone());
        // Streams may carry values that were not validated as UTF-8.
        array.unwrap_or_else(|_| lossy(&offsets, &bytes, |row| nulls.as_ref().is_none_or(|n| n.is_valid(row))))
    }
}

/// Converts a length to an Arrow offset; batches are small enough for it to fit.
pub(super) fn end_of(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// Returns the start of each value, and the end of the last.
pub(super) fn offsets(ends: &[i32]) -> OffsetBuffer<i32> {
    let all: Vec<i32> = std::iter::once(0).chain(ends.iter().copied()).collect();
    OffsetBuffer::new(ScalarBuffer::from(all))
}

fn lossy(offsets: &OffsetBuffer<i32>, bytes: &Buffer, is_valid: impl Fn(usize) -> bool) -> StringArray {
    let texts = offsets.windows(2).enumerate().map(|(row, ends)| {
        let text = bytes.get(ends[0] as usize..ends[1] as usize)?;
        is_valid(row).then(|| String::from_utf8_lossy(text))
    });
    texts.collect()
}
