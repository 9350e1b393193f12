//! Writes the rows of a batch, at an offset in a slice where possible.

/// Bytes that are cleared at a time before they are written: few enough to stay in the L1 cache in between.
pub(super) const WINDOW_BYTES: usize = 16 * 1024;
/// The smallest window, so that a few rows don't pay for clearing a large one.
const LEAST_WINDOW_BYTES: usize = 256;

/// Writes `rows` rows. `place` writes one at an offset in a slice; if it can't, for lack of room or otherwise,
/// `general` appends it. `row_bytes` is the estimated size of a row.
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
        let wanted = (rows - row).saturating_mul(row_bytes).saturating_add(LEAST_WINDOW_BYTES);
        out.resize(base + wanted.clamp(LEAST_WINDOW_BYTES, WINDOW_BYTES), 0);
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
        // The row did not even fit into an empty window.
        if row == first {
            general(row, out);
            row += 1;
        }
    }
}
