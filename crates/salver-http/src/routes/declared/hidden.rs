//! Declared routes that no request reaches, because others come first: what the log tells of them.

use super::row::DeclaredRow;

const WAY_OUT: &str = "give it another path, or the file another `path` in its `[[function]]`";

/// Tells of a route whose path is the server's own.
pub(super) fn by_the_server(row: &DeclaredRow) -> String {
    format!("{} can't be reached: the server has this path itself; give it another", row.shown)
}

/// Tells of the routes among `rows`, in the order in which they are tried, that others hide.
pub(super) fn routes(rows: &[&DeclaredRow]) -> Vec<String> {
    let hidden = rows.iter().enumerate().filter_map(|(at, row)| {
        let earlier = rows[..at].iter().find(|earlier| hides(earlier, row))?;
        Some(format!("{} can't be reached: {} comes first; {WAY_OUT}", row.shown, earlier.shown))
    });
    hidden.collect()
}

/// Tells of the applications among `rows` that have the mount point of an earlier one.
pub(super) fn mounts(rows: &[&DeclaredRow]) -> Vec<String> {
    let hidden = rows.iter().enumerate().filter_map(|(at, row)| {
        let earlier = rows[..at].iter().find(|earlier| earlier.pattern == row.pattern)?;
        let shown = &row.shown;
        Some(format!("{shown} gets only paths that it declares: {} comes first; {WAY_OUT}", earlier.shown))
    });
    hidden.collect()
}

fn hides(earlier: &DeclaredRow, row: &DeclaredRow) -> bool {
    // An application tells several methods of one path.
    let is_same = earlier.target.is_application() && earlier.target.file() == row.target.file();
    !is_same && earlier.methods.covers(row.methods) && earlier.pattern.covers(&row.pattern)
}
