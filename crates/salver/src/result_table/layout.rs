//! The widths of the columns of a table, within that of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width down to which columns are narrowed before some are left out.
const NARROW: usize = 12;
/// The width that a column takes beside its text: a space on each side, and a line.
const BESIDE: usize = 3;

/// The columns that are drawn, from left to right.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    widths: Vec<usize>,
    is_cut: bool,
}

impl Layout {
    /// Chooses widths for these rows, to fit into `most`.
    pub(super) fn of(names: &[String], rows: &[Vec<String>], most: Option<usize>) -> Self {
        let width_of = |cell: &String| cell.split('\n').map(shown_width).max().unwrap_or(0);
        let mut widths: Vec<usize> = names.iter().map(width_of).collect();
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = width_of(cell).max(*width);
            }
        }
        let Some(most) = most else { return Self { widths, is_cut: false } };
        narrow(&mut widths, most.saturating_sub(1));
        let mut is_cut = false;
        while total(&widths) + if is_cut { 1 + BESIDE } else { 0 } > most.saturating_sub(1) && widths.len() > 1 {
            widths.pop();
            is_cut = true;
        }
        Self { widths, is_cut }
    }

    /// Returns how many columns are shown.
    pub(super) fn shown(&self) -> usize {
        self.widths.len()
    }

    /// Returns whether there are columns that are not shown.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the columns with their widths; the last one may be a mark that there are more.
    pub(super) fn columns(&self) -> impl Iterator<Item = (Option<usize>, usize)> {
        let shown = self.widths.iter().enumerate().map(|(column, width)| (Some(column), *width));
        shown.chain(self.is_cut.then_some((None, 1)))
    }

    /// Returns a line between rows.
    pub(super) fn rule(&self) -> String {
        let mut rule = String::from("+");
        for (_, width) in self.columns() {
            rule.push_str(&"-".repeat(width + 2));
            rule.push('+');
        }
        rule.push('\n');
        rule
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + BESIDE).sum()
}

/// Narrows the widest columns first, and none further than [`NARROW`].
fn narrow(widths: &mut [usize], most: usize) {
    let (mut low, mut high) = (NARROW, widths.iter().copied().max().unwrap_or(0));
    if total(widths) <= most || high <= NARROW {
        return;
    }
    // The greatest bound under which they fit.
    while low < high {
        let bound = (low + high).div_ceil(2);
        let bounded: usize = widths.iter().map(|width| (*width).min(bound) + BESIDE).sum();
        if bounded <= most {
            low = bound;
        } else {
            high = bound - 1;
        }
    }
    for width in widths {
        *width = (*width).min(low);
    }
}

fn shown_width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Appends `text` with spaces up to `width`. Text that is longer is cut, with a mark at its end, if it may be. Returns
/// whether it was.
pub(super) fn padded(text: &str, width: usize, may_cut: bool, out: &mut String) -> bool {
    let own = shown_width(text);
    if own <= width || !may_cut {
        out.push_str(text);
        out.push_str(&" ".repeat(width.saturating_sub(own)));
        return false;
    }
    let mut left = width.saturating_sub(1);
    for sign in text.chars() {
        let wide = sign.width().unwrap_or(0);
        if wide > left {
            break;
        }
        left -= wide;
        out.push(sign);
    }
    out.push('…');
    out.push_str(&" ".repeat(left));
    true
}

#[cfg(test)]
mod tests {
    use super::{Layout, padded};

    fn layout(widths: &[usize], most: Option<usize>) -> (Vec<usize>, bool) {
        let names: Vec<String> = widths.iter().map(|width| "x".repeat(*width)).collect();
        let layout = Layout::of(&names, &[], most);
        (layout.widths, layout.is_cut)
    }

    #[test]
    fn the_widest_columns_are_narrowed_first() {
        assert_eq!(layout(&[5, 100], None), (vec![5, 100], false));
        assert_eq!(layout(&[5, 100], Some(112)), (vec![5, 100], false));
        assert_eq!(layout(&[5, 100], Some(80)), (vec![5, 68], false));
        assert_eq!(layout(&[5, 100, 90], Some(80)), (vec![5, 32, 32], false));
        assert_eq!(layout(&[100; 6], Some(80)), (vec![12; 5], true));
        assert_eq!(layout(&[100], Some(10)), (vec![12], false));
        assert_eq!(layout(&[], Some(10)), (vec![], false));
    }

    #[test]
    fn text_is_cut_by_its_width() {
        for (text, width, expected) in
            [("abc", 5, "abc  "), ("abcdef", 5, "abcd…"), ("日本語日本", 6, "日本… "), ("日本", 4, "日本")]
        {
            let mut out = String::new();
            assert_eq!(padded(text, width, true, &mut out), expected.contains('…'));
            assert_eq!(out, expected);
        }
        let mut out = String::new();
        assert!(!padded("abcdef", 3, false, &mut out) && out == "abcdef");
    }
}
