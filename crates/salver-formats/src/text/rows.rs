//! The rows of a batch, one behind the other, written at a place in a slice where that can be done.

/// Bytes that are made ready to be written at a time: they stay in the first cache from being cleared to being
/// written.
pub(super) const WINDOW_BYTES: usize = 16 * 1024;
/// The smallest window, so that a few rows don't pay for clearing a large one.
const WINDOW_BYTES_MIN: usize = 256;

/// Writes `rows` rows. `place` writes one at a place in a slice; when it can't, for want of room or otherwise,
/// `general` appends it. `row_bytes` is about what a row takes.
pub(super) fn write(
    rows: usize,
    row_bytes: usize,
    out: &mut Vec<u8>,
    mut place: impl FnMut(usize, &mut [u8], usize) -> Option<usize>,
    mut general: impl FnMut(usize, &mut Vec<u8>),
) {
    let mut row = 0;
    while row < rows {
        let (base, first) = (out.len(), row);
        let wanted = (rows - row).saturating_mul(row_bytes).saturating_add(WINDOW_BYTES_MIN);
        out.resize(base + wanted.clamp(WINDOW_BYTES_MIN, WINDOW_BYTES), 0);
        let mut end = 0;
        if let Some(window) = out.get_mut(base..) {
            while row < rows
                && let Some(place) = place(row, window, end)
            {
                end = place;
                row += 1;
            }
        }
        out.truncate(base + end);
        // Not even an empty window was enough for it.
        if row == first {
            general(row, out);
            row += 1;
        }
    }
}
