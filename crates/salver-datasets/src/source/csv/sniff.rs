//! Tells the delimiter from the first lines.

use super::split::{Block, Dialect, Splitter};

/// Records that are looked at.
const RECORDS: usize = 50;

/// The delimiter that splits the first records most evenly; a comma when none splits them at all.
pub(super) fn delimiter(head: &[u8], dialect: Dialect) -> u8 {
    let score = |delimiter: u8| {
        let mut block = Block::default();
        let mut splitter = Splitter::new(Dialect { delimiter, ..dialect }, 1);
        let used = splitter.feed(head, &mut block, RECORDS).unwrap_or(0);
        // The last line may be cut, unless it is the only one.
        if used == head.len() && block.rows() == 0 {
            let _ = splitter.finish(&mut block);
        }
        let lossy = block.view();
        let width = |row: usize| lossy.map_or(0, |view| view.width(row));
        let first = if block.rows() > 0 { width(0) } else { 0 };
        let even = (0..block.rows()).filter(|row| width(*row) == first).count();
        if first < 2 { (0, 0) } else { (even * 100 / block.rows(), first) }
    };
    // The later of equals wins, so the commonest stands last.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(|delimiter| score(*delimiter)).unwrap_or(b',')
}
