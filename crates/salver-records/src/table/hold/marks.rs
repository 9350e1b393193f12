//! Marks for seeking: row numbers with the keys of the preceding rows, so that resuming costs one index lookup.

use std::sync::Arc;

use crate::cell::OwnedCell;

/// Most marks; when there are more, every other one is dropped.
const MARKS_CAPACITY: usize = 1024;
/// Initial number of rows between two marks.
const SPACING_ROWS: u64 = 512;

/// The marks of a part, by row.
#[derive(Debug)]
pub(super) struct Marks {
    all: Vec<(u64, Arc<[OwnedCell]>)>,
    spacing: u64,
}

impl Default for Marks {
    fn default() -> Self {
        Self { all: Vec::new(), spacing: SPACING_ROWS }
    }
}

impl Marks {
    /// Records that the first `rows` rows end with this key.
    pub(super) fn note(&mut self, rows: u64, key: &Arc<[OwnedCell]>) {
        let at = self.all.partition_point(|(own, _)| *own < rows);
        let before = at.checked_sub(1).map_or(0, |before| self.all[before].0);
        let behind = self.all.get(at).map_or(u64::MAX, |(own, _)| *own);
        if rows - before < self.spacing || behind - rows < self.spacing {
            return;
        }
        self.all.insert(at, (rows, Arc::clone(key)));
        if self.all.len() > MARKS_CAPACITY {
            let mut odd = false;
            self.all.retain(|_| {
                odd = !odd;
                !odd
            });
            self.spacing *= 2;
        }
    }

    /// Returns the last mark at or before `rows` rows.
    pub(super) fn before(&self, rows: u64) -> Option<(u64, Arc<[OwnedCell]>)> {
        let at = self.all.partition_point(|(own, _)| *own <= rows).checked_sub(1)?;
        Some(self.all[at].clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MARKS_CAPACITY, Marks};
    use crate::cell::OwnedCell;

    fn key(number: u64) -> Arc<[OwnedCell]> {
        Arc::from([OwnedCell::UInt(number)])
    }

    #[test]
    fn the_last_one_that_is_not_behind() {
        let mut marks = Marks::default();
        assert_eq!(marks.before(10_000), None);
        for rows in [4_000, 1_000, 2_000, 2_010, 990] {
            marks.note(rows, &key(rows));
        }
        assert_eq!(marks.before(999), None);
        assert_eq!(marks.before(1_000), Some((1_000, key(1_000))));
        assert_eq!(marks.before(2_020), Some((2_000, key(2_000))));
        assert_eq!(marks.before(u64::MAX), Some((4_000, key(4_000))));
    }

    #[test]
    fn they_do_not_grow_with_the_rows() {
        let mut marks = Marks::default();
        for number in 1..=100_000 {
            marks.note(number * 16_384, &key(number));
        }
        assert!(marks.all.len() <= MARKS_CAPACITY);
        let (rows, _) = marks.before(50_000 * 16_384).unwrap();
        assert!(50_000 * 16_384 - rows <= 2 * marks.spacing.max(16_384), "{rows} {}", marks.spacing);
    }
}
