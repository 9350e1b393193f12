//! A set of byte ranges: which parts of an object are there.

use std::ops::Range;

/// Ranges in order, of which no two overlap or touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteRanges(Vec<Range<u64>>);

impl ByteRanges {
    /// Returns the ranges as they are.
    pub(super) fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Returns how many bytes they have.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Adds a range.
    pub(super) fn insert(&mut self, range: Range<u64>) {
        if range.start >= range.end {
            return;
        }
        let first = self.0.partition_point(|known| known.end < range.start);
        let behind = self.0.partition_point(|known| known.start <= range.end);
        let mut joined = range;
        for known in &self.0[first..behind] {
            joined = joined.start.min(known.start)..joined.end.max(known.end);
        }
        self.0.splice(first..behind, [joined]);
    }

    /// Returns what is missing of `range`, where a part that is there and has at most `gap` bytes counts as missing: to
    /// fetch it again costs less than another request.
    pub(super) fn missing(&self, range: Range<u64>, gap: u64) -> Vec<Range<u64>> {
        let mut missing: Vec<Range<u64>> = Vec::new();
        let mut at = range.start;
        let first = self.0.partition_point(|known| known.end <= range.start);
        let mut add = |part: Range<u64>| match missing.last_mut() {
            _ if part.start >= part.end => {}
            Some(last) if part.start - last.end <= gap => last.end = part.end,
            _ => missing.push(part),
        };
        for known in self.0[first..].iter().take_while(|known| known.start < range.end) {
            add(at..known.start.min(range.end));
            at = at.max(known.end);
        }
        add(at..range.end);
        missing
    }

    /// Returns whether all of `range` is there.
    pub(super) fn has(&self, range: &Range<u64>) -> bool {
        range.start >= range.end || self.missing(range.clone(), 0).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::ByteRanges;

    #[test]
    fn ranges_join_where_they_touch() {
        let mut ranges = ByteRanges::default();
        for range in [10..20, 30..40, 5..5, 20..25, 50..60] {
            ranges.insert(range);
        }
        assert_eq!(ranges.as_slice(), [10..25, 30..40, 50..60]);
        assert_eq!(ranges.missing(0..70, 0), [0..10, 25..30, 40..50, 60..70]);
        assert_eq!(ranges.missing(0..70, 9), [0..10, 25..30, 40..50, 60..70]);
        assert_eq!(ranges.missing(0..70, 10), [0..10, 25..70]);
        assert_eq!(ranges.missing(12..24, 0), []);
        assert_eq!(ranges.missing(12..31, 0), vec![25..30; 1]);
        ranges.insert(24..51);
        assert_eq!(ranges.as_slice(), vec![10..60; 1]);
        assert_eq!(
            (ranges.bytes(), ranges.has(&(10..60)), ranges.has(&(9..60)), ranges.has(&(70..70))),
            (50, true, false, true)
        );
    }

    #[test]
    fn as_a_set_of_single_bytes() {
        let mut state = 7_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u64::from((state >> 8) % below)
        };
        for _ in 0..200 {
            let (mut ranges, mut bytes) = (ByteRanges::default(), [false; 64]);
            for _ in 0..6 {
                let start = random(60);
                let end = (start + random(12)).min(64);
                ranges.insert(start..end);
                (start..end).for_each(|at| bytes[at as usize] = true);
            }
            assert!(ranges.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
            assert_eq!(ranges.bytes(), bytes.iter().filter(|is_there| **is_there).count() as u64);
            let missing = ranges.missing(3..61, 0);
            for at in 3..61 {
                let is_missing = missing.iter().any(|range| range.contains(&at));
                assert_eq!(is_missing, !bytes[at as usize], "{ranges:?} {missing:?} {at}");
            }
        }
    }
}
