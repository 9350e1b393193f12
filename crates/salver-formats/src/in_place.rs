//! Writes cells at an offset in a slice: the fast path for rows.
//!
//! Appending to a vector loads, compares and stores its length for every few bytes, and the next append depends on that
//! store. Here the offset is passed from call to call and stays in a register. Short values are copied as one block of
//! fixed size, including bytes beyond their end, which the next write overwrites. So a copy is two moves, and only its
//! offset depends on the data.
//!
//! As in [`crate::slot`], `None` means that there is no room; the caller writes the row again with more room, or on the
//! general path. All functions write the same bytes as the general path.

pub(crate) mod calendar;
pub(crate) mod number;
pub(crate) mod text;

/// State that is kept between cells.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// Buffer for values that only the general path can write.
    pub(crate) text: Vec<u8>,
    /// The day that was written last.
    pub(crate) day: calendar::Day,
}
