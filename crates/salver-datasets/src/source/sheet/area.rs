//! Cell ranges in spreadsheet notation.

/// A range of a sheet; bounds are inclusive and from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Area {
    first: (Option<u32>, Option<u32>),
    last: (Option<u32>, Option<u32>),
}

impl Area {
    /// Parses `B3:F100`, `B:F`, `3:100`, or `B3` for everything from there on.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (first, last) = match text.trim().split_once(':') {
            Some((first, last)) => (corner(first)?, corner(last)?),
            None => (corner(text)?, (None, None)),
        };
        let is_before = |a: Option<u32>, b: Option<u32>| a.is_none() || b.is_none() || a <= b;
        (is_before(first.0, last.0) && is_before(first.1, last.1)).then_some(Self { first, last })
    }

    /// Returns whether the range contains a cell.
    pub(super) fn contains(&self, row: u32, column: u32) -> bool {
        let within = |at: u32, first: Option<u32>, last: Option<u32>| {
            first.is_none_or(|first| at >= first) && last.is_none_or(|last| at <= last)
        };
        within(row, self.first.0, self.last.0) && within(column, self.first.1, self.last.1)
    }

    /// Returns the first column, if it is given.
    pub(super) fn first_column(&self) -> Option<u32> {
        self.first.1
    }
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
