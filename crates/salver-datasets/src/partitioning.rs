//! The boundaries of the partitions of a table's rows.

use std::ops::Range;

/// Partitions of equal size. The boundaries depend on the number of rows only: a position in a partition may outlive
/// the way the rows are stored, and must then refer to the same row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cuts {
    rows: u64,
    parts: u64,
}

impl Cuts {
    /// Divides `rows` rows into `parts` partitions: at most one per row, and at least one.
    pub(crate) fn new(rows: u64, parts: usize) -> Self {
        Self { rows, parts: u64::try_from(parts).unwrap_or(u64::MAX).clamp(1, rows.max(1)) }
    }

    /// Returns the number of partitions.
    pub(crate) fn parts(self) -> usize {
        usize::try_from(self.parts).unwrap_or(usize::MAX)
    }

    /// Returns the rows of a partition; an empty range if it does not exist.
    pub(crate) fn part(self, part: usize) -> Range<u64> {
        let at = |part: u64| cut(self.rows, part, self.parts);
        match u64::try_from(part) {
            Ok(part) if part < self.parts => at(part)..at(part + 1),
            _ => 0..0,
        }
    }

    /// Returns the rows of a partition after its first `skip`, and at most `limit`.
    pub(crate) fn behind(self, part: usize, skip: u64, limit: Option<u64>) -> Range<u64> {
        let Range { start, end } = self.part(part);
        let start = start.saturating_add(skip).min(end);
        start..limit.map_or(end, |limit| start.saturating_add(limit).min(end))
    }

    /// Returns the number of rows of a partition.
    pub(crate) fn count(self, part: usize) -> u64 {
        let rows = self.part(part);
        rows.end - rows.start
    }
}

/// Computes `rows * part / parts`. The product may exceed a `u64`; the result does not.
fn cut(rows: u64, part: u64, parts: u64) -> u64 {
    u64::try_from(u128::from(rows) * u128::from(part) / u128::from(parts)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Cuts;

    fn ends(rows: u64, parts: usize) -> Vec<u64> {
        let cuts = Cuts::new(rows, parts);
        (0..cuts.parts()).map(|part| cuts.part(part).end).collect()
    }

    #[test]
    fn parts_are_as_long_as_each_other() {
        assert_eq!(ends(0, 3), [0]);
        assert_eq!(ends(2, 5), [1, 2]);
        assert_eq!(ends(10, 0), [10]);
        assert_eq!(ends(10, 3), [3, 6, 10]);
        assert_eq!(ends(u64::MAX, 2), [u64::MAX / 2, u64::MAX]);
        let many = ends(1_000_003, 64);
        assert_eq!((many.len(), many.last()), (64, Some(&1_000_003)));
        assert!(many.windows(2).all(|pair| pair[1] - pair[0] == 15_625 || pair[1] - pair[0] == 15_626));
    }

    #[test]
    fn a_part_is_read_from_any_row() {
        let cuts = Cuts::new(100, 4);
        assert_eq!(cuts.behind(1, 0, None), 25..50);
        assert_eq!(cuts.behind(1, 3, Some(4)), 28..32);
        assert_eq!(cuts.behind(1, 30, Some(4)), 50..50);
        assert_eq!(cuts.behind(1, u64::MAX, Some(u64::MAX)), 50..50);
        assert_eq!((cuts.behind(4, 0, None), cuts.count(4), cuts.count(3)), (0..0, 0, 25));
    }
}
