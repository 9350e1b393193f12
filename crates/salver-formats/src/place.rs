//! Cells written at a place in a slice: the fast way to write rows.
//!
//! Appending to a vector loads its length, compares and stores it again for every few bytes, and the next append has
//! to wait for that store. Here the place is a number that is handed from call to call and stays in a register.
//! Whatever is short is copied as one block of fixed size, bytes beyond its end included: those are written over by
//! what comes next. So a copy is two moves, and nothing in it depends on the data but the place.
//!
//! As in [`crate::slot`], `None` means that there is no room; the caller begins the row again with more room, or
//! writes it the general way. All give the bytes that the general way gives.

pub(crate) mod calendar;
pub(crate) mod number;
pub(crate) mod text;

/// What is kept from cell to cell.
#[derive(Debug, Default)]
pub(crate) struct Spare {
    /// For what only the general way can write.
    pub(crate) text: Vec<u8>,
    /// The day that was written last.
    pub(crate) day: calendar::Day,
}
