//! Declared routes that no request reaches, because others come first: what the log tells of them.

use super::row::DeclaredRow;

const WAY_OUT: &str = "give it another path, or the file another `path` in its `[[function]]`";

/// Tells of a route whose path is the server's own.
pub(super) fn by_the_server(row: &DeclaredRow) -> String {
    format!("{} can't be reached: the server has this path itself; give it another", row.shown)
}

/// Tells of the routes among `rows`, in the order in which they are tried, that others hide. Under `has_rules` an entry
/// is not there for some callers, who do reach what it hides from others.
pub(super) fn routes(rows: &[&DeclaredRow], has_rules: bool) -> Vec<String> {
    let hidden = rows.iter().enumerate().filter_map(|(at, row)| {
        let earlier = nearest(&rows[..at], row, |earlier| hides(earlier, row))?;
        let whose = of_callers(earlier, row, has_rules);
        Some(format!("{} can't be reached{whose}: {} comes first; {WAY_OUT}", row.shown, earlier.shown))
    });
    hidden.collect()
}

/// Tells of the applications among `rows` that have the mount point of an earlier one.
pub(super) fn mounts(rows: &[&DeclaredRow], has_rules: bool) -> Vec<String> {
    let hidden = rows.iter().enumerate().filter_map(|(at, row)| {
        let earlier = nearest(&rows[..at], row, |earlier| earlier.pattern == row.pattern)?;
        let whose = of_callers(earlier, row, has_rules);
        Some(format!("{} gets only paths that it declares{whose}: {} comes first; {WAY_OUT}", row.shown, earlier.shown))
    });
    hidden.collect()
}

/// Returns the first of the earlier rows that hides this one, preferably one of the same entry: it does for everybody.
fn nearest<'r>(
    earlier: &[&'r DeclaredRow],
    row: &DeclaredRow,
    hides: impl Fn(&DeclaredRow) -> bool,
) -> Option<&'r DeclaredRow> {
    let hiding: Vec<&DeclaredRow> = earlier.iter().copied().filter(|earlier| hides(earlier)).collect();
    hiding.iter().find(|earlier| earlier.entry == row.entry).or(hiding.first()).copied()
}

/// Says by whom a row can't be reached, if not by anybody.
fn of_callers(earlier: &DeclaredRow, row: &DeclaredRow, has_rules: bool) -> String {
    if !has_rules || earlier.entry == row.entry {
        return String::new();
    }
    format!(" by callers who may know of `{}`", earlier.entry)
}

fn hides(earlier: &DeclaredRow, row: &DeclaredRow) -> bool {
    // An application tells several methods of one path.
    let is_same = earlier.target.is_application() && earlier.target.file() == row.target.file();
    !is_same && earlier.methods.covers(row.methods) && earlier.pattern.covers(&row.pattern)
}
