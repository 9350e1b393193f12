//! Measures of bodies that were encoded before: the length, and the byte offsets of some rows. With these the rest of a
//! body is encoded without encoding what precedes it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use salver_model::Result;
use tokio::sync::OnceCell;

use super::entity_tag::Tag;

/// Maximum number of bodies remembered; the least recently used one is evicted.
const MEASURED_BODIES: usize = 256;
/// Maximum number of row offsets remembered per body.
const BODY_MARKS: usize = 1024;
/// Initial distance between two row offsets, in bytes.
const MARK_BYTES: u64 = 1024 * 1024;

/// The measures of a body.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Its length.
    pub(crate) bytes: u64,
    marks: Vec<(u64, u64)>,
}

impl Measured {
    /// Returns the last known row that begins at or before `byte`, as its byte offset and the number of rows before it.
    pub(crate) fn before(&self, byte: u64) -> Option<(u64, u64)> {
        let behind = self.marks.partition_point(|(at, _)| *at <= byte);
        self.marks.get(behind.checked_sub(1)?).copied()
    }
}

/// Records the byte offsets of rows while a body is encoded.
#[derive(Debug)]
pub(crate) struct Marks {
    marks: Vec<(u64, u64)>,
    apart_bytes: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Self { marks: Vec::new(), apart_bytes: MARK_BYTES }
    }
}

impl Marks {
    /// Records that the row after the first `rows` rows begins at `byte`.
    pub(crate) fn note(&mut self, byte: u64, rows: u64) {
        if self.marks.last().is_some_and(|(last, _)| byte - last < self.apart_bytes) {
            return;
        }
        if self.marks.len() >= BODY_MARKS {
            let mut place = 0_usize;
            self.marks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.apart_bytes *= 2;
        }
        self.marks.push((byte, rows));
    }

    /// Finishes a body of `bytes` bytes.
    pub(crate) fn finish(self, bytes: u64) -> Measured {
        Measured { bytes, marks: self.marks }
    }
}

type MeasureCell = Arc<OnceCell<Arc<Measured>>>;

/// The measures of recent bodies.
#[derive(Debug, Default)]
pub(crate) struct Measures {
    bodies: Mutex<VecDeque<(Tag, MeasureCell)>>,
}

impl Measures {
    /// Returns the measures of a body, if known.
    pub(crate) fn get(&self, tag: &Tag) -> Option<Arc<Measured>> {
        let bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.iter().find(|(own, _)| own == tag)?.1.get().cloned()
    }

    /// Remembers the measures of a body.
    pub(crate) fn put(&self, tag: Tag, measured: Measured) {
        // The first value is kept; both are equal.
        let _ = self.cell(tag).set(Arc::new(measured));
    }

    /// Returns the measures of a body, computed by `measure` if unknown; concurrent calls wait for the same
    /// computation.
    pub(crate) async fn find(
        &self,
        tag: Tag,
        measure: impl Future<Output = Result<Measured>>,
    ) -> Result<Arc<Measured>> {
        let cell = self.cell(tag);
        cell.get_or_try_init(|| async { measure.await.map(Arc::new) }).await.cloned()
    }

    fn cell(&self, tag: Tag) -> MeasureCell {
        let mut bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        let at = bodies.iter().position(|(own, _)| *own == tag);
        let found = match at.and_then(|at| bodies.remove(at)) {
            Some(found) => found,
            None => (tag, MeasureCell::default()),
        };
        let cell = Arc::clone(&found.1);
        bodies.push_front(found);
        bodies.truncate(MEASURED_BODIES);
        cell
    }
}

#[cfg(test)]
mod tests {
    use salver_model::Version;

    use super::{BODY_MARKS, MARK_BYTES, Marks, Measures, Tag};

    #[test]
    fn marks_stay_few_and_true() {
        let mut marks = Marks::default();
        let rows = BODY_MARKS as u64 * 40;
        for row in 0..rows {
            marks.note(row * MARK_BYTES / 10, row);
        }
        let measured = marks.finish(rows * MARK_BYTES / 10);
        assert!(
            measured.marks.len() <= BODY_MARKS && measured.marks.len() > BODY_MARKS / 4,
            "{}",
            measured.marks.len()
        );
        for byte in (0..measured.bytes).step_by(MARK_BYTES as usize * 7 / 3) {
            let (at, row) = measured.before(byte).unwrap();
            assert!(at <= byte && byte - at < MARK_BYTES * 16, "{at} {byte}");
            assert_eq!(at, row * MARK_BYTES / 10);
        }
        assert_eq!(Marks::default().finish(0).before(5), None);
    }

    #[tokio::test]
    async fn what_failed_is_tried_again_and_what_is_known_stays() {
        let measures = Measures::default();
        let tag = Tag { content: Version(1), shape: Version(2) };
        let failed = measures.find(tag, async { Err(salver_model::Error::internal("no")) }).await;
        assert!(failed.is_err() && measures.get(&tag).is_none());
        measures.find(tag, async { Ok(Marks::default().finish(5)) }).await.unwrap();
        let again = measures.find(tag, async { Err(salver_model::Error::internal("no")) }).await.unwrap();
        assert_eq!((again.bytes, measures.get(&tag).unwrap().bytes), (5, 5));
    }
}
