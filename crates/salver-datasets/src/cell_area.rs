//! Cells of sheets, and ranges of them in spreadsheet notation.

use calamine::Data;
use salver_model::{Code, Error, Result};

/// One cell; row and column from 0.
#[derive(Clone, Debug)]
pub(crate) struct SheetCell {
    /// Its row.
    pub(crate) row: u32,
    /// Its column.
    pub(crate) column: u32,
    /// Its value.
    pub(crate) value: Data,
}

/// A range of a sheet; bounds are inclusive and from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Area {
    first: (Option<u32>, Option<u32>),
    last: (Option<u32>, Option<u32>),
}

impl Area {
    /// Returns the range of the settings, or everything.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn of(range: Option<&str>) -> Result<Self> {
        let Some(text) = range else { return Ok(Self::default()) };
        Self::parse(text).ok_or_else(|| {
            Error::new(Code::Source, format!("`{text}` is not a range of cells"))
                .with_hint("a range looks like `B3:F100`, `B:F`, or `B3` for everything from there on")
        })
    }

    /// Parses `B3:F100`, `B:F`, `3:100`, or `B3` for everything from there on.
    fn parse(text: &str) -> Option<Self> {
        let (first, last) = match text.trim().split_once(':') {
            Some((first, last)) => (corner(first)?, corner(last)?),
            None => (corner(text)?, (None, None)),
        };
        let is_before = |a: Option<u32>, b: Option<u32>| a.is_none() || b.is_none() || a <= b;
        (is_before(first.0, last.0) && is_before(first.1, last.1)).then_some(Self { first, last })
    }

    /// Returns whether the range contains a cell.
    pub(crate) fn contains(&self, row: u32, column: u32) -> bool {
        let within = |at: u32, first: Option<u32>, last: Option<u32>| {
            first.is_none_or(|first| at >= first) && last.is_none_or(|last| at <= last)
        };
        within(row, self.first.0, self.last.0) && within(column, self.first.1, self.last.1)
    }

    /// Returns the first column, if it is given.
    pub(crate) fn first_column(&self) -> Option<u32> {
        self.first.1
    }

    /// Returns the part of the range that a sheet with so many rows and columns has, with all bounds written out, such
    /// as `B3:F100`; `None` if it has none.
    #[cfg(feature = "google-sheets")]
    pub(crate) fn within(&self, rows: u32, columns: u32) -> Option<String> {
        let end = |given: Option<u32>, count: u32| Some(given.unwrap_or(u32::MAX).min(count.checked_sub(1)?));
        let (first_row, first_column) = (self.first.0.unwrap_or(0), self.first.1.unwrap_or(0));
        let (last_row, last_column) = (end(self.last.0, rows)?, end(self.last.1, columns)?);
        let is_there = first_row <= last_row && first_column <= last_column;
        let cell = |row: u32, column: u32| format!("{}{}", letters(column), u64::from(row) + 1);
        is_there.then(|| format!("{}:{}", cell(first_row, first_column), cell(last_row, last_column)))
    }
}

/// Returns the letters of a column: `A`, `Z`, `AA`.
#[cfg(feature = "google-sheets")]
fn letters(column: u32) -> String {
    let (mut rest, mut letters) = (u64::from(column) + 1, Vec::new());
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + u8::try_from(rest % 26).unwrap_or(0)));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

/// Parses `B3`, `B` or `3` as row and column.
fn corner(text: &str) -> Option<(Option<u32>, Option<u32>)> {
    let text = text.trim().replace('$', "");
    let split = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (letters, digits) = text.split_at(split);
    if text.is_empty() || letters.len() > 3 {
        return None;
    }
    let column = letters.bytes().fold(0, |sum, b| sum * 26 + u32::from(b.to_ascii_uppercase() - b'A') + 1);
    let row = if digits.is_empty() { None } else { Some(digits.parse::<u32>().ok()?.checked_sub(1)?) };
    Some((row, column.checked_sub(1)))
}

#[cfg(all(test, feature = "google-sheets"))]
mod tests {
    use super::{Area, letters};

    #[test]
    fn what_a_sheet_has_of_a_range() {
        for (range, expected) in [
            (None, Some("A1:Z1000")),
            (Some("B3:F100"), Some("B3:F100")),
            (Some("B3"), Some("B3:Z1000")),
            (Some("b:$f"), Some("B1:F1000")),
            (Some("3:5000"), Some("A3:Z1000")),
            (Some("Z1000"), Some("Z1000:Z1000")),
            (Some("AA1"), None),
            (Some("A1001:B2000"), None),
        ] {
            assert_eq!(Area::of(range).unwrap().within(1000, 26).as_deref(), expected, "{range:?}");
        }
        assert_eq!(Area::default().within(0, 26), None);
        for (column, expected) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (18_277, "ZZZ")] {
            assert_eq!(letters(column), expected);
        }
    }
}
